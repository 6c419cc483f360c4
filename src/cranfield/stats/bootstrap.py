"""The studentised paired bootstrap: a test and the interval that belongs to it.

Topics are drawn with replacement. In every resample the mean difference, less that of the data,
is divided by its standard error there; how large this ratio gets by chance says both how
surprising the ratio of the data is (the p-value) and how far the true difference may lie from
the one seen (the interval). Both come from the same ratios, so an interval excludes zero exactly
when its p-value is at most 1 less the confidence.

A resample without any spread (the same topic again and again, or topics that all differ alike)
has no standard error; it is measured by that of the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.notes import with_progress
from cranfield.options import DEFAULT_RESAMPLES, Tail
from cranfield.stats._resample import (
    Block,
    Floats,
    Ints,
    Progress,
    Resamples,
    Rng,
    as_pairs,
    blocks,
    bootstrap_counts,
    check_resamples,
    in_threads,
    seed_of,
)
from cranfield.stats.paired import Differences, PairedResult, Rows, check_tail
from cranfield.stats.randomization import as_scores
from cranfield.validation import validate_params

# Squared ratios that differ by less than this part are equal but for rounding.
_TIE = 1e-10
# A variance below this part of the largest squared difference is rounding error.
_NO_SPREAD = 1e-13


class _Counts(list[np.ndarray]):
    """How often each topic is in each resample, block by block."""


# What is in use now: the same seed draws the same topics.
_IN_USE: WeakValueDictionary[tuple[int, int, int], _Counts] = WeakValueDictionary()


class Draws:
    """Resamples of the topics of a collection, drawn once for all that is compared on them.

    Those of the same seed share what they drew as long as one of them is in use.
    """

    def __init__(self, topics: int, resamples: Resamples, rng: Rng, jobs: int = 1) -> None:
        count = check_resamples(resamples)
        if count == "exact":
            raise UsageError("the bootstrap has no exact form; give a number of resamples")
        self.count, self.topics, self.jobs = count, topics, jobs
        self.blocks = blocks(count, topics)
        seed = seed_of(rng)

        def work(block: Block) -> np.ndarray:
            counts = bootstrap_counts(seed, block, topics)
            return counts.astype(np.uint8 if counts.max() < 256 else np.uint32)

        cached = _IN_USE.get((count, topics, seed))
        if cached is None:
            cached = _Counts(in_threads(work, self.blocks, jobs=jobs) if topics else [])
            _IN_USE[count, topics, seed] = cached
        self._counts = cached

    def weights(self, block: Block) -> Floats:
        """How often each topic is in each resample of a block."""
        return self._counts[block.number].astype(np.float64)

    def means(self, values: Floats) -> Floats:
        """The mean of every row in every resample; NaN is left out, and a resample with nothing
        but gaps has none."""
        present_mask = ~np.isnan(values)
        complete = bool(present_mask.all())
        columns = np.ascontiguousarray(
            (values if complete else np.where(present_mask, values, 0.0)).T
        )
        present = present_mask.T.astype(np.float64)

        def work(block: Block) -> Floats:
            weights = self.weights(block)
            sums = weights @ columns
            if complete:
                means: Floats = sums / self.topics
                return means.T
            with np.errstate(invalid="ignore"):
                gap_means: Floats = sums / (weights @ present)
            return gap_means.T

        parts = in_threads(work, self.blocks, jobs=self.jobs)
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True, slots=True)
class Studentized:
    """What the bootstrap says of each pair: p-values, and the ends of an interval.

    `seen` is the one-tailed p-value in the direction of the data, `against` that in the other
    one.
    """

    statistic: Floats
    two: Floats
    seen: Floats
    against: Floats
    mean: Floats
    low: Floats
    high: Floats

    def p(self, tail: Tail, sign: float = 1.0) -> Floats:
        """The p-value of each pair; `"one"` asks whether the first run is greater, or smaller
        where the sign is -1."""
        if tail != "one":
            return self.two if tail == "two" else self.seen
        return np.where(sign * self.statistic >= 0, self.seen, self.against)


def studentized(
    differences: Differences,
    draws: Draws,
    *,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Studentized:
    """The studentised bootstrap of every pair."""
    means = _centred_means(differences, draws)
    columns = {name: np.empty(len(differences)) for name in Studentized.__slots__}
    chunks = [at for _, at in differences.chunks()]

    def work(block: Block) -> None:
        at = chunks[block.number]
        rows = differences.rows(at)
        bars = _Bars.of(rows, draws.count, confidence)
        if means is not None:
            comparison = _held_together(rows, differences.pairs[at], draws, means, bars)
        else:
            comparison = _core.held_rows(_signed_squares(rows, draws), **bars.given())
        for name, column in _summary(rows, bars, comparison).items():
            columns[name][at] = column

    todo = [Block(i, 0, 1) for i in range(len(chunks))]
    in_threads(work, todo, jobs=draws.jobs, progress=progress)
    return Studentized(**columns)


def _centred_means(differences: Differences, draws: Draws) -> Floats | None:
    """The resampled means of all runs, less their means: they serve every pair without gaps."""
    if not differences.whole:
        return None
    values = differences.values
    columns = np.ascontiguousarray((values - values.mean(axis=1, keepdims=True)).T)
    means = np.empty((len(values), draws.count))

    def work(block: Block) -> None:
        target = means[:, block.start : block.start + block.rows]
        np.divide((draws.weights(block) @ columns).T, draws.topics, out=target)

    in_threads(work, draws.blocks, jobs=draws.jobs)
    return means


@dataclass(frozen=True, slots=True)
class _Bars:
    """What the resamples of each pair are held against: the squared ratio of the data.

    `turn` is its direction, `low` and `high` leave room for rounding on either side. `rank` is
    how many resamples the reach of the interval is reached by, 0 where they are too few.
    """

    observed: Floats
    turn: Floats
    low: Floats
    high: Floats
    rank: int
    count: int

    @classmethod
    def of(cls, rows: Rows, count: int, confidence: float) -> _Bars:
        t = _observed(rows)
        bar = np.minimum(t * t, 1e300)
        return cls(
            t,
            np.where(t < 0, -1.0, 1.0),
            bar * (1 - _TIE) - _TIE**2,
            bar * (1 + _TIE) + _TIE**2,
            math.floor((1 - confidence) * (count + 1) + 1e-9),
            count,
        )

    def given(self) -> dict[str, Any]:
        return {"turn": self.turn, "low": self.low, "high": self.high, "rank": self.rank}


def _spreads(rows: Rows, squared: Floats) -> tuple[Floats, Floats]:
    """The variance of each row that is but noise, and the variance of its mean."""
    return _NO_SPREAD * squared.max(axis=1), rows.error**2


def _held_together(
    rows: Rows, pairs: Ints, draws: Draws, means: Floats, bars: _Bars
) -> _core.HeldPairs:
    """How the resamples lie to the data where every run has every topic."""
    centred = rows.centred()
    squared = centred * centred
    noise, variance = _spreads(rows, squared)
    sums = np.empty((len(centred), draws.count))
    for block in draws.blocks:
        target = sums[:, block.start : block.start + block.rows]
        np.matmul(squared, draws.weights(block).T, out=target)
    return _core.studentized_pairs(
        sums,
        means,
        np.ascontiguousarray(pairs),
        float(draws.topics),
        noise,
        variance,
        rows.flat.astype(np.uint8),
        **bars.given(),
    )


def _signed_squares(rows: Rows, draws: Draws) -> Floats:
    """The ratio of every resample, squared but with its sign: no root is needed to rank them.

    This is for pairs with gaps, each of which has its own number of topics in every resample.
    """
    centred = rows.centred()
    squared = centred * centred
    present = np.asarray(rows.known, dtype=np.float64)
    noise, data_variance = (column[:, None] for column in _spreads(rows, squared))
    answer = np.empty((len(centred), draws.count))
    for block in draws.blocks:
        weights = draws.weights(block).T
        count = np.maximum(present @ weights, 1.0)
        mean = (centred @ weights) / count
        variance = squared @ weights
        variance /= count
        variance -= mean * mean
        spreadless = variance <= noise
        variance /= np.maximum(count - 1.0, 1.0)
        np.copyto(variance, np.broadcast_to(data_variance, variance.shape), where=spreadless)
        with np.errstate(divide="ignore", invalid="ignore"):
            answer[:, block.start : block.start + block.rows] = mean * np.abs(mean) / variance
    answer[rows.flat] = 0.0
    return answer


def _summary(rows: Rows, bars: _Bars, comparison: _core.HeldPairs) -> dict[str, Floats]:
    """p-values and interval of some pairs from how their resamples lie to the data."""
    seen, against, two, reached = comparison
    # A tie with the data counts as reached by both the test and the interval.
    reach = np.sqrt(reached * (1 + _TIE / 2)) * rows.error
    reach = np.where(rows.flat, np.where((rows.topics > 1) | (rows.mean == 0), 0.0, np.nan), reach)
    mean = np.where(rows.topics > 0, rows.mean, np.nan)
    nothing, all_and_one = rows.topics < 2, bars.count + 1
    return {
        "statistic": np.where(nothing, 0.0, bars.observed),
        "two": np.where(nothing, 1.0, (two + 1) / all_and_one),
        "seen": np.where(nothing, 1.0, (seen + 1) / all_and_one),
        "against": np.where(nothing, 1.0, (against + 1) / all_and_one),
        "mean": mean,
        "low": mean - reach,
        "high": mean + reach,
    }


def _observed(rows: Rows) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(rows.flat, np.sign(rows.mean) * np.inf, rows.mean / rows.error)
    return np.where(rows.mean == 0, 0.0, ratio)


@validate_params
@with_progress
def bootstrap_test(
    values: Floats,
    pairs: Ints,
    *,
    tail: Tail = "two",
    resamples: Resamples = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> PairedResult:
    """The paired bootstrap test with a studentised mean, for each pair of rows."""
    check_tail(tail)
    scores = as_scores(values)
    pairs = as_pairs(pairs, len(scores))
    draws = Draws(scores.shape[1], resamples, rng, jobs)
    result = studentized(Differences(scores, pairs), draws, progress=progress)
    return PairedResult("bootstrap", result.statistic, result.p(tail), scores.shape[1])
