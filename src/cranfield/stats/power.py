"""How many topics a difference needs, and how small a difference so many topics can show.

The power is that of the paired t-test at a level of one's choice: where many pairs are compared,
the level that their correction leaves for one of them. It speaks of a difference one cares about,
chosen before looking; the power "of the observed difference" is only the p-value in other words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from cranfield.errors import UsageError
from cranfield.stats.choices import Tail
from cranfield.stats.paired import check_tail
from cranfield.validation import Real, validate_params

MAX_TOPICS = 10_000_000


@validate_params
def paired_power(
    difference: Real, spread: Real, topics: int, *, alpha: float = 0.05, tail: Tail = "two"
) -> float:
    """The chance that a paired t-test on so many topics finds a true mean difference.

    `spread` is the standard deviation of the differences over topics.

    >>> round(paired_power(0.05, 0.1, 34), 4)
    0.8078
    """
    _check(alpha, tail)
    if topics < 2:
        return 0.0
    if spread <= 0:
        return 1.0 if difference != 0 else alpha
    effect = difference / spread if tail == "one" else abs(difference) / spread
    return _power(effect, topics, alpha, tail)


@validate_params
def topics_needed(
    difference: Real,
    spread: Real,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    tail: Tail = "two",
) -> int | None:
    """The fewest topics that find a true mean difference with that power; None if too many.

    >>> topics_needed(0.05, 0.1)
    34
    """
    _check(alpha, tail)
    _check_power(power, alpha)
    if difference == 0 or (tail == "one" and difference < 0):
        return None
    if spread <= 0:
        return 2
    effect = abs(difference) / spread
    low, high = 1, 2
    while _power(effect, high, alpha, tail) < power:
        low, high = high, high * 2
        if high > MAX_TOPICS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if _power(effect, middle, alpha, tail) < power:
            low = middle
        else:
            high = middle
    return high


@validate_params
@lru_cache(maxsize=1024)
def detectable_effect(
    topics: int, *, power: float = 0.8, alpha: float = 0.05, tail: Tail = "two"
) -> float:
    """The mean difference, in standard deviations, that so many topics find with that power."""
    _check(alpha, tail)
    _check_power(power, alpha)
    if topics < 2:
        return float("inf")
    high = 1.0
    while _power(high, topics, alpha, tail) < power:
        high *= 2
        if high > 1e9:
            return float("inf")
    return root(lambda e: _power(e, topics, alpha, tail) - power, 0.0, high)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a growing function passes zero, to 14 digits, by halving the interval."""
    while high - low > 1e-14 * high:
        middle = low + (high - low) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def _power(effect: float, topics: int, alpha: float, tail: Tail) -> float:
    from cranfield.stats._special import nctdtr, stdtrit

    df, shift = topics - 1, effect * topics**0.5
    critical = float(stdtrit(df, 1 - (alpha / 2 if tail == "two" else alpha)))
    below = [float(nctdtr(df, shift, c)) for c in (critical, -critical)]
    # SciPy answers NaN far out on the lower side, where the probability vanishes.
    upper, lower = (0.0 if math.isnan(b) else b for b in below)
    return min(1.0 - upper + (lower if tail == "two" else 0.0), 1.0)


def _check(alpha: float, tail: str) -> None:
    check_tail(tail)
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} must lie between 0 and 1")


def _check_power(power: float, alpha: float) -> None:
    if not alpha < power < 1:
        raise UsageError(f"power={power!r} must lie between alpha ({alpha:g}) and 1")
