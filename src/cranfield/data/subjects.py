"""Ranked lists that people made, with how significant each item is to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cranfield.errors import UsageError

# Items best first, each with its significance.
RankedList = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class SubjectRankings:
    """For each subject and topic a ranked list."""

    lists: Mapping[str, Mapping[str, RankedList]]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, float]]) -> SubjectRankings:
        """From (subject, topic, item, significance); equal significances keep their order."""
        gathered: dict[str, dict[str, dict[str, float]]] = {}
        for subject, topic, item, significance in rows:
            if not 0 <= significance <= 1:
                raise UsageError(
                    f"significance {significance} of item {item!r} (subject {subject!r}, topic "
                    f"{topic!r}) is not in [0, 1]"
                )
            items = gathered.setdefault(subject, {}).setdefault(topic, {})
            if item in items:
                raise UsageError(
                    f"subject {subject!r} lists item {item!r} twice for topic {topic!r}"
                )
            items[item] = float(significance)
        ordered = {
            subject: MappingProxyType(
                {t: tuple(sorted(i.items(), key=lambda p: -p[1])) for t, i in topics.items()}
            )
            for subject, topics in gathered.items()
        }
        return cls(MappingProxyType(ordered))

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(self.lists)

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics that any subject answered, in the order of their first mention."""
        return tuple(dict.fromkeys(t for topics in self.lists.values() for t in topics))
