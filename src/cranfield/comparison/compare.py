"""From the scores of runs to a comparison that says how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.comparison.answer import FAMILY_WISE, Comparison, Family, Pair, Standing
from cranfield.errors import UsageError, suggest
from cranfield.evaluation.scores import Scores
from cranfield.measures._parse import listed_measures
from cranfield.measures._spec import Measure
from cranfield.notes import Notes
from cranfield.stats import anova, effects, intervals, paired, posthoc, power, randomization
from cranfield.stats._resample import (
    DEFAULT_RESAMPLES,
    Floats,
    Ints,
    Progress,
    Resamples,
    Rng,
    all_pairs,
    check_resamples,
    seed_of,
)
from cranfield.stats.corrections import CORRECTIONS, correct
from cranfield.stats.rankgroups import rank_groups
from cranfield.stats.reliability import reliability

ROWWISE: dict[str, Callable[..., paired.PairedResult]] = {
    "t": paired.t_test,
    "wilcoxon": paired.wilcoxon_test,
    "sign": paired.sign_test,
}
RESAMPLED: dict[str, Callable[..., paired.PairedResult]] = {
    "bootstrap": randomization.bootstrap_test,
    "randomization": randomization.randomization_test,
}
TESTS = (*RESAMPLED, *ROWWISE, *FAMILY_WISE)
DRAWING = (*RESAMPLED, "tukey-randomization")
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices of a comparison, checked."""

    test: str
    correction: str
    tail: paired.Tail
    alpha: float
    interval: intervals.IntervalMethod
    resamples: Resamples
    seed: int
    jobs: int
    margin: float | None
    detect: float | None
    power: float

    @property
    def draws(self) -> int:
        """How many resamples the intervals take, also when the test itself is exact."""
        return DEFAULT_RESAMPLES if self.resamples == "exact" else self.resamples


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
    progress: Progress | None = None,
) -> Comparison:
    """Compare every two runs, or every run with a baseline.

    Runs are paired on the topics for which both have a value. The correction (Holm unless told
    otherwise) is over the pairs of each measure. `tail="one"` asks whether the first run of a
    pair is better than the second. `margin` adds a test of equivalence, `detect` the number of
    topics that a difference of that size needs. The same `rng` (a seed or a generator) gives
    the same numbers with any number of `jobs`.
    """
    plan = _checked_plan(
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
    chosen = _chosen_measures(scores, measures, plan, notes)
    wanted = _wanted_pairs(scores, baseline)
    found: list[Pair] = []
    standings: list[Standing] = []
    families: list[Family] = []
    for i, measure in enumerate(chosen):
        part = _part_of(progress, i, len(chosen))
        pairs, places = _compare_measure(_Case.of(scores, measure, plan), wanted, part)
        found += pairs
        standings += places
        families.append(_family(measure, scores.values[measure]))
    kinds = {scores.unit_of[m] for m in chosen}
    return Comparison(
        pairs=tuple(found),
        standings=tuple(standings),
        families=tuple(families),
        runs=scores.runs,
        measures=tuple(_described(scores, m) for m in chosen),
        baseline=baseline,
        test=plan.test,
        correction=plan.correction,
        tail=plan.tail,
        alpha=alpha,
        interval=plan.interval,
        resamples=plan.resamples if test in DRAWING else None,
        seed=plan.seed,
        topics=max(len(scores.units[scores.unit_of[m]]) for m in chosen),
        unit=kinds.pop() if len(kinds) == 1 else "unit",
        margin=margin,
        detect=detect,
        power=power,
        notes=notes.lines(),
    )


def _checked_plan(
    *,
    test: str,
    correction: str | None,
    tail: str,
    alpha: float,
    interval: str | None,
    resamples: Resamples,
    margin: float | None,
    detect: float | None,
    power: float,
    rng: Rng,
    jobs: int,
) -> Plan:
    if test not in TESTS:
        raise UsageError(f"no test {test!r} (there are: {', '.join(TESTS)}).{suggest(test, TESTS)}")
    paired.check_tail(tail)
    if test in FAMILY_WISE:
        if tail == "one":
            raise UsageError(f"the {test} test is two-tailed")
        if correction not in (None, "none"):
            raise UsageError(
                f"the {test} test corrects for all pairs itself; leave the correction out"
            )
        correction = "none"
    correction = correction or "holm"
    if correction not in CORRECTIONS:
        raise UsageError(
            f"no correction {correction!r} (there are: {', '.join(CORRECTIONS)})."
            f"{suggest(correction, CORRECTIONS)}"
        )
    method = interval or ("bca" if test == "bootstrap" else "t")
    if method not in intervals.METHODS:
        raise UsageError(
            f"no interval {method!r} (there are: {', '.join(intervals.METHODS)})."
            f"{suggest(method, intervals.METHODS)}"
        )
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} must lie between 0 and 1")
    if not alpha < power < 1:
        raise UsageError(f"power={power!r} must lie between alpha ({alpha:g}) and 1")
    for name, value in (("margin", margin), ("detect", detect)):
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"{name}={value!r} must be greater than 0")
    if jobs < 1:
        raise UsageError(f"jobs={jobs!r} must be 1 or more")
    if resamples == "exact" and test != "randomization":
        raise UsageError(f"only the randomization test has an exact form, not {test}")
    return Plan(
        test,
        correction,
        tail,  # type: ignore[arg-type]
        alpha,
        method,
        check_resamples(resamples),
        seed_of(rng),
        jobs,
        margin,
        detect,
        power,
    )


