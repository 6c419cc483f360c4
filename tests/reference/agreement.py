"""Agreement coefficients and Dawid-Skene in plain Python, written to read like the formulae.

A unit is a list of (annotator, answer); answers are 0..q-1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations

Unit = Sequence[tuple[int, int]]
Distance = Callable[[int, int], float]


def observed_agreement(units: Sequence[Unit], weight: Distance) -> float:
    """The mean over units with two or more answers of the mean weight of two of them."""
    means = []
    for unit in units:
        pairs = [weight(x, y) for (_, x), (_, y) in permutations(unit, 2)]
        if pairs:
            means.append(sum(pairs) / len(pairs))
    return sum(means) / len(means) if means else math.nan


def marginals(units: Sequence[Unit], q: int) -> list[float]:
    """The share of each answer, every unit with one vote."""
    given = [unit for unit in units if unit]
    return [
        sum(sum(v == k for _, v in unit) / len(unit) for unit in given) / len(given)
        for k in range(q)
    ]


def identity(x: int, y: int) -> float:
    return float(x == y)


def beyond(observed: float, chance: float) -> float:
    return math.nan if abs(1 - chance) < 1e-12 else (observed - chance) / (1 - chance)


def fleiss(units: Sequence[Unit], q: int) -> float:
    share = marginals(units, q)
    return beyond(observed_agreement(units, identity), sum(p * p for p in share))


def free_marginal(units: Sequence[Unit], q: int) -> float:
    return beyond(observed_agreement(units, identity), 1 / q)


def gwet(units: Sequence[Unit], q: int, weight: Distance = identity) -> float:
    share = marginals(units, q)
    total = sum(weight(x, y) for x in range(q) for y in range(q))
    chance = total * sum(p * (1 - p) for p in share) / (q * (q - 1))
    return beyond(observed_agreement(units, weight), chance)


def krippendorff(units: Sequence[Unit], distance: Distance) -> float:
    """One minus the mean distance within units over the mean distance of any two answers."""
    paired = [[v for _, v in unit] for unit in units if len(unit) > 1]
    pool = [v for unit in paired for v in unit]
    if not pool:
        return math.nan
    within = sum(
        sum(distance(x, y) for x, y in permutations(unit, 2)) / (len(unit) - 1) for unit in paired
    ) / len(pool)
    anywhere = sum(distance(x, y) for x, y in permutations(pool, 2)) / (len(pool) * (len(pool) - 1))
    return math.nan if anywhere == 0 else 1 - within / anywhere


def ordinal_distance(units: Sequence[Unit], q: int) -> Distance:
    """Squared number of pairable answers from one to the other, their own counted half."""
    pool = [v for unit in units if len(unit) > 1 for _, v in unit]
    n = [pool.count(k) for k in range(q)]

    def distance(x: int, y: int) -> float:
        low, high = min(x, y), max(x, y)
        return float((sum(n[low : high + 1]) - (n[low] + n[high]) / 2) ** 2)

    return distance


def cohen(units: Sequence[Unit], a: int, b: int, q: int) -> float:
    both = [(dict(unit)[a], dict(unit)[b]) for unit in units if {a, b} <= dict(unit).keys()]
    n = len(both)
    same = sum(x == y for x, y in both) / n
    chance = sum(
        sum(x == k for x, _ in both) * sum(y == k for _, y in both) / n**2 for k in range(q)
    )
    return beyond(same, chance)


def scott(units: Sequence[Unit], a: int, b: int, q: int) -> float:
    both = [(dict(unit)[a], dict(unit)[b]) for unit in units if {a, b} <= dict(unit).keys()]
    pool = [v for pair in both for v in pair]
    same = sum(x == y for x, y in both) / len(both)
    return beyond(same, sum((pool.count(k) / len(pool)) ** 2 for k in range(q)))


def dawid_skene(
    units: Sequence[Unit], people: int, q: int, iterations: int, least: float = 1e-10
) -> list[list[float]]:
    """The probability of each true answer of each unit after some steps from the votes."""
    belief = [[sum(v == k for _, v in unit) / len(unit) for k in range(q)] for unit in units]
    for _ in range(iterations):
        prior = [max(sum(b[k] for b in belief) / len(belief), least) for k in range(q)]
        table = _confusions(units, belief, people, q, least)
        belief = []
        for unit in units:
            score = [
                math.log(prior[k]) + sum(math.log(table[a][k][v]) for a, v in unit)
                for k in range(q)
            ]
            part = [math.exp(s - max(score)) for s in score]
            belief.append([p / sum(part) for p in part])
    return belief


def _confusions(
    units: Sequence[Unit], belief: list[list[float]], people: int, q: int, least: float
) -> list[list[list[float]]]:
    """table[annotator][true][answer], over the answers that the annotator ever gave."""
    table = [[[0.0] * q for _ in range(q)] for _ in range(people)]
    said = [{v for unit in units for a, v in unit if a == p} for p in range(people)]
    for unit, share in zip(units, belief, strict=True):
        for a, v in unit:
            for k in range(q):
                table[a][k][v] += share[k]
    for a in range(people):
        for k in range(q):
            row = {v: max(table[a][k][v], least) for v in said[a]}
            for v, value in row.items():
                table[a][k][v] = value / sum(row.values())
    return table
