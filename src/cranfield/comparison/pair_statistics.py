"""The pairs of a case as columns: differences with intervals, effect sizes, and power."""

from __future__ import annotations

import numpy as np

from cranfield.comparison.options import ComparisonPlan
from cranfield.comparison.significance import Group, PairedSample, TestResults, groups
from cranfield.options import STEP_DOWN, WITH_DRAWS
from cranfield.stats import effects, intervals, paired
from cranfield.stats._resample import Floats
from cranfield.stats.paired import Bools

LEVELS = (0.05, 0.01, 0.001)
# How many standard errors of the draws a p-value must be away from a level to be sure of it.
SURE = 3.0
Columns = dict[str, np.ndarray]


def pair_columns(sample: PairedSample, tests: TestResults, resampled: Floats | None) -> Columns:
    """A column per property of the pairs that were asked for."""
    plan, requested = sample.plan, sample.asked
    p, corrected = tests.p[requested], tests.corrected[requested]
    up = (corrected <= plan.alpha) & (tests.direction[requested] > 0)
    # A one-tailed test says nothing of worse runs: to look both ways would double its level.
    down = (corrected <= plan.alpha) & (tests.direction[requested] < 0) & (plan.tail != "one")
    at_floor, corrected_at_floor = _floors(plan, p, corrected)
    columns: Columns = {
        "a": sample.pairs[requested, 0],
        "b": sample.pairs[requested, 1],
        "p": p,
        "p_corrected": corrected,
        "p_is_floor": at_floor,
        "p_corrected_is_floor": corrected_at_floor,
        "mark": up.astype(np.int64) - down.astype(np.int64),
        "sure": _sure(plan, p, corrected),
    }
    for name in COUNTS:
        columns[name] = np.zeros(len(requested), dtype=np.int64)
    for name in VALUES:
        columns[name] = np.full(len(requested), np.nan)
    for group in groups(sample.values, sample.pairs[requested]):
        _describe_group(sample, tests, group, columns, resampled)
    for group in groups(sample.single_values, sample.pairs[requested]):
        _count_wins(sample, group, columns)
    if tests.bootstrap is not None and plan.interval == "studentized":
        for name, ends in (("ci_low", tests.bootstrap.low), ("ci_high", tests.bootstrap.high)):
            columns[name] = ends[requested]
    return columns


COUNTS = ("topics", "wins", "ties", "losses")
VALUES = (
    "mean_a",
    "mean_b",
    "difference",
    "ci_low",
    "ci_high",
    "change_percent",
    "deviation_percent",
    "cohen_d",
    "cliffs_delta",
    "detectable",
    "detectable_alone",
    "topics_needed",
    "topics_needed_alone",
    "p_equivalence",
)


def _describe_group(
    sample: PairedSample,
    tests: TestResults,
    group: Group,
    columns: Columns,
    resampled: Floats | None,
) -> None:
    """Fill in the pairs that share their topics."""
    plan, n = sample.plan, group.values.shape[1]
    columns["topics"][group.members] = n
    if not (tests.bootstrap is not None and plan.interval == "studentized"):
        ends = intervals.paired_intervals(
            group.values,
            group.local,
            method=plan.interval,
            confidence=1 - plan.alpha,
            resamples=plan.draws,
            rng=plan.seed,
            jobs=plan.jobs,
            resampled=resampled,
        )
        columns["ci_low"][group.members], columns["ci_high"][group.members] = ends.low, ends.high
    means = group.values.mean(axis=1) if n else np.full(len(group.values), np.nan)
    limits = _limits(plan, n, tests.levels(n))
    for members, local, rows in group.chunks():
        mean_a, mean_b = means[local[:, 0]], means[local[:, 1]]
        columns["mean_a"][members], columns["mean_b"][members] = mean_a, mean_b
        columns["change_percent"][members] = effects.changes_percent(mean_a, mean_b)
        columns["deviation_percent"][members] = effects.deviations_percent(mean_a, mean_b)
        if n:
            columns["difference"][members] = rows.mean(axis=1)
        spread = paired.spread(rows)
        usable_spread = np.where(spread > 0, spread, np.nan)
        for name, limit in zip(("detectable", "detectable_alone"), limits, strict=True):
            columns[name][members] = limit * usable_spread
        if plan.margin is not None:
            columns["p_equivalence"][members] = paired.equivalence_test(rows, margin=plan.margin).p
        if plan.detect is not None and n > 1:
            for name, level in (
                ("topics_needed", tests.levels(n)),
                ("topics_needed_alone", plan.alpha),
            ):
                columns[name][members] = _needed(plan, plan.detect, spread, level)


