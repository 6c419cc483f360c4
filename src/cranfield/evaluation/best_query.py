"""The vector that ranks some items before all others, as well as can be found.

The chance that a relevant item stands before another one is taken as a logistic function of the
difference of their scores; the descent is on the mean loss over all such pairs. From several
starts and for several sharpnesses of the loss the query with the best average precision is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Sharper losses look more at single pairs that stand the wrong way round.
SHARPNESS = (5.0, 50.0, 500.0)
STEPS = 200
# Keeps a query finite whose loss could fall for ever.
RIDGE = 1e-6
# Pairs of one step; beyond it the others nearest to the relevant items are looked at.
MOST_PAIRS = 4_000_000


def best_query(unit: Floats, relevant: NDArray[np.bool_], start: Floats) -> Floats:
    """A unit vector whose products with the rows of `unit` rank the relevant rows first."""
    from scipy.optimize import minimize

    best, found = _normed(start), average_precision(unit @ _normed(start), relevant)
    if relevant.all() or found == 1.0:
        return best
    query = best
    for sharpness in SHARPNESS:
        rows = _looked_at(unit, relevant, query)

        def loss(w: Floats, rows: NDArray[np.int64] = rows, s: float = sharpness) -> Any:
            return _pair_loss(w, unit[relevant], unit[rows], s)

        answer = minimize(loss, query, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
        query = _normed(np.asarray(answer.x))
        reached = average_precision(unit @ query, relevant)
        if reached > found:
            best, found = query, reached
        if found == 1.0:
            break
    return best


def _looked_at(unit: Floats, relevant: NDArray[np.bool_], query: Floats) -> NDArray[np.int64]:
    """The other rows, at most as many of the highest as make up the pairs of a step."""
    others = np.flatnonzero(~relevant)
    most = max(MOST_PAIRS // max(int(relevant.sum()), 1), 1)
    if others.size <= most:
        return others
    return others[np.argsort(-(unit[others] @ query), kind="stable")[:most]]


def _pair_loss(w: Floats, good: Floats, rest: Floats, sharpness: float) -> tuple[float, Floats]:
    """The mean logistic loss over pairs, and its gradient."""
    a, b = sharpness * (good @ w), sharpness * (rest @ w)
    apart = a[:, None] - b[None, :]
    value = float(np.logaddexp(0.0, -apart).mean())
    weight = 1 / (1 + np.exp(np.clip(apart, -500, 500)))
    scale = sharpness / apart.size
    gradient = scale * (rest.T @ weight.sum(axis=0) - good.T @ weight.sum(axis=1))
    return value + RIDGE * float(w @ w), np.asarray(gradient + 2 * RIDGE * w)


def average_precision(scores: Floats, relevant: NDArray[np.bool_]) -> float:
    """Average precision of a full ranking; of equal scores the relevant come last."""
    order = np.lexsort((relevant, -scores))
    ranks = np.flatnonzero(relevant[order]) + 1
    return float((np.arange(1, ranks.size + 1) / ranks).mean())


def _normed(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
