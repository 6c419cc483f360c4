"""Confidence intervals of means: Wilson's within limits; studentised, bias-corrected (BCa) and
percentile bootstrap, and Student's t.

Rows are runs (or differences of runs, for a paired interval), columns are topics. Equal values
throughout give an interval of no width, unless the values have limits, which others may reach; a
single value that says nothing of its spread gives NaN ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from cranfield.errors import UsageError
from cranfield.options import (
    DEFAULT_RESAMPLES,
    INTERVAL_METHODS,
    MEAN_METHODS,
    IntervalMethod,
    MeanMethod,
)
from cranfield.stats._resample import Block, Floats, Ints, Rng, as_pairs, in_threads
from cranfield.stats.bootstrap import Draws, studentized
from cranfield.stats.paired import Differences, as_rows, spread
from cranfield.validation import Real, as_array, describe_value, validate_params

_ROWS_AT_ONCE = 128
Limits: TypeAlias = tuple[float, float]
# So much of a unit at either limit is added to the spread that Wilson's interval takes: values that
# are rare, or far from the others, may not be among few topics.
_UNSEEN = 0.1
# Where values have no upper limit, so many times the greatest one stands for it.
_BEYOND = 3.0
# With fewer units an interval says little of others.
FEW_UNITS = 10


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


@validate_params(skip=("resamples",))
def bootstrap_means(
    rows: Floats,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
) -> Floats:
    """The mean of every row in every resample of its columns: shape (rows, resamples)."""
    data = as_rows(rows)
    if not data.size:
        raise UsageError(f"rows={describe_value(rows)} has no values to draw from")
    return Draws(data.shape[1], resamples, rng, jobs).means(data)


@validate_params
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
    if method not in INTERVAL_METHODS:
        raise UsageError(f"interval {method!r} is not one of {', '.join(INTERVAL_METHODS)}")
    if data.shape[1] < 2:
        return _without_spread(data, confidence, method)
    if method == "t":
        return t_intervals(data, confidence=confidence)
    if method == "studentized":
        draws = Draws(data.shape[1], resamples, rng, jobs)
        return studentized_intervals(Differences.from_zero(data), draws, confidence=confidence)
    resampled = bootstrap_means(data, resamples=resamples, rng=rng, jobs=jobs)
    return resampled_intervals(data, resampled, method=method, confidence=confidence)


def _without_spread(data: Floats, confidence: float, method: str) -> Intervals:
    """The intervals of rows of one value or none: open, except around nothing but zero."""
    single = data.shape[1] == 1
    value = data[:, 0] if single else np.full(len(data), np.nan)
    ends = np.where(value == 0, 0.0, np.nan)
    return Intervals(value, ends, ends, confidence, method, data.shape[1])


def t_intervals(data: Floats, *, confidence: float) -> Intervals:
    """Mean plus and minus its standard error times the quantile of Student's t."""
    from cranfield.stats._special import stdtrit

    n = data.shape[1]
    mean = data.mean(axis=1)
    half = stdtrit(n - 1, (1 + confidence) / 2) * spread(data) / np.sqrt(n)
    return Intervals(mean, mean - half, mean + half, confidence, "t", n)


def few_units(count: int, unit: str) -> str:
    """The sentence of warning beside intervals of so few units."""
    s = "" if count == 1 else "s"
    return (
        f"{count} {unit}{s} only: intervals from fewer than {FEW_UNITS} say little of other {unit}s"
    )


