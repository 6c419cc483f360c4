"""What few gold units may not show: values at the limits, and silver that is wrong.

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
from dataclasses import dataclass

import numpy as np

from cranfield.stats._resample import Floats
from cranfield.stats.differences import Bools
from cranfield.stats.intervals import Limits

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
