"""Little gold, much silver: means that a cheap truth helps to estimate.

People judged `n` of `N` units (topics, items), which were chosen at random; a program or a crowd
judged all of them. The mean of the silver over all units, corrected by what gold and silver differ
on the units that have both, is right whatever the silver is worth; how much of the silver is used
(`weight`) is chosen from the data, and is nothing where gold and silver do not vary together.

Two values may be meant. That of *these units* is the mean if people had judged all N; how far it
may be off shrinks to nothing as n reaches N. That of *such units* is the mean over all units that
might have been in the collection: to the first uncertainty comes that of the choice of the N.

With e = gold - weight * silver the two variances are (1/n - 1/N) var(e), and that plus var(gold)/N.
The reach of each is taken from a studentised bootstrap of the gold units (see `bootstrap`), in
which from 20 units on also the weight is chosen anew. With fewer the weights of resamples swing
far more than those of samples do: most of the reach is then that with the weight kept, evened out
with that of gold alone, since so few differences show little of their tails.

Where the limits of the values are known, units that few gold units may not show are counted in, so
that values which repeat themselves, such as 0 and 1, have an interval that holds: see `_unseen`.

What few gold units may not show: values at the limits, and silver that is wrong.

Where gold has few different values, or equals the silver on most units, the spread of few units
says little of the others: no mistake of the silver among 20 units leaves room for one in seven. So
pseudo units are counted among the real ones: gold has one at either limit of the values, and the
silver is wrong on two, once too high and once too low, by as much as the limits allow. They count
as much as values repeat themselves: gold by the share of its most frequent value, silver by the
share of units on which it agrees with gold, and a fifth at least. Where the disagreements that were
seen are small, those of the pseudo units are small, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

import numpy as np

from cranfield.errors import UsageError, check_counts
from cranfield.notes import with_progress
from cranfield.options import DEFAULT_RESAMPLES
from cranfield.stats._resample import Block, Floats, Progress, Rng, in_threads
from cranfield.stats.bootstrap import Draws
from cranfield.stats.intervals import Limits, check_confidence
from cranfield.stats.paired import Bools, as_rows
from cranfield.validation import Real, validate_params

# Pseudo units at either limit, and mistakes of the silver either way.
EACH_WAY = 1.0
# So much of them counts where no value repeats itself: few units seldom show the largest values.
LEAST = 0.2
# Where values have no limit, so many times the largest distance from the mean stands for it.
BEYOND = 3.0
_EQUAL = 1e-9
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class PseudoUnits:
    """The pseudo units of every row: their number, their sum of squares around the mean, how much
    values repeat themselves, and how far they pull the mean to the middle of the limits."""

    count: Floats
    squares: Floats
    repeated: Floats
    pull: Floats

    @classmethod
    def none(cls, rows: int) -> PseudoUnits:
        return cls(*(np.zeros(rows) for _ in range(4)))

    def where(self, mask: Bools, alternative: PseudoUnits) -> PseudoUnits:
        """These in the chosen rows, the others elsewhere."""
        return PseudoUnits(
            *(
                np.where(mask, getattr(self, name), getattr(alternative, name))
                for name in PseudoUnits.__slots__
            )
        )

    def error(self, squared: Floats, n: int) -> Floats:
        """The squared standard error of a mean of n units with the pseudo units among them."""
        enlarged: Floats = (squared + self.squares / (n * (n - 1))) * n / (n + self.count)
        return enlarged

    def reach(self, resampled: Floats, by_t: Floats) -> Floats:
        """Squared reaches: resamples of values that repeat themselves say less than Student's t."""
        part = np.minimum(2 * self.repeated, 1.0)[:, None]
        mixed: Floats = (1 - part) * resampled + part * by_t
        return mixed