def wilson_intervals(
    data: Floats, limits: Limits, *, confidence: float, parts_of: int | None = None
) -> Intervals:
    """The interval of each mean of values that lie within limits, of which the upper may be open.

    Where the columns are not values within limits but parts of the mean of so many (`parts_of`),
    which alone has limits, their spread is taken as it is.

    Wilson's interval for shares asks which true shares the data do not contradict, given the
    spread that each of them would have. Here the spread is that of the data, as part of what 0/1
    values of the same mean would have, and the quantile is Student's. It stays within the limits,
    and reaches farther to the side on which there is more room.

    >>> hits = np.array([[1.0] * 79 + [0.0]])
    >>> box = wilson_intervals(hits, (0.0, 1.0), confidence=0.95)[0]
    >>> round(box.low, 3), round(box.high, 3)
    (0.931, 0.998)
    """
    from cranfield.stats._special import stdtrit

    n = data.shape[1]
    mean = data.mean(axis=1) if n else np.full(len(data), np.nan)
    if n < 2:
        ends = np.full(len(data), np.nan)
        return Intervals(mean, ends, ends, confidence, "wilson", n)
    # Values outside of what a measure declares widen its limits.
    is_plain = parts_of is None
    least, greatest = (data.min(axis=1), data.max(axis=1)) if is_plain else (mean, mean)
    low = np.minimum(limits[0], least)
    high = np.maximum(limits[1], greatest)
    if math.isinf(limits[1]):
        high = low + _BEYOND * (data.max(axis=1) - low)
    room = np.where(high > low, high - low, 1.0)
    shares = (data - low[:, None]) / room[:, None]
    share = shares.mean(axis=1)
    # Of a cluster of many values the part that a single one has.
    unseen = _UNSEEN if parts_of is None else _UNSEEN * min(n / parts_of, 1.0)
    units = n + 2 * unseen
    centre = (n * share + unseen) / units
    squares = ((shares**2).sum(axis=1) + unseen) / units
    variance = (squares - centre**2) * units / (units - 1)
    part = variance / (centre * (1 - centre))
    if is_plain:
        part = np.minimum(part, 1.0)
    pull = part * stdtrit(n - 1, (1 + confidence) / 2) ** 2 / n
    middle = (share + pull / 2) / (1 + pull)
    half = np.sqrt(np.maximum(pull * share * (1 - share) + pull**2 / 4, 0.0)) / (1 + pull)
    # The mean itself is always inside, whatever rounding does at a limit. Nothing but the lower
    # limit of values without an upper one does not say how large others are.
    bottom = np.minimum(low + room * np.clip(middle - half, 0.0, 1.0), mean)
    top = np.maximum(low + room * np.clip(middle + half, 0.0, 1.0), mean)
    bottom, top = (np.where(high > low, end, np.nan) for end in (bottom, top))
    return Intervals(mean, bottom, top, confidence, "wilson", n)


def studentized_intervals(
    differences: Differences, draws: Draws, *, confidence: float
) -> Intervals:
    """The interval of each difference that the bootstrap test implies."""
    result = studentized(differences, draws, confidence=confidence)
    return Intervals(result.mean, result.low, result.high, confidence, "studentized", draws.topics)


def resampled_intervals(
    data: Floats, resampled: Floats, *, method: IntervalMethod, confidence: float
) -> Intervals:
    """The BCa or percentile interval of each row from the means of its resamples."""
    n = data.shape[1]
    mean = data.mean(axis=1)
    low, high = np.empty(len(data)), np.empty(len(data))
    for start in range(0, len(data), _ROWS_AT_ONCE):
        chunk = slice(start, start + _ROWS_AT_ONCE)
        means = np.array(resampled[chunk])
        levels = np.empty((len(means), 2))
        levels[:] = (1 - confidence) / 2, (1 + confidence) / 2
        if method == "bca":
            levels = _bca_levels(data[chunk], mean[chunk], means, levels)
        low[chunk], high[chunk] = _quantiles(means, levels).T
    flat = spread(data) == 0
    return Intervals(
        mean, np.where(flat, mean, low), np.where(flat, mean, high), confidence, method, n
    )


def _bca_levels(data: Floats, mean: Floats, resampled: Floats, levels: Floats) -> Floats:
    """The quantile levels moved by the bias and the skewness (Efron 1987)."""
    from cranfield.stats._special import ndtr, ndtri

    count = resampled.shape[1]
    # A resample of the very same topics has the very same mean, but for rounding.
    slack = 1e-13 * np.abs(data).max(axis=1)
    below = (resampled < (mean - slack)[:, None]).sum(axis=1)
    up_to = (resampled <= (mean + slack)[:, None]).sum(axis=1)
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
    for row, positions in zip(rows, np.hstack([below, above]), strict=True):
        row.partition(positions)
    low, high = np.take_along_axis(rows, below, 1), np.take_along_axis(rows, above, 1)
    quantiles: Floats = low + (high - low) * (place - below)
    return quantiles


