"""How often words occur in a corpus, alone and together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cranfield.errors import NeedsError


@dataclass(frozen=True)
class Snapshot:
    """Hit counts at one moment: corpora change, so date, source and size belong to the counts."""

    total: int
    single: Mapping[str, int]
    joint: Mapping[frozenset[str], int]
    source: str = ""
    date: str = ""
    where: str = field(default="counts", compare=False)

    def hits(self, *terms: str) -> int:
        names = frozenset(map(normalise_term, terms))
        if len(names) == 1:
            (name,) = names
            if name not in self.single:
                raise NeedsError(f"{self.where} has no count for {name!r}")
            return self.single[name]
        if names not in self.joint:
            raise NeedsError(f"{self.where} has no count for {' and '.join(sorted(names))}")
        return self.joint[names]

    def knows(self, term: str) -> bool:
        return normalise_term(term) in self.single


def normalise_term(name: str) -> str:
    """How a concept is written as a tag: lower case, words apart by one blank."""
    return " ".join(name.replace("_", " ").lower().split())


@dataclass(frozen=True)
class TaggedItem:
    """One document of a tag corpus: its tags, and any other text about it."""

    item: str
    tags: frozenset[str]
    text: str = ""
