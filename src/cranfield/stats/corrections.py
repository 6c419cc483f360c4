"""Corrections of p-values for many comparisons: Bonferroni, Holm, Benjamini-Hochberg, step-down.

The step-down maximum statistic holds for a whole family of pairs. Every draw flips the signs of the
topics, for all pairs alike, and keeps the largest statistic among the pairs. A pair is held against
the largest of those pairs that are no more significant than itself (Romano and Wolf 2005). Pairs
that share runs and topics move together, which the shared draws know: nothing is paid for pairs
that say the same thing twice, as Holm does, and the number of draws does not limit how many pairs
there may be.

The statistic is the mean difference over a standard error whose variance is half the pair's own
and half the median of all pairs. With the own variance alone, the largest of thousands of
statistics on few topics is one that had a small variance by luck, and no true difference stands
out from it. Two versions of one system differ far less from topic to topic than others do, and
there the common variance would hide what is plain: so the variance is never more than 1.2 times
the own one. Flipping signs keeps the squares of each pair as they are, so the level holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError, suggest
from cranfield.notes import with_progress
from cranfield.options import DEFAULT_RESAMPLES, Correction, Tail
from cranfield.stats._resample import (
    Block,
    Floats,
    Ints,
    Progress,
    Resamples,
    Rng,
    as_pairs,
    in_threads,
)
from cranfield.stats.paired import Differences, check_tail
from cranfield.stats.randomization import SignedSums, Signs, as_scores
from cranfield.validation import validate_params


@validate_params
def correct(p: Floats, method: Correction = "holm") -> Floats:
    """Adjusted p-values in the order given; none is above 1.

    Holm and Bonferroni bound the chance of a single false claim, "bh" (Benjamini-Hochberg)
    the expected share of false claims.

    >>> correct([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    if method not in CORRECTIONS:
        names = ", ".join(CORRECTIONS)
        raise UsageError(f"no correction {method!r} (there are: {names}).{suggest(method, names)}")
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise UsageError("p-values must be a list of numbers from 0 to 1")
    # Rounding must not make a corrected p-value the smaller one.
    return np.maximum(CORRECTIONS[method](values), values)


def _none(p: Floats) -> Floats:
    return p.copy()


def _bonferroni(p: Floats) -> Floats:
    return np.minimum(p * p.size, 1.0)


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _restore(np.minimum(raised, 1.0), order)


def _benjamini_hochberg(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    raised = p[order] * p.size / np.arange(1, p.size + 1)
    monotone = np.minimum.accumulate(raised[::-1])[::-1]
    return _restore(np.minimum(monotone, 1.0), order)


def _restore(ordered: Floats, order: Ints) -> Floats:
    restored = np.empty_like(ordered)
    restored[order] = ordered
    return restored


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "bh": _benjamini_hochberg,
    "none": _none,
}


OWN_SHARE, MOST_OF_OWN = 0.5, 1.2
_TIE = 1e-11


@dataclass(frozen=True, slots=True)
class StepDown:
    """The p-value of each pair for the family, and the largest statistic of each draw, sorted."""

    p: Floats
    largest: Floats

    def critical(self, alpha: float, topics: int) -> float:
        """The mean over its standard error that the most significant pair must exceed, for a
        pair of that many topics whose variance is the common one."""
        place = self.largest.size - math.floor(alpha * (self.largest.size + 1) + 1e-9)
        if not 0 <= place < self.largest.size or topics < 2 or self.largest[place] <= 0:
            return math.inf
        rest = 1 / float(self.largest[place]) ** 2 - OWN_SHARE / (topics - 1)
        return 1 / math.sqrt(rest) if rest > 0 else math.inf


@dataclass(frozen=True, slots=True)
class _Family:
    """The sums of the pairs, and what they are divided by: signs change only the former.

    S / sqrt(n (w Q / (n - 1) + (1 - w) v)), with the sum S and the sum of squares Q of the n
    differences, is a monotone function of the mean over its standard error, where w is the
    share of the own variance and v the common one: signs change the variance with S alone.
    The part under the root is at most n MOST_OF_OWN Q / (n - 1).
    """

    topics: Floats
    sums: Floats
    scale: Floats

    @classmethod
    def of(cls, differences: Differences) -> _Family:
        topics, sums, variance, squares = (np.empty(len(differences)) for _ in range(4))
        for positions, at in differences.chunks():
            rows = differences.rows(at)
            topics[positions], sums[positions] = rows.topics, rows.values.sum(axis=1)
            variance[positions] = rows.deviation**2
            squares[positions] = (rows.values**2).sum(axis=1)
        spread = variance[variance > 0]
        common = float(np.median(spread)) if spread.size else 0.0
        pair_variance = squares / np.maximum(topics - 1, 1)
        mixed = OWN_SHARE * pair_variance + (1 - OWN_SHARE) * common
        size = np.sqrt(topics * np.minimum(mixed, MOST_OF_OWN * pair_variance))
        # One topic says nothing, whatever the others do, nor do equal runs.
        informative = (topics > 1) & (squares > 0)
        scale = np.where(informative, 1.0, 0.0) / np.where(informative, size, 1.0)
        return cls(topics, sums, scale)


@validate_params
@with_progress
def step_down(
    values: Floats,
    pairs: Ints,
    *,
    tail: Tail = "two",
    resamples: Resamples = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> StepDown:
    """The p-values of pairs of rows that hold for all of them together; NaN is a gap."""
    check_tail(tail)
    scores = as_scores(values, gaps=True)
    pairs = as_pairs(pairs, len(scores))
    differences = Differences(scores, pairs)
    family, signs = _Family.of(differences), Signs(scores.shape[1], resamples, rng)
    # Differences are turned such that what counts as extreme is great.
    turned = family.scale * (np.where(family.sums < 0, -1.0, 1.0) if tail == "seen" else 1.0)
    statistic = turned * family.sums if tail != "two" else np.abs(turned * family.sums)
    order = np.argsort(statistic, kind="stable")
    bar = statistic[order] - _TIE * (1 + np.abs(statistic[order]))

    def work(block: Block) -> tuple[Ints, Floats]:
        sums = SignedSums(differences, signs.matrix(block))
        hits = np.empty(len(pairs), dtype=np.int64)
        largest = np.full(block.rows, -np.inf)
        for positions, at in differences.chunks(order):
            rows, local = sums.by_runs(at)
            scale, bars = turned[at], bar[positions]
            hits[positions] = _core.step_down_hits(rows, local, scale, bars, tail == "two", largest)
        return hits, largest

    parts = in_threads(work, signs.blocks, jobs=jobs, progress=progress)
    hits = sum((h for h, _ in parts), np.zeros(len(pairs), dtype=np.int64))
    # A pair is never more significant than one with a larger statistic.
    raised = np.maximum.accumulate(signs.p(hits)[::-1])[::-1]
    p = np.empty(len(pairs))
    p[order] = raised
    p[family.topics < 2] = 1.0
    return StepDown(p, np.sort(np.concatenate([part for _, part in parts])))