def _chosen_measures(
    scores: Scores, names: str | Sequence[str] | None, plan: Plan, notes: Notes
) -> tuple[Measure, ...]:
    """The measures to compare under; those of a set that have no test are left out, said so."""
    known = {str(m): m for m in scores.measures}
    names = None if names is None else [str(m) for m in listed_measures(names)]
    for name in names or ():
        if name not in known:
            raise UsageError(f"no scores under the measure {name!r}.{suggest(name, known)}")
    asked = [known[n] for n in names] if names is not None else list(scores.measures)
    obstacles = {m: _obstacle(scores, m, plan) for m in asked}
    chosen = tuple(m for m in asked if not obstacles[m])
    if not chosen:
        raise UsageError("; ".join(filter(None, obstacles.values())) or "no measure was asked for")
    for obstacle in filter(None, obstacles.values()):
        notes.add(f"{obstacle}; left out")
    return chosen


def _obstacle(scores: Scores, measure: Measure, plan: Plan) -> str:
    """Why runs cannot be compared under a measure, or nothing."""
    if not (scores.is_mean(measure) or measure.averaging == "sum"):
        return (
            f"{measure} is not a mean over topics, items or concepts, so its difference has no test"
        )
    if plan.tail == "one" and measure.higher_is_better is None:
        return f"{measure} has no better direction, so it cannot be tested one-tailed"
    return ""


def _wanted_pairs(scores: Scores, baseline: str | None) -> Ints:
    if baseline is None:
        return all_pairs(len(scores.runs))
    base = scores.index_of(baseline)
    others = [i for i in range(len(scores.runs)) if i != base]
    return np.array([(i, base) for i in others], dtype=np.int64)


