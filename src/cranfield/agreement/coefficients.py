"""Coefficients of agreement, each a function of tallies.

All but the first correct the observed agreement for chance, (Pa - Pe) / (1 - Pe), and differ
in what they take for chance. NaN says that a coefficient does not exist: fewer than two
judgements on every unit, or no chance of disagreeing (all answers the same, where the
coefficient learns the chance from the answers).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.majority import NARROW, row_sum
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.errors import NeedsError, UsageError, suggest

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
            for column in range(k, q):
                pairs[k, column] = np.einsum("u,u->", weighted, table[:, column])
                pairs[column, k] = pairs[k, column]
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


Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Weights: TypeAlias = Literal["identity", "linear", "quadratic", "ordinal"]

# The least that says anything of agreement, but for rounding.
LEAST = -1 - 1e-9


def accuracy(tallies: Tallies) -> float:
    """The share of pairs of judgements on a unit that are identical, averaged over units.

    On a complete log this is the mean over all pairs of annotators of their accuracy (thesis,
    equation 6.1), and the mean over items of the accuracy on the item (6.2).
    """
    return _observed(tallies)


def fleiss(tallies: Tallies) -> float:
    """Fleiss' kappa: chance is two draws from the answers of all annotators together.

    Where every unit has two judgements it is never below -1 (`LEAST`). Units with a single one add
    to the chance and not to what is observed: a value below -1 speaks of them alone.
    """
    if tallies.units == 0:
        return math.nan
    share = tallies.marginals / tallies.units
    return _corrected(_observed(tallies), float(share @ share))


def free_marginal(tallies: Tallies) -> float:
    """Free-marginal kappa (Brennan and Prediger; Randolph): every possible answer is as likely."""
    if tallies.answers < 2:
        return math.nan
    return _corrected(_observed(tallies), 1 / tallies.answers)


def gwet(tallies: Tallies, weights: Weights = "identity") -> float:
    """Gwet's AC1 (identity weights) or AC2: chance is guessing on the hard units only."""
    q = tallies.answers
    if q < 2 or tallies.units == 0:
        return math.nan
    matrix = agreement_weights(tallies, weights)
    share = tallies.marginals / tallies.units
    guessing = float((share * (1 - share)).sum()) / (q * (q - 1))
    return _corrected(_observed(tallies, matrix), float(matrix.sum()) * guessing)


def krippendorff(tallies: Tallies, level: Level = "nominal") -> float:
    """Krippendorff's alpha: one minus observed over expected disagreement of judgements.

    Units with a single judgement count for nothing. For "ordinal" the distance of two answers
    is the number of judgements between their middles, for "interval" the difference of numbers.
    """
    marginals = tallies.coincidence.sum(axis=1)
    total = float(marginals.sum())
    if total < 2:
        return math.nan
    if level == "nominal":
        observed = total - float(np.trace(tallies.coincidence))
        expected = (total * total - float(marginals @ marginals)) / (total - 1)
    else:
        place = _levels(tallies) if level == "interval" else np.cumsum(marginals) - marginals / 2
        # Centred first: squared differences of large numbers would lose their digits.
        place = place - float(place @ marginals) / total
        squared = (place[:, None] - place[None, :]) ** 2
        observed = float((tallies.coincidence * squared).sum())
        expected = float(marginals @ squared @ marginals) / (total - 1)
    if expected <= 0:
        return math.nan
    return 1 - observed / expected


def agreement_weights(tallies: Tallies, weights: Weights) -> Floats:
    """How far two answers agree, from 0 to 1: a matrix answers x answers (Gwet 2014)."""
    q = tallies.answers
    if weights == "identity":
        return np.eye(q)
    if weights == "ordinal":
        apart = np.abs(np.subtract.outer(np.arange(q), np.arange(q))) + 1.0
        pairs = apart * (apart - 1) / 2
        return 1 - pairs / max(float(pairs.max()), 1.0)
    place = _levels(tallies)
    apart = np.abs(np.subtract.outer(place, place)) / max(float(np.ptp(place)), 1e-300)
    return 1 - (apart if weights == "linear" else apart**2)