@validate_params
def paired_intervals(
    values: Floats,
    pairs: Ints,
    *,
    method: IntervalMethod = "studentized",
    confidence: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    resampled: Floats | None = None,
) -> Intervals:
    """The mean difference of each pair of rows with its confidence interval.

    The topics drawn are the same for all pairs, so the resampled means of the runs serve every
    difference; `resampled` are these means where they are known already (BCa and percentile).
    """
    runs = as_rows(values)
    pairs = as_pairs(pairs, len(runs))
    check_confidence(confidence)
    n = runs.shape[1]
    if method == "studentized" and n > 1:
        draws = Draws(n, resamples, rng, jobs)
        return studentized_intervals(Differences(runs, pairs), draws, confidence=confidence)
    if method == "t" or n < 2:
        resampled = None
    elif resampled is None:
        resampled = bootstrap_means(runs, resamples=resamples, rng=rng, jobs=jobs)

    def work(block: Block) -> Intervals:
        a, b = pairs[block.start : block.start + block.rows].T
        rows = runs[a] - runs[b]
        if resampled is None:
            return mean_intervals(rows, method=method, confidence=confidence)
        return resampled_intervals(
            rows, resampled[a] - resampled[b], method=method, confidence=confidence
        )

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


@validate_params
def run_intervals(
    values: Floats,
    *,
    method: MeanMethod = "studentized",
    confidence: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    resampled: Floats | None = None,
    limits: tuple[Real, Real] | None = None,
    parts_of: int | None = None,
) -> list[Interval]:
    """The mean of every run over its own topics (NaN is left out) with its interval.

    `limits` are those of the values, infinite where there is none: no interval leaves them, and
    "wilson" is made for them; without a lower one it is "studentized". Columns
    that are parts of the mean of so many values (`parts_of`) need not keep to the limits, their
    mean does. `resampled` are the means of the resamples where no value is absent and they are
    known already.
    """
    if method not in MEAN_METHODS:
        raise UsageError(f"interval {method!r} is not one of {', '.join(MEAN_METHODS)}")
    check_confidence(confidence)
    if method == "wilson" and (limits is None or math.isinf(limits[0])):
        method = "studentized"
    values = as_array("values", values, ndim=2)
    boxes = _run_boxes(
        values, method, confidence, resamples, rng, jobs, resampled, limits, parts_of
    )
    return boxes if limits is None else [_within(box, limits) for box in boxes]


def _within(box: Interval, limits: Limits) -> Interval:
    """The interval cut at the limits of the values, the mean inside in any case."""
    low, high = clipped((box.low, box.high), limits)
    return replace(box, low=min(low, box.value), high=max(high, box.value))


def clipped(ends: tuple[float, float], limits: Limits) -> tuple[float, float]:
    """The ends of an interval, neither outside of the limits; NaN stays."""
    low, high = ends
    return (
        limits[0] if low < limits[0] else limits[1] if low > limits[1] else low,
        limits[1] if high > limits[1] else limits[0] if high < limits[0] else high,
    )


def _run_boxes(
    values: Floats,
    method: MeanMethod,
    confidence: float,
    resamples: int,
    rng: Rng,
    jobs: int,
    resampled: Floats | None,
    limits: Limits | None,
    parts_of: int | None,
) -> list[Interval]:
    if resampled is not None and method in ("bca", "percentile"):
        intervals = resampled_intervals(values, resampled, method=method, confidence=confidence)
        return [intervals[i] for i in range(len(values))]
    present = ~np.isnan(values)
    masks, group = np.unique(present, axis=0, return_inverse=True)
    boxes: dict[int, Interval] = {}
    for number, columns in enumerate(masks):
        members = np.flatnonzero(group == number)
        rows = values[members][:, columns]
        if method == "wilson" and limits is not None:
            intervals = wilson_intervals(rows, limits, confidence=confidence, parts_of=parts_of)
        else:
            intervals = mean_intervals(
                rows,
                method=method,  # type: ignore[arg-type]
                confidence=confidence,
                resamples=resamples,
                rng=rng,
                jobs=jobs,
            )
        boxes.update({int(run): intervals[i] for i, run in enumerate(members)})
    return [boxes[i] for i in range(len(values))]