def _count_wins(sample: PairedSample, group: Group, columns: Columns) -> None:
    """How the values of single units differ, whatever was drawn to test their mean."""
    columns["cliffs_delta"][group.members] = effects.cliffs_deltas(group.values, group.local)
    for members, _, rows in group.chunks():
        columns["cohen_d"][members] = effects.cohen_d(rows)
        better = sample.sign * rows
        wins, losses = (better > 0).sum(axis=1), (better < 0).sum(axis=1)
        columns["wins"][members], columns["losses"][members] = wins, losses
        columns["ties"][members] = rows.shape[1] - wins - losses


def _limits(plan: ComparisonPlan, n: int, level: float) -> tuple[float, float]:
    """The differences, in standard deviations, that so many topics find: as one of many pairs,
    and alone."""
    alone, together = (
        effects.detectable_effect(n, power=plan.power, alpha=alpha, tail=plan.tail)
        for alpha in (plan.alpha, level)
    )
    return together, alone


def _needed(plan: ComparisonPlan, difference: float, spread: Floats, level: float) -> Floats:
    counts = [
        effects.topics_needed(difference, s, power=plan.power, alpha=level, tail=plan.tail)
        for s in spread.tolist()
    ]
    return np.array([np.nan if n is None else n for n in counts], dtype=np.float64)


def _floors(plan: ComparisonPlan, p: Floats, corrected: Floats) -> tuple[Bools, Bools]:
    """Which p-values are as small as so many draws can make them: the true ones may be smaller."""
    floor = (1 + 1e-9) / (plan.draws + 1)
    never = np.zeros(len(p), dtype=bool)
    if plan.resamples == "exact":
        return never, never
    single = p <= floor if plan.test in WITH_DRAWS else never
    at_floor = corrected <= plan.times * floor if plan.correction == STEP_DOWN else single
    return single, at_floor


def _sure(plan: ComparisonPlan, p: Floats, corrected: Floats) -> Bools:
    """Whether other draws would leave the corrected p on the same side of every level."""
    if not plan.drawing or plan.resamples == "exact":
        return np.ones(len(p), dtype=bool)
    # Holm and its kin multiply a drawn p-value, and its error with it.
    times = np.full(len(p), float(plan.times)) if plan.correction == STEP_DOWN else corrected / p
    uncorrected = corrected / times
    error = times * np.sqrt(uncorrected * (1 - uncorrected) / plan.draws)
    gaps = [np.abs(corrected - level) for level in {*LEVELS, plan.alpha}]
    return np.asarray(np.min(gaps, axis=0) > SURE * error)


def smallest_corrected(sample: PairedSample) -> tuple[float, str]:
    """The smallest corrected p-value that the plan could give, and what bounds it."""
    plan = sample.plan
    floors: list[tuple[float, str]] = [(0.0, "")]
    n = sample.values.shape[1]
    signs = (2 if plan.tail == "two" else 1) / 2.0 ** min(n, 1000)
    if plan.drawing and plan.resamples != "exact":
        floors.append((1 / (plan.draws + 1), f"{plan.draws} resamples"))
    if plan.test in ("sign", "wilcoxon", "randomization") or (
        plan.correction == STEP_DOWN and sample.asked.size > 1
    ):
        floors.append((signs, f"{n} {sample.units.unit}s"))
    smallest, why = max(floors)
    smallest = min(plan.times * smallest, 1.0)
    if plan.times > 1:
        why = f"{why} and {plan.times} measures"
    if plan.correction in ("holm", "bonferroni"):
        smallest = min(smallest * sample.asked.size, 1.0)
        return smallest, f"{why} and {plan.correction} over {sample.asked.size} pairs"
    return smallest, why
