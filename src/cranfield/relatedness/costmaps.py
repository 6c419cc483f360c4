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
from cranfield.relatedness.scoring import PairScore, PairScores, Resources, score_pairs

Costs = NDArray[np.float64]


@dataclass(frozen=True)
class ScoredMap:
    """A cost map, the method it came from, and the concepts that cost 1 for want of data."""

    method: Method
    costs: CostMap
    unknown: tuple[str, ...]
    unusable: tuple[str, ...]
    unseen: tuple[str, ...]


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
            maps[scores.method.name] = _map(scores, concepts, resources)
    return [maps[method.name] for method in methods]


def _map(scores: PairScores, concepts: Sequence[str], resources: Resources) -> ScoredMap:
    position = {concept: i for i, concept in enumerate(concepts)}
    related = np.eye(len(concepts))
    found = [pair for pair in scores.pairs if pair.relatedness is not None]
    meanings = _meanings(scores.method, concepts, resources)
    for pair, value in zip(found, _scaled(scores.method, found, resources), strict=True):
        i, j = position[pair.word1], position[pair.word2]
        # Two names of one sense are one concept, whatever the method makes of it: RES, JCN and
        # LIN know nothing of a sense that was never tagged, and may prefer another one.
        if not meanings[i].isdisjoint(meanings[j]):
            value = 1.0
        value = min(max(value, float(related[i, j])), 1.0)
        related[i, j] = related[j, i] = value
    costs = CostMap.of(concepts, 1.0 - related, name=scores.method.name)
    return ScoredMap(scores.method, costs, scores.unknown, scores.unusable, scores.unseen)


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
        left, right = [p.sense1 for p in pairs], [p.sense2 for p in pairs]
        scaled = method.scale(resources.lexicon.wordnet, values, left, right)
    return [float(value) for value in scaled]


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
