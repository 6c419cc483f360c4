"""Little gold, much silver: scores under two truths joined into estimates that hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, TypedDict, Unpack

import numpy as np

from cranfield.answers import Answer
from cranfield.comparison.annotation_budget import next_gold
from cranfield.comparison.answer import SUCH, THESE
from cranfield.data.collection import Design
from cranfield.errors import UsageError, plural, suggest
from cranfield.evaluation.inputs import EvaluationOptions
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.evaluation.scores import COMMANDS, Scores, Task
from cranfield.evaluation.truth_uncertainty import UNCHECKED
from cranfield.io import read_run
from cranfield.io.coerce import coerce_judgements, is_file, name_runs
from cranfield.io.design import DesignForm, coerce_design
from cranfield.io.files import Input
from cranfield.io.labels import read_labels
from cranfield.measures.base import Measure
from cranfield.notes import Notes, Progress, Watcher, some_names, with_progress
from cranfield.options import DEFAULT_RESAMPLES, Correction
from cranfield.stats._resample import Floats, Ints, Rng, all_pairs, seed_of
from cranfield.stats.corrections import correct
from cranfield.stats.design import UnitDesign, unit_design
from cranfield.stats.intervals import Limits, clipped
from cranfield.stats.ppi import PoweredMethod, PPIMeans, powered_means
from cranfield.validation import validate_params

# Options of evaluations and comparisons that say nothing about gold and silver.
FOREIGN = (
    "by",
    "ranks",
    *("per_topic", "per_item", "per_concept", "explain", "public", "tie_range", "fail_under"),
    *("junit", "summary", "fail_if_worse", "worse_by", "accept"),
    *("executor", "tail", "test", "margin", "power", "show", "keep_going"),
    *("tune", "on", "tune_per", "draws", "units", "correct"),
)


class PPIOptions(TypedDict, total=False):
    """The options of `PPIPlan` by name; None stands for what is usual."""

    pairs: bool
    baseline: str | None
    correction: Correction | None
    interval: PoweredMethod | None
    alpha: float | None
    resamples: int | None
    few_gold: bool
    width: float | None
    detect: float | None


class PoweredOptions(PPIOptions, EvaluationOptions, total=False):
    """The options of `PPIPlan` and those of the evaluation under both truths."""

    rng: Rng


@dataclass(frozen=True, slots=True, kw_only=True)
class PPIPlan:
    """The options of `powered` and `evaluate_powered`.

    With `pairs` (or a `baseline`) also every difference is estimated, with a weight of the silver
    of its own, and tested; the correction is over the pairs of a measure. Fewer than 5 gold units
    are refused unless `few_gold` says that they are meant. `width` asks how many gold units
    intervals of that width need, `detect` how many a difference of that size. `design` says how
    the units were sampled (see `compare`): gold must then judge clusters as wholes.
    """

    pairs: bool = False
    baseline: str | None = None
    correction: Correction = "holm"
    interval: PoweredMethod = "studentized"
    alpha: float = 0.05
    resamples: int = DEFAULT_RESAMPLES
    few_gold: bool = False
    width: float | None = None
    detect: float | None = None
    design: DesignForm | None = None
    rng: int = 0

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> tuple[PPIPlan, dict[str, Any]]:
        """The plan, and the options that are not of one; None stands for what is usual."""
        names = {f.name for f in fields(cls)}
        plan_options = {k: v for k, v in options.items() if k in names and v is not None}
        plan_options["rng"] = seed_of(plan_options.get("rng", 0))
        return cls(**plan_options), {k: v for k, v in options.items() if k not in names}

    def __post_init__(self) -> None:
        for name, value in (("width", self.width), ("detect", self.detect)):
            if value is not None and not 0 < value < math.inf:
                raise UsageError(f"{name}={value!r} is not a number above 0")

    def asked(self, runs: tuple[str, ...]) -> Ints:
        """Positions of the runs to compare: each with the baseline, every two, or none."""
        if not self.pairs and self.baseline is None:
            return np.empty((0, 2), np.int64)
        if len(runs) < 2:
            raise UsageError("a comparison needs two runs or more")
        if self.baseline is None:
            return all_pairs(len(runs))
        if self.baseline not in runs:
            raise UsageError(f"no run named {self.baseline!r}.{suggest(self.baseline, runs)}")
        at = runs.index(self.baseline)
        return np.array([(i, at) for i in range(len(runs)) if i != at], dtype=np.int64)

    def said(self) -> dict[str, Any]:
        """What an answer says of it."""
        return {
            "baseline": self.baseline,
            "correction": self.correction,
            "interval": self.interval,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.rng,
            "width": self.width,
            "detect": self.detect,
        }


TARGETS = {
    THESE: "the value if people had judged all {total} {unit}s",
    SUCH: "the value over all {unit}s that might have been asked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateValues:
    """A value from little gold and much silver.

    `these` and `such` are the intervals of the two targets, `gold_` the same of the gold units
    alone. `weight` is how much of the silver is used, `correlation` how it varies with gold, and
    `effective` how many gold units alone would say as much; `units` of `total` units have gold.
    """

    measure: str
    value: float
    these: tuple[float, float]
    such: tuple[float, float]
    gold_value: float
    gold_these: tuple[float, float]
    gold_such: tuple[float, float]
    weight: float
    correlation: float
    effective: float
    units: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(EstimateValues):
    """The mean of a run; `same` says that gold and silver are equal wherever both are known,
    `constant` that all gold units have one value."""

    run: str
    same: bool = False
    constant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredPair(EstimateValues):
    """The difference a - b of two runs; `p` tests it for such units, `these_p` for these."""

    a: str
    b: str
    p: float
    p_corrected: float
    these_p: float
    gold_p: float
    gold_p_corrected: float

    def to_dict(self) -> dict[str, Any]:
        """The row of a comparison: `ci` is the interval of such units."""
        row = asdict(self)
        row["difference"], row["ci"] = row.pop("value"), row["such"]
        row["gold_difference"] = row.pop("gold_value")
        return row


@dataclass(frozen=True, repr=False, eq=False)
class PoweredScores(Answer):
    """Means of runs, and their differences where asked for, from little gold and much silver."""

    table_maker: ClassVar[str] = "cranfield.report.tables.comparison:powered_document"
    task: Task
    runs: tuple[str, ...]
    measures: tuple[Mapping[str, Any], ...]
    unit: str
    gold_units: int
    silver_units: int
    estimates: tuple[Estimate, ...]
    pairs: tuple[PoweredPair, ...]
    compared: bool
    baseline: str | None
    correction: str
    interval: str
    alpha: float
    resamples: int
    seed: int
    # What was sampled: whole units, or pairs within every topic.
    design: str = "units"
    # A width and a difference that were asked for, and the units to judge next.
    width: float | None = None
    next_units: tuple[str, ...] = ()
    detect: float | None = None

    def _word(self) -> str:
        return "compare" if self.compared else COMMANDS[self.task]

    def targets(self) -> dict[str, str]:
        """What each of the two intervals is about."""
        if self.design == "pairs":
            return {
                THESE: "the value if people had judged every pair of these topics",
                SUCH: TARGETS[SUCH].format(unit="topic"),
            }
        return {
            name: text.format(total=self.silver_units, unit=self.unit)
            for name, text in TARGETS.items()
        }

    def estimate(self, run: str, measure: str) -> Estimate:
        """The estimate of one run under one measure."""
        for entry in self.estimates:
            if (entry.run, entry.measure) == (run, measure):
                return entry
        raise KeyError((run, measure))

    def mean(self) -> dict[str, dict[str, float]]:
        """The estimate of every run under every measure: {run: {measure: value}}."""
        table: dict[str, dict[str, float]] = {run: {} for run in self.runs}
        for estimate in self.estimates:
            table[estimate.run][estimate.measure] = estimate.value
        return table

    def headline(self) -> str:
        """How many runs from how much gold, and what the silver was worth."""
        gains = [e.effective for e in self.estimates if e.effective == e.effective] or [0.0]
        return (
            f"{len(self.runs)} runs from gold for {self.gold_units} of {self.silver_units} "
            f"{self.unit}s and silver for all: worth {min(gains):.0f} to {max(gains):.0f} gold "
            f"{self.unit}s"
        )

    def payload(self, **_: object) -> dict[str, Any]:
        """Estimates with both intervals, plain gold beside them, and how they were made."""
        payload: dict[str, Any] = {
            "measures": [dict(m) for m in self.measures],
            "design": self.design,
            "unit": self.unit,
            "gold_units": self.gold_units,
            "silver_units": self.silver_units,
            "targets": self.targets(),
            "interval": self.interval,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.seed,
            "runs": [{"name": run, "mean": means} for run, means in self.mean().items()],
            "estimates": [asdict(e) for e in self.estimates],
        }
        from cranfield.comparison.annotation_budget import more_payload

        payload["more"] = more_payload(self)
        if self.compared:
            payload |= {
                "baseline": self.baseline,
                "test": "bootstrap" if self.interval == "studentized" else "t",
                "correction": self.correction,
                "difference": "a - b",
                "pairs": [pair.to_dict() for pair in self.pairs],
            }
        return payload


# With fewer gold units intervals are shaky, and with still fewer worthless.
FEW_GOLD, TOO_FEW_GOLD, LEAST_GOLD = 10, 5, 3
# A silver that is worth less than so many more units is called worthless.
WORTHLESS_GAIN = 1.05


@validate_params
@with_progress
def evaluate_powered(
    gold: Any,
    silver: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    task: Task = "ranked",
    jobs: int | None = None,
    progress: Watcher | None = None,
    **options: Unpack[PoweredOptions],
) -> PoweredScores:
    """Score runs where people judged few units and a program or a crowd all of them.

    `gold` and `silver` are what `evaluate` takes as judgements, or `evaluate_labels` as truth
    (`task="labels"`); `options` are those of `PPIPlan` and of the evaluation. Judgements with
    strata are a gold of pairs, sampled within every topic: see `sampled_pairs`.

    >>> silver = {f"t{i}": {"a": 1, "b": int(i % 3 == 0)} for i in range(30)}
    >>> gold = {t: silver[t] for t in list(silver)[:8]} | {"t1": {"a": 0, "b": 1}}
    >>> run = {t: {"b": 2.0, "a": 1.0} for t in silver}
    >>> scores = evaluate_powered(gold, silver, {"mine": run}, "AP", interval="t")
    >>> round(scores.estimates[0].value, 3), round(scores.estimates[0].gold_value, 3)
    (0.735, 0.75)
    """
    report_progress = Progress.of(progress)
    twice = _readable_twice(runs, task)
    plan, rest = PPIPlan.of(options)
    requested: Any = measures
    if task == "ranked":
        requested = DEFAULT_MEASURES if measures is None else measures
        gold = coerce_judgements(gold)
        if gold.strata is not None:
            from cranfield.comparison.ppi_pairs import score_pair_sample

            return score_pair_sample(gold, silver, twice, requested, plan, jobs or 1, rest)
        silver = coerce_judgements(silver)
        check_part(gold.topics, silver.topics, "topic")
    both_scores = []
    for i, truth in enumerate((gold, silver)):
        part = report_progress.part(0.4 * i, 0.4 * (i + 1))
        score: Any = evaluate if task == "ranked" else evaluate_labels
        both_scores.append(score(truth, twice, requested, jobs=jobs, progress=part, **rest))
    return _powered(both_scores[0], both_scores[1], plan, jobs or 1, report_progress.part(0.8, 1.0))


def named_truths(files: Sequence[Any], gold: Any, silver: Any) -> dict[str, Any]:
    """Gold, silver and runs: of the truths that is the first of the files which has no name."""
    runs = list(files)
    if runs and (gold is None or silver is None):
        first = runs.pop(0)
        gold, silver = (first, silver) if gold is None else (gold, first)
    if not runs:
        raise UsageError("gold= and silver= need a run or more beside them")
    return {"gold": gold, "silver": silver, "runs": runs}


def _readable_twice(runs: Any, task: Task) -> Any:
    """Runs that can be scored under two truths: a pipe is read once, and kept."""
    if task == "ranked":
        return {name: _read_once(run, read_run) for name, run in name_runs(runs)}
    if isinstance(runs, Mapping):
        return {name: _read_once(run, read_labels) for name, run in runs.items()}
    return [_read_once(run, read_labels) for run in runs]


def _read_once(run: Any, read: Callable[[Any], Any]) -> Any:
    return read(run) if is_file(run) and not Input.of(run).can_be_read_again else run


@validate_params
@with_progress
def powered(
    gold: Scores,
    silver: Scores,
    *,
    jobs: int = 1,
    rng: Rng = 0,
    progress: Watcher | None = None,
    **options: Unpack[PPIOptions],
) -> PoweredScores:
    """What runs are worth, from scores under gold for some units and under silver for all.

    The gold units are taken for a random choice of the silver's; `options` are those of
    `PPIPlan`.
    """
    plan, strange = PPIPlan.of({**options, "rng": rng})
    if strange:
        option_names = [f.name for f in fields(PPIPlan)]
        name = next(iter(strange))
        raise UsageError(f"powered() has no option {name}=.{suggest(name, option_names)}")
    return _powered(gold, silver, plan, jobs, Progress.of(progress))


def _powered(
    gold: Scores, silver: Scores, plan: PPIPlan, jobs: int, step: Progress
) -> PoweredScores:
    notes = Notes()
    # What is said of the gold units is said of few: that runs have more is no news.
    # Gold is there to tell what the probabilities of the silver are worth.
    notes.extend(note for note in silver.notes if note != UNCHECKED)
    sample = _TruthPair(gold, silver, notes)
    sample.check(plan.few_gold)
    if plan.design is not None:
        sample.obey(coerce_design(plan.design))
    options: dict[str, Any] = {
        "method": plan.interval,
        "confidence": 1 - plan.alpha,
        "resamples": plan.resamples,
        "rng": plan.rng,
        "jobs": jobs,
    }
    selected = sample.measures()
    requested = plan.asked(gold.runs)
    estimates: list[Estimate] = []
    differences: list[PoweredPair] = []
    for i, measure in enumerate(selected):
        step(i / len(selected))
        table = sample.table(measure)
        estimates += table.estimates(options, notes)
        if len(requested):
            differences += table.differences(requested, plan.correction, options)
    sample.note_worth(estimates)
    note_floor(plan, len(requested), notes)
    has_open_units = len(sample.silver_units) > len(sample.gold_units)
    return PoweredScores(
        task=gold.task,
        runs=gold.runs,
        measures=tuple(measure_summary(m) for m in selected),
        unit=gold.main_unit,
        gold_units=len(sample.gold_units),
        silver_units=len(sample.silver_units),
        estimates=tuple(estimates),
        pairs=tuple(differences),
        compared=bool(len(requested)),
        next_units=next_gold(sample.gold_units, silver, rng=plan.rng) if has_open_units else (),
        notes=notes.lines(),
        **plan.said(),
    )


def check_part(gold: Sequence[str], silver: Sequence[str], unit: str) -> None:
    """An error where units have gold and no silver."""
    silver_names = set(silver)
    strange = [name for name in gold if name not in silver_names]
    if strange:
        raise UsageError(
            f"gold= judges {plural(len(strange), unit)} that silver= does not "
            f"({some_names(strange)}): the gold must be part of the silver's {unit}s"
        )


def check_units(
    gold: Sequence[str], silver: Sequence[str], unit: str, *, few_gold: bool = False
) -> None:
    """An error where the units that have gold are too few, or not among those that have silver."""
    check_part(gold, silver, unit)
    n = len(gold)
    if n < LEAST_GOLD:
        raise UsageError(
            f"gold= has {plural(n, unit)}: from so little no interval can be made "
            f"(at least {TOO_FEW_GOLD}, better {FEW_GOLD} or more)"
        )
    if n < TOO_FEW_GOLD and not few_gold:
        raise UsageError(
            f"gold= has {n} {unit}s, fewer than {TOO_FEW_GOLD}: intervals would mean little; "
            "few_gold=True makes them nevertheless"
        )


def note_floor(plan: PPIPlan, pairs: int, notes: Notes) -> None:
    """Say when so few resamples leave nothing significant after the correction."""
    if not pairs or plan.interval != "studentized":
        return
    smallest = float(correct(np.full(pairs, 1 / (plan.resamples + 1)), plan.correction).max())
    if smallest > plan.alpha:
        notes.add(
            f"nothing can be significant: with {pairs} pairs and {plan.resamples} resamples no "
            f"corrected p-value is below {smallest:.4g}; more resamples help"
        )


def measure_summary(measure: Measure) -> dict[str, Any]:
    """What an answer says of a measure."""
    return {
        "name": str(measure),
        "mean_name": measure.mean_label,
        "higher_is_better": measure.higher_is_better,
    }


class _TruthPair:
    """Scores under gold and silver that belong together."""

    def __init__(self, gold: Scores, silver: Scores, notes: Notes) -> None:
        self.gold, self.silver, self.notes = gold, silver, notes
        if gold.task != silver.task or set(gold.runs) != set(silver.runs):
            raise UsageError("gold and silver must score the same runs")
        unit = gold.main_unit
        self.gold_units, self.silver_units = gold.units[unit], silver.units[unit]
        self.design: UnitDesign | None = None

    def obey(self, design: Design) -> None:
        """Take the units as they were sampled."""
        unit = self.gold.main_unit
        of_all = unit_design(design, self.silver_units, unit)
        gold_units = set(self.gold_units)
        is_gold = np.array([name in gold_units for name in self.silver_units])
        judged = np.bincount(of_all.clusters, weights=is_gold)
        partly = int(((judged > 0) & (judged < np.bincount(of_all.clusters))).sum())
        if partly:
            raise UsageError(
                f"gold= judges only a part of {plural(partly, 'cluster')} of the design: no "
                f"interval holds for such {unit}s then; judge clusters as wholes"
            )
        clusters = of_all.at(np.flatnonzero(is_gold)).count
        if clusters < LEAST_GOLD:
            raise UsageError(
                f"gold= has {plural(clusters, 'cluster')} of the design: from so few no interval "
                "can be made"
            )
        if of_all.has_clusters or of_all.is_weighted:
            self.notes.add(f"by design: gold for {clusters} of {of_all.count} clusters")
        self.design = of_all

    def check(self, few_gold: bool) -> None:
        """Errors and notes about the units themselves."""
        unit, n, total = self.gold.main_unit, len(self.gold_units), len(self.silver_units)
        check_units(self.gold_units, self.silver_units, unit, few_gold=few_gold)
        if n < FEW_GOLD:
            self.notes.add(
                f"gold= has {n} {unit}s only: with fewer than {FEW_GOLD} intervals are shaky, and "
                "may miss the value more often than they say"
            )
        if n == total:
            self.notes.add(f"every {unit} has gold: the silver is not needed, and not used")

    def measures(self) -> tuple[Measure, ...]:
        """The measures that are means over the units which people judged."""
        unit = self.gold.main_unit
        usable: list[Measure] = []
        unusable: list[Measure] = []
        for m in self.gold.measures:
            in_both = m in self.silver.measures and all(
                m in s.values and s.unit_of[m] == unit and s.is_mean(m)
                for s in (self.gold, self.silver)
            )
            (usable if in_both else unusable).append(m)
        if not usable:
            raise UsageError(
                f"{', '.join(map(str, unusable))}: not a mean over {unit}s, so little "
                "gold cannot be "
                "carried over to all of them"
            )
        if unusable:
            self.notes.add(f"not a mean over {unit}s; left out: {', '.join(map(str, unusable))}")
        return tuple(usable)

    def table(self, measure: Measure) -> _Table:
        place = {name: i for i, name in enumerate(self.silver_units)}
        gold_columns = np.array([place[name] for name in self.gold_units], dtype=np.int64)
        rows = [self.silver.index_of(run) for run in self.gold.runs]
        return _Table(
            measure,
            self.gold.runs,
            np.asarray(self.gold.values[measure]),
            np.asarray(self.silver.values[measure])[rows],
            gold_columns,
            self.design,
        )

    def note_worth(self, estimates: Sequence[Estimate]) -> None:
        """Say of which measures the silver knows nothing, and where it is gold itself."""
        unit = self.gold.main_unit
        if len(self.gold_units) == len(self.silver_units):
            return
        same = [e for e in estimates if e.same]
        rest = 1 - 0.05 ** (1 / len(self.gold_units))
        for e in estimates:
            if e.same:
                continue
            if math.isnan(e.these[0]):
                self.notes.add(
                    f"{e.measure}: no interval: all gold {unit}s have the same value, and nothing "
                    f"says how far others may be from it; up to {rest:.0%} of the other {unit}s "
                    "may still differ",
                    about=e.run,
                )
            elif e.constant:
                self.notes.add(
                    f"{e.measure}: all gold {unit}s have the same value, though up to {rest:.0%} "
                    f"of the other {unit}s may still differ; the intervals count one more {unit} "
                    "at either limit of the measure",
                    about=e.run,
                )
            elif e.effective < WORTHLESS_GAIN * e.units:
                self.notes.add(
                    f"{e.measure}: the silver is next to worthless here (correlation with gold "
                    f"below what chance gives): it adds nothing to the gold {unit}s",
                    about=e.run,
                )
        if len(same) == len(estimates):
            self.notes.add(
                f"silver= equals gold= on every {unit} that has both. Is it the same file? If not, "
                f"up to {rest:.0%} of the other {unit}s may still differ; the intervals count two "
                f"more {unit}s on which the silver is wrong, once either way"
            )


class _Table:
    """One measure: the values of runs under gold, and under silver with the places of the gold."""

    def __init__(
        self,
        measure: Measure,
        runs: tuple[str, ...],
        gold: Floats,
        silver: Floats,
        gold_columns: Ints,
        design: UnitDesign | None = None,
    ) -> None:
        self.measure, self.runs, self.where = measure, runs, gold_columns
        self.design = design
        self.gold, self.silver = gold, silver

    def _joined(
        self, gold: Floats, silver: Floats, limits: Limits, options: dict[str, Any]
    ) -> list[tuple[PPIMeans, int, int, int]]:
        """For each row what is found (and its place there), gold units and all units."""
        options = options | {"limits": limits}
        masks, group = np.unique(~np.isnan(gold), axis=0, return_inverse=True)
        by_row: dict[int, tuple[PPIMeans, int, int, int]] = {}
        for number, mask in enumerate(masks):
            members = np.flatnonzero(group.ravel() == number)
            n = int(mask.sum())
            if n < LEAST_GOLD:
                raise UsageError(
                    f"{self.measure} is defined for {n} gold units only: no interval can be made"
                )
            columns = np.ones(silver.shape[1], dtype=bool)
            columns[self.where[~mask]] = False
            part = silver[members][:, columns]
            # A unit without a silver value says as much as the mean of the others.
            part = np.where(np.isnan(part), _row_means(part)[:, None], part)
            place = np.cumsum(columns) - 1
            gold_part = gold[members][:, mask]
            silver_part, means = part[:, place[self.where[mask]]], part.mean(axis=1)
            total = part.shape[1]
            if self.design is not None:
                of_all = self.design.at(np.flatnonzero(columns))
                of_gold = self.design.at(self.where[mask])
                means = part @ of_all.weights / of_all.weights.sum()
                gold_part, silver_part = of_gold.parts(gold_part), of_gold.parts(silver_part)
                total = of_all.count
                if gold_part.shape[1] < LEAST_GOLD:
                    raise UsageError(
                        f"{self.measure} is defined for {gold_part.shape[1]} gold clusters only: "
                        "no interval can be made"
                    )
            result = powered_means(gold_part, silver_part, means, total, **options)
            for i, row in enumerate(members):
                by_row[int(row)] = (result, i, gold_part.shape[1], total)
        return [by_row[i] for i in range(len(gold))]

    def estimates(self, options: dict[str, Any], notes: Notes) -> list[Estimate]:
        rows = []
        limits = self.measure.range
        joined = self._joined(self.gold, self.silver, limits, options)
        for run, (result, i, n, total), gold, silver in zip(
            self.runs, joined, self.gold, self.silver[:, self.where], strict=True
        ):
            undefined = int(np.isnan(gold).sum())
            if undefined:
                notes.add(
                    f"{self.measure} is undefined for {undefined} gold units, which are left out",
                    about=run,
                )
            rows.append(
                Estimate(
                    measure=str(self.measure),
                    run=run,
                    **_common(result, i, n, total, limits),
                    same=bool(np.array_equal(gold, silver, equal_nan=True)),
                    constant=bool(np.nanmin(gold) == np.nanmax(gold)),
                )
            )
        return rows

    def differences(
        self, requested: Ints, correction: Correction, options: dict[str, Any]
    ) -> list[PoweredPair]:
        a, b = requested.T
        gold, silver = self.gold[a] - self.gold[b], self.silver[a] - self.silver[b]
        limits = difference_limits(self.measure.range)
        joined = self._joined(gold, silver, limits, options)
        p = np.array([float(result.p[i]) for result, i, _, _ in joined])
        gold_p = np.array([float(result.gold_p[i]) for result, i, _, _ in joined])
        corrected, gold_corrected = correct(p, correction), correct(gold_p, correction)
        return [
            PoweredPair(
                measure=str(self.measure),
                a=self.runs[first],
                b=self.runs[second],
                **_common(result, i, n, total, limits),
                p=float(result.p[i]),
                p_corrected=float(corrected[k]),
                these_p=float(result.these_p[i]),
                gold_p=float(result.gold_p[i]),
                gold_p_corrected=float(gold_corrected[k]),
            )
            for k, ((first, second), (result, i, n, total)) in enumerate(
                zip(requested.tolist(), joined, strict=True)
            )
        ]


def _row_means(values: Floats) -> Floats:
    defined = ~np.isnan(values)
    count = np.maximum(defined.sum(axis=1), 1)
    means: Floats = np.where(defined, values, 0.0).sum(axis=1) / count
    return means


def difference_limits(limits: Limits) -> Limits:
    """The limits of differences of two values."""
    room = limits[1] - limits[0]
    return -room, room


def _common(result: PPIMeans, i: int, n: int, total: int, limits: Limits) -> dict[str, Any]:
    """What the estimate of a mean and of a difference have in common."""
    open_share = 1 - n / total

    def around(value: Floats, half: Floats, shift: float) -> tuple[float, float]:
        """The interval within the limits; the value itself is inside in any case."""
        middle, point = float(value[i]) + shift, float(value[i])
        low, high = clipped((middle - float(half[i]), middle + float(half[i])), limits)
        return min(low, point), max(high, point)

    shift, gold_shift = float(result.shift[i]), float(result.gold_shift[i])
    return {
        "value": float(result.value[i]),
        "these": around(result.value, result.these, open_share * shift),
        "such": around(result.value, result.such, shift),
        "gold_value": float(result.gold[i]),
        "gold_these": around(result.gold, result.gold_these, open_share * gold_shift),
        "gold_such": around(result.gold, result.gold_such, gold_shift),
        "weight": float(result.weight[i]),
        "correlation": float(result.correlation[i]),
        "effective": float(result.effective[i]),
        "units": n,
        "total": total,
    }
