"""Paired tests with a known distribution: Student's t, Wilcoxon's signed ranks, the sign test.

Every function takes the differences a - b, one row per pair of runs and one column per topic,
and answers for all rows at once. `tail="one"` asks whether a is greater than b, `"two"`
whether they differ, and `"seen"` looks in the direction that the data have (whichever it is, so
that its level over both directions is twice the one asked for). Where all differences are zero,
or there is a single topic, nothing speaks against equality and p is 1.

The differences of pairs of runs come a few pairs at a time, with gaps where a run has no value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError
from cranfield.options import TAILS, Tail
from cranfield.stats._resample import Floats, Ints
from cranfield.validation import validate_params

# The limits up to which SciPy's `wilcoxon` takes the exact distribution.
EXACT_WITHOUT_TIES, EXACT_WITH_TIES = 50, 13
# A spread below this part of the largest value is rounding error, not spread.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairedResult:
    """The statistic and the p-value of every row of differences."""

    name: str
    statistic: Floats
    p: Floats
    n: int


def as_rows(differences: Floats) -> Floats:
    """Differences as a matrix of finite numbers; a single row may be given flat."""
    rows = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise UsageError("differences must be finite numbers, one row per pair of runs")
    return rows


def check_tail(tail: str) -> None:
    if tail not in TAILS:
        raise UsageError(f"tail={tail!r} is none of {', '.join(map(repr, TAILS))}")


def t_statistic(rows: Floats) -> Floats:
    """Mean over its standard error; 0 for all zero rows, infinite where all are equal."""
    n = rows.shape[1]
    mean = rows.mean(axis=1) if n else np.zeros(len(rows))
    error = spread(rows) / np.sqrt(max(n, 1))
    # A tiny divisor overflows to infinity, which is what the row then deserves.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(mean == 0, 0.0, mean / error)


def spread(rows: Floats) -> Floats:
    """The standard deviation of each row; exactly 0 where all its values are equal."""
    if rows.shape[1] < 2:
        return np.zeros(len(rows))
    constant = (rows == rows[:, :1]).all(axis=1)
    return np.where(constant, 0.0, rows.std(axis=1, ddof=1))


@validate_params
def t_test(differences: Floats, *, tail: Tail = "two") -> PairedResult:
    """Student's paired t-test.

    >>> float(t_test([0.1, 0.3, 0.2, 0.4]).p[0].round(6))
    0.030466
    """
    from cranfield.stats._special import stdtr

    check_tail(tail)
    rows = as_rows(differences)
    n = rows.shape[1]
    if n < 2:
        return PairedResult("t", np.zeros(len(rows)), np.ones(len(rows)), n)
    t = t_statistic(rows)
    p = stdtr(n - 1, -t if tail == "one" else -np.abs(t))
    if tail == "two":
        p = np.minimum(2 * p, 1.0)
    none = ~rows.any(axis=1)
    return PairedResult("t", t, np.where(none, 1.0, p), n)


@validate_params
def sign_test(differences: Floats, *, tail: Tail = "two") -> PairedResult:
    """The sign test on wins against losses; ties do not count."""
    from cranfield.stats._special import bdtr

    check_tail(tail)
    rows = as_rows(differences)
    wins, losses = (rows > 0).sum(axis=1), (rows < 0).sum(axis=1)
    total = wins + losses
    if tail == "one":
        p = bdtr(losses.astype(np.float64), total, 0.5)
    else:
        fewer = np.minimum(wins, losses).astype(np.float64)
        p = np.minimum((2 if tail == "two" else 1) * bdtr(fewer, total, 0.5), 1.0)
    p = np.where(total == 0, 1.0, p)
    return PairedResult("sign", wins.astype(np.float64), p, rows.shape[1])


@validate_params
def wilcoxon_test(differences: Floats, *, tail: Tail = "two") -> PairedResult:
    """Wilcoxon's signed rank test; zero differences are taken out.

    The distribution is exact up to 50 topics without ties and zeros, and up to 13 with them;
    else it is the normal approximation with the correction for ties.
    """
    check_tail(tail)
    rows = as_rows(differences)
    n = rows.shape[1]
    statistic, p = np.zeros(len(rows)), np.ones(len(rows))
    for i, row in enumerate(rows):
        nonzero = row[row != 0]
        if nonzero.size == 0:
            continue
        ranks, ties = average_ranks(np.abs(nonzero))
        plus = float(ranks[nonzero > 0].sum())
        statistic[i] = plus
        untied = nonzero.size == n and not ties.size
        if n <= EXACT_WITHOUT_TIES and (untied or n <= EXACT_WITH_TIES):
            p[i] = _exact_p(ranks, plus, tail)
        else:
            p[i] = _normal_p(nonzero.size, ties, plus, tail)
    return PairedResult("wilcoxon", statistic, p, n)


def average_ranks(values: Floats) -> tuple[Floats, Floats]:
    """The ranks from 1 on, tied values sharing their mean rank, and the sizes of the ties."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    ranks = (last - (sizes - 1) / 2)[group]
    return ranks, sizes[sizes > 1].astype(np.float64)