def _part_of(progress: Progress | None, index: int, count: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done: progress((index + done) / count)


def _described(scores: Scores, measure: Measure) -> dict[str, Any]:
    return {
        "name": str(measure),
        "mean_name": measure.mean_label,
        "higher_is_better": measure.higher_is_better,
        "unit": scores.unit_of[measure],
        "units": len(scores.units[scores.unit_of[measure]]),
    }


@dataclass(frozen=True, slots=True)
class _Case:
    """The runs under one measure, and what several steps of its comparison share."""

    scores: Scores
    measure: Measure
    plan: Plan
    complete: Floats
    drawn: Floats | None

    @classmethod
    def of(cls, scores: Scores, measure: Measure, plan: Plan) -> _Case:
        complete = _complete(scores.values[measure])
        drawn = None
        if complete.shape[1] > 1:
            drawn = intervals.bootstrap_means(
                complete, resamples=plan.draws, rng=plan.seed, jobs=plan.jobs
            )
        return cls(scores, measure, plan, complete, drawn)

    @property
    def values(self) -> Floats:
        return self.scores.values[self.measure]

    @property
    def oriented(self) -> Floats:
        """The values such that greater is better."""
        return self.sign * self.values

    @property
    def sign(self) -> float:
        return -1.0 if self.measure.higher_is_better is False else 1.0

    @property
    def drawn_if_complete(self) -> Floats | None:
        """The resampled means of all runs, where no run lacks a topic."""
        return self.drawn if self.complete.shape == self.values.shape else None


def _compare_measure(
    case: _Case, wanted: Ints, progress: Progress | None
) -> tuple[list[Pair], list[Standing]]:
    plan = case.plan
    every = all_pairs(len(case.scores.runs))
    p_every = _p_values(case.oriented, every, plan, "two", progress)
    if plan.tail == "two":
        where = {(int(a), int(b)): i for i, (a, b) in enumerate(every)}
        p = p_every[[where[min(a, b), max(a, b)] for a, b in wanted.tolist()]]
    else:
        p = _p_values(case.oriented, wanted, plan, "one", progress)
    corrected = correct(p, plan.correction)  # type: ignore[arg-type]
    rows: dict[int, Pair] = {}
    for group in _groups(case.values, wanted):
        rows.update(_describe(case, group, wanted, p, corrected))
    significant = correct(p_every, plan.correction) < plan.alpha  # type: ignore[arg-type]
    return [rows[i] for i in range(len(wanted))], _standings(case, every, significant)


@dataclass(frozen=True, slots=True)
class _Group:
    """Pairs that share the same topics: the scores there, and which pairs they are."""

    values: Floats
    local: Ints
    members: Ints


def _groups(values: Floats, pairs: Ints) -> Iterator[_Group]:
    """The pairs, grouped by the topics for which both runs have a value."""
    known = ~np.isnan(values)
    if known.all():
        yield _Group(values, pairs, np.arange(len(pairs)))
        return
    members: dict[bytes, list[int]] = {}
    for i, (a, b) in enumerate(pairs):
        members.setdefault((known[a] & known[b]).tobytes(), []).append(i)
    for key, indices in members.items():
        columns = np.frombuffer(key, dtype=np.bool_)
        chosen = np.array(indices, dtype=np.int64)
        runs, local = np.unique(pairs[chosen], return_inverse=True)
        yield _Group(values[runs][:, columns], local.reshape(-1, 2), chosen)


def _p_values(
    oriented: Floats, pairs: Ints, plan: Plan, tail: paired.Tail, progress: Progress | None
) -> Floats:
    """The p-value of each pair under scores of which greater is better."""
    p = np.ones(len(pairs))
    if plan.test in FAMILY_WISE:
        complete = _complete(oriented)
        if complete.shape[1]:
            p[:] = _family_test(complete, pairs, plan, progress).p
        return p
    for group in _groups(oriented, pairs):
        if group.values.shape[1] == 0:
            continue
        if plan.test in RESAMPLED:
            p[group.members] = RESAMPLED[plan.test](
                group.values,
                group.local,
                tail=tail,
                resamples=plan.resamples,
                rng=plan.seed,
                jobs=plan.jobs,
                progress=progress,
            ).p
            continue
        for chunk in _chunks(group):
            rows = group.values[group.local[chunk, 0]] - group.values[group.local[chunk, 1]]
            p[group.members[chunk]] = ROWWISE[plan.test](rows, tail=tail).p
    return p


def _family_test(
    complete: Floats, pairs: Ints, plan: Plan, progress: Progress | None
) -> paired.PairedResult:
    if plan.test == "tukey":
        return posthoc.tukey_test(complete, pairs)
    if plan.test == "nemenyi":
        return posthoc.nemenyi_test(complete, pairs)
    return posthoc.randomized_tukey_test(
        complete, pairs, resamples=plan.draws, rng=plan.seed, jobs=plan.jobs, progress=progress
    )


def _chunks(group: _Group) -> Iterator[slice]:
    """Slices of the pairs of a group, small enough for their differences to fit into memory."""
    step = max(1, _CELLS_AT_ONCE // max(group.values.shape[1], 1))
    for start in range(0, len(group.local), step):
        yield slice(start, start + step)


def _complete(values: Floats) -> Floats:
    """The columns without a gap: the topics that every run has."""
    complete: Floats = values[:, ~np.isnan(values).any(axis=0)]
    return complete


def _describe(
    case: _Case, group: _Group, pairs: Ints, p: Floats, corrected: Floats
) -> Iterator[tuple[int, Pair]]:
    """The pairs of a group with their intervals and effect sizes."""
    n, plan, names = group.values.shape[1], case.plan, case.scores.runs
    ends = intervals.paired_intervals(
        group.values,
        group.local,
        method=plan.interval,
        confidence=1 - plan.alpha,
        resamples=plan.draws,
        rng=plan.seed,
        jobs=plan.jobs,
        drawn=case.drawn_if_complete,
    )
    means = group.values.mean(axis=1) if n else np.full(len(group.values), np.nan)
    limit = power.detectable_effect(n, power=plan.power, alpha=plan.alpha, tail=plan.tail)
    for chunk in _chunks(group):
        rows = group.values[group.local[chunk, 0]] - group.values[group.local[chunk, 1]]
        spread, d = paired.spread(rows), effects.cohen_d(rows)
        record = effects.win_tie_loss(case.sign * rows)
        same = (
            paired.equivalence_test(rows, margin=plan.margin).p if plan.margin is not None else None
        )
        for j, index in enumerate(group.members[chunk]):
            a, b = group.local[chunk][j]
            mean_a, mean_b = float(means[a]), float(means[b])
            known = ends[chunk.start + j]
            yield (
                int(index),
                Pair(
                    a=names[pairs[index, 0]],
                    b=names[pairs[index, 1]],
                    measure=str(case.measure),
                    topics=n,
                    mean_a=mean_a,
                    mean_b=mean_b,
                    difference=known.value,
                    ci=(known.low, known.high),
                    p=float(p[index]),
                    p_corrected=float(corrected[index]),
                    change_percent=effects.change_percent(mean_a, mean_b),
                    deviation_percent=effects.deviation_percent(mean_a, mean_b),
                    cohen_d=float(d[j]),
                    cliffs_delta=effects.cliffs_delta(group.values[a], group.values[b]),
                    wins=record[j].wins,
                    ties=record[j].ties,
                    losses=record[j].losses,
                    detectable=limit * float(spread[j]) if spread[j] > 0 else float("nan"),
                    topics_needed=_needed(float(spread[j]), n, plan),
                    p_equivalence=None if same is None else float(same[j]),
                ),
            )


def _needed(spread: float, n: int, plan: Plan) -> int | None:
    if plan.detect is None or n < 2:
        return None
    return power.topics_needed(
        plan.detect, spread, power=plan.power, alpha=plan.alpha, tail=plan.tail
    )


def _standings(case: _Case, every: Ints, significant: NDArray[np.bool_]) -> list[Standing]:
    """The leaderboard: best first, with shared ranks and the rank interval of the bootstrap."""
    plan, name = case.plan, str(case.measure)
    means = np.array([_mean(row) for row in case.values])
    # A run without any value stands last.
    oriented = np.nan_to_num(case.sign * means, nan=-np.inf)
    differ = np.zeros((len(means), len(means)), dtype=bool)
    differ[every[:, 0], every[:, 1]] = differ[every[:, 1], every[:, 0]] = significant
    drawn = None if case.drawn is None else case.sign * case.drawn
    groups = rank_groups(oriented, differ, drawn, confidence=1 - plan.alpha)
    boxes = intervals.run_intervals(
        case.values,
        method=plan.interval,
        confidence=1 - plan.alpha,
        resamples=plan.draws,
        rng=plan.seed,
        jobs=plan.jobs,
        drawn=case.drawn_if_complete,
    )
    if case.scores.is_mean(case.measure):
        # The very numbers that the evaluation gave, to their last digit.
        means = case.scores.overall[case.measure]
    return [
        Standing(
            name,
            case.scores.runs[i],
            float(means[i]),
            (boxes[i].low, boxes[i].high),
            groups[i].rank,
            (groups[i].low, groups[i].high),
            groups[i].letters,
        )
        for i in np.argsort(-oriented, kind="stable")
    ]


def _mean(row: Floats) -> float:
    kept = row[~np.isnan(row)]
    return float(kept.mean()) if kept.size else float("nan")


def _family(measure: Measure, values: Floats) -> Family:
    complete = _complete(values)
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