@dataclass(frozen=True, slots=True)
class Room:
    """The limits of the values of every row; those of the data where there are none."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, gold: Floats, silver: Floats, limits: Limits) -> Room:
        mean = gold.mean(axis=1)
        deviation = np.maximum(
            *(np.abs(x - x.mean(axis=1)[:, None]).max(axis=1) for x in (gold, silver))
        )
        low, high = (
            mean + sign * BEYOND * deviation if math.isinf(end) else np.full(len(gold), end)
            for sign, end in ((-1, limits[0]), (1, limits[1]))
        )
        return cls(np.minimum(low, gold.min(axis=1)), np.maximum(high, gold.max(axis=1)))

    @property
    def width(self) -> Floats:
        return self.high - self.low

    @property
    def middle(self) -> Floats:
        return (self.low + self.high) / 2

    def gold_units(self, gold: Floats) -> PseudoUnits:
        """A unit at either limit."""
        n = gold.shape[1]
        mean = gold.mean(axis=1)
        often, mode = _most_frequent(gold, self._equal)
        gap = gold - mode[:, None]
        size = self._size(gap, np.abs(gap) <= self._equal[:, None])
        repeated = np.where(often > 1, often / n, 0.0)
        count = 2 * EACH_WAY * np.maximum(repeated, LEAST)
        around = ((self.low - mean) ** 2 + (self.high - mean) ** 2) / 2
        return PseudoUnits(
            count, count * size * around, repeated, np.sqrt(size) * count / (n + count)
        )

    def silver_units(self, gold: Floats, silver: Floats, on_line: Bools) -> PseudoUnits:
        """A mistake of the silver either way; `on_line` are rows that it fits without any rest."""
        gap = gold - silver
        agree = np.abs(gap) <= self._step(gold)[:, None]
        size = np.where(on_line, 1.0, self._size(gap, agree))
        repeated = np.where(on_line, 1.0, agree.mean(axis=1))
        count = 2 * EACH_WAY * np.maximum(repeated, LEAST)
        farthest = np.maximum(self.high[:, None] - silver, silver - self.low[:, None])
        around = np.minimum(farthest, self.width[:, None]) ** 2
        squares = count * size * around.mean(axis=1)
        return PseudoUnits(count, squares, repeated, np.zeros(len(gold)))

    @property
    def _equal(self) -> Floats:
        return _EQUAL * np.maximum(self.width, _TINY)

    def _step(self, gold: Floats) -> Floats:
        """Gold and silver agree where they are nearer than any two values of gold: silver may have
        probabilities. Values of gold that never repeat themselves have no such steps."""
        often, _ = _most_frequent(gold, self._equal)
        steps = np.diff(np.sort(gold, axis=1), axis=1)
        smallest = np.where(steps > self._equal[:, None], steps, np.inf).min(axis=1)
        return np.where(often > 1, 0.499 * np.minimum(smallest, self.width), self._equal)

    def _size(self, gap: Floats, agree: Bools) -> Floats:
        """The mean square of the disagreements in parts of the room, with one as large as that."""
        apart = np.where(agree, 0.0, gap / np.maximum(self.width, _TINY)[:, None])
        size: Floats = ((apart**2).sum(axis=1) + 1) / ((~agree).sum(axis=1) + 1)
        return np.minimum(size, 1.0)


def _most_frequent(values: Floats, equal: Floats) -> tuple[Floats, Floats]:
    """How often each row has its most frequent value, and which that is."""
    ordered = np.sort(values, axis=1)
    place = np.arange(values.shape[1])
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = np.diff(ordered, axis=1) > equal[:, None]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    length = place - first + 1
    at = length.argmax(axis=1)[:, None]
    often = np.take_along_axis(length, at, 1)[:, 0].astype(np.float64)
    return often, np.take_along_axis(ordered, at, 1)[:, 0]


PoweredMethod: TypeAlias = Literal["studentized", "t"]
# From so many gold units on resamples choose the weight anew; with fewer, this counts for a part.
CHOOSE_WEIGHT = 20
_ROWS_AT_ONCE = 32

# A variance below this part of that of the data is rounding error.
_NO_SPREAD = 1e-12
# Squares that differ by less than this part are equal but for rounding.
_TIE = 1e-10


@dataclass(frozen=True, slots=True)
class PPIMeans:
    """Estimates of every row, each with how far its interval reaches to either side.

    `gold` is the plain mean of the gold units. `effective` is how many gold units alone would say
    as much, for either target. `p` and `gold_p` test that the value of such units is zero,
    `these_p` that of these units. Intervals of such units lie around the value plus `shift` (gold
    alone: `gold_shift`), those of these units around the value plus the part of it that the units
    without gold are of all; both are 0 unless limits are given.
    """

    value: Floats
    these: Floats
    such: Floats
    p: Floats
    these_p: Floats
    weight: Floats
    correlation: Floats
    effective: Floats
    gold: Floats
    gold_these: Floats
    gold_such: Floats
    gold_p: Floats
    shift: Floats
    gold_shift: Floats

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Means of gold, silver and their products, of the data or of resamples (last axis)."""

    y: Floats
    f: Floats
    yy: Floats
    yf: Floats
    ff: Floats

    @property
    def spreads(self) -> tuple[Floats, Floats, Floats]:
        """The variances of gold and silver, and their covariance."""
        return (
            np.maximum(self.yy - self.y**2, 0.0),
            np.maximum(self.ff - self.f**2, 0.0),
            self.yf - self.y * self.f,
        )

    def rest(self, weight: Floats) -> Floats:
        """The variance of gold less the weighted silver."""
        gold, silver, covariance = self.spreads
        return np.maximum(gold - 2.0 * weight * covariance + weight**2 * silver, 0.0)

    def rounding(self, weight: Floats) -> Floats:
        """How much of `rest` may be left by rounding alone: two units fit any line."""
        return _NO_SPREAD * (self.yy + weight**2 * self.ff)


