"""From the scores of runs to a comparison that says how sure it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.comparison.answer import Comparison, Family, Pairs, Standing
from cranfield.comparison.choices import TESTS
from cranfield.comparison.doubtful import doubtful_pairs, doubtful_standings
from cranfield.comparison.pair_statistics import Columns, pair_columns, smallest_corrected
from cranfield.comparison.plan import Plan, checked_plan
from cranfield.comparison.significance import PairedSample, complete_columns, run_tests
from cranfield.comparison.standings import standings
from cranfield.comparison.summary import comparison_verdict
from cranfield.errors import UsageError, suggest
from cranfield.evaluation.scores import Scores
from cranfield.measures.base import Measure
from cranfield.measures.parse import listed_measures
from cranfield.notes import Notes, Progress
from cranfield.stats import anova
from cranfield.stats._resample import DEFAULT_RESAMPLES, Floats, Resamples, Rng
from cranfield.stats.bootstrap import Draws
from cranfield.stats.cronbach import reliability

__all__ = ["TESTS", "compare"]


def compare(
    scores: Scores,
    *,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    test: str = "bootstrap",
    correction: str | None = None,
    tail: str = "two",
    alpha: float = 0.05,
    interval: str | None = None,
    resamples: Resamples = DEFAULT_RESAMPLES,
    margin: float | None = None,
    detect: float | None = None,
    power: float = 0.8,
    rng: Rng = 0,
    jobs: int = 1,
    progress: Progress | Callable[[float], None] | None = None,
) -> Comparison:
    """Compare every two runs, or every run with a baseline.

    Runs are paired on the topics for which both have a value. The correction is over the pairs
    of each measure; unless told otherwise it is the step-down maximum statistic ("romano-wolf")
    for tests by resampling, and Holm's for the others. `tail="one"` asks whether a run is better
    than the baseline, `"seen"` tests each pair in the direction that it has. `margin` adds a test
    of equivalence, `detect` the number of topics that a difference of that size needs. The same
    `rng` (a seed or a generator) gives the same numbers with any number of `jobs`.
    """
    plan = checked_plan(
        baseline=baseline,
        test=test,
        correction=correction,
        tail=tail,
        alpha=alpha,
        interval=interval,
        resamples=resamples,
        margin=margin,
        detect=detect,
        power=power,
        rng=rng,
        jobs=jobs,
    )
    if len(scores.runs) < 2:
        raise UsageError("a comparison needs two runs or more")
    notes = Notes()
    notes.extend(scores.notes)
    selected = _chosen_measures(scores, measures, plan, notes)
    step = Progress.of(progress)
    tables: list[Columns] = []
    boards: list[Standing] = []
    drawn_samples = []
    for i, measure in enumerate(selected):
        sample = PairedSample.of(scores, measure, plan, baseline)
        # Measures of as many topics share their draws, as long as these are in use.
        drawn_samples.append(Draws(sample.values.shape[1], plan.draws, plan.seed, plan.jobs))
        part = step.part(i / len(selected), (i + 1) / len(selected))
        columns, board = _compare_measure(sample, notes, part)
        tables.append(columns | {"measure": np.full(len(sample.asked), i)})
        boards += board
    kinds = {scores.unit_of[m] for m in selected}
    pairs = Pairs.joined(scores.runs, [str(m) for m in selected], tables)
    if scores.doubt is not None:
        boards = list(doubtful_standings(scores, boards, alpha))
    comparison = Comparison(
        pairs=pairs,
        standings=tuple(boards),
        families=tuple(_family(m, np.asarray(scores.values[m])) for m in selected),
        runs=scores.runs,
        measures=tuple(measure_facts(scores, m) for m in selected),
        baseline=baseline,
        test=plan.test,
        correction=plan.correction,
        tail=plan.tail,
        alpha=alpha,
        interval=plan.interval,
        mean_interval=plan.mean_interval,
        resamples=plan.resamples if plan.drawing else None,
        seed=plan.seed,
        topics=max(len(scores.units[scores.unit_of[m]]) for m in selected),
        unit=kinds.pop() if len(kinds) == 1 else "unit",
        margin=margin,
        detect=detect,
        power=power,
        doubts=doubtful_pairs(scores, pairs, alpha) if scores.doubt is not None else (),
        notes=notes.lines(),
    )
    step.finish()
    return replace(comparison, verdict=comparison_verdict(scores, comparison))


def _compare_measure(
    sample: PairedSample, notes: Notes, progress: Progress
) -> tuple[Columns, list[Standing]]:
    smallest, why = smallest_corrected(sample)
    if smallest > sample.plan.alpha:
        notes.add(
            f"{sample.measure}: nothing can be significant: with {why} no corrected p-value is "
            f"below {smallest:.4g}"
        )
    tests = run_tests(sample, progress.part(0.0, 0.8))
    resampled = _drawn_means(sample)
    progress(0.85)
    # The resampled means of runs serve all pairs where no run lacks a topic.
    complete_means = None if np.isnan(sample.values).any() else resampled
    columns = pair_columns(sample, tests, complete_means)
    progress(0.95)
    return columns, standings(sample, tests, resampled, notes)


def _drawn_means(sample: PairedSample) -> Floats | None:
    """The mean of every run in every resample of the topics."""
    topics = sample.values.shape[1]
    if topics < 2:
        return None
    plan = sample.plan
    return Draws(topics, plan.draws, plan.seed, plan.jobs).means(sample.values)


def _chosen_measures(
    scores: Scores, names: str | Sequence[str] | None, plan: Plan, notes: Notes
) -> tuple[Measure, ...]:
    """The measures to compare under; those of a set that have no test are left out, said so."""
    by_name = {str(m): m for m in scores.measures}
    names = None if names is None else [str(m) for m in listed_measures(names)]
    for name in names or ():
        if name not in by_name:
            raise UsageError(f"no scores under the measure {name!r}.{suggest(name, by_name)}")
    requested = [by_name[n] for n in names] if names is not None else list(scores.measures)
    obstacles = {m: _obstacle(scores, m, plan) for m in requested}
    comparable = tuple(m for m in requested if not obstacles[m])
    if not comparable:
        raise UsageError("; ".join(filter(None, obstacles.values())) or "no measure was asked for")
    notes.extend(f"{obstacle}; left out" for obstacle in obstacles.values() if obstacle)
    return comparable


def _obstacle(scores: Scores, measure: Measure, plan: Plan) -> str:
    """Why runs cannot be compared under a measure, or nothing."""
    if measure not in scores.values:
        return (
            f"{measure} has no values of single topics, items or concepts here: save() keeps them"
        )
    if not (scores.is_mean(measure) or measure.averaging == "sum"):
        return (
            f"{measure} is not a mean over topics, items or concepts, so its difference has no test"
        )
    if plan.tail == "one" and measure.higher_is_better is None:
        return f"{measure} has no better direction, so it cannot be tested one-tailed"
    return ""


def measure_facts(scores: Scores, measure: Measure) -> dict[str, Any]:
    """What an answer says of a measure that runs were compared under."""
    return {
        "name": str(measure),
        "mean_name": measure.mean_label,
        "higher_is_better": measure.higher_is_better,
        "range": [end if math.isfinite(end) else None for end in measure.range],
        "unit": scores.unit_of[measure],
        "units": len(scores.units[scores.unit_of[measure]]),
    }


def _family(measure: Measure, values: Floats) -> Family:
    complete = complete_columns(values)
    n = complete.shape[1]
    if n == 0:
        return Family(str(measure), 0, None, None, None, None)
    return Family(
        str(measure),
        n,
        anova.one_way(list(complete)),
        anova.two_way(complete),
        anova.friedman(complete),
        reliability(complete),
    )
