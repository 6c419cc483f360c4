"""Judging the judges: programs or people beside the gold, and what they do to the runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np

from cranfield.answers import Answer
from cranfield.errors import UsageError
from cranfield.evaluation.inputs import EvaluationOptions
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.evaluation.scores import Scores, Task
from cranfield.io.coerce import coerce_judgements, coerce_labels, is_file
from cranfield.io.files import FileForm, can_be_read_again, run_name
from cranfield.io.labels import check_all_listed
from cranfield.io.votes import read_families
from cranfield.measures.base import Measure
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import DEFAULT_RESAMPLES
from cranfield.stats import (
    ap_correlation,
    correct,
    kendall,
    mean_intervals,
    sphericity,
    t_test,
    two_way,
)
from cranfield.stats._resample import Floats, Rng, all_pairs, seed_of
from cranfield.stats.bootstrap import Draws
from cranfield.validation import describe_value, validate_params


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A number between the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge beside the gold: `confusion` has a row per gold grade, a column per grade given.

    `share` is how often both give the same grade, `kappa` that beyond chance (Cohen), `weighted`
    the same with squared distances of grades; `shift` is the mean grade of the judge less that of
    the gold.
    """

    levels: tuple[float, ...]
    confusion: tuple[tuple[int, ...], ...]
    judgements: int
    share: IntervalEstimate
    kappa: IntervalEstimate
    weighted: IntervalEstimate
    shift: IntervalEstimate

    @classmethod
    def of(cls, counts: Floats, levels: Floats, draws: Draws, alpha: float) -> JudgeAgreement:
        """From counts (units x gold grades x grades given); intervals resample units."""
        size = len(levels)
        flat = counts.reshape(len(counts), -1)
        samples = np.concatenate([draws.weights(block) @ flat for block in draws.blocks])
        samples = samples.reshape(-1, size, size)
        total_counts = counts.sum(axis=0)[None]

        def estimated(statistic: Callable[[Floats], Floats]) -> IntervalEstimate:
            values = statistic(samples)
            defined = values[~np.isnan(values)]
            ends = [np.nan, np.nan]
            if len(defined):
                ends = np.quantile(defined, [alpha / 2, 1 - alpha / 2]).tolist()
            return IntervalEstimate(
                float(statistic(total_counts)[0]), float(ends[0]), float(ends[1])
            )

        squared_gaps = (levels[:, None] - levels[None, :]) ** 2
        step = levels[None, :] - levels[:, None]
        total = total_counts.sum(axis=0)
        return cls(
            tuple(levels.tolist()),
            tuple(tuple(int(n) for n in row) for row in total),
            int(total.sum()),
            estimated(lambda c: _mean(c, np.eye(size))),
            estimated(lambda c: _kappa(c, 1.0 - np.eye(size))),
            estimated(lambda c: _kappa(c, squared_gaps)),
            estimated(lambda c: _mean(c, step)),
        )


def _mean(counts: Floats, weights: Floats) -> Floats:
    means: Floats = (counts * weights).sum(axis=(1, 2)) / counts.sum(axis=(1, 2))
    return means


def _kappa(counts: Floats, disagreement: Floats) -> Floats:
    """Cohen's kappa with a disagreement of every two grades; NaN where chance leaves no room."""
    total = counts.sum(axis=(1, 2))
    expected = (
        counts.sum(axis=2)[:, :, None] * counts.sum(axis=1)[:, None, :] / total[:, None, None]
    )
    seen, chance = ((c * disagreement).sum(axis=(1, 2)) for c in (counts, expected))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance > 0, 1.0 - seen / chance, np.nan)


@dataclass(frozen=True, slots=True)
class Swap:
    """Two runs of which one truth is sure and the other says the opposite; differences a - b."""

    a: str
    b: str
    gold_difference: float
    judged_difference: float
    gold_p: float
    judged_p: float


@dataclass(frozen=True, slots=True)
class Favour:
    """How much more than the others a run, or a family of runs, gains under a judge."""

    name: str
    ahead: float
    ci: tuple[float, float]
    p_corrected: float


