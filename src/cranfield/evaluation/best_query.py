"""The vector that ranks some items before all others, as well as can be found.

The chance that an item stands before another one is taken as a logistic function of the difference
of their scores. The first descent is on the mean loss over all pairs of a relevant and another
item: it finds the query that ranks all relevant items first where there is one, and else minds the
bottom of the ranking as much as its top. The second is on average precision itself, with ranks
made of these chances, from where the first one ended and from where it began. Of all queries met
the one with the best average precision is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Sharper losses look more at single pairs that stand the wrong way round.
SHARPNESS = (5.0, 50.0, 500.0)
# How far apart scores must be for their order to be nearly sure, in standard deviations of all
# scores: from ranks that move smoothly to those of the ranking.
BLURS = (0.3, 0.1, 0.03)
STEPS_OF_PAIRS, STEPS_OF_PRECISION = 200, 100
# Keeps a query finite whose loss could fall for ever.
RIDGE = 1e-6
# Pairs of one step; beyond it the others nearest to the relevant items are looked at.
MOST_PAIRS = 4_000_000


Loss = Callable[[Floats], tuple[float, Floats]]


def best_query(unit: Floats, relevant: NDArray[np.bool_], start: Floats) -> Floats:
    """A unit vector whose products with the rows of `unit` rank the relevant rows first."""
    first = _normed(start)
    if relevant.all():
        return first
    best = _better(unit, relevant, first, _by_pairs(unit, relevant, first))
    for begin in (best,) if best is first else (best, first):
        best = _better(unit, relevant, best, _by_precision(unit, relevant, begin))
    return best


def _better(
    unit: Floats, relevant: NDArray[np.bool_], best: Floats, queries: Iterator[Floats]
) -> Floats:
    """The best of a query and others, which are looked for only while it can be bettered."""
    best_precision = average_precision(unit @ best, relevant)
    while best_precision < 1.0 and (query := next(queries, None)) is not None:
        reached = average_precision(unit @ query, relevant)
        if reached > best_precision:
            best, best_precision = query, reached
    return best


def _by_pairs(unit: Floats, relevant: NDArray[np.bool_], query: Floats) -> Iterator[Floats]:
    for sharpness in SHARPNESS:
        rest = unit[_looked_at(unit, relevant, query)]
        loss = partial(_pair_loss, good=unit[relevant], rest=rest, sharpness=sharpness)
        query = _descended(loss, query, STEPS_OF_PAIRS)
        yield query


def _by_precision(unit: Floats, relevant: NDArray[np.bool_], query: Floats) -> Iterator[Floats]:
    spread = float(np.std(unit @ query))
    for blur in BLURS if spread > 0 else ():
        rest = unit[_looked_at(unit, relevant, query)]
        loss = partial(_precision_loss, good=unit[relevant], rest=rest, blur=blur * spread)
        query = _descended(loss, query, STEPS_OF_PRECISION)
        yield query


def _descended(loss: Loss, query: Floats, steps: int) -> Floats:
    from scipy.optimize import minimize

    answer = minimize(loss, query, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return _normed(np.asarray(answer.x))


def _looked_at(unit: Floats, relevant: NDArray[np.bool_], query: Floats) -> NDArray[np.int64]:
    """The other rows, at most as many of the highest as make up the pairs of a step."""
    others = np.flatnonzero(~relevant)
    row_limit = max(MOST_PAIRS // max(int(relevant.sum()), 1), 1)
    if others.size <= row_limit:
        return others
    return others[np.argsort(-(unit[others] @ query), kind="stable")[:row_limit]]


def _pair_loss(w: Floats, good: Floats, rest: Floats, sharpness: float) -> tuple[float, Floats]:
    """The mean logistic loss over pairs, and its gradient."""
    a, b = sharpness * (good @ w), sharpness * (rest @ w)
    apart = a[:, None] - b[None, :]
    value = float(np.logaddexp(0.0, -apart).mean())
    weight = 1 / (1 + np.exp(np.clip(apart, -500, 500)))
    scale = sharpness / apart.size
    gradient = scale * (rest.T @ weight.sum(axis=0) - good.T @ weight.sum(axis=1))
    return value + RIDGE * float(w @ w), np.asarray(gradient + 2 * RIDGE * w)


def _precision_loss(w: Floats, good: Floats, rest: Floats, blur: float) -> tuple[float, Floats]:
    """Minus average precision with blurred ranks, and its gradient; w may have any length."""
    from scipy.special import expit

    length = float(np.linalg.norm(w)) or 1.0
    query = w / length
    a, b = good @ query, rest @ query
    before = expit((a[None, :] - a[:, None]) / blur)
    np.fill_diagonal(before, 0.0)
    others = expit((b[None, :] - a[:, None]) / blur)
    hits = 1 + before.sum(axis=1)
    ranks = hits + others.sum(axis=1)
    scale = 1 / (blur * a.size * ranks**2)
    before *= (before - 1) * ((ranks - hits) * scale)[:, None]
    others *= (1 - others) * (hits * scale)[:, None]
    by_good = before.sum(axis=0) - before.sum(axis=1) - others.sum(axis=1)
    gradient = good.T @ by_good + rest.T @ others.sum(axis=0)
    return -float((hits / ranks).mean()), np.asarray(
        (gradient - query * (query @ gradient)) / length
    )


def average_precision(scores: Floats, relevant: NDArray[np.bool_]) -> float:
    """Average precision of a full ranking; of equal scores the relevant come last."""
    order = np.lexsort((relevant, -scores))
    ranks = np.flatnonzero(relevant[order]) + 1
    return float((np.arange(1, ranks.size + 1) / ranks).mean())


def _normed(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
