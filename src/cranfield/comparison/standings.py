"""The leaderboard of a measure: the plain order of the means, and what tests say of it.

Ranks of runs: how they change between measures, and which mean ranks can be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cranfield.comparison.answer import Standing
from cranfield.comparison.significance import PairedSample, TestResults
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure
from cranfield.notes import Notes
from cranfield.stats import intervals
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.anova import friedman
from cranfield.stats.correlation import kendall
from cranfield.stats.posthoc import critical_difference, places, rank_groups


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
        parts_of=None if sample.units.plain else sample.units.single,
    )
    unbiased = sample.scores.without_bias(sample.measure, boxes)
    boxes = [box for box in unbiased if box is not None]
    if sample.gives_overall:
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
    unit = sample.units.unit
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


@dataclass(frozen=True, slots=True)
class RankChange:
    """The ranks of a run under two measures; 1 is the best."""

    run: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class RankChanges:
    """All runs under two measures, the best under the first one first, and Kendall's tau."""

    measures: tuple[str, str]
    runs: tuple[RankChange, ...]
    tau: float


def rank_changes(scores: Scores, first: Measure, second: Measure) -> RankChanges:
    """How the ranking of runs changes from one measure to another (No, Figure 9.1)."""
    if len(scores.runs) < 2:
        raise UsageError("a change of ranks needs two runs or more")
    better = [_better(scores, m) for m in (first, second)]
    places = [_places(values, scores.runs) for values in better]
    rows = [RankChange(run, places[0][i], places[1][i]) for i, run in enumerate(scores.runs)]
    tau = float(kendall(better[0], better[1]).value)
    rows.sort(key=lambda row: row.first)
    return RankChanges((first.mean_label, second.mean_label), tuple(rows), tau)


def _better(scores: Scores, measure: Measure) -> np.ndarray:
    """Means such that greater is better."""
    sign = -1.0 if measure.higher_is_better is False else 1.0
    return sign * np.asarray(scores.overall[measure], dtype=float)


def _places(values: np.ndarray, runs: tuple[str, ...] | list[str]) -> list[int]:
    """Ranks from 1; equal values stand by name, so that no two runs share a place."""
    order = sorted(range(len(values)), key=lambda i: (np.isnan(values[i]), -values[i], runs[i]))
    places = [0] * len(order)
    for place, i in enumerate(order, 1):
        places[i] = place
    return places


def shared_ranks(scores: Scores, measure: Measure) -> list[int]:
    """1 plus the number of runs that are better; runs that tie share a rank (Ch, Table 1).

    Values that differ by no more than rounding tie; a run without a value has the last rank.
    """
    values = np.nan_to_num(_better(scores, measure), nan=-np.inf)
    slack = 1e-12 * max(1.0, float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
    return [1 + int((values > value + slack).sum()) for value in values.tolist()]


@dataclass(frozen=True, slots=True)
class MeanRanks:
    """The mean rank of every run over topics, the best first, and the critical difference.

    `groups` are the longest stretches of runs, by position, whose ends do not differ.
    """

    measure: str
    units: int
    runs: tuple[tuple[str, float], ...]
    difference: float
    groups: tuple[tuple[int, int], ...]
    alpha: float


def mean_ranks(scores: Scores, measure: Measure, *, alpha: float = 0.05) -> MeanRanks:
    """Mean ranks and the gap from which they differ by Nemenyi's test (Demšar 2006).

    Units for which a run has no value are left out.
    """
    if measure not in scores.values or len(scores.runs) < 2:
        raise UsageError("mean ranks need two runs or more with values per topic, item or concept")
    # The lowest value has rank 1, so the best must be the lowest.
    sign = 1.0 if measure.higher_is_better is False else -1.0
    values = sign * np.asarray(scores.values[measure], dtype=float)
    values = values[:, ~np.isnan(values).any(axis=0)]
    units = values.shape[1]
    if units < 2:
        raise UsageError(f"{measure}: fewer than two topics, items or concepts of all runs")
    ranks = friedman(values).mean_ranks
    rows = sorted(zip(scores.runs, map(float, ranks), strict=True), key=lambda row: row[1])
    gap = critical_difference(len(rows), units, alpha=alpha)
    groups = _groups([rank for _, rank in rows], gap)
    return MeanRanks(str(measure), units, tuple(rows), gap, groups, alpha)


def _groups(ranks: list[float], gap: float) -> tuple[tuple[int, int], ...]:
    """Stretches of two or more whose ends lie less than the gap apart, none inside another."""
    spans: list[tuple[int, int]] = []
    for start, rank in enumerate(ranks):
        end = max(k for k, other_rank in enumerate(ranks) if other_rank - rank < gap)
        if end > start and not (spans and spans[-1][1] >= end):
            spans.append((start, end))
    return tuple(spans)