def _exact_p(ranks: Floats, plus: float, tail: Tail) -> float:
    # Ranks of ties are halves, so twice the ranks are whole numbers.
    doubled = tuple(sorted(np.rint(2 * ranks).astype(int).tolist()))
    mass = _signed_rank_mass(doubled)
    at = round(2 * plus)
    greater = float(mass[at:].sum())
    if tail == "one":
        return min(greater, 1.0)
    return min((2 if tail == "two" else 1) * min(greater, float(mass[: at + 1].sum())), 1.0)


@lru_cache(maxsize=512)
def _signed_rank_mass(ranks: tuple[int, ...]) -> Floats:
    """The probability of each sum when every rank is taken or left with equal chance."""
    mass = np.zeros(sum(ranks) + 1)
    mass[0] = 1.0
    for rank in ranks:
        shifted = np.zeros_like(mass)
        shifted[rank:] = mass[: mass.size - rank]
        mass = (mass + shifted) / 2
    return mass


def _normal_p(nonzero: int, ties: Floats, plus: float, tail: Tail) -> float:
    from cranfield.stats._special import ndtr

    mean = nonzero * (nonzero + 1) / 4
    variance = (nonzero * (nonzero + 1) * (2 * nonzero + 1) - ((ties**3 - ties).sum()) / 2) / 24
    z = (plus - mean) / np.sqrt(variance)
    if tail == "one":
        return float(ndtr(-z))
    return float(min((2 if tail == "two" else 1) * ndtr(-abs(z)), 1.0))


@validate_params
def equivalence_test(differences: Floats, *, margin: float) -> PairedResult:
    """Two one-sided t-tests: a small p says that the mean difference lies within the margin.

    The p-value is the larger of the two; equal runs are equivalent for every margin (p = 0 when
    all differences are the same and inside the margin).
    """
    from cranfield.stats._special import stdtr

    if not 0 < margin < np.inf:
        raise UsageError(f"margin={margin!r} must be a number greater than 0")
    rows = as_rows(differences)
    n = rows.shape[1]
    if n < 2:
        return PairedResult("equivalence", np.zeros(len(rows)), np.ones(len(rows)), n)
    above = stdtr(n - 1, -t_statistic(rows + margin))
    below = stdtr(n - 1, t_statistic(rows - margin))
    mean = rows.mean(axis=1)
    return PairedResult("equivalence", mean, np.maximum(above, below), n)


Bools = NDArray[np.bool_]
PAIRS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Rows:
    """The differences of some pairs: 0 where there is a gap, and what is known of each row.

    `flat` rows have no spread but rounding error. Their standard deviation is exactly 0.
    """

    values: Floats
    known: Bools | None
    topics: Ints
    mean: Floats
    deviation: Floats
    flat: Bools

    @property
    def error(self) -> Floats:
        """The standard error of each mean."""
        return self.deviation / np.sqrt(np.maximum(self.topics, 1))

    def centred(self) -> Floats:
        """The differences less their mean, 0 in gaps and in flat rows."""
        centred = self.values - self.mean[:, None]
        if self.known is not None:
            centred[~self.known] = 0.0
        centred[self.flat] = 0.0
        return centred


class Differences:
    """Pairs of rows of a matrix of scores (runs by topics); NaN is a gap.

    A pair has the topics for which both of its runs have a value.
    """

    def __init__(self, values: Floats, pairs: Ints) -> None:
        self.known = ~np.isnan(values)
        self.whole = bool(self.known.all())
        self.values = values if self.whole else np.where(self.known, values, 0.0)
        self.pairs = pairs

    @classmethod
    def from_zero(cls, values: Floats) -> Differences:
        """Every run against a run of zeros: what holds for differences holds for means."""
        runs, topics = values.shape
        with_zero = np.vstack([values, np.zeros((1, topics))])
        return cls(with_zero, np.column_stack([np.arange(runs), np.full(runs, runs)]))

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def width(self) -> int:
        """The number of topics of the collection, gaps included."""
        return int(self.values.shape[1])

    def raw(self, at: Ints | slice) -> tuple[Floats, Bools | None]:
        """Differences, 0 in gaps, and where they are known (None: everywhere)."""
        a, b = self.pairs[at].T
        rows = np.take(self.values, a, axis=0) - np.take(self.values, b, axis=0)
        if self.whole:
            return rows, None
        present = self.known[a] & self.known[b]
        rows[~present] = 0.0
        return rows, present

    def rows(self, at: Ints | slice) -> Rows:
        """The differences of some pairs with their means and spreads."""
        values, present = self.raw(at)
        if present is None:
            topics = np.full(len(values), self.width, dtype=np.int64)
        else:
            topics = present.sum(axis=1)
        mean = values.sum(axis=1) / np.maximum(topics, 1)
        centred = values - mean[:, None]
        if present is not None:
            centred[~present] = 0.0
        deviation = np.sqrt((centred * centred).sum(axis=1) / np.maximum(topics - 1, 1))
        flat = (topics < 2) | (deviation <= ROUNDING * np.abs(values).max(axis=1, initial=0.0))
        deviation[flat] = 0.0
        return Rows(values, present, topics, mean, deviation, flat)

    def chunks(self, order: Ints | None = None) -> Iterator[tuple[slice, Ints | slice]]:
        """Positions in an order, and the pairs there, a few at a time."""
        for start in range(0, len(self.pairs), PAIRS_AT_ONCE):
            positions = slice(start, min(start + PAIRS_AT_ONCE, len(self.pairs)))
            yield positions, positions if order is None else order[positions]
