"""Two vocabularies side by side: which concepts they share, which are near, what has changed.

Versions of one ontology (No 5.5.2, 5.5.3) differ by what was added, removed and moved and by their
rules; vocabularies of different collections (No Table 5.2) by what one covers of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, Unpack

from cranfield.answers import Answer
from cranfield.data.counts import normalise_term
from cranfield.data.ontology import Ontology
from cranfield.errors import UsageError
from cranfield.io.ontology import read_vocabulary
from cranfield.notes import with_progress
from cranfield.relatedness._spec import Method
from cranfield.relatedness.api import Watcher, relate_pairs
from cranfield.relatedness.concept_sources import SourceOptions
from cranfield.validation import validate_params

Vocabulary: TypeAlias = Ontology | Sequence[str] | str | Path
Rule: TypeAlias = tuple[str, tuple[str, ...]]
# Words of one synset, or of neighbouring ones deep in the hierarchy, by WUP.
NEAR = 0.9


@dataclass(frozen=True, slots=True)
class NearConcept:
    """A concept that the other vocabulary lacks, and the nearest one that it has."""

    concept: str
    nearest: str
    relatedness: float


@dataclass(frozen=True, slots=True)
class MovedConcept:
    """A concept of both that hangs at another place: the paths above it, before and after."""

    concept: str
    before: str
    after: str


@dataclass(frozen=True, repr=False, eq=False)
class VocabularyComparison(Answer):
    """What the second vocabulary shares with the first, what it lacks and what it adds.

    `near` has the concepts of the first that the second has nearly, by `method`; they are in
    `removed` too, because no name is kept. Categories are nodes that are no concepts.
    """

    command: ClassVar[str] = "ontology compare"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:comparison_document"
    first: str
    second: str
    concepts: tuple[int, int]
    same: tuple[str, ...]
    near: tuple[NearConcept, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    moved: tuple[MovedConcept, ...]
    categories_removed: tuple[str, ...]
    categories_added: tuple[str, ...]
    rules_removed: tuple[Rule, ...]
    rules_added: tuple[Rule, ...]
    method: str | None = None

    @property
    def same_share(self) -> float:
        """The share of the first vocabulary that the second has by name."""
        return len(self.same) / self.concepts[0]

    @property
    def covered_share(self) -> float:
        """The share of the first vocabulary that the second has by name or nearly."""
        return (len(self.same) + len(self.near)) / self.concepts[0]

    def payload(self, **_: object) -> dict[str, Any]:
        """The counts and shares, then the names."""
        return {
            "a": self.first,
            "b": self.second,
            "concepts": list(self.concepts),
            "same": list(self.same),
            "same_share": self.same_share,
            "method": self.method,
            "near": [
                {"concept": n.concept, "nearest": n.nearest, "relatedness": n.relatedness}
                for n in self.near
            ],
            "covered_share": self.covered_share,
            "removed": list(self.removed),
            "added": list(self.added),
            "moved": [
                {"concept": m.concept, "before": m.before, "after": m.after} for m in self.moved
            ],
            "categories_removed": list(self.categories_removed),
            "categories_added": list(self.categories_added),
            "rules_removed": _listed(self.rules_removed),
            "rules_added": _listed(self.rules_added),
        }

    def headline(self) -> str:
        return (
            f"{self.first} and {self.second}: {len(self.same)} concepts in both, "
            f"{len(self.removed)} removed, {len(self.added)} added, {len(self.moved)} moved"
        )


def _listed(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    return [{"rule": kind, "concepts": list(names)} for kind, names in rules]


@validate_params
@with_progress
def compare_vocabularies(
    first: Vocabulary,
    second: Vocabulary,
    *,
    method: str | Method | None = None,
    near: float = NEAR,
    rules: tuple[str | Path | None, str | Path | None] = (None, None),
    progress: Watcher = None,
    **sources: Unpack[SourceOptions],
) -> VocabularyComparison:
    """Put two vocabularies side by side: ontologies, built-in names, files or lists of names.

    Names are the same without regard to case and to underscores. With a `method` of relatedness,
    which reads `sources`, concepts that the second lacks are near when one of its concepts is
    related by at least `near`. `rules` are TOML files with the rules of the two.

    >>> found = compare_vocabularies("pto-2009", "pto-2010")
    >>> len(found.same), found.removed, len(found.added)
    (52, ('Canvas',), 41)
    """
    if len(rules) != 2:
        raise UsageError("rules are two files or None: those of the first and of the second")
    if not 0 <= near <= 1:
        raise UsageError(f"near={near} is not in [0, 1]")
    a, b = (_vocabulary(v, r) for v, r in zip((first, second), rules, strict=True))
    name_in_a, name_in_b = ({normalise_term(c): c for c in o.concepts} for o in (a, b))
    same = {c: name_in_b[normalise_term(c)] for c in a.concepts if normalise_term(c) in name_in_b}
    removed = tuple(c for c in a.concepts if c not in same)
    close: tuple[NearConcept, ...] = ()
    notes: tuple[str, ...] = ()
    if method is not None and removed:
        pairs = [(c, candidate) for c in removed for candidate in b.concepts]
        related = relate_pairs(pairs, method, progress=progress, **sources)
        notes = related.notes
        close = tuple(_near(related.result().pairs, len(b.concepts), near))
    elif method is None and sources:
        raise UsageError(f"{next(iter(sources))}= is read by a method of relatedness: add method=")
    flat = [o.name for o in (a, b) if not any(o.parents)]
    if flat:
        notes = (
            *notes,
            f"{' and '.join(flat)}: no structure, so places and categories are not compared",
        )
    gone, come = ((), ()) if flat else _without_common(_categories(a), _categories(b))
    old_rules, new_rules = _without_common(_rules(a), _rules(b))
    return VocabularyComparison(
        a.name,
        b.name,
        (len(a.concepts), len(b.concepts)),
        tuple(same),
        close,
        removed,
        tuple(c for c in b.concepts if normalise_term(c) not in name_in_a),
        () if flat else tuple(_moved(a, b, same)),
        gone,
        come,
        old_rules,
        new_rules,
        None if method is None else str(method),
        notes=notes,
    )


def _vocabulary(vocabulary: Vocabulary, rules: str | Path | None) -> Ontology:
    if isinstance(vocabulary, str | Path):
        return read_vocabulary(vocabulary, rules=rules)
    if rules is not None:
        raise UsageError("rules= belongs to a vocabulary that is read from a file")
    return vocabulary.checked() if isinstance(vocabulary, Ontology) else Ontology.flat(vocabulary)


def _near(pairs: Sequence[Any], width: int, threshold: float) -> Iterator[NearConcept]:
    """The nearest partner of each concept, whose pairs stand one after the other."""
    for start in range(0, len(pairs), width):
        row = [p for p in pairs[start : start + width] if p.relatedness is not None]
        best = max(row, key=lambda p: p.relatedness, default=None)
        # The last bits of a measure's value are no reason to leave a concept out.
        if best is not None and best.relatedness >= threshold - 1e-12:
            yield NearConcept(best.word1, best.word2, best.relatedness)


def _moved(a: Ontology, b: Ontology, same: dict[str, str]) -> Iterator[MovedConcept]:
    for old, new in same.items():
        before, after = _place(a, old), _place(b, new)
        if before != after:
            yield MovedConcept(old, before[0], after[0])


def _place(ontology: Ontology, concept: str) -> tuple[str, frozenset[str]]:
    """Where a concept hangs: in words, and the names of all nodes above it.

    A graph can have more ways up than can be shown: one for each parent, all nodes compared.
    """
    node = ontology.concept_nodes[concept]
    ways = []
    for parent in ontology.parents[node]:
        route = [parent]
        while ontology.parents[route[0]]:
            route.insert(0, ontology.parents[route[0]][0])
        ways.append(" > ".join(_short(ontology, n) for n in route))
    above = frozenset(_short(ontology, n) for n in ontology.nodes_above[node])
    return " | ".join(sorted(ways)) or "(top)", above


def _short(ontology: Ontology, node: int) -> str:
    """The own name of a node, without the path that may be part of it."""
    return ontology.concept_at.get(node, ontology.nodes[node].rsplit(".", 1)[-1])


def _categories(ontology: Ontology) -> tuple[str, ...]:
    return tuple(n for i, n in enumerate(ontology.nodes) if i not in ontology.concept_at)


def _rules(ontology: Ontology) -> tuple[Rule, ...]:
    """The rules as they are compared: the order of their members is of no effect."""
    rules = [(kind, tuple(sorted(members))) for kind, members in ontology.rules.groups()]
    rules += [
        (f"{r.concept} requires one of", tuple(sorted(r.any_of))) for r in ontology.rules.requires
    ]
    return tuple(rules)


def _without_common(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, Any]:
    """What only one of two has, in its order."""
    return tuple(x for x in first if x not in second), tuple(x for x in second if x not in first)
