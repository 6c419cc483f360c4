"""Tests by resampling: randomisation of signs and the paired bootstrap, for many pairs at once.

p-values are (count + 1) / (resamples + 1), so that none is ever zero.

With shared draws the randomised sum of a pair is s·(x_a - x_b) = s·x_a - s·x_b. One product of
the sign matrix with the scores of the runs thus serves all pairs, and what is left per pair is
a subtraction and a comparison.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from cranfield.errors import UsageError
from cranfield.stats._resample import (
    DEFAULT_RESAMPLES,
    MAX_EXACT_TOPICS,
    Block,
    Floats,
    Ints,
    Progress,
    Resamples,
    Rng,
    all_signs,
    blocks,
    bootstrap_counts,
    check_resamples,
    in_threads,
    random_signs,
    seed_of,
)
from cranfield.stats.paired import ROUNDING, PairedResult, Tail, check_tail, spread

# Sums that differ by less than this part of what was added are equal but for rounding.
_TIE = 128 * np.finfo(np.float64).eps
_PAIRS_AT_ONCE = 128


def as_scores(values: Floats) -> Floats:
    """Scores as a matrix of finite numbers, one row per run and one column per topic."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 2 or not np.isfinite(scores).all():
        raise UsageError("values must be finite numbers, one row per run, one column per topic")
    return scores


def randomization_test(
    values: Floats,
    pairs: Ints,
    *,
    tail: Tail = "two",
    resamples: Resamples = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> PairedResult:
    """Fisher's paired randomisation test of the mean difference, for each pair of rows.

    `resamples="exact"` goes through all sign assignments (up to 20 topics); p is then the
    share of assignments that are at least as extreme as the data, which are one of them.
    """
    check_tail(tail)
    scores, count = as_scores(values), check_resamples(resamples)
    n = scores.shape[1]
    a, b = pairs[:, 0], pairs[:, 1]
    observed = scores.sum(axis=1)[a] - scores.sum(axis=1)[b]
    size = np.abs(scores).sum(axis=1)
    bar = (np.abs(observed) if tail == "two" else observed) - _TIE * (size[a] + size[b])
    columns = np.ascontiguousarray(scores.T)
    if count == "exact":
        if n > MAX_EXACT_TOPICS:
            raise UsageError(
                f"the exact randomisation test takes up to {MAX_EXACT_TOPICS} topics, not {n}; "
                "give a number of resamples"
            )
        hits = np.zeros(len(pairs), dtype=np.int64)
        for signs in all_signs(n):
            hits += _count_extreme((signs @ columns).T, pairs, bar, tail)
        return PairedResult("randomization", observed / max(n, 1), hits / 2.0**n, n)

    seed = seed_of(rng)

    def work(block: Block) -> Ints:
        sums = np.ascontiguousarray((random_signs(seed, block, n) @ columns).T)
        return _count_extreme(sums, pairs, bar, tail)

    counted = in_threads(work, blocks(count, n), jobs=jobs, progress=progress)
    p = (sum(counted, np.zeros(len(pairs), dtype=np.int64)) + 1) / (count + 1)
    return PairedResult("randomization", observed / max(n, 1), p, n)


def _count_extreme(sums: Floats, pairs: Ints, bar: Floats, tail: Tail) -> Ints:
    """How many columns of `sums` reach the bar of each pair."""
    hits = np.empty(len(pairs), dtype=np.int64)
    edges = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1, append=-1))
    for start, stop in itertools.pairwise(edges):
        # Neighbouring pairs mostly share their first run: one row against many.
        a, others = pairs[start, 0], pairs[start:stop, 1]
        ascending = others[-1] - others[0] == len(others) - 1 and (np.diff(others) == 1).all()
        # A slice spares the copy that a list of rows would make.
        gap = sums[a] - (sums[others[0] : others[-1] + 1] if ascending else sums[others])
        if tail == "two":
            np.abs(gap, out=gap)
        hits[start:stop] = np.count_nonzero(gap >= bar[start:stop, None], axis=1)
    return hits


def bootstrap_test(
    values: Floats,
    pairs: Ints,
    *,
    tail: Tail = "two",
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> PairedResult:
    """The paired bootstrap test with a studentised mean, for each pair of rows.

    Topics are drawn with replacement from differences that were shifted to mean zero, the null
    hypothesis; p counts the resamples whose t statistic is at least as extreme as that of the
    data.
    """
    check_tail(tail)
    scores, count = as_scores(values), check_resamples(resamples)
    if count == "exact":
        raise UsageError("the bootstrap has no exact form; give a number of resamples")
    n = scores.shape[1]
    if n < 2:
        return PairedResult("bootstrap", np.zeros(len(pairs)), np.ones(len(pairs)), n)
    seed = seed_of(rng)
    observed = _observed_t(scores, pairs)

    def work(block: Block) -> Ints:
        return _bootstrap_block(bootstrap_counts(seed, block, n), scores, pairs, observed, tail)

    counted = in_threads(work, blocks(count, n), jobs=jobs, progress=progress)
    p = (sum(counted, np.zeros(len(pairs), dtype=np.int64)) + 1) / (count + 1)
    return PairedResult("bootstrap", observed, p, n)


def _observed_t(scores: Floats, pairs: Ints) -> Floats:
    t = np.empty(len(pairs))
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        chunk = slice(start, start + _PAIRS_AT_ONCE)
        rows = scores[pairs[chunk, 0]] - scores[pairs[chunk, 1]]
        mean, error = rows.mean(axis=1), spread(rows) / math.sqrt(rows.shape[1])
        flat = error <= ROUNDING * np.abs(rows).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(flat, np.sign(mean) * np.inf, mean / error)
        t[chunk] = np.where(mean == 0, 0.0, ratio)
    return t


def _bootstrap_block(
    counts: Floats, scores: Floats, pairs: Ints, observed: Floats, tail: Tail
) -> Ints:
    """How many resamples of a block have a t statistic at least as extreme as the data.

    t >= bar is decided as m|m| >= bar|bar| s² / (n - 1), with the mean m and the variance s² of
    the resample: no root, no division, and a resample of one topic n times over, which has no
    spread, is as extreme as can be.
    """
    n = counts.shape[1]
    hits = np.empty(len(pairs), dtype=np.int64)
    centred = scores - scores.mean(axis=1, keepdims=True)
    means = np.ascontiguousarray((counts @ centred.T).T) / n
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        chunk = slice(start, start + _PAIRS_AT_ONCE)
        a, b, bar = pairs[chunk, 0], pairs[chunk, 1], observed[chunk]
        flat = np.isinf(bar)
        bar = np.where(flat, 0.0, np.abs(bar) if tail == "two" else bar)
        shifted = centred[a] - centred[b]
        tie = (ROUNDING * np.abs(shifted).max(axis=1)) ** 2
        level = bar * np.abs(bar) * (1 - np.copysign(1e-10, bar)) / (n - 1)
        mean = means[a] - means[b]
        size = mean * mean if tail == "two" else mean * np.abs(mean)
        needed = np.ascontiguousarray((counts @ (shifted * shifted).T).T)
        needed /= n
        needed -= mean * mean
        needed *= level[:, None]
        needed -= tie[:, None]
        # Data without any spread lie beyond all resamples.
        hits[chunk] = np.where(flat, 0, np.count_nonzero(size >= needed, axis=1))
    return hits