@dataclass(frozen=True, slots=True)
class JudgedMeasure:
    """One measure under the gold and under a judge.

    `shift` has for each run the interval of its mean under the judge less that under the gold.
    `interaction_p` tests that the judge changes all runs alike (runs by units, analysis of
    variance of the changes).
    """

    measure: str
    units: int
    runs: tuple[str, ...]
    gold: tuple[float, ...]
    judged: tuple[float, ...]
    shift: tuple[tuple[float, float], ...]
    tau: float
    tau_ap: float
    swaps: tuple[Swap, ...]
    pairs: int
    interaction_p: float | None
    favours: tuple[Favour, ...]
    families: tuple[Favour, ...]


@dataclass(frozen=True, slots=True)
class Judge:
    """One judge: how it agrees with the gold, and what it does to every measure."""

    name: str
    agreement: JudgeAgreement
    measures: tuple[JudgedMeasure, ...]


@dataclass(frozen=True, repr=False, eq=False)
class JudgesReport(Answer):
    """Judges beside the gold."""

    command: ClassVar[str] = "judges"
    table_maker: ClassVar[str] = "cranfield.report.tables.comparison:judges_document"
    task: Task
    unit: str
    units: int
    judges: tuple[Judge, ...]
    alpha: float
    resamples: int
    seed: int

    def headline(self) -> str:
        """How many judges, and which agrees best."""
        best = max(self.judges, key=lambda j: j.agreement.weighted.value)
        return (
            f"{len(self.judges)} judges on {self.units} {self.unit}s; {best.name} is nearest to "
            f"the gold (weighted kappa {best.agreement.weighted.value:.3f})"
        )

    def payload(self, **_: object) -> dict[str, Any]:
        """Everything of every judge."""
        return {
            "task": self.task,
            "unit": self.unit,
            "units": self.units,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.seed,
            "judges": [asdict(judge) for judge in self.judges],
        }


# {unit: {what was judged: grade}}
Grades = Mapping[str, Mapping[str, float]]


