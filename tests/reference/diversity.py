"""Slow twins of the measures of novelty and diversity: sets of subtopics, one item at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set

Subtopics = Set[int]
Discount = Callable[[int], float]


def logarithm(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def reciprocal(rank: int) -> float:
    return 1 / rank


def geometric(beta: float) -> Discount:
    return lambda rank: beta ** (rank - 1)


def gains(ranking: Sequence[Subtopics], alpha: float) -> list[float]:
    """What each item brings: (1 - alpha) to the power of how often a subtopic was seen before."""
    return [
        sum((1 - alpha) ** sum(s in before for before in ranking[:i]) for s in sorted(item))
        for i, item in enumerate(ranking)
    ]


def greedy(judged: Mapping[str, Subtopics], alpha: float) -> list[Subtopics]:
    """Always the item with the largest gain next, the larger id among equals."""
    chosen: list[Subtopics] = []
    left = sorted((name for name in judged if judged[name]), reverse=True)
    while left:
        best = max(left, key=lambda name: gains([*chosen, judged[name]], alpha)[-1])
        chosen.append(judged[best])
        left.remove(best)
    return chosen


def cumulated(ranking: Sequence[Subtopics], alpha: float, discount: Discount, k: int) -> float:
    found = gains(ranking[:k], alpha)
    return sum(gain * discount(rank) for rank, gain in enumerate(found, 1))


def novelty(
    ranking: Sequence[Subtopics],
    judged: Mapping[str, Subtopics],
    alpha: float,
    discount: Discount,
    k: int,
) -> float:
    """The sum of discounted gains over that of one new item in each subtopic at every rank."""
    subtopics = set().union(*judged.values())
    if not subtopics:
        return math.nan
    most = sum((1 - alpha) ** (rank - 1) * discount(rank) for rank in range(1, k + 1))
    return cumulated(ranking, alpha, discount, k) / (len(subtopics) * most)


def normalized_novelty(
    ranking: Sequence[Subtopics],
    judged: Mapping[str, Subtopics],
    alpha: float,
    discount: Discount,
    k: int,
) -> float:
    best = cumulated(greedy(judged, alpha), alpha, discount, k)
    return cumulated(ranking, alpha, discount, k) / best if best else math.nan


def subtopic_recall(ranking: Sequence[Subtopics], judged: Mapping[str, Subtopics], k: int) -> float:
    subtopics = set().union(*judged.values())
    return len(set().union(*ranking[:k])) / len(subtopics) if subtopics else math.nan


def intent_precision(
    ranking: Sequence[Subtopics], judged: Mapping[str, Subtopics], k: int
) -> float:
    subtopics = set().union(*judged.values())
    if not subtopics:
        return math.nan
    return sum(sum(s in item for item in ranking[:k]) / k for s in subtopics) / len(subtopics)


def intent_ap(ranking: Sequence[Subtopics], judged: Mapping[str, Subtopics]) -> float:
    subtopics = set().union(*judged.values())
    if not subtopics:
        return math.nan
    total = 0.0
    for s in subtopics:
        ranks = [rank for rank, item in enumerate(ranking, 1) if s in item]
        relevant = sum(s in item for item in judged.values())
        total += sum(n / rank for n, rank in enumerate(ranks, 1)) / relevant
    return total / len(subtopics)
