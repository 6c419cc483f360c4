"""Bootstrap intervals of coefficients: items are drawn with replacement.

An item is drawn with all its concepts and all its judgements, because judgements on one item
are not independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.tallies import Tallies, UnitCounts
from cranfield.data.judgement_log import Floats
from cranfield.errors import UsageError

Key = TypeVar("Key", bound=Hashable)

# Draws of one block of replicates fit into this many numbers.
BLOCK_CELLS = 4_000_000
# Up to this size the contribution of every unit is kept as a row of numbers.
FEATURE_CELLS = 8_000_000


def bootstrap_intervals(
    counts: UnitCounts,
    functions: Mapping[Key, Callable[[Tallies], float]],
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[Key, tuple[float, float]]:
    """Percentile intervals of functions of tallies over resampled items; NaN where none exists.

    All functions see the same samples.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} is not between 0 and 1")
    draws = np.random.default_rng(rng)
    if not counts.item.size:
        return dict.fromkeys(functions, (math.nan, math.nan))
    items, of_unit = np.unique(counts.item, return_inverse=True)
    values = {key: np.full(resamples, np.nan) for key in functions}
    step = max(1, min(resamples, BLOCK_CELLS // max(items.size, 1)))
    summed = _summed_over(counts, of_unit.ravel(), items.size)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weight = np.empty((size, items.size))
        for row in weight:
            row[:] = np.bincount(draws.integers(0, items.size, items.size), minlength=items.size)
        for i, tallies in enumerate(summed(weight)):
            for key, function in functions.items():
                values[key][start + i] = function(tallies)
        if progress is not None:
            progress((start + size) / resamples)
    tail = (1 - confidence) / 2
    return {key: _percentiles(found, tail) for key, found in values.items()}


def _summed_over(
    counts: UnitCounts, of_unit: NDArray[np.int64], items: int
) -> Callable[[Floats], Iterator[Tallies]]:
    """A function from weights of items (replicates x items) to the tallies of each replicate."""
    q = counts.table.shape[1]
    if not isinstance(counts.table, np.ndarray) or counts.table.size * q > FEATURE_CELLS:
        return lambda weights: (counts.tallies(row[of_unit]) for row in weights)
    features = np.zeros((items, 2 + q + 2 * q * q))
    # Units come in the order of their items, so that each item's units are one slice.
    starts = np.searchsorted(of_unit, np.arange(items))
    np.add.reduceat(_unit_features(counts), starts, axis=0, out=features)

    def tallies(weights: Floats) -> Iterator[Tallies]:
        for row in weights @ features:
            yield Tallies(
                float(row[0]),
                float(row[1]),
                row[2 : 2 + q],
                row[2 + q : 2 + q + q * q].reshape(q, q),
                row[2 + q + q * q :].reshape(q, q),
                counts.levels,
            )

    return tallies


def _unit_features(counts: UnitCounts) -> Floats:
    """What each unit adds to the tallies, as one row of numbers."""
    table, r = counts.table, counts.per_unit
    paired = r >= 2
    per_judgement = np.divide(1.0, r - 1, out=np.zeros(r.size), where=paired)
    per_unit = np.divide(per_judgement, r, out=np.zeros(r.size), where=paired)
    q = table.shape[1]
    pairs = table[:, :, None] * table[:, None, :]
    pairs[:, np.arange(q), np.arange(q)] -= table
    flat = pairs.reshape(r.size, q * q)
    return np.hstack(
        [
            (r > 0)[:, None].astype(np.float64),
            paired[:, None].astype(np.float64),
            np.divide(table, r[:, None], out=np.zeros_like(table), where=r[:, None] > 0),
            flat * per_unit[:, None],
            flat * per_judgement[:, None],
        ]
    )


def _percentiles(values: Floats, tail: float) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not known.size:
        return (math.nan, math.nan)
    low, high = np.quantile(known, [tail, 1 - tail])
    return (float(low), float(high))
