"""What resamples say of pairs of runs, one draw at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def signed_square(
    square: float, mean: float, topics: float, noise: float, own: float, flat: bool
) -> float:
    """The mean of a draw over its standard error, squared but with its sign.

    `square` is the sum of squared differences there, `own` the variance of the mean of the data,
    which stands in where the draw has no spread beyond `noise`.
    """
    if flat:
        return 0.0
    variance = square / topics - mean * mean
    error = own if variance <= noise else variance / max(topics - 1.0, 1.0)
    return mean * abs(mean) / error


def held(
    values: Row, turn: float, low: float, high: float, rank: int
) -> tuple[int, int, int, float]:
    """Draws as far out as the data in its direction, not beyond it, as far out in either; and
    the size that `rank` draws reach."""
    turned = [turn * value for value in values]
    sizes = sorted(map(abs, turned), reverse=True)
    return (
        sum(value >= low for value in turned),
        sum(value <= high for value in turned),
        sum(size >= low for size in sizes),
        sizes[rank - 1] if rank else math.nan,
    )


def step_down_hits(
    statistics: Sequence[Row], bars: Row, two_tailed: bool
) -> tuple[list[int], list[float]]:
    """For each pair, of which the least significant comes first, how many draws have a
    statistic of it or of one before that reaches its bar; and the largest of every draw."""
    largest = [-math.inf] * len(statistics[0])
    hits = []
    for row, bar in zip(statistics, bars, strict=True):
        sizes = map(abs, row) if two_tailed else row
        largest = [max(pair) for pair in zip(sizes, largest, strict=True)]
        hits.append(sum(value >= bar for value in largest))
    return hits, largest


def places(means: Row, slack: float) -> list[int]:
    """The place of each run, greater is better; who is level with the one before shares it."""
    order = sorted(range(len(means)), key=lambda i: -means[i])
    found, place = [0] * len(means), 1
    for at, run in enumerate(order, 1):
        if at > 1 and means[order[at - 2]] - means[run] > slack:
            place = at
        found[run] = place
    return found


def dominance(x: Row, y: Row) -> int:
    """How many pairs of values have the first above the second, less those below."""
    return sum((a > b) - (a < b) for a in x for b in y)