@validate_params
@with_progress
def powered_means(
    gold: Floats,
    silver: Floats,
    silver_mean: Floats,
    total: int,
    *,
    method: PoweredMethod = "studentized",
    confidence: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    limits: tuple[Real, Real] | None = None,
) -> PPIMeans:
    """The mean of each row of `gold` over `total` units, with the help of silver.

    `gold` and `silver` have a column for each unit that has both; `silver_mean` is the mean of the
    silver over all units, those with gold among them. `limits` are those of the values, infinite
    where there is none; with them no interval is without width while units are without gold, and
    it is NaN where nothing says how far values may lie apart.

    >>> gold, silver = [0.2, 0.4, 0.6, 0.7, 0.9], [0.25, 0.35, 0.7, 0.7, 0.85]
    >>> found = powered_means([gold], [silver], [0.45], 50, method="t")
    >>> round(float(found.value[0]), 3), round(float(found.gold[0]), 3)
    (0.44, 0.56)
    """
    y, f = as_rows(gold), as_rows(silver)
    centre = np.asarray(silver_mean, dtype=np.float64)
    n = y.shape[1]
    check_confidence(confidence)
    if method not in ("studentized", "t"):
        raise UsageError(f"interval {method!r} is not one of studentized, t")
    if f.shape != y.shape or centre.shape != (len(y),):
        raise UsageError("gold, silver and the means of the silver do not belong together")
    check_counts(total=total)
    if not 3 <= n <= total:
        raise UsageError(f"{n} gold units of {total}: at least 3 are needed, at most all")
    draws = Draws(n, resamples, rng, 1) if method == "studentized" else None
    parts: list[PPIMeans] = []
    starts = range(0, len(y), _ROWS_AT_ONCE)
    todo = [Block(i, s, min(_ROWS_AT_ONCE, len(y) - s)) for i, s in enumerate(starts)]

    def work(block: Block) -> PPIMeans:
        at = slice(block.start, block.start + block.rows)
        rows = _Rows(y[at], f[at], centre[at], total, limits)
        return rows.estimated(draws, resamples, confidence)

    parts = in_threads(work, todo, jobs=jobs, progress=progress)
    names = [field.name for field in fields(PPIMeans)]
    return PPIMeans(
        *(np.concatenate([getattr(p, name) for p in parts] or [np.empty(0)]) for name in names)
    )


def best_weight(data: _Moments, n: int) -> tuple[Floats, Floats]:
    """The weight of the silver and its correlation with gold.

    The slope of gold on silver is shrunk by what of it chance alone would give, so that worthless
    silver has next to no weight; silver that runs against gold has none.
    """
    spread, silver, covariance = data.spreads
    has_spread = silver > _NO_SPREAD * np.maximum(data.ff, _TINY)
    slope = np.where(has_spread, covariance / np.maximum(silver, _TINY), 0.0)
    squared = np.where(has_spread, covariance**2 / np.maximum(silver * spread, _TINY), 0.0)
    squared = np.clip(squared, 0.0, 1.0)
    ratio = (n - 2) * squared / np.maximum(1.0 - squared, 1e-15)
    shrinkage = np.maximum(0.0, 1.0 - 1.0 / np.maximum(ratio, 1e-12))
    return np.maximum(slope * shrinkage, 0.0), np.sign(covariance) * np.sqrt(squared)


