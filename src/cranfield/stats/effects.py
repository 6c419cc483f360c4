"""How large a difference is: Cohen's d for pairs, Cliff's delta, deviation, wins and losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cranfield import _core
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.paired import as_rows, spread
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
