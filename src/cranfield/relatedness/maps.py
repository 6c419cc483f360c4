"""Looking at cost maps: who is near whom, which concepts cluster, how alike two maps are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.costmap import CostMap
from cranfield.errors import InputError, UsageError, check_counts, door, plural, suggest
from cranfield.io.costmap import read_costmap
from cranfield.notes import Progress

Costs = NDArray[np.float64]
NEAREST, PERMUTATIONS, DIFFERENCES = 3, 999, 10


@dataclass(frozen=True, repr=False, eq=False)
class CostMapView(Answer):
    """A cost map with the nearest concepts of each concept, and the clusters they form.

    `merges` joins concepts one by one at the least average cost: (first, second, cost), where a
    number below the number of concepts is a concept, the next ones are the merges in their order.
    `order` has the concepts so that clusters stand together; `listed` are those whose nearest
    concepts are asked for, all of them if none is named.
    """

    command: ClassVar[str] = "costmap"
    costs: CostMap
    nearest: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
    merges: tuple[tuple[int, int, float], ...]
    order: tuple[int, ...]
    count: int = NEAREST
    listed: tuple[str, ...] = ()

    def payload(self, **_: Any) -> dict[str, Any]:
        """The concepts in the order of the clusters, and the nearest ones of each."""
        return {
            "concepts": list(self.costs.concepts),
            "order": [self.costs.concepts[i] for i in self.order],
            "nearest": [
                {
                    "concept": concept,
                    "nearest": [{"concept": other, "cost": cost} for other, cost in near],
                }
                for concept, near in self.nearest
            ],
        }

    def headline(self) -> str:
        return f"{self.costs.name}: costs between {plural(len(self.costs.concepts), 'concept')}"


@door
def view_cost_map(
    costs: CostMap | str | Path, *, nearest: int = NEAREST, concepts: Sequence[str] = ()
) -> CostMapView:
    """The nearest concepts of each concept (or of those named), and the clusters of all."""
    check_counts(nearest=nearest)
    found = read_costmap(costs) if isinstance(costs, str | Path) else costs
    for name in concepts:
        if name not in found.concepts:
            raise UsageError(f"{found.name}: no concept {name!r}.{suggest(name, found.concepts)}")
    merges = _merges(found)
    return CostMapView(
        found,
        nearest_concepts(found, nearest, concepts),
        merges,
        _leaves(merges, len(found.concepts)),
        nearest,
        tuple(concepts),
    )


def nearest_concepts(
    costs: CostMap, count: int = NEAREST, only: Sequence[str] = ()
) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """The nearest concepts of each concept, or of those named, with their costs."""
    return tuple(
        (name, _nearest(costs, row, count))
        for row, name in enumerate(costs.concepts)
        if not only or name in only
    )


def _nearest(costs: CostMap, row: int, count: int) -> tuple[tuple[str, float], ...]:
    order = [int(j) for j in np.argsort(costs.costs[row], kind="stable") if j != row]
    # At cost 1 nothing is near, and which concept comes first is chance.
    return tuple(
        (costs.concepts[j], float(costs.costs[row, j]))
        for j in order[:count]
        if costs.costs[row, j] < 1.0
    )


def _merges(costs: CostMap) -> tuple[tuple[int, int, float], ...]:
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    if len(costs.concepts) < 2:
        return ()
    found = linkage(squareform(costs.costs, checks=False), "average")
    return tuple((int(first), int(second), float(cost)) for first, second, cost, _ in found)


def _leaves(merges: Sequence[tuple[int, int, float]], count: int) -> tuple[int, ...]:
    """The concepts from left to right; no recursion, for trees can be a single chain."""
    order: list[int] = []
    waiting = [count + len(merges) - 1]
    while waiting:
        branch = waiting.pop()
        if branch < count:
            order.append(branch)
        else:
            first, second, _ = merges[branch - count]
            waiting += (second, first)
    return tuple(order)


@dataclass(frozen=True, repr=False, eq=False)
class MapComparison(Answer):
    """How alike two cost maps are over the pairs of the concepts that both have.

    `differences` has all pairs with both costs, the largest difference first.
    """

    command: ClassVar[str] = "costmap"
    first: str
    second: str
    concepts: tuple[str, ...]
    pearson: float
    spearman: float
    p: float
    mean_difference: float
    seed: int
    differences: tuple[tuple[str, str, float, float], ...]

    def payload(self, *, top: int = DIFFERENCES, **_: Any) -> dict[str, Any]:
        """The correlations, and the `top` pairs that differ most."""
        return {
            "a": self.first,
            "b": self.second,
            "concepts": len(self.concepts),
            "pearson": self.pearson,
            "spearman": self.spearman,
            "p": self.p,
            "mean_difference": self.mean_difference,
            "seed": self.seed,
            "differences": [
                {"concept1": c, "concept2": d, "a": x, "b": y} for c, d, x, y in self.differing(top)
            ],
        }

    def differing(self, top: int) -> list[tuple[str, str, float, float]]:
        """The pairs that differ most."""
        return [row for row in self.differences[:top] if row[2] != row[3]]

    def headline(self) -> str:
        return (
            f"{self.first} and {self.second} over {plural(len(self.concepts), 'concept')}: "
            f"Spearman {self.spearman:.4f}"
        )


@door
def compare_cost_maps(
    first: CostMap | str | Path,
    second: CostMap | str | Path,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> MapComparison:
    """Correlation of two cost maps, with Mantel's test: concepts are shuffled, not pairs."""
    from scipy.stats import rankdata

    check_counts(permutations=permutations)
    one, other = (read_costmap(m) if isinstance(m, str | Path) else m for m in (first, second))
    concepts = _shared(one, other)
    a_costs, b_costs = one.aligned(concepts), other.aligned(concepts)
    upper = np.triu_indices(len(concepts), 1)
    a, b = a_costs[upper], b_costs[upper]
    ranks = np.zeros_like(b_costs)
    ranks[upper] = rankdata(b)
    ranks += ranks.T
    first_ranks = rankdata(a)
    spearman = _correlation(first_ranks, ranks[upper])
    rng = np.random.default_rng(seed)
    told = Progress.of(progress)
    as_high = 1
    for done in range(permutations):
        told(done / permutations)
        order = rng.permutation(len(concepts))
        as_high += _correlation(first_ranks, ranks[np.ix_(order, order)][upper]) >= spearman - 1e-12
    by_difference = np.argsort(-np.abs(a - b), kind="stable")
    left_out = len(one.concepts) + len(other.concepts) - 2 * len(concepts)
    return MapComparison(
        one.name,
        other.name,
        concepts,
        _correlation(a, b),
        spearman,
        float("nan") if np.isnan(spearman) else as_high / (permutations + 1),
        float(np.abs(a - b).mean()),
        seed,
        tuple(
            (concepts[upper[0][k]], concepts[upper[1][k]], float(a[k]), float(b[k]))
            for k in by_difference
        ),
        notes=(f"{left_out} concepts are in one map only and left out",) if left_out else (),
    )


def _shared(one: CostMap, other: CostMap) -> tuple[str, ...]:
    known = set(other.concepts)
    concepts = tuple(c for c in one.concepts if c in known)
    if len(concepts) < 3:
        raise InputError.single(
            other.name, f"shares {len(concepts)} concepts with {one.name}, expected 3 or more"
        )
    return concepts


def _correlation(a: Costs, b: Costs) -> float:
    x, y = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 0 else float("nan")
