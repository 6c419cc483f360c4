"""Confidence intervals of means: studentised, bias-corrected (BCa) and percentile bootstrap,
and Student's t.

Rows are runs (or differences of runs, for a paired interval), columns are topics. Equal values
throughout give an interval of no width; a single value that says nothing of its spread gives
NaN ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cranfield.errors import UsageError, door
from cranfield.stats._resample import (
    DEFAULT_RESAMPLES,
    Block,
    Floats,
    Ints,
    Rng,
    in_threads,
)
from cranfield.stats.bootstrap import Draws, studentized
from cranfield.stats.choices import METHODS, IntervalMethod
from cranfield.stats.differences import Differences
from cranfield.stats.paired import as_rows, spread

_ROWS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Interval:
    """A value between the ends of its confidence interval."""

    value: float
    low: float
    high: float
    confidence: float
    method: str
    n: int


@dataclass(frozen=True, slots=True)
class Intervals:
    """Interval ends for every row."""

    value: Floats
    low: Floats
    high: Floats
    confidence: float
    method: str
    n: int

    def __getitem__(self, row: int) -> Interval:
        return Interval(
            float(self.value[row]),
            float(self.low[row]),
            float(self.high[row]),
            self.confidence,
            self.method,
            self.n,
        )


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise UsageError(f"confidence={confidence!r} must lie between 0 and 1")


@door
def bootstrap_means(
    rows: Floats,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
) -> Floats:
    """The mean of every row in every resample of its columns: shape (rows, resamples)."""
    data = as_rows(rows)
    return Draws(data.shape[1], resamples, rng, jobs).means(data)


@door
def mean_intervals(
    rows: Floats,
    *,
    method: IntervalMethod = "studentized",
    confidence: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
) -> Intervals:
    """The mean of each row with its confidence interval.

    >>> box = mean_intervals([0.2, 0.4, 0.6, 0.8], method="t")[0]
    >>> round(box.value, 4), round(box.low, 4), round(box.high, 4)
    (0.5, 0.0891, 0.9109)
    """
    data = as_rows(rows)
    check_confidence(confidence)
    if method not in METHODS:
        raise UsageError(f"interval {method!r} is not one of {', '.join(METHODS)}")
    if data.shape[1] < 2:
        return _without_spread(data, confidence, method)
    if method == "t":
        return t_intervals(data, confidence=confidence)
    if method == "studentized":
        draws = Draws(data.shape[1], resamples, rng, jobs)
        return studentized_intervals(Differences.from_zero(data), draws, confidence=confidence)
    drawn = bootstrap_means(data, resamples=resamples, rng=rng, jobs=jobs)
    return resampled_intervals(data, drawn, method=method, confidence=confidence)


def _without_spread(data: Floats, confidence: float, method: str) -> Intervals:
    """The intervals of rows of one value or none: open, except around nothing but zero."""
    one = data.shape[1] == 1
    value = data[:, 0] if one else np.full(len(data), np.nan)
    ends = np.where(value == 0, 0.0, np.nan)
    return Intervals(value, ends, ends, confidence, method, data.shape[1])


def t_intervals(data: Floats, *, confidence: float) -> Intervals:
    """Mean plus and minus its standard error times the quantile of Student's t."""
    from cranfield.stats._special import stdtrit

    n = data.shape[1]
    mean = data.mean(axis=1)
    half = stdtrit(n - 1, (1 + confidence) / 2) * spread(data) / np.sqrt(n)
    return Intervals(mean, mean - half, mean + half, confidence, "t", n)


def studentized_intervals(
    differences: Differences, draws: Draws, *, confidence: float
) -> Intervals:
    """The interval of each difference that the bootstrap test implies."""
    found = studentized(differences, draws, confidence=confidence)
    return Intervals(found.mean, found.low, found.high, confidence, "studentized", draws.topics)


def resampled_intervals(
    data: Floats, drawn: Floats, *, method: IntervalMethod, confidence: float
) -> Intervals:
    """The BCa or percentile interval of each row from the means of its resamples."""
    n = data.shape[1]
    mean = data.mean(axis=1)
    low, high = np.empty(len(data)), np.empty(len(data))
    for start in range(0, len(data), _ROWS_AT_ONCE):
        chunk = slice(start, start + _ROWS_AT_ONCE)
        means = np.array(drawn[chunk])
        levels = np.empty((len(means), 2))
        levels[:] = (1 - confidence) / 2, (1 + confidence) / 2
        if method == "bca":
            levels = _bca_levels(data[chunk], mean[chunk], means, levels)
        low[chunk], high[chunk] = _quantiles(means, levels).T
    flat = spread(data) == 0
    return Intervals(
        mean, np.where(flat, mean, low), np.where(flat, mean, high), confidence, method, n
    )


