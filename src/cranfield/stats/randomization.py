"""The paired randomisation test, for many pairs at once.

p-values are (count + 1) / (resamples + 1), so that none is ever zero.

With shared draws the randomised sum of a pair is s·(x_a - x_b) = s·x_a - s·x_b. One product of
the sign matrix with the scores of the runs thus serves all pairs, and what is left per pair is
a subtraction and a comparison.
"""

from __future__ import annotations

import itertools

import numpy as np

from cranfield.errors import UsageError
from cranfield.notes import with_progress
from cranfield.options import DEFAULT_RESAMPLES, Tail
from cranfield.stats._resample import (
    MAX_EXACT_TOPICS,
    Block,
    Floats,
    Ints,
    Progress,
    Resamples,
    Rng,
    as_pairs,
    blocks,
    check_resamples,
    exact_signs,
    in_threads,
    random_signs,
    seed_of,
)
from cranfield.stats.paired import Differences, PairedResult, check_tail
from cranfield.validation import validate_params

# Sums that differ by less than this part of what was added are equal but for rounding.
TIE = 128 * np.finfo(np.float64).eps


def as_scores(values: Floats, *, gaps: bool = False) -> Floats:
    """Scores as a matrix of finite numbers, one row per run and one column per topic.

    With `gaps` NaN stands where a run has no value.
    """
    scores = np.asarray(values, dtype=np.float64)
    fine = scores.ndim == 2 and (np.isfinite(scores) | (np.isnan(scores) & gaps)).all()
    if not fine:
        raise UsageError("values must be finite numbers, one row per run, one column per topic")
    return scores


class Signs:
    """Random signs of the topics, or all there are, in blocks that do not depend on threads."""

    def __init__(self, topics: int, resamples: Resamples, rng: Rng) -> None:
        count = check_resamples(resamples)
        self.topics, self.exact = topics, count == "exact"
        if self.exact and topics > MAX_EXACT_TOPICS:
            raise UsageError(
                f"the exact randomisation test takes up to {MAX_EXACT_TOPICS} topics, "
                f"not {topics}; give a number of resamples"
            )
        self.count = 2**topics if count == "exact" else count
        self._seed = 0 if self.exact else seed_of(rng)
        self.blocks = blocks(self.count, topics)

    def matrix(self, block: Block) -> Floats:
        """+1 and -1, a row per draw, a column per topic."""
        if self.exact:
            return exact_signs(block, self.topics)
        return random_signs(self._seed, block, self.topics)

    def p(self, hits: Ints) -> Floats:
        """p-values from how many draws are at least as extreme as the data."""
        if self.exact:
            return hits / self.count
        return (hits + 1) / (self.count + 1)


class SignedSums:
    """The sums of the signed differences of pairs, for a block of draws."""

    def __init__(self, differences: Differences, signs: Floats) -> None:
        self._differences, self._signs = differences, signs
        self._of_runs = np.zeros((0, 0))
        if differences.whole:
            columns = np.ascontiguousarray(differences.values.T)
            self._of_runs = np.ascontiguousarray((signs @ columns).T)

    def pairs(self, at: Ints | slice) -> Floats:
        """A row per pair, a column per draw."""
        if not self._differences.whole:
            sums: Floats = self._differences.raw(at)[0] @ self._signs.T
            return sums
        a, b = self._differences.pairs[at].T
        gaps: Floats = np.take(self._of_runs, a, axis=0) - np.take(self._of_runs, b, axis=0)
        return gaps

    def by_runs(self, at: Ints | slice) -> tuple[Floats, Ints]:
        """The same as rows, and for each pair the two whose difference it is; -1 is none."""
        if self._differences.whole:
            return self._of_runs, np.ascontiguousarray(self._differences.pairs[at])
        rows = self.pairs(at)
        return rows, np.column_stack([np.arange(len(rows)), np.full(len(rows), -1)])

    def first_against_many(self, start: int, stop: int) -> Floats:
        """The rows of neighbouring pairs that share their first run."""
        if not self._differences.whole:
            return self.pairs(slice(start, stop))
        pairs = self._differences.pairs
        a, others = pairs[start, 0], pairs[start:stop, 1]
        ascending = others[-1] - others[0] == len(others) - 1 and (np.diff(others) == 1).all()
        # A slice spares the copy that a list of rows would make.
        if ascending:
            many = self._of_runs[others[0] : others[-1] + 1]
        else:
            many = np.take(self._of_runs, others, axis=0)
        gaps: Floats = self._of_runs[a] - many
        return gaps


@validate_params
@with_progress
def randomization_test(
    values: Floats,
    pairs: Ints,
    *,
    tail: Tail = "two",
    resamples: Resamples = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    gaps: bool = False,
) -> PairedResult:
    """Fisher's paired randomisation test of the mean difference, for each pair of rows.

    `resamples="exact"` goes through all sign assignments (up to 20 topics); p is then the
    share of assignments that are at least as extreme as the data, which are one of them. With
    `gaps` NaN stands where a run has no value.
    """
    check_tail(tail)
    scores = as_scores(values, gaps=gaps)
    pairs = as_pairs(pairs, len(scores))
    n = scores.shape[1]
    signs, differences = Signs(n, resamples, rng), Differences(scores, pairs)
    observed, size = _observed_sums(differences)
    bar = (observed if tail == "one" else np.abs(observed)) - TIE * size
    turn = np.where(observed < 0, -1.0, 1.0)
    # Neighbouring pairs mostly share their first run: one row against many.
    edges = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1, append=-1)).tolist()

    def work(block: Block) -> Ints:
        sums = SignedSums(differences, signs.matrix(block))
        hits = np.empty(len(pairs), dtype=np.int64)
        for start, stop in itertools.pairwise(edges):
            gap = sums.first_against_many(start, stop)
            if tail == "two":
                np.abs(gap, out=gap)
            elif tail == "seen":
                gap *= turn[start:stop, None]
            hits[start:stop] = np.count_nonzero(gap >= bar[start:stop, None], axis=1)
        return hits

    counted = in_threads(work, signs.blocks, jobs=jobs, progress=progress)
    hits = sum(counted, np.zeros(len(pairs), dtype=np.int64))
    return PairedResult("randomization", observed / max(n, 1), signs.p(hits), n)


def _observed_sums(differences: Differences) -> tuple[Floats, Floats]:
    """The sum of each pair, and the size of what was added."""
    a, b = differences.pairs[:, 0], differences.pairs[:, 1]
    size = np.abs(differences.values).sum(axis=1)
    if differences.whole:
        sums = differences.values.sum(axis=1)
        return sums[a] - sums[b], size[a] + size[b]
    observed = np.empty(len(differences))
    for _, at in differences.chunks():
        observed[at] = differences.raw(at)[0].sum(axis=1)
    return observed, size[a] + size[b]
