"""A first look at many vectors: the items that may be among the nearest, by single precision.

Rounding may put an item that belongs to the nearest behind the last that is kept: where vectors are
far from 0 and close to one another, all of them. How far rounding can reach is known for every
kernel, so it is known for which queries nothing was lost; the others look at all items in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.features._spec import Floats
from cranfield.features.distances import PreparedDistance
from cranfield.notes import Progress

Bools = NDArray[np.bool_]
# Distances that inner products give, which are the fastest to compute for many at once.
_OF_PRODUCTS = ("tanimoto", "cosine", "l2")
_ITEMS, _TOGETHER = 16384, 64
# So many items tell where a collection lies.
_SAMPLE = 4096
# Half the last place of a number near 1, and the squares that single precision can work with.
_ROUNDING, _SMALLEST, _LARGEST = 2.0**-24, 1e-30, 1e30
# Whole numbers up to here are exact in single precision, and so are their sums.
_EXACT = 2**24


class FirstLook:
    """Row q of `items` has the numbers of the items to look at for query q, and no other is
    nearer than `reach[q]`, but for rounding."""

    def __init__(
        self,
        prepared: PreparedDistance,
        rows: Floats,
        vectors: NDArray[Any],
        count: int,
        jobs: int,
        progress: Progress,
    ) -> None:
        self._ready = prepared
        self._rows, self._middle = rows, _middle(prepared, vectors)
        self._all = count >= len(vectors)
        if self._all:
            self.items = np.tile(np.arange(len(vectors), dtype=np.int64), (len(rows), 1))
            return
        self._whole = _is_whole(prepared, vectors)
        nearest = _core.Nearest(len(rows), count)
        with np.errstate(over="ignore", invalid="ignore"):
            usual = self._add_all(nearest, vectors, jobs, progress)
        self.items = nearest.items().reshape(len(rows), count)
        self.reach = nearest.reach().astype(np.float64) if usual else np.full(len(rows), np.nan)

    def _add_all(
        self, nearest: _core.Nearest, vectors: NDArray[Any], jobs: int, progress: Progress
    ) -> bool:
        """Shows every item; whether all numbers are of a size that single precision has."""
        prepared, kernel = self._ready, self._ready.distance.kernel
        queries = _centred(self._rows, self._middle).astype(np.float32)
        squares = np.einsum("ij,ij->i", queries, queries)
        usual = _are_usual(squares)
        for first in range(0, len(vectors), _ITEMS):
            block = prepared.single_rows(vectors[first : first + _ITEMS], self._middle)
            if kernel in _OF_PRODUCTS:
                sizes = np.einsum("ij,ij->i", block, block)
                usual = usual and _are_usual(sizes)
                products = np.ascontiguousarray(queries @ block.T)
                nearest.add_products(kernel, products, squares, sizes, first, jobs)
            else:
                nearest.add(kernel, queries, block, prepared.groups, first, jobs)
            progress(min(1.0, (first + _ITEMS) / len(vectors)))
        return usual or kernel not in _OF_PRODUCTS

    def lost(self, last: Floats, beyond: Floats) -> NDArray[np.int64]:
        """The queries of which an item may have been lost that is nearer than the last one taken.

        `last` is the distance of that one and `beyond` that of the farthest of `items`; where they
        are the same, it is a tie of many, of which the first are taken.
        """
        if self._all:
            return np.empty(0, dtype=np.int64)
        kernel = self._ready.distance.kernel
        compared = last**2 if kernel == "l2" else last
        sure = beyond - last <= 1e-12 * np.maximum(last, 1e-300)
        with np.errstate(invalid="ignore"):
            if self._whole:
                sure |= compared <= self.reach
            else:
                slack = _slack(kernel, _centred(self._rows, self._middle), last)
                sure |= compared + slack < self.reach
        sure &= np.isfinite(self.reach)
        return np.flatnonzero(~sure)


def from_all(
    prepared: PreparedDistance, rows: Floats, vectors: NDArray[Any], count: int, jobs: int
) -> NDArray[np.int64]:
    """The nearest items of each row by double precision; of equal ones, the first."""
    nearest = np.empty((len(rows), min(count, len(vectors))), dtype=np.int64)
    for start in range(0, len(rows), _TOGETHER):
        queries = rows[start : start + _TOGETHER]
        items = np.empty((len(queries), 0), dtype=np.int64)
        distances = np.empty((len(queries), 0))
        for first in range(0, len(vectors), _ITEMS):
            block = prepared.rows(vectors[first : first + _ITEMS])
            numbers = np.arange(first, first + len(block))
            distances = np.concatenate([distances, prepared.between(queries, block, jobs)], axis=1)
            items = np.concatenate([items, np.tile(numbers, (len(queries), 1))], axis=1)
            order = np.argsort(distances, axis=1, kind="stable")[:, :count]
            distances = np.take_along_axis(distances, order, axis=1)
            items = np.take_along_axis(items, order, axis=1)
        nearest[start : start + _TOGETHER] = items
    return nearest


def _middle(prepared: PreparedDistance, vectors: NDArray[Any]) -> Floats | None:
    """About where the vectors lie. Distances of points do not change when all are moved, but
    inner products keep more of them near 0."""
    if prepared.distance.kernel != "l2":
        return None
    some = vectors[:: max(1, len(vectors) // _SAMPLE)]
    with np.errstate(over="ignore"):
        middle = prepared.rows(some).mean(axis=0).astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(middle), middle, 0.0)


def _centred(rows: Floats, middle: Floats | None) -> Floats:
    return rows if middle is None else np.asarray(rows - middle)


def _is_whole(prepared: PreparedDistance, vectors: NDArray[Any]) -> bool:
    """Whether single precision gives the very distances: sums of small whole numbers."""
    if prepared.distance.kernel != "l1" or not prepared.as_given or vectors.dtype.kind not in "iub":
        return False
    ends = (int(vectors.min()), int(vectors.max())) if vectors.size else (0, 0)
    return bool(2 * max(abs(ends[0]), abs(ends[1])) * vectors.shape[1] < _EXACT)


def _are_usual(squares: NDArray[np.float32]) -> bool:
    return bool(((squares == 0) | ((squares > _SMALLEST) & (squares < _LARGEST))).all())


def _slack(kernel: str, rows: Floats, last: Floats) -> Floats:
    """How far the distance of an item that is as near as `last` may be off in single precision.

    What an item of that distance can measure follows from the query's own size, so that items
    which are far away do not count.
    """
    length = rows.shape[1]
    unit = (8 + np.sqrt(length)) * _ROUNDING
    sums = np.abs(rows).sum(axis=1)
    norms = np.sqrt((rows**2).sum(axis=1))
    if kernel in ("l2", "squared"):
        away = last if kernel == "l2" else np.sqrt(last)
        return np.asarray(unit * (norms**2 + (norms + away) ** 2))
    if kernel in ("l1", "grouped"):
        return np.asarray(unit * (2 * sums + last))
    if kernel in ("chi2", "jsd"):
        return np.asarray(12 * unit * (sums + last))
    factor = {"cosine": 4.0, "tanimoto": 600.0, "relative": float(length)}[kernel]
    return np.full(len(rows), factor * unit)
