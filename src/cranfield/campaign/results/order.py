"""Places of runs under a measure: the plain order of the means, told apart from what tests say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import NeedsError
from cranfield.stats.rankgroups import places

if TYPE_CHECKING:
    from cranfield.campaign.results.results_data import ResultsData
    from cranfield.evaluation.scores import Values
    from cranfield.measures.base import Measure


@dataclass(frozen=True, slots=True)
class RunPlacing:
    """A run under a measure: its mean and its place among the ranked runs.

    `place` is by the means alone; `rank` is 1 + the number of ranked runs that are
    significantly better. Neither is there for a baseline or a run without a value.
    """

    run: str
    value: float | None
    place: int | None
    rank: int | None


def sign(measure: Measure) -> float:
    """1 where more is better, -1 where less is."""
    return -1.0 if measure.higher_is_better is False else 1.0


def better(measure: Measure) -> str:
    """Which end of a column is the better one."""
    return "min" if measure.higher_is_better is False else "max"


def place_runs(material: ResultsData, measure: Measure) -> dict[str, RunPlacing]:
    """All runs under a measure, the best first; runs that share a value share a place."""
    runs = material.scores.runs
    means = np.asarray(material.scores.overall[measure], dtype=np.float64)
    oriented = np.nan_to_num(sign(measure) * means, nan=-np.inf)
    ranked = np.array([i for i in material.ranked_runs if not np.isnan(means[i])], dtype=np.intp)
    place = dict(zip(ranked.tolist(), places(oriented[ranked]).tolist(), strict=True))
    placings: dict[str, RunPlacing] = {}
    for i in np.argsort(-oriented, kind="stable").tolist():
        rank = material.ranks.get((str(measure), runs[i])) if i in place else None
        value = None if np.isnan(means[i]) else float(means[i])
        placings[runs[i]] = RunPlacing(runs[i], value, place.get(i), rank)
    return placings


def unit_values(material: ResultsData, measure: Measure) -> Values:
    """The values of all runs per unit, or a NeedsError where only means are known."""
    values = material.scores.values.get(measure)
    if values is None or not material.scores.units.get(material.scores.unit_of[measure]):
        unit = material.scores.unit_of[measure]
        raise NeedsError(f"{measure}: the scores have no values per {unit}, only means")
    return np.asarray(values, dtype=np.float64)


def unit_measure(material: ResultsData, unit: str, name: str | None) -> Measure:
    """The measure asked for, else the first that has values per unit, the primary one before."""
    scores = material.scores
    if name is not None:
        measure = material.measure(name)
        if scores.unit_of[measure] != unit:
            raise NeedsError(
                f"{measure} has no values per {unit}, but per {scores.unit_of[measure]}"
            )
        return measure
    for measure in (material.primary, *scores.measures):
        if scores.unit_of[measure] == unit and measure in scores.values:
            return measure
    raise NeedsError(f"no measure has values per {unit} here")