@validate_params
@with_progress
def assess_judges(
    gold: Any,
    judges: FileForm | Iterable[Any] | Mapping[str, Any],
    runs: Any = (),
    measures: str | Iterable[str | Measure] | None = None,
    *,
    task: Task = "ranked",
    families: Mapping[str, str] | FileForm | None = None,
    alpha: float = 0.05,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = 0,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Unpack[EvaluationOptions],
) -> JudgesReport:
    """Compare judges with the gold: agreement, grades, and what they do to means and rankings.

    `judges` is {name: judgements}, or a list of files; each is compared on what it and the gold
    both judged. With `runs` every measure is computed under both truths, on the units of both;
    `families` says to which family a run belongs ({run: family}, or CSV run,family), for the test
    whether a judge favours some of them. Intervals resample whole units.

    >>> gold = {f"t{i}": {"a": 1, "b": 0, "c": i % 2} for i in range(8)}
    >>> kind = {t: {"a": 1, "b": 1, "c": 1} for t in gold}
    >>> judge = assess_judges(gold, {"kind": kind}).judges[0]
    >>> round(judge.agreement.share.value, 3), round(judge.agreement.shift.value, 3)
    (0.5, 0.5)
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} must lie between 0 and 1")
    notes, report_progress, seed = Notes(), Progress.of(progress), seed_of(rng)
    groups: Mapping[str, str] = {}
    if isinstance(families, Mapping):
        groups = families
    elif families is not None:
        groups = read_families(families)
    named_judges = _named(judges)
    truth = _grades(gold, task)
    no_runs = isinstance(runs, Sized) and not is_file(runs) and len(runs) == 0
    with_runs = runs is not None and not no_runs
    if with_runs:
        _refuse_streams(gold, runs, *(source for _, source in named_judges))
    assessed = []
    for i, (name, source) in enumerate(named_judges):
        report_progress(i / len(named_judges))
        agreement = _agreement(name, truth, _grades(source, task), alpha, resamples, seed, notes)
        table: list[JudgedMeasure] = []
        if with_runs:
            part = report_progress.part(i / len(named_judges), (i + 1) / len(named_judges))
            score_pair = _both_scores(
                gold, source, runs, measures, task, part, jobs=jobs, **options
            )
            table = [
                _measured(m, *score_pair, groups, alpha)
                for m in score_pair[0].measures
                if score_pair[0].is_mean(m) and score_pair[1].is_mean(m)
            ]
        assessed.append(Judge(name, agreement, tuple(table)))
    return JudgesReport(
        task=task,
        unit="topic" if task == "ranked" else "item",
        units=len(truth),
        judges=tuple(assessed),
        alpha=alpha,
        resamples=resamples,
        seed=seed,
        notes=notes.lines("judge"),
    )


def _refuse_streams(*sources: Any) -> None:
    """With runs, gold and runs are read for every judge, which a pipe cannot be."""
    for source in sources:
        for file in source if isinstance(source, list | tuple) else [source]:
            if isinstance(file, str | Path) and not can_be_read_again(file):
                raise UsageError(
                    f"{file} can be read only once, and runs need it again: save it first"
                )


def _named(judges: Any) -> list[tuple[str, Any]]:
    if isinstance(judges, Mapping):
        pairs = [(str(name), source) for name, source in judges.items()]
    else:
        sources: list[Any]
        if is_file(judges):
            sources = [judges]
        elif isinstance(judges, Iterable) and getattr(judges, "ndim", 1) != 0:
            sources = list(judges)
        else:
            raise UsageError(
                f"judges={describe_value(judges)} is neither {{name: judgements}} nor a list"
            )
        pairs = [
            (run_name(source) if is_file(source) else f"judge{i}", source)
            for i, source in enumerate(sources, 1)
        ]
    if not pairs:
        raise UsageError("no judge was given")
    if len({name for name, _ in pairs}) < len(pairs):
        raise UsageError("two judges have one name; name them: {name: judgements}")
    return pairs


def _grades(source: Any, task: Task) -> Grades:
    """What a truth says of every unit."""
    if task == "ranked":
        return coerce_judgements(source).to_dict()
    matrix = check_all_listed(coerce_labels(source, "truth"), "The study of judges")
    if matrix.labels is None:
        raise UsageError(f"{matrix.where}: labels of 0 and 1 are needed, not confidences")
    labels = matrix.labels.toarray() if hasattr(matrix.labels, "toarray") else matrix.labels
    rows = np.asarray(labels, dtype=int).tolist()
    return {
        item: dict(zip(matrix.concepts, row, strict=True))
        for item, row in zip(matrix.items, rows, strict=True)
    }


def _agreement(
    name: str,
    gold: Grades,
    judge: Grades,
    alpha: float,
    resamples: int,
    seed: int,
    notes: Notes,
) -> JudgeAgreement:
    """Confusion, agreement and grade shift on what both judged."""
    pairs: list[tuple[int, float, float]] = []
    shared = [unit for unit in gold if unit in judge]
    missing = 0
    for i, unit in enumerate(shared):
        judge_grades = judge[unit]
        for key, grade in gold[unit].items():
            if key in judge_grades:
                pairs.append((i, float(grade), float(judge_grades[key])))
            else:
                missing += 1
    missing += sum(len(gold[unit]) for unit in gold if unit not in judge)
    if not pairs:
        raise UsageError(f"{name}: nothing that the gold judged was judged by it")
    if missing:
        notes.add(f"did not judge {missing} of what the gold judged; left out", about=name)
    levels = sorted({g for _, *two in pairs for g in two})
    at = {grade: k for k, grade in enumerate(levels)}
    counts = np.zeros((len(shared), len(levels), len(levels)))
    for i, gold_grade, judge_grade in pairs:
        counts[i, at[gold_grade], at[judge_grade]] += 1
    return JudgeAgreement.of(counts, np.array(levels), Draws(len(shared), resamples, seed), alpha)


def _both_scores(
    gold: Any,
    judge: Any,
    runs: Any,
    measures: Any,
    task: Task,
    progress: Progress,
    **options: Any,
) -> tuple[Scores, Scores]:
    """Runs under the gold and under a judge."""
    score: Any = evaluate if task == "ranked" else evaluate_labels
    if measures is None and task == "ranked":
        measures = DEFAULT_MEASURES
    return (
        score(gold, runs, measures, progress=progress.part(0.0, 0.5), **options),
        score(judge, runs, measures, progress=progress.part(0.5, 1.0), **options),
    )


def _measured(
    measure: Measure, gold: Scores, judge: Scores, families: Mapping[str, str], alpha: float
) -> JudgedMeasure:
    """One measure under both truths, on the units for which every run has a value in both."""
    unit = gold.unit_of[measure]
    place = {name: i for i, name in enumerate(judge.units[unit])}
    gold_columns = [i for i, name in enumerate(gold.units[unit]) if name in place]
    judge_columns = [place[gold.units[unit][i]] for i in gold_columns]
    rows = [judge.index_of(run) for run in gold.runs]
    y = np.asarray(gold.values[measure])[:, gold_columns]
    f = np.asarray(judge.values[measure])[rows][:, judge_columns]
    defined = ~(np.isnan(y).any(axis=0) | np.isnan(f).any(axis=0))
    y, f = y[:, defined], f[:, defined]
    if y.shape[1] < 2:
        raise UsageError(f"{measure}: fewer than two units have a value under both truths")
    runs, several = gold.runs, len(gold.runs) > 1
    tau = kendall(y.mean(axis=1), f.mean(axis=1)).value if several else np.nan
    sign = -1.0 if measure.higher_is_better is False else 1.0
    top = ap_correlation(sign * y.mean(axis=1), sign * f.mean(axis=1)).value if several else np.nan
    difference = f - y
    shifts = mean_intervals(difference, method="t", confidence=1 - alpha)
    return JudgedMeasure(
        measure=str(measure),
        units=y.shape[1],
        runs=runs,
        gold=tuple(y.mean(axis=1).tolist()),
        judged=tuple(f.mean(axis=1).tolist()),
        shift=tuple(zip(shifts.low.tolist(), shifts.high.tolist(), strict=True)),
        tau=float(tau),
        tau_ap=float(top),
        swaps=_swaps(runs, y, f, alpha),
        pairs=len(all_pairs(len(runs))),
        interaction_p=_interaction(difference) if several else None,
        favours=_favours(runs, difference, alpha) if several else (),
        families=_families(runs, difference, families, alpha),
    )


def _swaps(runs: Sequence[str], y: Floats, f: Floats, alpha: float) -> tuple[Swap, ...]:
    """Pairs of which one truth is sure and the other says the opposite."""
    pairs = all_pairs(len(runs))
    if not len(pairs):
        return ()
    p = [correct(t_test(v[pairs[:, 0]] - v[pairs[:, 1]]).p, "holm") for v in (y, f)]
    gaps = [(v[pairs[:, 0]] - v[pairs[:, 1]]).mean(axis=1) for v in (y, f)]
    swaps = []
    for k, (a, b) in enumerate(pairs.tolist()):
        sure = (bool(p[0][k] <= alpha), bool(p[1][k] <= alpha))
        if any(sure) and gaps[0][k] * gaps[1][k] < 0:
            numbers = (float(v[k]) for v in (gaps[0], gaps[1], p[0], p[1]))
            swaps.append(Swap(runs[a], runs[b], *numbers))
    return tuple(swaps)


def _interaction(difference: Floats) -> float | None:
    """The p-value of: the judge changes all runs alike. None where nothing varies."""
    if np.ptp(difference) == 0:
        return None
    from cranfield.stats._special import fdtrc

    # A judge that knows some runs better than others changes these less: runs do not vary alike.
    table, epsilon = two_way(difference), sphericity(difference)
    if not 0 < table.f_runs < math.inf:
        return table.p_runs
    return float(fdtrc(epsilon * table.df_runs, epsilon * table.df_residual, table.f_runs))


def _favours(names: Sequence[str], difference: Floats, alpha: float) -> tuple[Favour, ...]:
    """How much more than the others each run gains under the judge."""
    runs = len(difference)
    others = (difference.sum(axis=0) - difference) / (runs - 1)
    ahead = difference - others
    boxes = mean_intervals(ahead, method="t", confidence=1 - alpha)
    p = correct(t_test(ahead).p, "holm")
    return tuple(
        Favour(
            name, float(boxes.value[i]), (float(boxes.low[i]), float(boxes.high[i])), float(p[i])
        )
        for i, name in enumerate(names)
    )


def _families(
    runs: Sequence[str], difference: Floats, families: Mapping[str, str], alpha: float
) -> tuple[Favour, ...]:
    """The same of families of runs."""
    family_names = list(dict.fromkeys(families[r] for r in runs if r in families))
    if len(family_names) < 2:
        return ()
    rows = [
        difference[[i for i, r in enumerate(runs) if families.get(r) == name]].mean(axis=0)
        for name in family_names
    ]
    return _favours(family_names, np.array(rows), alpha)
