"""Which of many runs differ: Tukey's HSD, by theory and by randomisation, and Nemenyi's test.

These p-values hold for all pairs of the family together and need no further correction.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from cranfield.errors import check_counts
from cranfield.notes import with_progress
from cranfield.stats._resample import (
    DEFAULT_RESAMPLES,
    Block,
    Floats,
    Ints,
    Progress,
    Rng,
    as_pairs,
    blocks,
    check_resamples,
    in_threads,
    random_orders,
    seed_of,
)
from cranfield.stats.anova import friedman, two_way
from cranfield.stats.paired import PairedResult
from cranfield.stats.power import root
from cranfield.stats.randomization import as_scores
from cranfield.stats.studentized import studentized_range_sf
from cranfield.validation import validate_params

_SLACK = 1e-12


@validate_params
def tukey_test(values: Floats, pairs: Ints, *, blocked: bool = True) -> PairedResult:
    """Tukey's honestly significant difference for each pair of rows.

    With `blocked` the error is what two-way analysis of variance leaves after runs and topics,
    as paired data ask for; without it the groups count as independent (one-way).
    """
    scores = as_scores(values)
    pairs = as_pairs(pairs, len(scores))
    runs, n = scores.shape
    means = scores.mean(axis=1) if n else np.zeros(runs)
    gap = means[pairs[:, 0]] - means[pairs[:, 1]]
    if n < 2 or runs < 2:
        return PairedResult("tukey", np.zeros(len(pairs)), np.ones(len(pairs)), n)
    if blocked:
        table = two_way(scores)
        error, df = table.ms_residual, table.df_residual
    else:
        error, df = float(scores.var(axis=1, ddof=1).mean()), runs * (n - 1)
    p = np.where(gap == 0, 1.0, 0.0)
    if error > 0:
        q = np.abs(gap) / math.sqrt(error / n)
        return PairedResult("tukey", q, studentized_range_sf(q, runs, df), n)
    return PairedResult("tukey", np.where(gap == 0, 0.0, np.inf), p, n)


@validate_params
def nemenyi_test(values: Floats, pairs: Ints) -> PairedResult:
    """Nemenyi's comparison of mean ranks after Friedman's test, for each pair of rows."""
    scores = as_scores(values)
    pairs = as_pairs(pairs, len(scores))
    runs, n = scores.shape
    if n < 1 or runs < 2:
        return PairedResult("nemenyi", np.zeros(len(pairs)), np.ones(len(pairs)), n)
    ranks = np.array(friedman(scores).mean_ranks)
    gap = np.abs(ranks[pairs[:, 0]] - ranks[pairs[:, 1]])
    q = gap / math.sqrt(runs * (runs + 1) / (12 * n))
    return PairedResult("nemenyi", q, studentized_range_sf(q, runs, math.inf), n)


@validate_params
def critical_difference(runs: int, topics: int, *, alpha: float = 0.05) -> float:
    """The gap of mean ranks that Nemenyi's test calls significant (Demšar 2006)."""
    check_counts(runs=runs, topics=topics)
    q = critical_range(runs, math.inf, alpha=alpha)
    return q * math.sqrt(runs * (runs + 1) / (12 * topics))


@lru_cache(maxsize=1024)
def critical_range(runs: int, df: float, *, alpha: float = 0.05) -> float:
    """The studentised range that is reached with that chance, for so many equal runs."""
    return root(
        lambda x: alpha - float(studentized_range_sf(np.array([x]), runs, df)[0]), 0.0, 1024.0
    )


@validate_params
@with_progress
def randomized_tukey_test(
    values: Floats,
    pairs: Ints,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> PairedResult:
    """Tukey's HSD by randomisation: every topic deals its scores anew to the runs, and a pair
    is held against the largest difference between any two runs (Carterette 2012)."""
    scores, count = as_scores(values), check_resamples(resamples)
    pairs = as_pairs(pairs, len(scores))
    runs, n = scores.shape
    means = scores.mean(axis=1) if n else np.zeros(runs)
    gap = np.abs(means[pairs[:, 0]] - means[pairs[:, 1]])
    if n < 1 or count == "exact":
        return PairedResult("tukey-randomization", gap, np.ones(len(pairs)), n)
    seed, columns = seed_of(rng), scores.T
    slack = _SLACK * float(np.abs(scores).max(initial=0.0))

    def work(block: Block) -> Ints:
        order = random_orders(seed, block, n, runs)
        dealt = np.take_along_axis(np.broadcast_to(columns, order.shape), order, 2).mean(axis=1)
        ranges = np.sort(np.ptp(dealt, axis=1))
        return ranges.size - np.searchsorted(ranges, gap - slack, side="left")

    counted = in_threads(work, blocks(count, n * runs), jobs=jobs, progress=progress)
    p = (sum(counted, np.zeros(len(pairs), dtype=np.int64)) + 1) / (count + 1)
    return PairedResult("tukey-randomization", gap, p, n)
