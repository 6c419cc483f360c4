"""How large a difference is: Cohen's d for pairs, Cliff's delta, deviation, wins and losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cranfield.stats._resample import Floats
from cranfield.stats.paired import as_rows, spread


@dataclass(frozen=True, slots=True)
class WinTieLoss:
    """On how many topics a run is above, level with and below another."""

    wins: int
    ties: int
    losses: int


def cohen_d(differences: Floats) -> Floats:
    """The mean difference in standard deviations of the differences, for each row.

    0 where all differences are zero, infinite where all are equal and not zero.
    """
    rows = as_rows(differences)
    mean = rows.mean(axis=1) if rows.shape[1] else np.zeros(len(rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean == 0, 0.0, mean / spread(rows))


def cliffs_delta(a: Floats, b: Floats) -> float:
    """The chance that a value of `a` is above one of `b`, less the chance that it is below.

    >>> cliffs_delta([1, 2, 3], [1, 1, 1])
    0.6666666666666666
    """
    x, y = np.asarray(a, dtype=np.float64), np.sort(np.asarray(b, dtype=np.float64))
    if x.size == 0 or y.size == 0:
        return 0.0
    above = int(np.searchsorted(y, x, side="left").sum())
    below = int((y.size - np.searchsorted(y, x, side="right")).sum())
    return (above - below) / (x.size * y.size)


def deviation_percent(a: float, b: float) -> float:
    """The gap between two means in percent of the smaller (Chatzichristofis et al., Table 8).

    NaN when the smaller is zero and the other is not.
    """
    gap, smaller = abs(a - b), min(abs(a), abs(b))
    if gap == 0:
        return 0.0
    return 100 * gap / smaller if smaller > 0 else float("nan")


def change_percent(value: float, reference: float) -> float:
    """The change from a reference in percent of the reference; NaN when that is zero."""
    if value == reference:
        return 0.0
    return 100 * (value - reference) / abs(reference) if reference != 0 else float("nan")


def win_tie_loss(differences: Floats) -> list[WinTieLoss]:
    """Wins, ties and losses of each row of differences."""
    rows = as_rows(differences)
    wins, losses = (rows > 0).sum(axis=1), (rows < 0).sum(axis=1)
    return [
        WinTieLoss(int(w), int(rows.shape[1] - w - x), int(x))
        for w, x in zip(wins, losses, strict=True)
    ]
