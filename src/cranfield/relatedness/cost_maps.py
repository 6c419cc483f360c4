"""Cost maps from relatedness (No 8.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.costmap import CostMap
from cranfield.errors import InputError, UsageError, check_counts, plural, suggest
from cranfield.io.costmap import read_costmap
from cranfield.notes import Progress, with_progress
from cranfield.relatedness import Method
from cranfield.relatedness.scoring import PairScore, PairScores, Resources, score_pairs
from cranfield.validation import Seed, validate_params


@dataclass(frozen=True, repr=False, eq=False)
class ConceptCosts(Answer):
    """A cost map, the method it came from, and the concepts that cost 1 for want of data."""

    command: ClassVar[str] = "relatedness"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:costs_document"
    method: Method
    costs: CostMap
    unknown: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    def payload(self, **_: object) -> dict[str, Any]:
        """The square of costs."""
        return {
            "method": str(self.method),
            "concepts": list(self.costs.concepts),
            "costs": self.costs.costs.tolist(),
            "unmapped": [*self.unknown, *self.unusable, *self.unseen],
        }

    def headline(self) -> str:
        return f"costs between {plural(len(self.costs.concepts), 'concept')} by {self.method}"


def cost_maps(
    methods: Sequence[Method], concepts: Sequence[str], resources: Resources
) -> list[ConceptCosts]:
    """One cost map per method: 1 - relatedness, scaled to [0, 1].

    Methods that depend on the order of a pair are asked both ways, and the larger value counts.
    """
    one_way = list(combinations(concepts, 2))
    both_ways = one_way + [(b, a) for a, b in one_way]
    maps: dict[Method, ConceptCosts] = {}
    for symmetric in (True, False):
        group = [m for m in methods if m.symmetric is symmetric]
        pairs = one_way if symmetric else both_ways
        for scores in score_pairs(group, pairs, resources):
            maps[scores.method] = _map(scores, concepts, resources)
    return [maps[method] for method in methods]


def _map(scores: PairScores, concepts: Sequence[str], resources: Resources) -> ConceptCosts:
    position = {concept: i for i, concept in enumerate(concepts)}
    related = np.eye(len(concepts))
    scored_pairs = [pair for pair in scores.pairs if pair.relatedness is not None]
    meanings = _meanings(scores.method, concepts, resources)
    for pair, value in zip(
        scored_pairs, _scaled(scores.method, scored_pairs, resources), strict=True
    ):
        i, j = position[pair.word1], position[pair.word2]
        # Two names of one sense are one concept, whatever the method makes of it: RES, JCN and
        # LIN know nothing of a sense that was never tagged, and may prefer another one.
        if not meanings[i].isdisjoint(meanings[j]):
            value = 1.0
        value = min(max(value, float(related[i, j])), 1.0)
        related[i, j] = related[j, i] = value
    costs = CostMap.of(concepts, 1.0 - related, name=str(scores.method))
    return ConceptCosts(scores.method, costs, scores.unknown, scores.unusable, scores.unseen)


def _meanings(
    method: Method, concepts: Sequence[str], resources: Resources
) -> list[frozenset[int]]:
    """The synsets that each concept may mean; none for a method without senses."""
    lexicon = resources.lexicon if method.family == "wordnet" else None
    if lexicon is None:
        return [frozenset()] * len(concepts)
    return [frozenset(sense.synset for sense in lexicon.senses(c)) for c in concepts]


def _scaled(method: Method, pairs: Sequence[PairScore], resources: Resources) -> list[float]:
    values = np.array([pair.relatedness for pair in pairs], np.float64)
    scaled = values / method.maximum
    if method.scale is not None and resources.lexicon is not None and pairs:
        senses1, senses2 = [p.sense1 for p in pairs], [p.sense2 for p in pairs]
        scaled = method.scale(resources.lexicon.wordnet, values, senses1, senses2)
    return [float(value) for value in scaled]


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
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:cost_map_document"
    costs: CostMap
    nearest: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
    merges: tuple[tuple[int, int, float], ...]
    order: tuple[int, ...]
    count: int = NEAREST
    listed: tuple[str, ...] = ()

    def payload(self, **_: object) -> dict[str, Any]:
        """The concepts in the order of the clusters, and the nearest ones of each."""
        return {
            "concepts": list(self.costs.concepts),
            "order": [self.costs.concepts[i] for i in self.order],
            "nearest": [
                {
                    "concept": concept,
                    "nearest": [
                        {"concept": neighbour, "cost": cost} for neighbour, cost in neighbours
                    ],
                }
                for concept, neighbours in self.nearest
            ],
        }

    def headline(self) -> str:
        return f"{self.costs.name}: costs between {plural(len(self.costs.concepts), 'concept')}"


@validate_params
def view_cost_map(
    costs: CostMap | str | Path, *, nearest: int = NEAREST, concepts: Sequence[str] = ()
) -> CostMapView:
    """The nearest concepts of each concept (or of those named), and the clusters of all."""
    check_counts(nearest=nearest)
    cost_map = read_costmap(costs) if isinstance(costs, str | Path) else costs
    for name in concepts:
        if name not in cost_map.concepts:
            raise UsageError(
                f"{cost_map.name}: no concept {name!r}.{suggest(name, cost_map.concepts)}"
            )
    merges = _merges(cost_map)
    return CostMapView(
        cost_map,
        nearest_concepts(cost_map, nearest, concepts),
        merges,
        _leaves(merges, len(cost_map.concepts)),
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
    merges = linkage(squareform(costs.costs, checks=False), "average")
    return tuple((int(first), int(second), float(cost)) for first, second, cost, _ in merges)


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
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:cost_map_comparison_document"
    first: str
    second: str
    concepts: tuple[str, ...]
    pearson: float
    spearman: float
    p: float
    mean_difference: float
    seed: int
    differences: tuple[tuple[str, str, float, float], ...]

    def payload(self, *, top: int = DIFFERENCES, **_: object) -> dict[str, Any]:
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


@validate_params
@with_progress
def compare_cost_maps(
    first: CostMap | str | Path,
    second: CostMap | str | Path,
    *,
    permutations: int = PERMUTATIONS,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> MapComparison:
    """Correlation of two cost maps, with Mantel's test: concepts are shuffled, not pairs."""
    from scipy.stats import rankdata

    check_counts(permutations=permutations)
    first_map, second_map = (
        read_costmap(m) if isinstance(m, str | Path) else m for m in (first, second)
    )
    concepts = _shared(first_map, second_map)
    a_costs, b_costs = first_map.aligned(concepts), second_map.aligned(concepts)
    upper = np.triu_indices(len(concepts), 1)
    a, b = a_costs[upper], b_costs[upper]
    ranks = np.zeros_like(b_costs)
    ranks[upper] = rankdata(b)
    ranks += ranks.T
    first_ranks = rankdata(a)
    spearman = _correlation(first_ranks, ranks[upper])
    rng = np.random.default_rng(seed)
    reporter = Progress.of(progress)
    as_high = 1
    for number in range(permutations):
        reporter(number / permutations)
        order = rng.permutation(len(concepts))
        as_high += _correlation(first_ranks, ranks[np.ix_(order, order)][upper]) >= spearman - 1e-12
    by_difference = np.argsort(-np.abs(a - b), kind="stable")
    left_out = len(first_map.concepts) + len(second_map.concepts) - 2 * len(concepts)
    return MapComparison(
        first_map.name,
        second_map.name,
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


def _shared(first: CostMap, second: CostMap) -> tuple[str, ...]:
    second_concepts = set(second.concepts)
    concepts = tuple(c for c in first.concepts if c in second_concepts)
    if len(concepts) < 3:
        raise InputError.single(
            second.name, f"shares {len(concepts)} concepts with {first.name}, expected 3 or more"
        )
    return concepts


def _correlation(a: Costs, b: Costs) -> float:
    x, y = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 0 else float("nan")
