"""Categories that form a tree or an acyclic graph, and what people's votes say of items.

Ranked lists that people made, with how significant each item is to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cranfield._lazy import cached_property
from cranfield.errors import CycleError, UsageError, suggest


@dataclass(frozen=True)
class CategoryGraph:
    """Categories with their parents: what belongs to a category belongs to its parents."""

    parents: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]]) -> CategoryGraph:
        """From (category, parent); a root has the empty parent, or stands as a parent only.

        >>> CategoryGraph.from_pairs([("people", "all"), ("crowd", "people")]).root
        'all'
        """
        parents: dict[str, list[str]] = {}
        for category, parent in pairs:
            above = parents.setdefault(category, [])
            if parent:
                parents.setdefault(parent, [])
                above.append(parent)
        graph = cls(MappingProxyType({c: tuple(p) for c, p in parents.items()}))
        _ = graph.ancestors, graph.root
        return graph

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(self.parents)

    @cached_property
    def root(self) -> str:
        """The one category without a parent."""
        roots = [c for c, above in self.parents.items() if not above]
        if not roots:
            raise UsageError("there is no category")
        if len(roots) > 1:
            raise UsageError(
                f"{len(roots)} categories have no parent ({', '.join(map(repr, roots[:5]))}); one "
                "is the root, the others need a parent (or a parent's name is misspelt)"
            )
        return roots[0]

    @cached_property
    def ancestors(self) -> Mapping[str, frozenset[str]]:
        """For each category itself and all above it; a cycle is a UsageError that names it."""
        ancestors_of: dict[str, frozenset[str]] = {}
        for start in self.parents:
            path, pending = [start], [iter(self.parents[start])]
            while path:
                above = next((p for p in pending[-1] if p not in ancestors_of), None)
                if above is None:
                    category = path.pop()
                    pending.pop()
                    sets = [ancestors_of[p] for p in self.parents[category]]
                    ancestors_of[category] = frozenset({category}).union(*sets)
                elif above in path:
                    raise CycleError([*path[path.index(above) :], above])
                else:
                    path.append(above)
                    pending.append(iter(self.parents[above]))
        return MappingProxyType(ancestors_of)

    def check(self, category: str) -> str:
        """The category, or a UsageError with a suggestion."""
        if category not in self.parents:
            raise UsageError(
                f"no category named {category!r}.{suggest(category, self.parents)} "
                f"Known: {', '.join(sorted(self.parents)[:8])}{', ...' * (len(self.parents) > 8)}"
            )
        return category


@dataclass(frozen=True)
class Categorisation:
    """What the votes of people say: the chance that each item is of each category.

    `direct[i, c]` is the share of item i's votes that name category c itself, and
    `probability[i, c]` the share that names c or something below it (Santini, eq. 6-8).
    """

    graph: CategoryGraph
    items: tuple[str, ...]
    direct: NDArray[np.float64]
    probability: NDArray[np.float64]

    @classmethod
    def from_votes(
        cls, votes: Sequence[tuple[str, str, str]], graph: CategoryGraph, *, skipped: str = "error"
    ) -> Categorisation:
        """From (subject, item, category), one vote per subject and item.

        Every subject votes on every item; with skipped='abstain' the votes of an item are
        divided by their own number instead.
        """
        items = {item: i for i, item in enumerate(dict.fromkeys(v[1] for v in votes))}
        columns = {category: j for j, category in enumerate(graph.categories)}
        voters: dict[str, set[str]] = {item: set() for item in items}
        counts = np.zeros((len(items), len(columns)))
        for subject, item, category in votes:
            if subject in voters[item]:
                raise UsageError(f"subject {subject!r} votes twice on item {item!r}")
            voters[item].add(subject)
            counts[items[item], columns[graph.check(category)]] += 1
        if skipped != "abstain":
            _check_all_voted(voters)
        return cls._from_direct(graph, tuple(items), counts / counts.sum(axis=1, keepdims=True))

    @classmethod
    def from_counts(
        cls,
        items: Sequence[str],
        counts: NDArray[np.int64],
        graph: CategoryGraph,
        subjects: int,
        skipped: str,
    ) -> Categorisation | None:
        """From votes for items x categories; None where a subject skipped an item and may not."""
        cast = counts.sum(axis=1, keepdims=True)
        if skipped != "abstain" and (cast != subjects).any():
            return None
        return cls._from_direct(graph, tuple(items), counts / cast)

    @classmethod
    def from_probabilities(
        cls, rows: Sequence[tuple[str, str, float]], graph: CategoryGraph
    ) -> Categorisation:
        """From (item, category, probability); the probabilities of an item sum to one."""
        items = {item: i for i, item in enumerate(dict.fromkeys(row[0] for row in rows))}
        columns = {category: j for j, category in enumerate(graph.categories)}
        direct = np.zeros((len(items), len(columns)))
        for item, category, probability in rows:
            direct[items[item], columns[graph.check(category)]] += probability
        total = direct.sum(axis=1)
        off = np.flatnonzero(np.abs(total - 1) > 1e-6)
        if off.size:
            raise UsageError(
                f"the probabilities of item {list(items)[off[0]]!r} sum to {total[off[0]]:g}, "
                f"expected 1 ({off.size} such items)"
            )
        return cls._from_direct(graph, tuple(items), direct / total[:, None])

    @classmethod
    def _from_direct(
        cls, graph: CategoryGraph, items: tuple[str, ...], direct: NDArray[np.float64]
    ) -> Categorisation:
        columns = {category: j for j, category in enumerate(graph.categories)}
        closure = np.zeros((len(columns), len(columns)))
        for category, above in graph.ancestors.items():
            closure[columns[category], [columns[a] for a in above]] = 1.0
        # A vote counts once for each category above it, by however many paths it gets there.
        return cls(graph, items, direct, np.minimum(direct @ closure, 1.0))

    @cached_property
    def position(self) -> Mapping[str, int]:
        return MappingProxyType({item: i for i, item in enumerate(self.items)})

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """The expected number of items of each category (eq. 9)."""
        return np.asarray(self.probability.sum(axis=0), dtype=np.float64)

    def of(self, item: str) -> dict[str, float]:
        """The probability of each category for one item."""
        row = self.probability[self.position[item]]
        return dict(zip(self.graph.categories, row.tolist(), strict=True))


def _check_all_voted(voters: Mapping[str, set[str]]) -> None:
    subjects = sorted(set().union(*voters.values()))
    skipped = [(s, item) for item, names in voters.items() for s in subjects if s not in names]
    if skipped:
        subject, item = skipped[0]
        others = f" ({len(skipped)} votes are missing in all)" if len(skipped) > 1 else ""
        raise UsageError(
            f"subject {subject!r} did not vote on item {item!r}{others}; every subject votes on "
            "every item, unless skipped='abstain' divides by the votes that an item has"
        )


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
