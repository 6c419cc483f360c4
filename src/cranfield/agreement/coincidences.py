"""The sufficient statistics of agreement: all coefficients are functions of them alone.

A unit is one question on one item: an item and a concept, or an item in a category log. A unit
that r annotators answered, n_k of them with value k, adds to the tallies

    marginals    n_k / r                                   one vote per unit
    agreement    (n_k n_l - [k=l] n_k) / (r (r - 1))       one vote per unit with r >= 2
    coincidence  (n_k n_l - [k=l] n_k) / (r - 1)           one vote per judgement, r >= 2

The first two are what the kappas and Gwet's coefficients read (Gwet 2014), the third is
Krippendorff's coincidence matrix. Sums of these small matrices over any multiset of units give
the coefficient of that multiset, which is what the bootstrap and the breakdown by concept use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import NARROW, row_sum
from cranfield.data.judgement_log import Floats, JudgementLog

# Above this many cells a table of counts is kept sparse.
DENSE_CELLS = 40_000_000


@dataclass(frozen=True, eq=False)
class Tallies:
    """Sums over units, for answers 0..q-1; `levels` are the answers as numbers, if they are."""

    units: float
    paired: float
    marginals: Floats
    agreement: Floats
    coincidence: Floats
    levels: Floats | None = None

    @property
    def answers(self) -> int:
        return int(self.marginals.size)

    def one_against_rest(self, value: int) -> Tallies:
        """The same units with only two answers: any other value, or this one."""

        def folded(matrix: Floats) -> Floats:
            row, total, hit = matrix[value].sum(), matrix.sum(), matrix[value, value]
            return np.array([[total - 2 * row + hit, row - hit], [row - hit, hit]])

        share = self.marginals[value]
        return Tallies(
            self.units,
            self.paired,
            np.array([self.marginals.sum() - share, share]),
            folded(self.agreement),
            folded(self.coincidence),
            np.array([0.0, 1.0]),
        )


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """How often each answer was given to each unit: a table units x answers.

    `item` is the item of each unit. The table is an array, or a sparse matrix when it would be
    too large for one.
    """

    table: Any
    item: NDArray[np.int64]
    levels: Floats | None

    @property
    def per_unit(self) -> Floats:
        if isinstance(self.table, np.ndarray):
            return row_sum(self.table)
        return np.asarray(self.table.sum(axis=1), dtype=np.float64).ravel()

    def tallies(self, weight: Floats | None = None) -> Tallies:
        """The tallies of all units, each counted `weight` times."""
        r = self.per_unit
        once = np.ones(r.size) if weight is None else weight
        paired = r >= 2
        share = np.divide(once, r, out=np.zeros(r.size), where=r > 0)
        per_judgement = np.divide(once, r - 1, out=np.zeros(r.size), where=paired)
        per_unit = np.divide(per_judgement, r, out=np.zeros(r.size), where=paired)
        return Tallies(
            float(once[r > 0].sum()),
            float(once[paired].sum()),
            _weighted_sums(self.table, share),
            _pair_sums(self.table, per_unit),
            _pair_sums(self.table, per_judgement),
            self.levels,
        )


def _weighted_sums(table: Any, weight: Floats) -> Floats:
    if isinstance(table, np.ndarray):
        return np.asarray(np.einsum("uk,u->k", table, weight))
    return np.asarray(table.T @ weight, dtype=np.float64).ravel()


def _pair_sums(table: Any, weight: Floats) -> Floats:
    """The sum over units of weight x (n_k n_l - [k=l] n_k)."""
    q = table.shape[1]
    if not isinstance(table, np.ndarray):
        pairs = (table.T @ table.multiply(weight[:, None]).tocsr()).toarray()
    elif q > NARROW:
        pairs = table.T @ (table * weight[:, None])
    else:
        # Few long columns: plain sums of products are faster than a matrix product, which would
        # start threads for next to nothing.
        pairs = np.empty((q, q))
        for k in range(q):
            weighted = table[:, k] * weight
            for other in range(k, q):
                pairs[k, other] = np.einsum("u,u->", weighted, table[:, other])
                pairs[other, k] = pairs[k, other]
    pairs[np.diag_indices(q)] -= _weighted_sums(table, weight)
    return np.asarray(pairs, dtype=np.float64)


def unit_counts(log: JudgementLog, concept: int | None = None) -> UnitCounts:
    """The table of counts of one concept, or of all units of the log."""
    if concept is None:
        item, which, value = log.item, log.concept, log.value
        answers = tuple(range(len(log.values)))
        key = item.astype(np.int64) * len(log.concepts) + which
        span = len(log.items) * len(log.concepts)
    else:
        mask = log.concept == concept
        item, value, answers = log.item[mask], log.value[mask], log.answers_of(concept)
        if answers != tuple(range(len(log.values))):
            place = np.full(len(log.values), -1, dtype=np.int32)
            place[list(answers)] = np.arange(len(answers), dtype=np.int32)
            value = place[value]
        key, span = item.astype(np.int64), len(log.items)
    levels = log.levels
    return _counted(
        key,
        span,
        value,
        len(answers),
        1 if concept is not None else len(log.concepts),
        None if levels is None else levels[list(answers)],
    )


def _counted(
    key: NDArray[np.int64],
    span: int,
    value: NDArray[np.int32],
    answers: int,
    per_item: int,
    levels: Floats | None,
) -> UnitCounts:
    """Counts of the units that occur, from one number for each judgement's unit."""
    present = np.bincount(key, minlength=span) > 0 if span <= DENSE_CELLS else None
    if present is None:
        units, row = np.unique(key, return_inverse=True)
    elif present.all():
        units, row = np.arange(span), key
    else:
        units = np.flatnonzero(present)
        row = (np.cumsum(present) - 1)[key]
    if units.size * answers <= DENSE_CELLS:
        # One column after the other in memory: sums run along columns.
        flat = np.bincount(value * units.size + row, minlength=units.size * answers)
        table: Any = flat.reshape(answers, units.size).T.astype(np.float64)
    else:
        from scipy import sparse

        ones = np.ones(row.size)
        table = sparse.csr_matrix((ones, (row, value)), shape=(units.size, answers))
    return UnitCounts(table, units // per_item, levels)
