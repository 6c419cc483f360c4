"""Sizes of effects, and the power of a test: what it would find with so many units."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.options import Tail
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.paired import as_rows, check_tail, spread
from cranfield.validation import Real, as_array, validate_params


@dataclass(frozen=True, slots=True)
class WinTieLoss:
    """On how many topics a run is above, level with and below another."""

    wins: int
    ties: int
    losses: int


@validate_params
def cohen_d(differences: Floats) -> Floats:
    """The mean difference in standard deviations of the differences, for each row.

    0 where all differences are zero, infinite where all are equal and not zero.
    """
    rows = as_rows(differences)
    mean = rows.mean(axis=1) if rows.shape[1] else np.zeros(len(rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean == 0, 0.0, mean / spread(rows))


@validate_params
def cliffs_delta(a: Floats, b: Floats) -> float:
    """The chance that a value of `a` is above one of `b`, less the chance that it is below.

    >>> cliffs_delta([1, 2, 3], [1, 1, 1])
    0.6666666666666666
    """
    x, y = (np.sort(as_array(name, v, ndim=1)) for name, v in (("a", a), ("b", b)))
    return _delta_of_sorted(x, y)


def cliffs_deltas(values: Floats, pairs: Ints) -> Floats:
    """Cliff's delta of pairs of rows; each row is sorted once."""
    above = _core.dominances(np.sort(values, axis=1), np.ascontiguousarray(pairs))
    deltas: Floats = above / max(values.shape[1], 1) ** 2
    return deltas


def _delta_of_sorted(x: Floats, y: Floats) -> float:
    if x.size == 0 or y.size == 0:
        return 0.0
    above = int(np.searchsorted(y, x, side="left").sum())
    below = int((y.size - np.searchsorted(y, x, side="right")).sum())
    return (above - below) / (x.size * y.size)


@validate_params
def deviation_percent(a: Real, b: Real) -> float:
    """The gap between two means in percent of the smaller (Chatzichristofis et al., Table 8).

    NaN when the smaller is zero and the other is not.
    """
    return float(deviations_percent(np.array([a]), np.array([b]))[0])


def deviations_percent(a: Floats, b: Floats) -> Floats:
    """`deviation_percent` of many pairs of means."""
    gap, smaller = np.abs(a - b), np.minimum(np.abs(a), np.abs(b))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gap == 0, 0.0, np.where(smaller > 0, 100 * gap / smaller, np.nan))


@validate_params
def change_percent(value: Real, reference: Real) -> float:
    """The change from a reference in percent of the reference; NaN when that is zero."""
    return float(changes_percent(np.array([value]), np.array([reference]))[0])


def changes_percent(value: Floats, reference: Floats) -> Floats:
    """`change_percent` of many pairs of means."""
    size = np.abs(reference)
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(size > 0, 100 * (value - reference) / size, np.nan)
    return np.where(value == reference, 0.0, change)


@validate_params
def win_tie_loss(differences: Floats) -> list[WinTieLoss]:
    """Wins, ties and losses of each row of differences."""
    rows = as_rows(differences)
    wins, losses = (rows > 0).sum(axis=1), (rows < 0).sum(axis=1)
    return [
        WinTieLoss(int(w), int(rows.shape[1] - w - x), int(x))
        for w, x in zip(wins, losses, strict=True)
    ]


MAX_TOPICS = 10_000_000


@validate_params
def variance_bound(units: int, *, confidence: float = 0.95) -> float:
    """By how much a variance may exceed the one of so many units: a one-sided bound as a factor.

    It holds for normal values. A number of units that was found from a pilot rests on its
    variance and grows with it (Browne 1995).

    >>> round(variance_bound(20), 3)
    1.878
    """
    from cranfield.stats._special import chdtri

    if not 0 < confidence < 1:
        raise UsageError(f"confidence={confidence!r} must lie between 0 and 1")
    if units < 2:
        return math.inf
    return (units - 1) / float(chdtri(units - 1, confidence))


def pilot_note(units: int, noun: str) -> str:
    """How far a number of units that a pilot gave may be too small, in a clause."""
    return (
        f"for the spread that these {units} {noun} have; they leave open that the variance, and "
        f"the number with it, is up to {variance_bound(units):.1f} times as large (95 %)."
    )


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
