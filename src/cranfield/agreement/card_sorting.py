"""How people group and tag items: who belongs together, how far people agree, by what kinds.

After the studies of No 5.3: in *natural grouping* people split a set of items again and again, so
that a group is a path of splits; in *free tagging* they give each item words of their own. Both say
how close items are to people, and the kinds of their reasons (content, representation, affect)
which attributes a vocabulary should have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.errors import UsageError, plural
from cranfield.io.design import Groupings, read_groupings
from cranfield.validation import validate_params

Floats = NDArray[np.float64]
# Items are one cluster where people put them together more often than not.
TOGETHER = 0.5


@dataclass(frozen=True, slots=True)
class KindShare:
    """A kind of reason: how many splits (or tags) it gave, and their share."""

    kind: str
    count: int
    share: float


@dataclass(frozen=True, repr=False, eq=False)
class GroupingStudy(Answer):
    """Items that people put together.

    `together` has for every two items the mean over people of how far they put them together: 1
    in one group, 0 apart, for paths of splits the share of splits in common, for tags the share
    of tags. `clusters` join items at an average of at least `level`. `agreement` has Hubert and
    Arabie's adjusted Rand index of every two people; none for tags.
    """

    command: ClassVar[str] = "groups"
    table_maker: ClassVar[str] = "cranfield.report.tables.agreement:card_sorting_document"
    what: str
    subjects: tuple[str, ...]
    items: tuple[str, ...]
    together: Floats
    clusters: tuple[tuple[str, ...], ...]
    agreement: tuple[tuple[str, str, float], ...]
    kinds: tuple[KindShare, ...]
    first_kinds: tuple[KindShare, ...]
    level: float = TOGETHER

    @property
    def mean_agreement(self) -> float:
        """The mean adjusted Rand index over pairs of people; NaN where there is none."""
        values = [value for _, _, value in self.agreement]
        return float(np.mean(values)) if values else float("nan")

    def closeness(self, first: str, second: str) -> float:
        """How far people put two items together."""
        at = {item: i for i, item in enumerate(self.items)}
        return float(self.together[at[first], at[second]])

    def payload(self, **_: object) -> dict[str, Any]:
        """The square, the clusters, the agreement and the kinds."""
        return {
            "what": self.what,
            "subjects": list(self.subjects),
            "items": list(self.items),
            "together": self.together.tolist(),
            "level": self.level,
            "clusters": [list(cluster) for cluster in self.clusters],
            "mean_agreement": self.mean_agreement,
            "agreement": [{"a": a, "b": b, "rand": value} for a, b, value in self.agreement],
            "kinds": [_shown(kind) for kind in self.kinds],
            "first_kinds": [_shown(kind) for kind in self.first_kinds],
        }

    def headline(self) -> str:
        return (
            f"{plural(len(self.items), 'item')} by {plural(len(self.subjects), 'person')} in "
            f"{plural(len(self.clusters), 'cluster')}"
        ).replace("persons", "people")


def _shown(kind: KindShare) -> dict[str, Any]:
    return {"kind": kind.kind, "count": kind.count, "share": kind.share}


@validate_params
def study_groups(source: Groupings | str | Path, *, level: float = TOGETHER) -> GroupingStudy:
    """Study how people grouped or tagged items.

    `source` is a file: CSV subject,item,group[,kind] (a group of a group is written "people/women")
    or subject,item,tag[,kind]. `level` is the average closeness from which items are a cluster.
    """
    if not 0 < level <= 1:
        raise UsageError(f"level={level} is not above 0 and up to 1")
    groupings = source if isinstance(source, Groupings) else read_groupings(source)
    items = groupings.items
    if len(items) < 2:
        raise UsageError("there is nothing to group: give at least two items")
    together = _together(groupings)
    splits = not groupings.tags
    kinds, first = _kinds(groupings)
    return GroupingStudy(
        "groups" if splits else "tags",
        groupings.subjects,
        items,
        together,
        _clusters(items, together, level),
        tuple(_agreement(groupings)) if splits else (),
        kinds,
        first,
        level,
    )


def _together(groupings: Groupings) -> Floats:
    """The mean closeness of every two items over the people who placed both."""
    count = len(groupings.items)
    total, seen = np.zeros((count, count)), np.zeros((count, count))
    at = {item: i for i, item in enumerate(groupings.items)}
    for placed in groupings.places.values():
        for first, second in combinations(placed, 2):
            i, j = at[first], at[second]
            close = _closeness(placed[first], placed[second], groupings.tags)
            total[[i, j], [j, i]] += close
            seen[[i, j], [j, i]] += 1
    closeness: Floats = np.divide(total, seen, out=np.zeros_like(total), where=seen > 0)
    np.fill_diagonal(closeness, 1.0)
    return closeness


def _closeness(first: Sequence[str], second: Sequence[str], tags: bool) -> float:
    """Tags: Jaccard's share in common. Paths: the splits in common, as a share of the longer."""
    if tags:
        union = set(first) | set(second)
        return len(set(first) & set(second)) / len(union) if union else 0.0
    shared = 0
    for left_split, right_split in zip(first, second, strict=False):
        if left_split != right_split:
            break
        shared += 1
    return shared / max(len(first), len(second))


