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

from cranfield.agreement.coefficients import Tallies, UnitCounts
from cranfield.data.judgement_log import Floats
from cranfield.errors import UsageError
from cranfield.notes import Progress
from cranfield.stats._resample import (
    Block,
    Rng,
    blocks,
    bootstrap_counts,
    check_resamples,
    in_threads,
    seed_of,
)
from cranfield.stats.intervals import check_confidence

Key = TypeVar("Key", bound=Hashable)

# Up to this size the contribution of every unit is kept as a row of numbers.
FEATURE_CELLS = 8_000_000


def resampled_intervals(
    counts: UnitCounts,
    functions: Mapping[Key, Callable[[Tallies], float]],
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = 0,
    progress: Progress | None = None,
) -> dict[Key, tuple[float, float]]:
    """Percentile intervals of functions of tallies over resampled items; NaN where none exists.

    All functions see the same samples.
    """
    check_confidence(confidence)
    count = check_resamples(resamples)
    if count == "exact":
        raise UsageError("the bootstrap has no exact form; give a number of resamples")
    seed = seed_of(rng)
    if not counts.item.size:
        return dict.fromkeys(functions, (math.nan, math.nan))
    items, of_unit = np.unique(counts.item, return_inverse=True)
    summed = _summed_over(counts, of_unit.ravel(), items.size)
    keys = list(functions)

    def work(block: Block) -> Floats:
        weight = bootstrap_counts(seed, block, items.size)
        return np.array([[functions[key](t) for key in keys] for t in summed(weight)])

    resampled = np.concatenate(in_threads(work, blocks(count, items.size), progress=progress))
    tail = (1 - confidence) / 2
    return {key: _percentiles(resampled[:, k], tail) for k, key in enumerate(keys)}


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
    defined = values[~np.isnan(values)]
    if not defined.size:
        return (math.nan, math.nan)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return (float(low), float(high))