def _bca_levels(data: Floats, mean: Floats, drawn: Floats, levels: Floats) -> Floats:
    """The quantile levels moved by the bias and the skewness (Efron 1987)."""
    from cranfield.stats._special import ndtr, ndtri

    count = drawn.shape[1]
    # A resample of the very same topics has the very same mean, but for rounding.
    slack = 1e-13 * np.abs(data).max(axis=1)
    below = (drawn < (mean - slack)[:, None]).sum(axis=1)
    up_to = (drawn <= (mean + slack)[:, None]).sum(axis=1)
    share = np.clip((below + up_to) / (2 * count), 0.5 / count, 1 - 0.5 / count)
    bias = ndtri(share)[:, None]
    centred = data - mean[:, None]
    squares = (centred**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        skew = np.nan_to_num((centred**3).sum(axis=1) / (6 * squares**1.5))[:, None]
    z = bias + ndtri(levels)
    moved: Floats = ndtr(bias + z / (1 - skew * z))
    return moved


def _quantiles(rows: Floats, levels: Floats) -> Floats:
    """Quantiles of rows, a pair of levels for each, with linear interpolation.

    The values next to each quantile are selected; to sort all of them would take far longer.
    """
    place = levels * (rows.shape[1] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, rows.shape[1] - 1)
    for row, wanted in zip(rows, np.hstack([below, above]), strict=True):
        row.partition(wanted)
    low, high = np.take_along_axis(rows, below, 1), np.take_along_axis(rows, above, 1)
    quantiles: Floats = low + (high - low) * (place - below)
    return quantiles


@door
def paired_intervals(
    values: Floats,
    pairs: Ints,
    *,
    method: IntervalMethod = "studentized",
    confidence: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    drawn: Floats | None = None,
) -> Intervals:
    """The mean difference of each pair of rows with its confidence interval.

    The topics drawn are the same for all pairs, so the resampled means of the runs serve every
    difference; `drawn` are these means where they are known already (BCa and percentile).
    """
    runs = as_rows(values)
    n = runs.shape[1]
    if method == "studentized" and n > 1:
        draws = Draws(n, resamples, rng, jobs)
        return studentized_intervals(Differences(runs, pairs), draws, confidence=confidence)
    if method == "t" or n < 2:
        drawn = None
    elif drawn is None:
        drawn = bootstrap_means(runs, resamples=resamples, rng=rng, jobs=jobs)

    def work(block: Block) -> Intervals:
        a, b = pairs[block.start : block.start + block.rows].T
        rows = runs[a] - runs[b]
        if drawn is None:
            return mean_intervals(rows, method=method, confidence=confidence)
        return resampled_intervals(rows, drawn[a] - drawn[b], method=method, confidence=confidence)

    # Blocks of pairs, small enough for their resampled means to fit into memory.
    todo = [
        Block(i, start, min(_ROWS_AT_ONCE, len(pairs) - start))
        for i, start in enumerate(range(0, len(pairs), _ROWS_AT_ONCE))
    ]
    parts = in_threads(work, todo, jobs=jobs)
    value, low, high = (
        np.concatenate([getattr(part, name) for part in parts] or [np.empty(0)])
        for name in ("value", "low", "high")
    )
    return Intervals(value, low, high, confidence, method, n)


@door
def run_intervals(
    values: Floats,
    *,
    method: IntervalMethod = "studentized",
    confidence: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    drawn: Floats | None = None,
) -> list[Interval]:
    """The mean of every run over its own topics (NaN is left out) with its interval.

    `drawn` are the resampled means where no value is absent and they are known already.
    """
    if drawn is not None and method in ("bca", "percentile"):
        found = resampled_intervals(values, drawn, method=method, confidence=confidence)
        return [found[i] for i in range(len(values))]
    known = ~np.isnan(values)
    masks, group = np.unique(known, axis=0, return_inverse=True)
    boxes: dict[int, Interval] = {}
    for number, columns in enumerate(masks):
        members = np.flatnonzero(group == number)
        found = mean_intervals(
            values[members][:, columns],
            method=method,
            confidence=confidence,
            resamples=resamples,
            rng=rng,
            jobs=jobs,
        )
        boxes.update({int(run): found[i] for i, run in enumerate(members)})
    return [boxes[i] for i in range(len(values))]
