"""Which of many runs differ: Tukey's HSD, by theory and by randomisation, and Nemenyi's test.

These p-values hold for all pairs of the family together and need no further correction.

Of many runs they make places with intervals and ranks with letters. The place of a run is its
position in the plain order of the means; its interval says where the run stands when topics are
drawn anew. The rank is what tests support: 1 + the number of runs that are significantly better.
Letters show the same pairs: two runs share none exactly when they differ significantly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError, check_counts
from cranfield.notes import with_progress
from cranfield.options import DEFAULT_RESAMPLES
from cranfield.stats._resample import (
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
from cranfield.stats.effects import root
from cranfield.stats.paired import Bools, PairedResult
from cranfield.stats.randomization import as_scores
from cranfield.validation import as_array, describe_value, validate_params


@dataclass(frozen=True, slots=True)
class RankGroup:
    """What tests say of a run among others.

    `rank` is 1 + the number of runs that are significantly better, `last` the number of runs
    less those that are significantly worse: all places from the one to the other are open.
    Runs that share one of `letters` cannot be told apart.
    """

    rank: int
    last: int
    letters: str


def _board(square: Bools, order: Ints) -> tuple[Bools, Ints]:
    """A square of comparisons and the order of its rows, checked."""
    table: Bools = as_array("comparisons of runs", square, ndim=2, dtype=np.bool_)
    rows: Ints = as_array("order", order, ndim=1, dtype=np.int64)
    if table.shape != (len(rows), len(rows)) or sorted(rows.tolist()) != list(range(len(rows))):
        raise UsageError(f"order={describe_value(order)} does not order {len(table)} runs")
    return table, rows


@validate_params
def rank_groups(beaten: Bools, order: Ints) -> list[RankGroup]:
    """The group of each run; `beaten[i, j]` says that run j is significantly better than i.

    `order` are the runs as they stand on the board, best first, which is the order of letters.
    """
    beaten, order = _board(beaten, order)
    ranks = 1 + beaten.sum(axis=1)
    lasts = len(beaten) - beaten.sum(axis=0)
    letters = compact_letters(order, beaten | beaten.T)
    return [
        RankGroup(int(rank), int(last), letter)
        for rank, last, letter in zip(ranks, lasts, letters, strict=True)
    ]


@validate_params
def places(means: Floats) -> Ints:
    """The place of each run by its mean, greater is better; equal means share the better one."""
    means = as_array("means", means, ndim=1)
    at = np.sort(-means, kind="stable")
    ranks: Ints = 1 + np.searchsorted(at, -means, side="left")
    return ranks


@validate_params
def place_intervals(resampled: Floats, *, confidence: float = 0.95) -> tuple[Ints, Ints]:
    """The places between which each run lies in that share of the resamples.

    `resampled` holds the mean of every run in every resample (runs x resamples), greater is better;
    runs with the same mean in a resample share the better place.
    """
    resampled = as_array("resampled", resampled, ndim=2)
    resamples = resampled.shape[1]
    sizes = np.abs(resampled, where=np.isfinite(resampled), out=np.zeros(resampled.shape))
    slack = 1e-12 * sizes.max(initial=0.0)
    upto = np.cumsum(_core.count_places(np.ascontiguousarray(resampled.T), slack), axis=1)
    tail = (1 - confidence) / 2
    ends = math.floor(tail * (resamples - 1)), math.ceil((1 - tail) * (resamples - 1))
    first, last = (1 + (upto <= end).sum(axis=1) for end in ends)
    return first, last


@validate_params
def compact_letters(order: Ints, differ: Bools) -> list[str]:
    """Letters such that two runs share one exactly when they do not differ.

    Every letter is a group of runs of which no two differ, as large as it can be, and every two
    runs that do not differ are in one of the groups; "a" holds the best run. When there are more
    groups than letters, which would be unreadable, no run gets any.
    """
    differ, order = _board(differ, order)
    groups = _covering_groups(~differ[np.ix_(order, order)])
    if len(groups) > len(ascii_letters):
        return [""] * len(order)
    names = [""] * len(order)
    for letter, group in zip(ascii_letters, groups, strict=False):
        for position in group:
            names[order[position]] += letter
    return names


def _covering_groups(alike: Bools) -> list[list[int]]:
    """Groups of positions that are all alike, which together hold every pair that is."""
    open_pairs = alike.copy()
    groups: list[list[int]] = []
    for first in range(len(alike)):
        while True:
            waiting = np.flatnonzero(open_pairs[first, first:])
            if not waiting.size:
                break
            # With the farthest partner first, the runs between the two mostly join them.
            group = _grown(alike, open_pairs, first, first + int(waiting[-1]))
            open_pairs[np.ix_(group, group)] = False
            groups.append(group)
    return sorted(_needed(groups, alike))


def _grown(alike: Bools, open_pairs: Bools, first: int, last: int) -> list[int]:
    """A group with two positions, to which nothing can be added."""
    group = [first] if first == last else [first, last]
    fitting = alike[first] & alike[last]
    fitting[group] = False
    while fitting.any():
        # Who has most pairs left to show comes first, then who stands higher.
        gain = np.where(fitting, open_pairs[group].sum(axis=0), -1)
        new = int(gain.argmax())
        group.append(new)
        fitting &= alike[new]
        fitting[new] = False
    return sorted(group)


def _needed(groups: list[list[int]], alike: Bools) -> list[list[int]]:
    """The groups without those whose every pair is in another one."""
    cover = np.zeros(alike.shape, dtype=np.int64)
    for group in groups:
        cover[np.ix_(group, group)] += 1
    needed = []
    for group in sorted(groups, key=len):
        cells = np.ix_(group, group)
        if (cover[cells] > 1).all():
            cover[cells] -= 1
        else:
            needed.append(group)
    return needed


# Gauss-Legendre nodes: over the normal variable, and over the spread that divides the range.
_INNER, _OUTER, _OUTER_FEW = 192, 96, 400
_REACH = 8.5
_AT_ONCE = 4096
# So many values, or more, are read off a polynomial (every two of 180 runs are 16,110 values).
# It is within 1e-11 where the degrees of freedom are many; beyond the end nothing is left.
_MANY, _KNOWN, _END, _DEGREE = 1024, 200, 30.0, 400


@lru_cache(maxsize=8)
def _gauss(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre quadrature, which take long to find."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


def studentized_range_sf(q: Floats, runs: int, df: float) -> Floats:
    """The chance that the range of `runs` standard normals, over an independent estimate of
    their standard deviation with `df` degrees of freedom (may be infinite), is at least q.

    >>> float(studentized_range_sf([3.578], 3, 20)[0].round(4))
    0.05
    """
    values = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if values.size >= _MANY and df >= _KNOWN and not np.isnan(values).any():
        return _interpolated(values, runs, df)
    return _integrated(values, runs, df)


def _interpolated(values: Floats, runs: int, df: float) -> Floats:
    ends = [0.0, min(max(float(values.max()), 1.0), _END)]
    curve = np.polynomial.Chebyshev.interpolate(
        lambda x: _integrated(x, runs, df), _DEGREE, domain=ends
    )
    tail = np.asarray(curve(np.minimum(values, ends[1])), dtype=np.float64)
    # The polynomial wavers by its last digits; equal runs have p = 1 to the last one.
    tail = np.where(values > _END, 0.0, np.where(values == 0, 1.0, tail))
    return np.clip(tail, 0.0, 1.0)


def _integrated(values: Floats, runs: int, df: float) -> Floats:
    if math.isinf(df):
        scales, weights = np.ones(1), np.ones(1)
    else:
        scales, weights = _scale_nodes(df)
    answer = np.empty(values.size)
    step = max(1, _AT_ONCE // scales.size)
    for start in range(0, values.size, step):
        part = np.minimum(values[start : start + step], 1e6)
        widths = part[:, None] * scales
        answer[start : start + step] = (_range_sf(widths, runs) * weights).sum(axis=1)
    return np.clip(answer, 0.0, 1.0)


def _range_sf(widths: Floats, runs: int) -> Floats:
    """P(range of standard normals >= width): 1 less k times the chance that all others lie
    within `width` above the smallest."""
    from cranfield.stats._special import ndtr

    nodes, weights = _gauss(_INNER)
    z = _REACH * nodes
    density = _REACH * weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * runs
    inside = ndtr(widths[..., None] + z) - ndtr(z)
    covered = (inside ** (runs - 1)) @ density
    sf: Floats = np.maximum(1.0 - covered, 0.0)
    return sf


def _scale_nodes(df: float) -> tuple[Floats, Floats]:
    """Nodes and weights that average over the estimated spread sqrt(chi2 / df)."""
    from cranfield.stats._special import gammainccinv, gammaincinv, gammaln

    low = math.sqrt(2 * float(gammaincinv(df / 2, 1e-17)) / df)
    high = math.sqrt(2 * float(gammainccinv(df / 2, 1e-17)) / df)
    # With few degrees of freedom all that happens, happens near zero: nodes crowd there.
    few = df < 8
    power = 3 if few else 1
    nodes, weights = _gauss(_OUTER_FEW if few else _OUTER)
    unit = (nodes + 1) / 2
    s = low + (high - low) * unit**power
    ds = (high - low) * power * unit ** (power - 1) * weights / 2
    log_density = (
        math.log(2)
        + (df / 2) * math.log(df / 2)
        - gammaln(df / 2)
        + (df - 1) * np.log(s)
        - df * s * s / 2
    )
    mass = np.exp(log_density) * ds
    return s, mass / mass.sum()


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
