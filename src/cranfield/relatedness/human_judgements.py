"""Relatedness against the judgement of people, as in Tables 8.4 and 8.5 of the thesis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_FEWEST = 4  # pairs below which a correlation has no interval


@dataclass(frozen=True)
class HumanCorrelation:
    """Correlations with people's scores, their intervals, and the number of pairs they rest on."""

    spearman: float
    spearman_interval: tuple[float, float]
    pearson: float
    pearson_interval: tuple[float, float]
    pairs: int
    left_out: int


def correlation_with_people(
    values: Sequence[float] | Floats, human: Sequence[float] | Floats, *, confidence: float = 0.95
) -> HumanCorrelation:
    """Spearman and Pearson over the pairs that have both values; NaN entries are left out.

    Intervals are Fisher's; Spearman's has the wider variance of Bonett and Wright (2000).
    """
    from scipy.stats import norm, rankdata

    x, y = np.asarray(values, float), np.asarray(human, float)
    scored = ~(np.isnan(x) | np.isnan(y))
    x, y = x[scored], y[scored]
    ranks: Callable[[Floats], Floats] = rankdata
    rho, r = _correlation(ranks(x), ranks(y)), _correlation(x, y)
    width = float(norm.ppf(0.5 + confidence / 2))
    return HumanCorrelation(
        rho,
        _interval(rho, 1.0 + rho * rho / 2.0, len(x), width),
        r,
        _interval(r, 1.0, len(x), width),
        len(x),
        int((~scored).sum()),
    )


def _correlation(x: Floats, y: Floats) -> float:
    if len(x) < 2:
        return math.nan
    a, b = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, float(a @ b) / scale)) if scale > 0 else math.nan


def _interval(value: float, variance: float, pairs: int, width: float) -> tuple[float, float]:
    if math.isnan(value) or pairs < _FEWEST:
        return math.nan, math.nan
    if abs(value) >= 1.0:
        return value, value
    half = width * math.sqrt(variance / (pairs - 3))
    centre = math.atanh(value)
    return math.tanh(centre - half), math.tanh(centre + half)
