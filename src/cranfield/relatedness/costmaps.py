"""Cost maps from relatedness (No 8.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from cranfield.data.costmap import CostMap
from cranfield.relatedness._spec import Method
from cranfield.relatedness.answer import ConceptCosts
from cranfield.relatedness.scoring import PairScore, PairScores, Resources, score_pairs


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
        chosen = [m for m in methods if m.symmetric is symmetric]
        pairs = one_way if symmetric else both_ways
        for scores in score_pairs(chosen, pairs, resources):
            maps[scores.method] = _map(scores, concepts, resources)
    return [maps[method] for method in methods]


def _map(scores: PairScores, concepts: Sequence[str], resources: Resources) -> ConceptCosts:
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
        left, right = [p.sense1 for p in pairs], [p.sense2 for p in pairs]
        scaled = method.scale(resources.lexicon.wordnet, values, left, right)
    return [float(value) for value in scaled]
