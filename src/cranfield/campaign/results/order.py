"""Places of runs under a measure: the plain order of the means, told apart from what tests say."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cranfield.campaign.results.material import Material
from cranfield.measures._spec import Measure


@dataclass(frozen=True, slots=True)
class Placed:
    """A run under a measure: its mean and its place among the ranked runs.

    `place` is by the means alone; `rank` is 1 + the number of runs that are significantly
    better. Neither is there for a baseline or a run without a value.
    """

    run: str
    value: float
    place: int | None
    rank: int | None


def sign(measure: Measure) -> float:
    """1 where more is better, -1 where less is."""
    return -1.0 if measure.higher_is_better is False else 1.0


def better(measure: Measure) -> str:
    """Which end of a column is the better one."""
    return "min" if measure.higher_is_better is False else "max"


def placed(material: Material, measure: Measure) -> dict[str, Placed]:
    """All runs under a measure, the best first; runs that share a value share a place."""
    scores = material.scores
    means = [float(v) for v in scores.overall[measure]]
    ranked = {i for i in material.ranked_runs if not math.isnan(means[i])}
    oriented = {i: sign(measure) * means[i] for i in ranked}
    order = sorted(
        range(len(means)), key=lambda i: (math.isnan(means[i]), -sign(measure) * means[i])
    )
    found: dict[str, Placed] = {}
    ordered = sorted(oriented.values(), reverse=True)
    first = {value: place for place, value in reversed(list(enumerate(ordered, 1)))}
    for i in order:
        run = scores.runs[i]
        standing = material.standings.get((str(measure), run))
        found[run] = Placed(
            run,
            means[i],
            first[oriented[i]] if i in ranked else None,
            standing.rank if standing is not None and i in ranked else None,
        )
    return found