def _levels(tallies: Tallies) -> Floats:
    if tallies.levels is None:
        raise NeedsError(
            "interval coefficients need numbers as answers; declare the order of names "
            "(values=) and use the ordinal ones"
        )
    return tallies.levels


def _observed(tallies: Tallies, matrix: Floats | None = None) -> float:
    if tallies.paired == 0:
        return math.nan
    hits = np.trace(tallies.agreement) if matrix is None else (tallies.agreement * matrix).sum()
    return float(hits) / tallies.paired


def _corrected(observed: float, chance: float) -> float:
    # All answers alike leave 1 - Pe at a rounding error, not exactly at zero.
    if math.isnan(observed) or 1 - chance < 1e-12:
        return math.nan
    return (observed - chance) / (1 - chance)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient under the name it has in tables and JSON."""

    name: str
    title: str
    value: Callable[[Tallies], float]
    needs: str = ""


STANDARD = ("accuracy", "fleiss", "free_marginal", "krippendorff", "gwet_ac1")

COEFFICIENTS: Mapping[str, Coefficient] = MappingProxyType(
    {
        c.name: c
        for c in (
            Coefficient("accuracy", "observed agreement of pairs of judgements", accuracy),
            Coefficient("fleiss", "Fleiss' kappa", fleiss),
            Coefficient("free_marginal", "free-marginal kappa (Randolph)", free_marginal),
            Coefficient("krippendorff", "Krippendorff's alpha, nominal", krippendorff),
            Coefficient(
                "krippendorff_ordinal",
                "Krippendorff's alpha, ordinal",
                lambda t: krippendorff(t, "ordinal"),
                "order",
            ),
            Coefficient(
                "krippendorff_interval",
                "Krippendorff's alpha, interval",
                lambda t: krippendorff(t, "interval"),
                "numbers",
            ),
            Coefficient("gwet_ac1", "Gwet's AC1", gwet),
            Coefficient(
                "gwet_ac2",
                "Gwet's AC2, quadratic weights",
                lambda t: gwet(t, "quadratic"),
                "numbers",
            ),
            Coefficient(
                "gwet_ac2_linear",
                "Gwet's AC2, linear weights",
                lambda t: gwet(t, "linear"),
                "numbers",
            ),
            Coefficient(
                "gwet_ac2_ordinal",
                "Gwet's AC2, ordinal weights",
                lambda t: gwet(t, "ordinal"),
                "order",
            ),
        )
    }
)


def choose_coefficients(names: str, *, numeric: bool) -> tuple[Coefficient, ...]:
    """The coefficients of a text such as 'fleiss gwet_ac1', 'standard' or 'all'."""
    selection: dict[str, Coefficient] = {}
    for name in names.replace(",", " ").split():
        if name == "standard":
            selection |= {n: COEFFICIENTS[n] for n in STANDARD}
        elif name == "all":
            selection |= {n: c for n, c in COEFFICIENTS.items() if numeric or not c.needs}
        elif name not in COEFFICIENTS:
            raise UsageError(
                f"no coefficient named {name!r}.{suggest(name, COEFFICIENTS)} "
                f"There are: {', '.join(COEFFICIENTS)}, standard, all"
            )
        elif COEFFICIENTS[name].needs == "numbers" and not numeric:
            raise NeedsError(f"{name} needs numbers as answers, the log has names")
        else:
            selection[name] = COEFFICIENTS[name]
    if not selection:
        raise UsageError("no coefficient asked for")
    return tuple(selection.values())


def nominal_names(names: Iterable[str]) -> tuple[str, ...]:
    """Of these coefficients those that need neither order nor numbers."""
    return tuple(name for name in names if not COEFFICIENTS[name].needs)
