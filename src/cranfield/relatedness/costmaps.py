"""Cost maps from relatedness (No 8.3.1), and what two of them have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cranfield.data.costmap import CostMap
from cranfield.errors import InputError
from cranfield.relatedness._spec import Method
from cranfield.relatedness.scoring import PairScores, Resources, score_pairs

Costs = NDArray[np.float64]


@dataclass(frozen=True)
class ScoredMap:
    """A cost map, the method it came from, and the concepts that cost 1 for want of data."""

    method: Method
    costs: CostMap
    unknown: tuple[str, ...]
    largest: float


def cost_maps(
    methods: Sequence[Method], concepts: Sequence[str], resources: Resources
) -> list[ScoredMap]:
    """One cost map per method: 1 - relatedness, scaled to [0, 1].

    Methods that depend on the order of a pair are asked both ways, and the larger value counts.
    """
    one_way = list(combinations(concepts, 2))
    both_ways = one_way + [(b, a) for a, b in one_way]
    maps: dict[str, ScoredMap] = {}
    for symmetric in (True, False):
        chosen = [m for m in methods if m.symmetric is symmetric]
        pairs = one_way if symmetric else both_ways
        for scores in score_pairs(chosen, pairs, resources):
            maps[scores.method.name] = _map(scores, concepts)
    return [maps[method.name] for method in methods]


def _map(scores: PairScores, concepts: Sequence[str]) -> ScoredMap:
    method = scores.method
    position = {concept: i for i, concept in enumerate(concepts)}
    related = np.zeros((len(concepts), len(concepts)))
    same = np.zeros_like(related, dtype=bool)
    for pair in scores.pairs:
        i, j = position[pair.word1], position[pair.word2]
        value = max(pair.relatedness or 0.0, float(related[i, j]))
        related[i, j] = related[j, i] = value
        same[i, j] = same[j, i] = same[i, j] or pair.same_synset
    largest = method.maximum
    if largest is None:
        # The same sense under two names has the largest value there is, JCN's many million:
        # it would leave nothing for all other pairs.
        largest = float(related[~same].max(initial=0.0))
    scaled = np.minimum(related / largest, 1.0) if largest > 0 else np.zeros_like(related)
    scaled[same] = np.where(method.maximum is None, 1.0, scaled[same])
    np.fill_diagonal(scaled, 1.0)
    unknown = tuple(c for c in concepts if c in set(scores.unknown))
    return ScoredMap(method, CostMap.of(concepts, 1.0 - scaled, name=method.name), unknown, largest)


@dataclass(frozen=True)
class MapComparison:
    """How alike two cost maps are over the pairs of the concepts that both have."""

    concepts: tuple[str, ...]
    pearson: float
    spearman: float
    p: float
    mean_difference: float
    differences: tuple[tuple[str, str, float, float], ...]


def compare_maps(
    first: CostMap, second: CostMap, *, permutations: int = 999, seed: int = 0
) -> MapComparison:
    """Correlation of two cost maps, with Mantel's test: concepts are shuffled, not pairs.

    `differences` has all pairs with both costs, the largest difference first.
    """
    known = set(second.concepts)
    concepts = tuple(c for c in first.concepts if c in known)
    if len(concepts) < 3:
        raise InputError.single(
            second.name, f"shares {len(concepts)} concepts with {first.name}, expected 3 or more"
        )
    one, other = first.aligned(concepts), second.aligned(concepts)
    upper = np.triu_indices(len(concepts), 1)
    a, b = one[upper], other[upper]
    from scipy.stats import rankdata

    ranks = np.zeros_like(other)
    ranks[upper] = rankdata(b)
    ranks += ranks.T
    first_ranks = rankdata(a)
    spearman = _correlation(first_ranks, ranks[upper])
    rng = np.random.default_rng(seed)
    as_high = 1
    for _ in range(permutations):
        order = rng.permutation(len(concepts))
        as_high += _correlation(first_ranks, ranks[np.ix_(order, order)][upper]) >= spearman - 1e-12
    order = np.argsort(-np.abs(a - b), kind="stable")
    differences = tuple(
        (concepts[upper[0][k]], concepts[upper[1][k]], float(a[k]), float(b[k])) for k in order
    )
    return MapComparison(
        concepts,
        _correlation(a, b),
        spearman,
        float("nan") if np.isnan(spearman) else as_high / (permutations + 1),
        float(np.abs(a - b).mean()),
        differences,
    )


def _correlation(a: Costs, b: Costs) -> float:
    x, y = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 0 else float("nan")
