"""From the scores of runs to a comparison that says how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.comparison.answer import Comparison, Family, Pairs, Standing
from cranfield.comparison.doubtful import (
    doubtful_pairs,
    doubtful_standings,
    doubtful_tests,
)
from cranfield.comparison.options import ComparisonOptions, ComparisonPlan
from cranfield.comparison.pair_statistics import Columns, pair_columns, smallest_corrected
from cranfield.comparison.sampling import (
    SampledUnits,
    listed_designs,
    sampled_units,
    sampling_obstacle,
)
from cranfield.comparison.significance import PairedSample, complete_columns, run_tests
from cranfield.comparison.standings import standings
from cranfield.comparison.summary import comparison_verdict
from cranfield.errors import UsageError
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import JudgementsForm, RunsForm
from cranfield.io.design import DesignForm
from cranfield.measures.base import Measure
from cranfield.measures.parse import listed_measures
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import (
    DEFAULT_RESAMPLES,
    TESTS,
    CorrectionFamily,
    IntervalMethod,
    PairCorrection,
    ResampledUnits,
    Tail,
    Test,
)
from cranfield.stats import anova
from cranfield.stats._resample import Floats, Resamples, Rng
from cranfield.stats.anova import reliability
from cranfield.stats.bootstrap import Draws
from cranfield.validation import Real, validate_params

__all__ = ["TESTS", "compare"]


@validate_params(skip=["rng"])
@with_progress
def compare(
    scores: Scores | JudgementsForm,
    runs: RunsForm | None = None,
    measures: str | Sequence[str] | None = None,
    *,
    baseline: str | None = None,
    test: Test = "bootstrap",
    correction: PairCorrection | None = None,
    tail: Tail = "two",
    alpha: float = 0.05,
    interval: IntervalMethod | None = None,
    resamples: Resamples = DEFAULT_RESAMPLES,
    margin: Real | None = None,
    detect: Real | None = None,
    power: float = 0.8,
    units: ResampledUnits | None = None,
    design: DesignForm | None = None,
    correct: CorrectionFamily = "pairs",
    rng: Rng = 0,
    jobs: int = 1,
    progress: Watcher | None = None,
) -> Comparison:
    """Compare every two runs, or every run with a baseline: is the difference real?

    `scores` are those of an evaluation; or judgements, against which `runs` are scored first, both
    in any form that `evaluate` takes.
    Runs are paired on the topics for which both have a value. The correction is over the pairs
    of each measure; unless told otherwise it is the step-down maximum statistic ("romano-wolf")
    for tests by resampling, and Holm's for the others. `tail="one"` asks whether a run is better
    than the baseline, `"seen"` tests each pair in the direction that it has. `margin` adds a test
    of equivalence, `detect` the number of topics that a difference of that size needs. The same
    `rng` (a seed or a generator) gives the same numbers with any number of `jobs`.

    What was sampled are topics or, of annotations, items, also where a measure averages over
    concepts: other items would change the values of all of them. `units="concepts"` asks about
    other concepts instead, `"both"` about other items and concepts. `design` says how topics or
    items were sampled, in clusters, strata or with unequal probabilities: a file with the columns
    unit,cluster,stratum,probability, or {unit: cluster}. `correct="measures"` also corrects for
    several measures, by Bonferroni's rule over the corrected p-values of each.

    >>> judged = {t: {"a": 1} for t in "uvwxyz"}
    >>> runs = {"old": {t: {"b": 2, "a": 1} for t in judged}, "new": {t: {"a": 1} for t in judged}}
    >>> compare(judged, runs, "AP", baseline="old", test="sign").pair("new", "old", "MAP").p
    0.03125
    """
    step = Progress.of(progress)
    if not isinstance(scores, Scores):
        if runs is None:
            raise UsageError("runs= is missing: a comparison needs scores, or judgements and runs")
        step, scoring = step.part(0.3, 1.0), step.part(0.0, 0.3)
        names = DEFAULT_MEASURES if measures is None else measures
        scores, measures = evaluate(scores, runs, names, jobs=jobs, progress=scoring), None
    elif runs is not None:
        raise UsageError("runs= is for judgements; these scores have runs already")
    options = ComparisonOptions(
        baseline=baseline,
        measures=measures,
        test=test,
        correction=correction,
        tail=tail,
        alpha=alpha,
        interval=interval,
        resamples=resamples,
        margin=margin,
        detect=detect,
        power=power,
        units=units,
        design=design,
        correct=correct,
        rng=rng,
        jobs=jobs,
    )
    return compare_scores(scores, options, step)


def compare_scores(scores: Scores, options: ComparisonOptions, progress: Progress) -> Comparison:
    """The comparison of the runs of some scores."""
    plan = options.plan()
    if len(scores.runs) < 2:
        raise UsageError("a comparison needs two runs or more")
    notes = Notes()
    notes.extend(scores.notes)
    selected = _comparable_measures(scores, options.measures, plan, notes)
    plan = plan.for_measures(len(selected))
    tables: list[Columns] = []
    board: list[Standing] = []
    all_draws = []
    sampled = [sampled_units(scores, m, plan, notes) for m in selected]
    for i, measure in enumerate(selected):
        sample = PairedSample.of(scores, measure, plan, sampled[i])
        # Measures of as many topics share their draws, as long as these are in use.
        all_draws.append(Draws(sample.values.shape[1], plan.draws, plan.seed, plan.jobs))
        part = progress.part(i / len(selected), (i + 1) / len(selected))
        columns, measure_board = _compare_measure(sample, notes, part)
        tables.append(columns | {"measure": np.full(len(sample.asked), i)})
        board += measure_board
    kinds = {units.unit for units in sampled}
    pairs = Pairs.joined(scores.runs, [str(m) for m in selected], tables)
    if scores.doubt is not None:
        board = list(doubtful_standings(scores, board, plan.alpha))
    comparison = Comparison(
        pairs=pairs,
        standings=tuple(board),
        families=tuple(_family(m, s) for m, s in zip(selected, sampled, strict=True)),
        runs=scores.runs,
        measures=tuple(
            measure_facts(m, s.unit, s.values.shape[1])
            for m, s in zip(selected, sampled, strict=True)
        ),
        baseline=plan.baseline,
        test=plan.test,
        correction=plan.correction,
        tail=plan.tail,
        alpha=plan.alpha,
        interval=plan.interval,
        mean_interval=plan.mean_interval,
        resamples=plan.resamples if plan.drawing else None,
        seed=plan.seed,
        topics=max(units.values.shape[1] for units in sampled),
        unit=kinds.pop() if len(kinds) == 1 else "unit",
        margin=plan.margin,
        detect=plan.detect,
        power=plan.power,
        doubts=doubtful_pairs(scores, pairs, plan.alpha) if scores.doubt is not None else (),
        notes=notes.lines(),
        design=listed_designs(sampled),
        measures_corrected=plan.times > 1,
    )
    progress.finish()
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
    if sample.scores.doubt is not None:
        tests = doubtful_tests(sample, tests)
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


def _comparable_measures(
    scores: Scores, names: str | Sequence[str] | None, plan: ComparisonPlan, notes: Notes
) -> tuple[Measure, ...]:
    """The measures to compare under; those of a set that have no test are left out, said so."""
    requested = list(scores.measures)
    if names is not None:
        requested = list(
            dict.fromkeys(scores.measure_named(str(m)) for m in listed_measures(names))
        )
    obstacles = {m: _obstacle(scores, m, plan) for m in requested}
    comparable = tuple(m for m in requested if not obstacles[m])
    if not comparable:
        raise UsageError("; ".join(filter(None, obstacles.values())) or "no measure was asked for")
    notes.extend(f"{obstacle}; left out" for obstacle in obstacles.values() if obstacle)
    return comparable


def _obstacle(scores: Scores, measure: Measure, plan: ComparisonPlan) -> str:
    """Why runs cannot be compared under a measure, or nothing."""
    if obstacle := sampling_obstacle(scores, measure, plan):
        return obstacle
    if plan.tail == "one" and measure.higher_is_better is None:
        return f"{measure} has no better direction, so it cannot be tested one-tailed"
    return ""


def measure_facts(measure: Measure, unit: str, units: int) -> dict[str, Any]:
    """What an answer says of a measure that runs were compared under."""
    return {
        "name": str(measure),
        "mean_name": measure.mean_label,
        "higher_is_better": measure.higher_is_better,
        "range": [end if math.isfinite(end) else None for end in measure.range],
        "unit": unit,
        "units": units,
    }


def _family(measure: Measure, sampled: SampledUnits) -> Family:
    complete = complete_columns(sampled.values)
    n = complete.shape[1]
    if n == 0:
        return Family(str(measure), 0, None, None, None, None)
    return Family(
        str(measure),
        n,
        anova.one_way(list(complete)),
        anova.two_way(complete),
        # Ranks are those of values of single units, not of parts.
        anova.friedman(complete) if sampled.plain else None,
        reliability(complete),
    )