class _Rows:
    """Some rows of gold and silver, centred, and what their resamples say."""

    def __init__(
        self, gold: Floats, silver: Floats, centre: Floats, total: int, limits: Limits | None
    ) -> None:
        self.n, self.total = gold.shape[1], total
        self.share = self.n / total
        self.mean, silver_mean = gold.mean(axis=1), silver.mean(axis=1)
        self.y, self.f = gold - self.mean[:, None], silver - silver_mean[:, None]
        self.ahead = centre - silver_mean
        zero = np.zeros(len(gold))
        means = [(a * b).mean(axis=1) for a, b in self._products()]
        self.data = _Moments(zero, zero, *means)
        self.weight, self.correlation = best_weight(self.data, self.n)
        if total == self.n:
            self.weight = zero
        self.room = None if limits is None else Room.of(gold, silver, limits)
        self.more_gold = self.more_rest = PseudoUnits.none(len(gold))
        if self.room is not None:
            on_line = self.data.rest(self.weight) <= _NO_SPREAD * self.data.yy
            self.more_gold = self.room.gold_units(gold)
            wrong = self.room.silver_units(gold, silver, on_line)
            self.more_rest = wrong.where(self.weight > 0, self.more_gold)

    def _products(self) -> tuple[tuple[Floats, Floats], ...]:
        return (self.y, self.y), (self.y, self.f), (self.f, self.f)

    def estimated(self, draws: Draws | None, count: int, confidence: float) -> PPIMeans:
        gold_error, rest_error = self._errors()
        gold_reach, rest_reach = self._reaches(draws, count)
        value = self.mean + self.weight * self.ahead
        shift, gold_shift = np.zeros(len(value)), np.zeros(len(value))
        if self.room is not None:
            by_t = self._by_t(count)
            gold_error = self.more_gold.error(gold_error, self.n)
            # A line leaves no more of gold than there is.
            rest_error = np.minimum(self.more_rest.error(rest_error, self.n), gold_error)
            gold_reach = self.more_gold.reach(gold_reach, by_t[0])
            rest_reach = self.more_rest.reach(rest_reach, by_t[1])
            shift = self.more_rest.pull * (self.room.middle - value)
            gold_shift = self.more_gold.pull * (self.room.middle - self.mean)
        sample = 1.0 - self.share
        # Squared half widths by rank: the first is exceeded by one resample only, and so on.
        gold_squares = gold_error[:, None] * gold_reach
        these = sample * rest_error[:, None] * rest_reach
        such = these + self.share * gold_squares
        if self.room is not None and self.total > self.n:
            for squares in (gold_squares, these, such):
                squares[self.room.width == 0] = np.inf
        rank = math.floor((1 - confidence) * (gold_squares.shape[1] + 1) + 1e-9)

        def half(squares: Floats) -> Floats:
            if rank < 1:
                return np.full(len(squares), np.nan)
            reach = np.sqrt(squares[:, rank - 1] * (1 + _TIE / 2))
            return np.where(np.isinf(reach), np.nan, reach)

        spread = self.data.spreads[0] + self.more_gold.squares / self.n
        rest = self.data.rest(self.weight) + self.more_rest.squares / self.n
        # Where gold does not vary there is nothing that silver could tell.
        part = np.divide(rest, spread, out=np.ones_like(rest), where=spread > 0)
        gained = (1 / self.n - 1 / self.total) * np.minimum(part, 1)
        return PPIMeans(
            value=value,
            these=half(these),
            such=half(such),
            p=_p(value + shift, such),
            these_p=_p(value + sample * shift, these),
            weight=self.weight,
            correlation=self.correlation,
            effective=1.0 / (gained + 1.0 / self.total),
            gold=self.mean,
            gold_these=half(sample * gold_squares),
            gold_such=half(gold_squares),
            gold_p=_p(self.mean + gold_shift, gold_squares),
            shift=shift,
            gold_shift=gold_shift,
        )

    def _errors(self) -> tuple[Floats, Floats]:
        """The squared standard errors of the means of gold and of the rest, if units had no end."""
        gold, silver, _ = self.data.spreads
        gold_error = gold / (self.n - 1)
        if self.total == self.n:
            return gold_error, gold_error
        # What the estimate of the weight adds, and what the silver of these gold units, far from
        # that of all, adds.
        leverage = self.ahead**2 / np.maximum(silver, _TINY) / (1.0 - self.share)
        rest = self.data.rest(self.weight) / (self.n - 2) * (1.0 + leverage)
        rest = np.where(self.data.rest(self.weight) <= _NO_SPREAD * gold, 0.0, rest)
        return gold_error, np.where(self.weight > 0, rest, gold_error)

    def _reaches(self, draws: Draws | None, count: int) -> tuple[Floats, Floats]:
        """Squared ratios of error to standard error, the largest first, of gold and of the rest."""
        if draws is None:
            return self._by_t(count)
        zero = np.zeros(len(self.y))[:, None]
        gold, fixed, refitted = [], [], []
        for block in draws.blocks:
            moments = self._drawn(draws.weights(block).T / self.n)
            gold.append(self._ratio(moments, zero))
            if self.n < CHOOSE_WEIGHT:
                fixed.append(self._ratio(moments, self.weight[:, None]))
            refitted.append(self._chosen_ratio(moments))
        gold_reach, rest = _descending(gold), _descending(refitted)
        if self.n < CHOOSE_WEIGHT:
            part = (self.n / CHOOSE_WEIGHT) ** 3
            rest = part * rest + (1.0 - part) * (_descending(fixed) + gold_reach) / 2
        return gold_reach, np.where(self.weight[:, None] > 0, rest, gold_reach)

    def _by_t(self, count: int) -> tuple[Floats, Floats]:
        from cranfield.stats._special import stdtrit

        upper = 1.0 - np.arange(1, count + 1) / (2.0 * (count + 1))
        gold_reach, rest = (stdtrit(df, upper)[None, :] ** 2 for df in (self.n - 1, self.n - 2))
        return np.repeat(gold_reach, len(self.y), axis=0), np.where(
            self.weight[:, None] > 0, rest, gold_reach
        )

    def _drawn(self, weights: Floats) -> _Moments:
        return _Moments(
            self.y @ weights, self.f @ weights, *((a * b) @ weights for a, b in self._products())
        )

    def _ratio(self, moments: _Moments, weight: Floats) -> Floats:
        """The squared ratio of every resample under a weight that is the same in all of them."""
        data_variance = self.data.rest(weight[:, 0])[:, None]
        return _squared_ratio(moments, weight, data_variance, self.n - 1)

    def _chosen_ratio(self, moments: _Moments) -> Floats:
        """The same, with the weight that each resample chooses."""
        weight, _ = best_weight(moments, self.n)
        data_variance = self.data.rest(self.weight)[:, None]
        silver = np.maximum(moments.spreads[1], _TINY)
        leverage = np.where(weight > 0, moments.f**2 / silver, 0.0)
        degrees = np.where(weight > 0, self.n - 2, self.n - 1)
        return _squared_ratio(moments, weight, data_variance, degrees) / (1.0 + leverage)


def _squared_ratio(
    moments: _Moments, weight: Floats, data_variance: Floats, degrees: Floats | int
) -> Floats:
    """Squared error over squared standard error; a resample without spread has that of the data."""
    error, variance = moments.y - weight * moments.f, moments.rest(weight)
    floor = np.maximum(_NO_SPREAD * data_variance, moments.rounding(weight))
    spread = np.where(variance <= floor, data_variance, variance) / degrees
    return np.where(data_variance > 0, error**2 / np.maximum(spread, _TINY), 0.0)


def _descending(parts: list[Floats]) -> Floats:
    squares = np.concatenate(parts, axis=1)
    squares.sort(axis=1)
    return squares[:, ::-1]


def _p(value: Floats, squares: Floats) -> Floats:
    """The share of resamples whose interval would reach zero."""
    bar = value**2 * (1 - _TIE)
    reached = np.count_nonzero(squares >= bar[:, None], axis=1)
    return np.where(value == 0, 1.0, (reached + 1) / (squares.shape[1] + 1))
