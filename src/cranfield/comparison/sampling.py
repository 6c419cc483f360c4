"""What was sampled: the units over which runs are tested, and what each adds to their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.comparison.options import ComparisonPlan
from cranfield.evaluation.scores import Scores
from cranfield.measures.base import Measure
from cranfield.notes import Notes
from cranfield.options import OF_SINGLE_VALUES
from cranfield.stats._resample import Floats, Ints, all_pairs
from cranfield.stats.design import UnitDesign, cluster_correlation, unit_design

# A name that ends in a separator and a number.
_NUMBERED = re.compile(r"(.+)[-_.:/ ]\d+")
_FEWEST_CLUSTERS, _PAIRS_LOOKED_AT = 3, 50
# From how many times the variance on clusters are worth a note.
_MATTERS = 1.2


@dataclass(frozen=True, slots=True)
class SampledUnits:
    """The units of a measure: a row per run, a column per unit, NaN where a run has no value.

    The mean of a row is the value of the run. `plain` values are those of single units as the
    measure gives them; others are parts, which may lie outside of the range of the measure.
    """

    unit: str
    values: Floats
    plain: bool
    # Of how many values of single units the columns are made.
    single: int
    # What the design did to the units, in words.
    design: str = ""


def sampling_obstacle(scores: Scores, measure: Measure, plan: ComparisonPlan) -> str:
    """Why runs cannot be tested over the units asked for, or nothing."""
    has_concepts = scores.unit_of[measure] == "concept"
    if plan.units is not None and scores.task == "ranked":
        return f"{measure}: units={plan.units!r} is for annotations; rankings have topics alone"
    if plan.units == "concepts":
        return _concepts_obstacle(scores, measure, plan)
    if scores.sampled(measure) is None:
        return _items_obstacle(scores, measure)
    if plan.units == "both" and not (has_concepts and scores.is_mean(measure)):
        return f"{measure} is not a mean over concepts, so concepts cannot be drawn as well"
    in_parts = scores.has_parts(measure)
    if in_parts and plan.test in OF_SINGLE_VALUES:
        return (
            f"{measure} has no values of single {scores.main_unit}s, which the {plan.test} test "
            "looks at: take bootstrap, randomization or t"
        )
    design = _design_of(scores, plan)
    if in_parts and design is not None and design.is_weighted:
        return f"{measure} is not a mean over {scores.main_unit}s, so it cannot be weighted"
    return ""


def _concepts_obstacle(scores: Scores, measure: Measure, plan: ComparisonPlan) -> str:
    if scores.unit_of[measure] != "concept" or measure not in scores.values:
        return f"{measure} has no values of single concepts"
    if not scores.is_mean(measure):
        return f"{measure} is not a mean over concepts, so its difference has no test over them"
    if plan.design is not None:
        return f"{measure}: a design says how items were sampled, not concepts"
    return ""


def _items_obstacle(scores: Scores, measure: Measure) -> str:
    if measure not in scores.values:
        return (
            f"{measure} has no values of single topics, items or concepts here: save() keeps them"
        )
    if scores.unit_of[measure] == "concept":
        return (
            f"{measure}: it is not known what each item adds to it (it has no derivative, "
            "or the scores are of an earlier version or of printed JSON): evaluate the "
            "runs again, or ask about concepts as a sample with units='concepts'"
        )
    return f"{measure} is not a mean over topics, items or concepts, so its difference has no test"


def sampled_units(
    scores: Scores, measure: Measure, plan: ComparisonPlan, notes: Notes
) -> SampledUnits:
    """The units over which runs are tested under a measure, where nothing stands against it."""
    sampled = scores.sampled(measure)
    if plan.units == "concepts" or sampled is None:
        by_concept = np.asarray(scores.values[measure])
        return SampledUnits("concept", by_concept, True, by_concept.shape[1])
    unit, values = sampled
    units = SampledUnits(unit, values, not scores.has_parts(measure), values.shape[1])
    design = _design_of(scores, plan)
    if design is not None:
        units = _by_design(units, design, notes)
    else:
        _note_clusters(scores, measure, units, notes)
    if plan.units == "both":
        units = _crossed(units, np.asarray(scores.values[measure]))
    return units


def _design_of(scores: Scores, plan: ComparisonPlan) -> UnitDesign | None:
    """The design that was asked for, or else that of the scores."""
    if plan.design is None:
        return scores.design
    return unit_design(plan.design, scores.units[scores.main_unit], scores.main_unit)


def _by_design(units: SampledUnits, design: UnitDesign, notes: Notes) -> SampledUnits:
    """The clusters in place of the units, on the units that every run has."""
    complete = np.asarray(~np.isnan(units.values).any(axis=0))
    if not complete.any():
        return units
    left_out = int((~complete).sum())
    if left_out:
        notes.add(
            f"{left_out} of {len(complete)} {units.unit}s are left out: under a design runs are "
            f"compared on the {units.unit}s that all have"
        )
    design = design.at(np.flatnonzero(complete))
    if single := design.single_strata():
        notes.add(
            f"{single} strata have one cluster each, which shows no spread within: these are "
            "compared with all others"
        )
    parts = design.parts(units.values[:, complete])
    unit = "cluster" if design.has_clusters else units.unit
    return SampledUnits(unit, parts, False, int(complete.sum()), _in_words(design, units.unit))


def _in_words(design: UnitDesign, unit: str) -> str:
    """A design in a few words.

    >>> _in_words(UnitDesign(np.array([0, 0, 1]), np.array([0, 0]), np.ones(3)), "topic")
    '3 topics in 2 clusters'
    """
    words = f"{len(design.clusters)} {unit}s"
    if design.has_clusters:
        words += f" in {design.count} clusters"
    strata = len(np.unique(design.strata))
    if strata > 1:
        words += f", {strata} strata"
    if design.is_weighted:
        words += ", weighted by their probabilities of being chosen"
    return words


def _note_clusters(scores: Scores, measure: Measure, units: SampledUnits, notes: Notes) -> None:
    """Say so where names look like clusters, within which the differences of runs correlate."""
    clusters = named_clusters(scores.units[units.unit])
    if clusters is None:
        return
    complete = ~np.isnan(units.values).any(axis=0)
    values, codes = units.values[:, complete], np.unique(clusters[complete], return_inverse=True)[1]
    if not values.size:
        return
    pairs = all_pairs(len(values))[:_PAIRS_LOOKED_AT]
    correlations = [cluster_correlation(values[a] - values[b], codes) for a, b in pairs]
    correlation = float(np.nanmedian(correlations)) if np.isfinite(correlations).any() else 0.0
    inflation = 1 + (len(codes) / (codes.max() + 1) - 1) * correlation
    if inflation > _MATTERS:
        notes.add(
            f"{measure}: the names of the {units.unit}s look like {codes.max() + 1} clusters (such "
            f"as {scores.units[units.unit][0]!r}), within which differences correlate by "
            f"{correlation:.2f}: their variance may be {inflation:.1f} times as large as the tests "
            "take it to be; design=... says how they were sampled"
        )


def named_clusters(names: Sequence[str]) -> Ints | None:
    """Groups by what names have in common before a last number; None where they have nothing.

    >>> named_clusters(["u7-1", "u7-2", "u8-1", "u8-2", "u9-1", "u9-2"])
    array([0, 0, 1, 1, 2, 2])
    >>> named_clusters(["img_1", "img_2", "img_3"]) is None
    True
    """
    stems = [_NUMBERED.fullmatch(name) for name in names]
    if any(stem is None for stem in stems):
        return None
    numbers = {stem: i for i, stem in enumerate(dict.fromkeys(m[1] for m in stems if m))}
    if not _FEWEST_CLUSTERS <= len(numbers) <= len(names) / 2:
        return None
    return np.array([numbers[m[1]] for m in stems if m], dtype=np.int64)


def _crossed(units: SampledUnits, by_concept: Floats) -> SampledUnits:
    """Items and concepts, both drawn: parts whose spread is that of both together.

    The mean over both kinds is that over either; how often each is there makes up for their
    different numbers.
    """
    defined = ~np.isnan(by_concept).any(axis=0)
    by_concept = by_concept[:, defined]
    items, concepts = units.values.shape[1], by_concept.shape[1]
    count = items + concepts
    value = units.values.mean(axis=1, keepdims=True)
    parts = [
        value + (own - own.mean(axis=1, keepdims=True)) * _scale(own.shape[1], count)
        for own in (units.values, by_concept)
    ]
    words = f"{items} items and {concepts} concepts"
    return SampledUnits("unit", np.hstack(parts), False, count, words)


def _scale(own: int, count: int) -> float:
    """What makes the variance of one mean over all from that over one of two kinds."""
    return float(np.sqrt(count * (count - 1) / (own * max(own - 1, 1))))


def listed_designs(units: Sequence[SampledUnits]) -> str:
    """The designs of several measures, said once where they agree."""
    return "; ".join(dict.fromkeys(u.design for u in units if u.design))