def _clusters(
    items: tuple[str, ...], together: Floats, level: float
) -> tuple[tuple[str, ...], ...]:
    """Average linkage of 1 - closeness, cut at the level; the largest cluster first."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(1.0 - together, checks=False), "average")
    numbers = fcluster(tree, 1.0 - level + 1e-12, "distance")
    clusters: dict[int, list[str]] = {}
    for item, number in zip(items, numbers.tolist(), strict=True):
        clusters.setdefault(number, []).append(item)
    return tuple(tuple(c) for c in sorted(clusters.values(), key=lambda c: (-len(c), c)))


def _agreement(groupings: Groupings) -> list[tuple[str, str, float]]:
    """The adjusted Rand index of every two people, over the items that both placed."""
    agreements = []
    for a, b in combinations(groupings.subjects, 2):
        shared = [i for i in groupings.places[a] if i in groupings.places[b]]
        if len(shared) > 1:
            labels = [[groupings.places[subject][i] for i in shared] for subject in (a, b)]
            agreements.append((a, b, adjusted_rand(*labels)))
    return agreements


def adjusted_rand(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Hubert and Arabie's (1985) adjusted Rand index of two groupings of the same items.

    >>> adjusted_rand(["x", "x", "y", "y"], ["b", "b", "a", "a"])
    1.0
    """
    pairs = Counter(zip(map(_key, first), map(_key, second), strict=True))
    rows, columns = Counter(map(_key, first)), Counter(map(_key, second))
    joint_pairs, row_pairs, column_pairs = (
        sum(n * (n - 1) / 2 for n in counts.values()) for counts in (pairs, rows, columns)
    )
    every = len(first) * (len(first) - 1) / 2
    expected, maximum = row_pairs * column_pairs / every, (row_pairs + column_pairs) / 2
    return 1.0 if maximum == expected else (joint_pairs - expected) / (maximum - expected)


def _key(label: Any) -> Any:
    return tuple(label) if isinstance(label, list) else label


def _kinds(groupings: Groupings) -> tuple[tuple[KindShare, ...], tuple[KindShare, ...]]:
    """The kinds of all reasons, and of the first splits; a split counts once for each person."""
    if groupings.tags:
        return _shares(Counter(groupings.kinds.values())), ()
    first = Counter(kind for (_, path), kind in groupings.kinds.items() if len(path) == 1)
    return _shares(Counter(groupings.kinds.values())), _shares(first)


def _shares(counts: Mapping[str, int]) -> tuple[KindShare, ...]:
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(KindShare(kind, n, n / total) for kind, n in ranked)
