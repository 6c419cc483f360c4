"""Partial credit for boxes in the right place with a near concept."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data.regions import CROWD, Regions, overlaps_of

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]


# By how much a count is raised where a derivative is a difference.
_STEP = 1e-5


class PlacedBoxes(NamedTuple):
    """The boxes of a run, with items and concepts as the truth numbers them."""

    item: Ints
    concept: Ints
    boxes: Floats
    confidences: Floats


class RegionCredit:
    """How much credit each box of a run and of the truth gets.

    The boxes of an item that are at least `least` sure are taken from the surest on. Each takes,
    of the boxes of the truth that overlap by `overlap` and are still free, the one whose concept
    costs least, then the one that overlaps most; the credit of both is 1 - cost. A box that takes
    none and lies in a crowd or on a difficult box of its concept does not count. With costs of 0
    and 1 this is COCO's matching.
    """

    def __init__(
        self,
        truth: Regions,
        placed: PlacedBoxes,
        costs: Floats,
        overlap: float,
        least: float,
        depth: int,
    ) -> None:
        counted = np.flatnonzero(placed.confidences >= least)
        counted = counted[_within_depth(placed, counted, depth)]
        self.concepts = len(truth.concepts)
        self._truth_rows = np.flatnonzero(truth.flags == 0)
        self._truth_concept = truth.concept[self._truth_rows]
        self._truth_item = truth.item[self._truth_rows]
        self._truth_credit = np.zeros(len(self._truth_rows))
        credit = np.zeros(len(counted))
        ignored = np.zeros(len(counted), dtype=bool)
        free = np.ones(len(self._truth_rows), dtype=bool)
        flagged, forgives = np.flatnonzero(truth.flags != 0), np.ones(len(truth), dtype=bool)
        truth_at = _rows_by_item(truth.item[self._truth_rows], len(truth.items))
        flagged_at = _rows_by_item(truth.item[flagged], len(truth.items))
        order = np.lexsort((np.arange(len(counted)), -placed.confidences[counted]))
        for k in order.tolist():
            row = counted[k]
            box, concept, item = placed.boxes[row], placed.concept[row], placed.item[row]
            here = truth_at[item]
            shares = overlaps_of(box, truth.boxes[self._truth_rows[here]])
            worth = 1 - costs[concept, self._truth_concept[here]]
            worth = np.where((shares >= overlap) & free[here], worth, 0.0)
            best = float(worth.max()) if len(worth) else 0.0
            if best > 0:
                # The last of equal overlaps, as COCO's program takes it.
                nearest = np.where(worth == best, shares, -1.0)
                chosen = len(nearest) - 1 - int(nearest[::-1].argmax())
                free[here[chosen]] = False
                credit[k] = self._truth_credit[here[chosen]] = best
            else:
                rows = flagged[flagged_at[item]]
                rows = rows[(truth.concept[rows] == concept) & forgives[rows]]
                forgiving = _forgiving(box, truth, rows, overlap)
                ignored[k] = forgiving is not None
                # A crowd forgives any number of boxes, a difficult box one.
                if forgiving is not None and not truth.flags[forgiving] & CROWD:
                    forgives[forgiving] = False
        rows = counted[~ignored]
        self._concept, self._item = placed.concept[rows], placed.item[rows]
        self._credit = credit[~ignored]

    def f_measure(self, beta: float, weights: Floats) -> Floats:
        """F of each concept; NaN without a box in the truth. `weights` count the items."""
        return self._f_of(beta, *self._counts(weights))

    def influence(self, beta: float, items: int) -> Floats:
        """The derivative of the mean over concepts by the weight of each item."""
        counts = list(self._counts(np.zeros(0)))
        before = self._f_of(beta, *counts)
        defined = ~np.isnan(before)
        sums = np.zeros(items)
        for at, (concept, item, values) in enumerate(
            (
                (self._concept, self._item, np.ones(len(self._item))),
                (self._truth_concept, self._truth_item, np.ones(len(self._truth_item))),
                (self._concept, self._item, self._credit),
                (self._truth_concept, self._truth_item, self._truth_credit),
            )
        ):
            heavier = list(counts)
            heavier[at] = counts[at] + _STEP
            slopes = np.nan_to_num((self._f_of(beta, *heavier) - before) / _STEP)
            weighted = values * slopes[concept] / max(int(defined.sum()), 1)
            sums += np.bincount(item, weights=weighted, minlength=items)
        return sums

    def _counts(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Boxes, objects of the truth, and the credit of either, of each concept."""
        drawn = np.ones(len(self._item)) if not len(weights) else weights[self._item]
        wanted = np.ones(len(self._truth_item)) if not len(weights) else weights[self._truth_item]
        return (
            self._sums(self._concept, drawn),
            self._sums(self._truth_concept, wanted),
            self._sums(self._concept, drawn * self._credit),
            self._sums(self._truth_concept, wanted * self._truth_credit),
        )

    def _f_of(
        self, beta: float, boxes: Floats, objects: Floats, right: Floats, reached: Floats
    ) -> Floats:
        precision = np.divide(right, boxes, out=np.zeros(self.concepts), where=boxes > 0)
        recall = np.divide(reached, objects, out=np.full(self.concepts, np.nan), where=objects > 0)
        below = beta**2 * precision + recall
        f: Floats = np.divide(
            (1 + beta**2) * precision * recall, below, out=np.zeros(self.concepts), where=below != 0
        )
        f[objects == 0] = np.nan
        return f

    def _sums(self, concept: Ints, values: Floats) -> Floats:
        return np.bincount(concept, weights=values, minlength=self.concepts).astype(np.float64)


def _within_depth(placed: PlacedBoxes, rows: NDArray[np.intp], depth: int) -> NDArray[np.bool_]:
    """Which boxes are among the surest of their item and concept."""
    order = np.lexsort((-placed.confidences[rows], placed.concept[rows], placed.item[rows]))
    keys = np.stack([placed.item[rows][order], placed.concept[rows][order]])
    new = np.ones(len(rows), dtype=bool)
    if len(rows):
        new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    place = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    within = np.zeros(len(rows), dtype=bool)
    within[order] = (place < depth) if depth else True
    return within


def _rows_by_item(item: Ints, items: int) -> list[NDArray[np.intp]]:
    order = np.argsort(item, kind="stable")
    return np.split(order, np.searchsorted(item[order], np.arange(1, items)))


def _forgiving(box: Floats, truth: Regions, rows: NDArray[np.intp], overlap: float) -> int | None:
    """The flagged box that a box lies in or on: the one of the largest overlap, the last of equals.

    A crowd forgives what lies in it: the common part as a share of the box itself.
    """
    best, chosen = overlap, None
    for row in rows.tolist():
        other = truth.boxes[row]
        if truth.flags[row] & CROWD:
            ends = np.minimum(box[:2] + box[2:], other[:2] + other[2:])
            sides = np.maximum(ends - np.maximum(box[:2], other[:2]), 0)
            area = float(box[2] * box[3])
            share = float(sides[0] * sides[1]) / area if area > 0 else 0.0
        else:
            share = float(overlaps_of(box, other[None])[0])
        if share >= best:
            best, chosen = share, row
    return chosen
