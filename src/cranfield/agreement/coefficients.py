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
from typing import Literal, TypeAlias

import numpy as np

from cranfield.agreement.coincidences import Tallies
from cranfield.data.judgement_log import Floats
from cranfield.errors import NeedsError, UsageError, suggest

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
    given = tallies.coincidence.sum(axis=1)
    total = float(given.sum())
    if total < 2:
        return math.nan
    if level == "nominal":
        observed = total - float(np.trace(tallies.coincidence))
        expected = (total * total - float(given @ given)) / (total - 1)
    else:
        place = _levels(tallies) if level == "interval" else np.cumsum(given) - given / 2
        # Centred first: squared differences of large numbers would lose their digits.
        place = place - float(place @ given) / total
        squared = (place[:, None] - place[None, :]) ** 2
        observed = float((tallies.coincidence * squared).sum())
        expected = float(given @ squared @ given) / (total - 1)
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
    chosen: dict[str, Coefficient] = {}
    for name in names.replace(",", " ").split():
        if name == "standard":
            chosen |= {n: COEFFICIENTS[n] for n in STANDARD}
        elif name == "all":
            chosen |= {n: c for n, c in COEFFICIENTS.items() if numeric or not c.needs}
        elif name not in COEFFICIENTS:
            raise UsageError(
                f"no coefficient named {name!r}.{suggest(name, COEFFICIENTS)} "
                f"There are: {', '.join(COEFFICIENTS)}, standard, all"
            )
        elif COEFFICIENTS[name].needs == "numbers" and not numeric:
            raise NeedsError(f"{name} needs numbers as answers, the log has names")
        else:
            chosen[name] = COEFFICIENTS[name]
    if not chosen:
        raise UsageError("no coefficient asked for")
    return tuple(chosen.values())


def nominal_names(names: Iterable[str]) -> tuple[str, ...]:
    """Of these coefficients those that need neither order nor numbers."""
    return tuple(name for name in names if not COEFFICIENTS[name].needs)
