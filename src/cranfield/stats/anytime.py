"""Intervals and e-values that hold at every look, however often one looks and whenever one stops.

All of them come from one martingale: a sum S of errors with the mean 0, whose variances are added
up to V on the way. Mixed over all sizes of a drift with a normal distribution of the variance 1 /
rho, its likelihood ratio starts at 1, is a martingale while there is no drift, and so exceeds 1 /
alpha with the probability alpha at most, over all looks together (Robbins 1970; Howard, Ramdas,
McAuliffe and Sekhon 2021; for variances that are estimated, Waudby-Smith, Arbour, Sinha, Kennedy
and Ramdas 2024: then it holds as the samples grow).
"""

from __future__ import annotations

import math

import numpy as np

from cranfield.errors import UsageError
from cranfield.stats import _special
from cranfield.stats._resample import Floats


def best_rho(variance: Floats, alpha: float) -> Floats:
    """The rho whose interval is all but narrowest once variances have added up to `variance`.

    >>> round(float(best_rho(np.array([1.0]), 0.05)[0]), 3)
    0.126
    """
    check_level(alpha)
    level = -2.0 * math.log(alpha)
    return np.asarray(np.asarray(variance, dtype=float) / (level + math.log1p(level)))


def mixture_radius(variance: Floats, rho: Floats, alpha: float) -> Floats:
    """How far S is from 0 at most, at all looks together but for the probability `alpha`.

    >>> round(float(mixture_radius(np.array([1.0]), np.array([0.11]), 0.05)[0]), 3)
    3.036
    """
    check_level(alpha)
    total = np.asarray(variance, dtype=float) + rho
    with np.errstate(divide="ignore", invalid="ignore"):
        radius = np.sqrt(total * (np.log(total / rho) - 2.0 * math.log(alpha)))
    # Without any variance there is nothing to be unsure of.
    return np.where(np.asarray(variance) > 0, radius, 0.0)


def e_value(total: Floats, variance: Floats, rho: Floats) -> Floats:
    """The evidence that the drift of S is greater than 0: at 1 / alpha, a claim at the level alpha.

    It may be looked at after every batch and multiplied with that of another campaign.

    >>> round(float(e_value(np.array([4.0]), np.array([1.0]), np.array([0.11]))[0]), 1)
    849.3
    """
    spread = np.asarray(variance, dtype=float) + rho
    scaled = np.asarray(total, dtype=float) / np.sqrt(spread)
    exponent = np.minimum(0.5 * scaled**2, 700.0)
    return np.asarray(2.0 * np.sqrt(rho / spread) * np.exp(exponent) * _special.ndtr(scaled))


def check_level(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} is not between 0 and 1")
