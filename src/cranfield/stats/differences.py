"""The differences of pairs of runs, a few pairs at a time; gaps where a run has no value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.stats._resample import Floats, Ints
from cranfield.stats.paired import ROUNDING

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
