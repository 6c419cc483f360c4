"""The leaderboard of a measure: the plain order of the means, and what tests say of it."""

from __future__ import annotations

import numpy as np

from cranfield.comparison.answer import Standing
from cranfield.comparison.significance import PairedSample, TestResults
from cranfield.notes import Notes
from cranfield.stats import intervals
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.rankgroups import places, rank_groups


def standings(
    sample: PairedSample, tests: TestResults, resampled: Floats | None, notes: Notes
) -> list[Standing]:
    """The runs, best mean first: places with intervals, ranks with letters."""
    plan, name = sample.plan, str(sample.measure)
    means = np.array([_mean(row) for row in sample.values])
    # A run without any value stands last.
    oriented = np.nan_to_num(sample.sign * means, nan=-np.inf)
    order = np.argsort(-oriented, kind="stable")
    beaten = tests.beaten(sample)
    groups = rank_groups(beaten, order)
    at = places(oriented)
    ranges = _place_ranges(at, [(g.rank, g.last) for g in groups])
    boxes = intervals.run_intervals(
        sample.values,
        method=plan.mean_interval,
        confidence=1 - plan.alpha,
        resamples=plan.draws,
        rng=plan.seed,
        jobs=plan.jobs,
        resampled=None if np.isnan(sample.values).any() else resampled,
        limits=sample.measure.range,
    )
    if sample.scores.is_mean(sample.measure):
        # The very numbers that the evaluation gave, to their last digit.
        means = sample.scores.overall[sample.measure]
    _note_order(sample, notes, [sample.scores.runs[i] for i in order if groups[i].rank > at[i]])
    if not any(g.letters for g in groups):
        notes.add(f"{name}: too many groups of runs for letters; the ranks show what is open")
    return [
        Standing(
            measure=name,
            run=sample.scores.runs[i],
            mean=float(means[i]),
            ci=(boxes[i].low, boxes[i].high),
            place=int(at[i]),
            place_interval=ranges[i],
            rank=groups[i].rank,
            group=groups[i].letters,
            rank_spread=(groups[i].rank, groups[i].last),
        )
        for i in order
    ]


def _place_ranges(
    at: Ints, open_places: list[tuple[int, int]]
) -> list[tuple[int | None, int | None]]:
    """The places that the tests leave open, which hold the place itself in any case."""
    return [
        (min(first, place), max(last, place))
        for place, (first, last) in zip(at.tolist(), open_places, strict=True)
    ]


def _note_order(sample: PairedSample, notes: Notes, ahead: list[str]) -> None:
    """Say on which topics the order stands, and which runs stand above what tests say."""
    name, defined = str(sample.measure), ~np.isnan(sample.values)
    unit = sample.scores.unit_of[sample.measure]
    if defined.shape[1] < intervals.FEW_UNITS:
        notes.add(intervals.few_units(defined.shape[1], unit))
    if not defined.all():
        counts = defined.sum(axis=1)
        notes.add(
            f"{name}: places are by the mean of each run over its own {unit}s "
            f"({counts.min()} to {counts.max()} of {defined.shape[1]}), ranks and letters by pairs "
            f"on the {unit}s that both runs have"
        )
    for run in ahead:
        notes.add(
            f"{name}: stands above its rank: the test prefers runs with a lower mean", about=run
        )


def _mean(row: Floats) -> float:
    defined = row[~np.isnan(row)]
    return float(defined.mean()) if defined.size else float("nan")
