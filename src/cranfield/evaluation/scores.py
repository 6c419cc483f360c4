"""The scores of runs: values per topic, item or concept, their means, and what they say.

Every sentence holds for the numbers behind it: runs whose means are equal share the lead, and
nothing is called significant here, as nothing was tested.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    overload,
)

from cranfield._json import jsonable
from cranfield._lazy import np
from cranfield.answers import Answer, decode, encode
from cranfield.errors import MeasureError, UsageError, suggest
from cranfield.io import frames
from cranfield.measures.base import Measure
from cranfield.measures.parse import listed_measures
from cranfield.notes import join_notes

if TYPE_CHECKING:
    from concurrent.futures import Executor as Pool

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from cranfield.comparison.answer import Comparison
    from cranfield.comparison.slices import SlicedScores
    from cranfield.evaluation.truth_uncertainty import Doubt
    from cranfield.io.design import DesignForm
    from cranfield.notes import Watcher
    from cranfield.options import (
        Correction,
        CorrectionFamily,
        IntervalMethod,
        MeanMethod,
        PairCorrection,
        ResampledUnits,
        Tail,
        Test,
    )
    from cranfield.stats._resample import Resamples, Rng
    from cranfield.stats.design import UnitDesign
    from cranfield.stats.intervals import Interval

Values: TypeAlias = "NDArray[np.float64]"
# What a row has: names, and values, which may not exist.
Cell: TypeAlias = "str | float | None"
Task: TypeAlias = Literal["ranked", "labels", "regions"]
# Where runs are scored: here, or by an executor of `cranfield.work`.
THREADS = "threads"
Executor: TypeAlias = "str | Pool"
COMMANDS: dict[Task, str] = {"ranked": "eval", "labels": "label", "regions": "eval regions"}
_UNITS = ("topic", "item", "concept")
MAIN_UNIT: dict[Task, str] = {"ranked": "topic", "labels": "item", "regions": "item"}
# Zeros would make every geometric mean 0: trec_eval replaces them by this.
SMALLEST_FOR_GEOMETRIC_MEAN = 1e-5


Entry = TypeVar("Entry")
Other = TypeVar("Other")


class NamedValues(dict[str, Entry], Generic[Entry]):
    """Values by the names of measures, which also answer to other spellings of these names.

    Iterating gives each measure once, under its own name.

    >>> values = NamedValues({"RR@10": 0.5}, "ranked")
    >>> values["MRR@10"], "mrr_at_10" in values, values.get("AP"), list(values)
    (0.5, True, None, ['RR@10'])
    """

    def __init__(self, values: Mapping[str, Entry], task: Task) -> None:
        super().__init__(values)
        self.task = task

    def __missing__(self, name: str) -> Entry:
        return self[_name_among(name, self, self.task)]

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        try:
            _name_among(str(name), self, self.task)
        except MeasureError:
            return False
        return True

    @overload
    def get(self, name: str, default: None = None, /) -> Entry | None: ...
    @overload
    def get(self, name: str, default: Entry, /) -> Entry: ...
    @overload
    def get(self, name: str, default: Other, /) -> Entry | Other: ...
    def get(self, name: str, default: object = None, /) -> object:
        try:
            return self[name]
        except MeasureError:
            return default


def _name_among(name: str, names: Iterable[str], task: Task) -> str:
    """The one of these names of measures that another spelling stands for, or a MeasureError."""
    from cranfield.measures import measure_for

    present = list(names)
    if str(name) in present:
        return str(name)
    try:
        canonical = str(measure_for(str(name), task))
    except MeasureError:
        canonical = ""
    if canonical not in present:
        raise MeasureError(
            f"no scores under the measure {str(name)!r}.{suggest(str(name), present)} "
            f"There are: {', '.join(present)}"
        )
    return canonical


MeasureNames: TypeAlias = "str | Measure | Iterable[str | Measure]"


def safe_key(text: str) -> str:
    """A name of letters, digits and underscores.

    >>> safe_key("nDCG@10(gain='exp')"), safe_key("F.example")
    ('ndcg_at_10_gain_exp', 'f_example')
    """
    return re.sub(r"\W+", "_", text.replace("@", "_at_").lower(), flags=re.ASCII).strip("_")


def distinct_keys(keys: Sequence[str]) -> list[str]:
    """The keys, with a number where an earlier one is the same, so that no value is lost.

    >>> distinct_keys(["a_b", "a_b", "c"])
    ['a_b', 'a_b_2', 'c']
    """
    taken = set(keys)
    distinct: list[str] = []
    for key in keys:
        free, number = key, 1
        while free in distinct or (number > 1 and free in taken):
            number += 1
            free = f"{key}_{number}"
        distinct.append(free)
    return distinct


class Means(Mapping[Measure, Values]):
    """The values of runs over all units: plain numbers, made into arrays for who asks."""

    def __init__(self, numbers: Mapping[Measure, Sequence[float]]) -> None:
        self.numbers = numbers

    def __getitem__(self, measure: Measure) -> Values:
        return np.array(self.numbers[measure], dtype=np.float64)

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


class LaterValues(Mapping[Measure, Values]):
    """Values that are worked out, all together, when one of them is looked up."""

    def __init__(
        self, measures: Sequence[Measure], work_out: Callable[[], Mapping[Measure, Values]]
    ) -> None:
        self._measures, self._work_out = tuple(measures), work_out
        self._values: Mapping[Measure, Values] | None = None

    def __getitem__(self, measure: Measure) -> Values:
        if measure not in self._measures:
            raise KeyError(measure)
        if self._values is None:
            self._values = self._work_out()
        return self._values[measure]

    def __contains__(self, measure: object) -> bool:
        return measure in self._measures

    def __iter__(self) -> Iterator[Measure]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)


@dataclass(frozen=True, repr=False, eq=False)
class Scores(Answer):
    """What runs score under measures.

    `task` says of what kind the runs are: rankings, annotations of items with labels, or regions
    in items. Every
    measure speaks of one kind of unit ("topic", "item", "concept", or "whole" for a
    value that exists only for the whole run). `values[m]` has one row per run and one column
    per unit; NaN means that the unit is left out for that run. `overall[m]` has the value of
    each run over all its units, as the measure's own averaging gives it. `notes` say what a
    reader of the numbers must know, such as topics that a run misses.
    """

    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:scores_document"
    task: Task
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    units: Mapping[str, tuple[str, ...]]
    unit_of: Mapping[Measure, str]
    values: Mapping[Measure, Values]
    overall: Mapping[Measure, Values]
    missing: tuple[int, ...]
    evaluated: tuple[int, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    # What else the entry of each run says, and how many units each mean leaves out where the
    # values themselves were not kept.
    run_facts: tuple[Mapping[str, Any], ...] = ()
    left: Mapping[Measure, tuple[int, ...]] = field(default_factory=dict)
    # The least and the greatest value of each run that the orders within ties can give.
    tie_range: Mapping[Measure, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    # What is not sure where the truth has probabilities; the values are expected ones then.
    doubt: Doubt | None = None
    # How far each item pulls the value of a run, under measures that are no means over items: one
    # row per run, whose mean is 0.
    influence: Mapping[Measure, Values] = field(default_factory=dict)
    # By how much each value is likely to be higher than on very many items, where that is known of
    # the measure and not 0.
    bias: Mapping[Measure, Values] = field(default_factory=dict)
    # What each item alone gives, under measures that speak of concepts.
    of_item: Mapping[Measure, Values] = field(default_factory=dict)
    # How the topics or items were sampled, where not each by itself.
    design: UnitDesign | None = None
    # How many of the runs, the first ones, are the accepted baselines of a gate, oldest first.
    accepted: int = 0

    def __getstate__(self) -> dict[str, Any]:
        """What travels: arrays, not the judgements and plans that they are looked up through."""
        state = dict(self.__dict__)
        state["values"] = {m: self.values[m] for m in self.values}
        state["overall"] = {m: self.overall[m] for m in self.overall}
        state["influence"] = {m: self.influence[m] for m in self.influence}
        state["bias"] = {m: self.bias[m] for m in self.bias}
        state["of_item"] = {m: self.of_item[m] for m in self.of_item}
        return state

    def mean(self) -> dict[str, NamedValues[float]]:
        """The value of every run under every measure: {run: {measure: value}}.

        A value is also had by any other name of its measure: `["MRR@10"]` and `["RR@10"]` are one.
        """
        columns = {str(m): self.plain_means(m) for m in self.measures}
        return {
            run: NamedValues({name: values[i] for name, values in columns.items()}, self.task)
            for i, run in enumerate(self.runs)
        }

    def flat(self, measures: MeasureNames | None = None) -> dict[str, float]:
        """The means under keys that MLflow, W&B and Trackio take, such as `ndcg_at_10`.

        Where there are several runs, a key begins with the run's name and a slash. Of named
        `measures` the keys are spelt as they were asked for.

        >>> from cranfield import evaluate
        >>> scores = evaluate({"t": {"a": 1}}, {"t": {"a": 0.5, "b": 0.7}}, "nDCG@10 AP")
        >>> scores.flat()
        {'ndcg_at_10': 0.6309297535714575, 'ap': 0.5}
        >>> scores.flat("MAP")
        {'map': 0.5}
        """
        named = self._named(measures)
        keys = distinct_keys([safe_key(name) for name, _ in named])
        columns = {key: self.plain_means(m) for key, (_, m) in zip(keys, named, strict=True)}
        runs = distinct_keys([re.sub(r"[^\w.-]+", "_", r, flags=re.ASCII) for r in self.runs])
        return {
            (f"{run}/{key}" if len(runs) > 1 else key): values[i]
            for i, run in enumerate(runs)
            for key, values in columns.items()
        }

    def _named(self, measures: MeasureNames | None) -> list[tuple[str, Measure]]:
        """Measures and the names that they are asked for by; all of them, by their own names."""
        if measures is None:
            return [(str(m), m) for m in self.measures]
        names = dict.fromkeys(map(str, listed_measures(measures)))
        return [(name, self.measure_named(name)) for name in names]

    def plain_means(self, measure: Measure) -> list[float]:
        """The value of every run under a measure, without an array."""
        numbers = self.overall.numbers if isinstance(self.overall, Means) else self.overall
        return [float(v) for v in numbers[measure]]

    def plain_values(self, measure: Measure) -> list[list[float]]:
        """The values of a measure, a list per run, without an array where there is none yet."""
        as_lists = getattr(self.values, "plain", None)
        rows: list[list[float]] = (
            self.values[measure].tolist() if as_lists is None else as_lists(measure)
        )
        return rows

    def best_first(self, measure: Measure | None = None) -> list[int]:
        """Positions of the runs, the best mean first; runs without a value come last."""
        ranked_by = measure or self.measures[0]
        sign = -1.0 if ranked_by.higher_is_better is False else 1.0
        means = self.plain_means(ranked_by)
        return sorted(
            range(len(means)), key=lambda i: (math.isnan(means[i]), -sign * means[i], self.runs[i])
        )

    def verdict(self, measure: Measure | None = None) -> tuple[str, ...]:
        """The leading run, its lead and where every run fails, in a few sentences."""
        from cranfield.evaluation.scores import score_verdict

        return score_verdict(self, measure)

    def left_out(self, measure: Measure) -> list[int]:
        """How many units each run's mean leaves out because the measure is undefined there."""
        if measure in self.left:
            return list(self.left[measure])
        undefined = np.isnan(self.values[measure]).sum(axis=1)
        not_evaluated = self.values[measure].shape[1] - np.asarray(self.evaluated)
        if self.unit_of[measure] == "topic":
            undefined = undefined - not_evaluated
        return [int(n) for n in undefined]

    def is_mean(self, measure: Measure) -> bool:
        """Whether the value of every run is the plain mean of its values per unit."""
        values = self.values[measure]
        if self.unit_of[measure] == "whole" or not values.shape[1]:
            return False
        defined = ~np.isnan(values)
        count = defined.sum(axis=1)
        means = np.where(defined, values, 0.0).sum(axis=1) / np.maximum(count, 1)
        means[count == 0] = np.nan
        return bool(np.allclose(self.overall[measure], means, rtol=1e-9, equal_nan=True))

    def sampled(self, measure: Measure) -> tuple[str, Values] | None:
        """The kind of unit that was sampled, and what each adds to the value of every run.

        For a mean over topics or items these are its values. For any other value they are made
        such that their mean is the value of the run and that they vary as it does when units are
        drawn anew. None stands for a measure of which that is not known.
        """
        if measure in self.influence:
            return self.main_unit, self.overall[measure][:, None] + self.influence[measure]
        if measure not in self.values or self.unit_of[measure] != self.main_unit:
            return None
        values = np.asarray(self.values[measure])
        if measure.averaging == "geometric" and not self.is_mean(measure):
            return self.main_unit, _geometric_parts(values, self.overall[measure])
        if self.is_mean(measure) or measure.averaging == "sum":
            return self.main_unit, values
        return None

    def has_parts(self, measure: Measure) -> bool:
        """Whether the values of what was sampled are parts, not the measure's own values."""
        if measure in self.influence:
            return True
        return measure.averaging == "geometric" and not self.is_mean(measure)

    def measures_of(self, unit: str) -> list[Measure]:
        """The measures that have values for each topic, item or concept."""
        if unit == "item" and self.of_item:
            return list(self.measures)
        return [m for m in self.measures if self.unit_of[m] == unit]

    def rows(self, unit: str) -> Iterator[dict[str, Cell]]:
        """One row per run and unit with the values of the measures that speak of that unit."""
        if unit not in _UNITS:
            raise UsageError(f"no unit {unit!r}: they are {', '.join(_UNITS)}")
        values_of = self.of_item if unit == "item" and self.of_item else self.values
        of_unit = self.measures_of(unit)
        if any(m not in values_of for m in of_unit):
            raise UsageError(f"the values per {unit} were not kept (keep=True keeps them)")
        # Asked for once: each look into `values` may put its array together anew.
        table = {str(m): values_of[m].tolist() for m in of_unit}
        for i, run in enumerate(self.runs):
            for j, name in enumerate(self.units.get(unit, ())):
                row: dict[str, Cell] = {"run": run, unit: name}
                for measure, values in table.items():
                    value = values[i][j]
                    row[measure] = None if math.isnan(value) else value
                yield row

    def per_topic(self) -> list[NamedValues[Cell]]:
        """A row of values for every run and topic."""
        return [NamedValues(row, self.task) for row in self.rows("topic")]

    def per_item(self) -> list[NamedValues[Cell]]:
        """A row of values for every run and item."""
        return [NamedValues(row, self.task) for row in self.rows("item")]

    def per_concept(self) -> list[NamedValues[Cell]]:
        """A row of values for every run and concept."""
        return [NamedValues(row, self.task) for row in self.rows("concept")]

    def select(self, measures: MeasureNames) -> Scores:
        """The same runs under some of the measures, in the order given."""
        selected = tuple(dict.fromkeys(m for _, m in self._named(measures)))
        return replace(
            self,
            measures=selected,
            unit_of={m: self.unit_of[m] for m in selected},
            values={m: self.values[m] for m in selected if m in self.values},
            overall={m: self.overall[m] for m in selected},
            left={m: tuple(self.left_out(m)) for m in selected},
            tie_range={m: self.tie_range[m] for m in selected if m in self.tie_range},
            doubt=None if self.doubt is None else self.doubt.select(selected),
            influence=_later(self.influence, [m for m in selected if m in self.influence]),
            bias=_later(self.bias, [m for m in selected if m in self.bias]),
            of_item=_later(self.of_item, [m for m in selected if m in self.of_item]),
        )

    def of_runs(self, names: Iterable[str]) -> Scores:
        """The scores of some runs, in the order given.

        >>> from cranfield import evaluate
        >>> runs = {name: {"t": {"a": 1.0}} for name in "xyz"}
        >>> evaluate({"t": {"a": 1}}, runs, "AP").of_runs(["z", "x"]).runs
        ('z', 'x')
        """
        at = [self.index_of(name) for name in names]
        if not at:
            raise UsageError("names=: no run is named")
        return replace(
            self,
            runs=tuple(self.runs[i] for i in at),
            values={m: values[at] for m, values in self.values.items()},
            influence={m: by_item[at] for m, by_item in self.influence.items()},
            bias={m: biases[at] for m, biases in self.bias.items()},
            overall={m: np.asarray(self.overall[m])[at] for m in self.measures},
            missing=tuple(self.missing[i] for i in at),
            evaluated=tuple(self.evaluated[i] for i in at),
            run_facts=tuple(self.run_facts[i] for i in at) if self.run_facts else (),
            left={m: tuple(counts[i] for i in at) for m, counts in self.left.items()},
            tie_range={m: tuple(ends[i] for i in at) for m, ends in self.tie_range.items()},
            doubt=None if self.doubt is None else self.doubt.of_runs(at),
            accepted=0,
        )

    def of_units(self, unit: str, names: Iterable[str]) -> Scores:
        """The same runs over some topics, items or concepts, under the measures that speak of them.

        Values over all units are put together anew, so that measures of the whole run are left out.
        """
        selection = set(names)
        places = [i for i, name in enumerate(self.units.get(unit, ())) if name in selection]
        if not places:
            raise UsageError(f"the scores have none of these {unit}s")
        measures = tuple(m for m in self.measures if self.unit_of[m] == unit)
        values = {m: self.values[m][:, places] for m in measures}
        judged = [int((~np.isnan(rows)).sum()) for rows in values[measures[0]]] if measures else []
        return Scores(
            self.task,
            self.runs,
            measures,
            {unit: tuple(self.units[unit][i] for i in places)},
            dict.fromkeys(measures, unit),
            values,
            {m: np.array([aggregate(m, row) for row in values[m]]) for m in measures},
            tuple(len(places) - n for n in judged),
            tuple(judged),
        )

    def by(
        self,
        groups: Mapping[str, str | Sequence[str]] | str | Path,
        *,
        baseline: str | None = None,
        test: Test = "bootstrap",
        correction: Correction = "holm",
        alpha: float = 0.05,
        resamples: Resamples = 10_000,
        rng: Rng = 0,
        jobs: int = 1,
        progress: Watcher | None = None,
    ) -> SlicedScores:
        """The scores in slices of the topics, items or concepts, such as kinds of queries.

        Parameters
        ----------
        groups
            The group of each unit, or its groups; or a CSV file with the header topic,group
            (item,group; concept,group).
        baseline
            The run that the others are compared with; without, every two runs.
        test, alpha, resamples, rng, jobs, progress
            As in `compare`.
        correction
            Of the p-values, over all slices and pairs of a measure: "holm", "bonferroni", "bh" or
            "none".

        Returns
        -------
        SlicedScores
            Means with intervals of every run in every slice, and the differences of runs.

        Examples
        --------
        >>> from cranfield import evaluate
        >>> judged = {"t": {"a": 1}, "u": {"b": 1}}
        >>> scores = evaluate(judged, {"t": {"a": 2, "b": 1}, "u": {"a": 2, "b": 1}}, "RR")
        >>> scores.by({"t": "short", "u": "long"}).mean()
        {'long': {'run': {'RR': 0.5}}, 'short': {'run': {'RR': 1.0}}}
        """
        from cranfield.comparison.slices import slice_scores

        return slice_scores(
            self,
            groups,
            baseline=baseline,
            test=test,
            correction=correction,
            alpha=alpha,
            resamples=resamples,
            rng=rng,
            jobs=jobs,
            progress=progress,
        )

    def index_of(self, run: str) -> int:
        """The position of a run, or a UsageError with a suggestion."""
        if run not in self.runs:
            raise UsageError(f"no run named {run!r}.{suggest(run, self.runs)}")
        return self.runs.index(run)

    def interval(
        self,
        *,
        method: MeanMethod = "wilson",
        confidence: float = 0.95,
        resamples: int = 10_000,
        rng: int | np.random.Generator = 0,
        jobs: int = 1,
    ) -> dict[str, dict[str, Interval | None]]:
        """The mean of every run with a confidence interval: {run: {measure: interval}}.

        None stands where it is not known what single topics or items add to the value of a run. No
        interval leaves the range of its measure; "wilson" is Wilson's for shares and what follows
        from it for other values, the other methods are cut at the range.
        """
        from cranfield.stats._resample import seed_of
        from cranfield.stats.intervals import run_intervals

        seed = seed_of(rng)
        boxes: dict[str, dict[str, Interval | None]] = {run: {} for run in self.runs}
        for m in self.measures:
            column: list[Interval | None] = [None] * len(self.runs)
            # Concepts share their items, which are what was sampled.
            sampled = self.sampled(m)
            if sampled is not None and m.averaging != "sum":
                values, has_parts = sampled[1], self.has_parts(m)
                units = values.shape[1]
                if self.design is not None:
                    values, has_parts = self._by_design(values), True
                column[:] = run_intervals(
                    values,
                    parts_of=units if has_parts else None,
                    method=method,
                    confidence=confidence,
                    resamples=resamples,
                    rng=seed,
                    jobs=jobs,
                    limits=m.range,
                )
                column[:] = self.without_bias(m, column)
            for run, box in zip(self.runs, column, strict=True):
                boxes[run][str(m)] = box
        return boxes

    def without_bias(
        self, measure: Measure, boxes: Sequence[Interval | None]
    ) -> list[Interval | None]:
        """Intervals of the runs for what a measure would be on very many items.

        It is not known whether the bias falls as 1/n or as 1/sqrt(n). Resamples of n items, which
        weigh as much as n / 2 of them, have added it to the value in the first case, and
        sqrt(2) - 1 of it in the second: the interval covers both.
        """
        if measure not in self.bias:
            return list(boxes)
        low, high = measure.range
        shifted: list[Interval | None] = []
        for box, bias in zip(boxes, self.bias[measure].tolist(), strict=True):
            if box is not None and not math.isnan(bias):
                ends = sorted((-bias, -bias / (math.sqrt(2) - 1)))
                box = replace(
                    box,
                    low=min(max(box.low + ends[0], low), high),
                    high=max(min(box.high + ends[1], high), low),
                )
            shifted.append(box)
        return shifted

    def _by_design(self, values: Values) -> Values:
        """What the clusters of the design add to the value of each run, on its own units."""
        if self.design is None:
            return values
        rows = np.full((len(values), self.design.count), np.nan)
        for row, run_values in zip(rows, values, strict=True):
            defined = np.flatnonzero(~np.isnan(run_values))
            if defined.size:
                part = self.design.at(defined)
                row[: part.count] = part.parts(run_values[None, defined])[0]
        return rows

    def with_design(self, design: DesignForm) -> Scores:
        """The same scores with how topics or items were sampled: intervals and tests obey it.

        `design` is a file with the columns unit,cluster,stratum,probability, or {unit: cluster}.

        >>> from cranfield import evaluate
        >>> scores = evaluate({t: {"a": 1} for t in "tuv"}, {"t": {"a": 1.0}}, "AP")
        >>> scores.with_design({"t": "one", "u": "two", "v": "two"}).design.count
        2
        """
        from cranfield.io.design import coerce_design
        from cranfield.stats.design import unit_design

        unit = self.main_unit
        return replace(self, design=unit_design(coerce_design(design), self.units[unit], unit))

    def compare(
        self,
        *,
        baseline: str | None = None,
        measures: str | Sequence[str] | None = None,
        test: Test = "bootstrap",
        correction: PairCorrection | None = None,
        tail: Tail = "two",
        alpha: float = 0.05,
        interval: IntervalMethod | None = None,
        resamples: Resamples = 10_000,
        margin: float | None = None,
        detect: float | None = None,
        power: float = 0.8,
        units: ResampledUnits | None = None,
        design: DesignForm | None = None,
        correct: CorrectionFamily = "pairs",
        rng: Rng = 0,
        jobs: int = 1,
        progress: Watcher | None = None,
    ) -> Comparison:
        """Is the difference real? The options are those of `cranfield.compare`."""
        from cranfield.comparison.compare import compare

        return compare(
            self,
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
            progress=progress,
        )

    def to_dict(self, *, per: Sequence[str] = ()) -> dict[str, Any]:  # type: ignore[override]
        """The JSON shape of the command line, with rows for the kinds of unit in `per`."""
        return super().to_dict(per=per)

    def to_latex(  # type: ignore[override]
        self,
        caption: str | None = None,
        label: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        per: Sequence[str] = (),
        ranks: bool = False,
    ) -> str:
        """The tables as LaTeX.

        Parameters
        ----------
        caption, label
            Of the first table, in place of its own.
        columns
            Measures, or other headings: the tables have the first column and these.
        per
            Kinds of unit whose values have tables too: "topic", "item" or "concept".
        ranks
            Whether the rank of each run stands beside its value.

        Examples
        --------
        >>> from cranfield import evaluate
        >>> scores = evaluate({"t": {"a": 1}}, {"t": {"a": 1.0}}, "AP RR")
        >>> "MAP" in scores.to_latex("Results", columns=["MRR"])
        False
        """
        return super().to_latex(caption, label, columns=columns, per=per, ranks=ranks)

    def to_markdown(self, *, per: Sequence[str] = (), ranks: bool = False) -> str:  # type: ignore[override]
        """The tables as Markdown; see `to_latex`."""
        return super().to_markdown(per=per, ranks=ranks)

    def report(  # type: ignore[override]
        self,
        path: str | Path,
        *,
        per: Sequence[str] = (),
        public: bool = False,
        title: str | None = None,
        about: Mapping[str, str] | None = None,
        pictures: str | Path | None = None,
    ) -> None:
        """Write the report of these scores, a page that opens from disk.

        Parameters
        ----------
        path
            The file to write.
        per
            Kinds of unit whose values have tables: "topic", "item" or "concept".
        public
            Whether names of items are left out.
        title, about
            The heading of the page, and facts beneath it by name.
        pictures
            A folder with the pictures of items.
        """
        super().report(path, per=per, public=public, title=title, about=about, pictures=pictures)

    def payload(self, *, per: Sequence[str] = (), **_: object) -> dict[str, Any]:
        """Means and counts of every run, with rows for the kinds of unit in `per`."""
        payload: dict[str, Any] = {
            "verdict": list(self.verdict()),
            "measures": [
                {
                    "name": str(m),
                    "mean_name": m.mean_label,
                    "higher_is_better": m.higher_is_better,
                }
                for m in self.measures
            ],
        }
        means = self.mean()
        left_out = {m: self.left_out(m) for m in self.measures}
        payload["runs"] = []
        unit = self.main_unit
        for i, run in enumerate(self.runs):
            counts = {
                "evaluated": self.evaluated[i],
                "missing": self.missing[i],
                "left_out": {
                    str(m): left_out[m][i] for m in self.measures if self.unit_of[m] != "concept"
                },
            }
            entry = {"name": run, "mean": jsonable(means[run]), f"{unit}s": counts}
            if self.tie_range:
                entry["tie_range"] = {
                    str(m): list(self.tie_range[m][i]) if m in self.tie_range else None
                    for m in self.measures
                }
            payload["runs"].append(entry | dict(self.run_facts[i] if self.run_facts else {}))
        payload.update(self.facts)
        if self.doubt is not None:
            from cranfield.evaluation.truth_uncertainty import doubt_payload

            payload["doubt"] = doubt_payload(self)
        for unit in per:
            payload[f"per_{unit}"] = list(self.rows(unit))
        return payload

    def _word(self) -> str:
        return COMMANDS[self.task]

    def headline(self) -> str:
        """How many runs, under what, and who leads under the first measure."""
        units = ", ".join(f"{len(names)} {unit}s" for unit, names in self.units.items())
        names = ", ".join(map(str, self.measures[:6])) + (", ..." if len(self.measures) > 6 else "")
        line = f"{len(self.runs)} run{'s' * (len(self.runs) > 1)} over {units} under {names}"
        first = self.measures[0]
        means = [float(v) for v in self.overall[first]]
        defined = [v for v in means if not math.isnan(v)]
        if not defined:
            return line
        best = min(defined) if first.higher_is_better is False else max(defined)
        return f"{line}; {first.mean_label} {best:.4f} of {self.runs[means.index(best)]}"

    @classmethod
    def concat(cls, parts: Iterable[Scores]) -> Scores:
        """Runs that were scored apart against one truth, as if they had been scored together.

        >>> from cranfield import evaluate
        >>> truth = {"t": {"a": 1}}
        >>> apart = [evaluate(truth, {n: {"t": {"a": 1.0}}}, "AP") for n in "xy"]
        >>> Scores.concat(apart).mean()
        {'x': {'AP': 1.0}, 'y': {'AP': 1.0}}
        """
        return concat(list(parts))

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any], *, name: str = "<scores>") -> Scores:
        """The scores of what `to_dict` gave, or `--format json` printed."""
        return from_payload(payload, name)

    def below(self, floors: Mapping[str, float]) -> tuple[str, ...]:
        """Which runs miss a value that was asked for, a sentence each; nothing when none does.

        >>> from cranfield import evaluate
        >>> scores = evaluate({"t": {"a": 1}}, {"t": {"a": 0.5, "b": 0.7}}, "RR")
        >>> scores.below({"RR": 0.6})
        ('run: RR is 0.5000, expected at least 0.6',)
        """
        missed = []
        for name, floor in floors.items():
            m = self.measure_named(name)
            sign, word = (-1, "most") if m.higher_is_better is False else (1, "least")
            for run, value in zip(self.runs, self.overall[m], strict=True):
                # A value that does not exist reaches nothing.
                if not sign * float(value) >= sign * floor:
                    text = "undefined" if math.isnan(value) else f"{float(value):.4f}"
                    missed.append(f"{run}: {name} is {text}, expected at {word} {floor:g}")
        return tuple(missed)

    def measure_named(self, name: str) -> Measure:
        """The measure of a name, or of another spelling of it."""
        by_name = {str(m): m for m in self.measures}
        return by_name[_name_among(name, by_name, self.task)]

    def to_pandas(
        self, unit: str | None = None, *, measures: MeasureNames | None = None
    ) -> pd.DataFrame:
        """The rows of a unit (default: topics, or items of an annotation) as a data frame.

        Columns of named `measures` have the names that were asked for.
        """
        return frames.to_pandas(self.columns(unit, measures), "Scores.to_pandas")

    def to_polars(
        self, unit: str | None = None, *, measures: MeasureNames | None = None
    ) -> pl.DataFrame:
        """The rows of a unit as a polars data frame; see `to_pandas`."""
        return frames.to_polars(self.columns(unit, measures), "Scores.to_polars")

    def to_arrow(
        self, unit: str | None = None, *, measures: MeasureNames | None = None
    ) -> pa.Table:
        """The rows of a unit as an Arrow table; see `to_pandas`."""
        return frames.to_arrow(self.columns(unit, measures), "Scores.to_arrow")

    def to_csv(
        self,
        path: str | Path | None = None,
        unit: str | None = None,
        *,
        measures: MeasureNames | None = None,
    ) -> str:
        """The rows of a unit as CSV, written to a file where one is named; see `to_pandas`."""
        return frames.to_csv(self.columns(unit, measures), path)

    def columns(
        self, unit: str | None = None, measures: MeasureNames | None = None
    ) -> dict[str, list[str | float | None]]:
        """The rows of a unit as columns by name."""
        unit = unit or self.main_unit
        rows = list(self.rows(unit))
        with_values = set(self.measures_of(unit))
        of_unit = [(name, m) for name, m in self._named(measures) if m in with_values]
        columns: dict[str, list[str | float | None]] = {
            name: [row[name] for row in rows] for name in ("run", unit)
        }
        return columns | {name: [row[str(m)] for row in rows] for name, m in of_unit}

    @property
    def main_unit(self) -> str:
        """The unit that runs are averaged over unless a measure says otherwise."""
        return MAIN_UNIT[self.task]


def _later(
    values: Mapping[Measure, Values], measures: Sequence[Measure]
) -> Mapping[Measure, Values]:
    """Some of the values; those that are not worked out yet stay so."""
    if not isinstance(values, LaterValues):
        return {m: values[m] for m in measures}
    return LaterValues(measures, lambda: {m: values[m] for m in measures})


def aggregate(measure: Measure, values: Values) -> float:
    """The value over units as the measure averages: NaN units are left out."""
    defined = values[~np.isnan(values)]
    if measure.averaging == "sum":
        return float(defined.sum())
    if defined.size == 0:
        return math.nan
    if measure.averaging == "geometric":
        return float(np.exp(np.log(np.maximum(defined, SMALLEST_FOR_GEOMETRIC_MEAN)).mean()))
    return float(defined.sum() / defined.size)


def _geometric_parts(values: Values, overall: Values) -> Values:
    """What each unit adds to the geometric mean of its run: their mean is that one."""
    logarithms = np.log(np.maximum(values, SMALLEST_FOR_GEOMETRIC_MEAN))
    mean = np.nanmean(logarithms, axis=1, keepdims=True)
    return np.asarray(overall[:, None] * (1.0 + logarithms - mean))


def concat(parts: Sequence[Scores]) -> Scores:
    """See `Scores.concat`."""
    if not parts:
        raise UsageError("no scores were given")
    first = parts[0]
    for scores in parts[1:]:
        _check_alike(first, scores)
    runs = tuple(run for part in parts for run in part.runs)
    if len(set(runs)) < len(runs):
        twice = next(run for run in runs if runs.count(run) > 1)
        raise UsageError(f"two runs are named {twice!r}; rename one of them")
    shared = [m for m in first.measures if all(m in part.values for part in parts)]
    has_facts = all(part.run_facts for part in parts)
    return replace(
        first,
        runs=runs,
        values={m: np.concatenate([part.values[m] for part in parts]) for m in shared},
        overall={m: np.concatenate([part.overall[m] for part in parts]) for m in first.measures},
        missing=tuple(n for part in parts for n in part.missing),
        evaluated=tuple(n for part in parts for n in part.evaluated),
        notes=join_notes((part.runs, part.notes) for part in parts),
        run_facts=tuple(f for part in parts for f in part.run_facts) if has_facts else (),
        left={m: tuple(n for p in parts for n in p.left_out(m)) for m in first.measures},
        tie_range={
            m: tuple(ends for p in parts for ends in p.tie_range[m])
            for m in first.tie_range
            if all(m in p.tie_range for p in parts)
        },
        doubt=_joined_doubt(parts),
        influence={
            m: np.concatenate([part.influence[m] for part in parts])
            for m in first.influence
            if all(m in part.influence for part in parts)
        },
        bias={
            m: np.concatenate([part.bias[m] for part in parts])
            for m in first.bias
            if all(m in part.bias for part in parts)
        },
        of_item={
            m: np.concatenate([part.of_item[m] for part in parts])
            for m in first.of_item
            if all(m in part.of_item for part in parts)
        },
    )


def _joined_doubt(parts: Sequence[Scores]) -> Doubt | None:
    doubts = [part.doubt for part in parts if part.doubt is not None]
    if not doubts:
        return None
    if len(doubts) < len(parts):
        raise UsageError("some of the scores are under a truth with probabilities, others not")
    return type(doubts[0]).concat(doubts)


def _check_alike(first: Scores, second: Scores) -> None:
    """A UsageError when two scores do not speak of the same truth and measures."""
    if first.task != second.task:
        raise UsageError("scores of rankings, annotations and regions cannot be joined")
    if first.measures != second.measures:
        raise UsageError(
            f"the scores are under different measures ({_listed(first.measures)} and "
            f"{_listed(second.measures)}); score all runs under the same ones"
        )
    for unit, names in first.units.items():
        if second.units.get(unit) != names:
            raise UsageError(
                f"the scores of {second.runs[0]} are over other {unit}s than those of "
                f"{first.runs[0]}"
            )


def _listed(measures: Sequence[Measure]) -> str:
    return " ".join(map(str, measures))


def from_payload(payload: Mapping[str, Any], file_label: str) -> Scores:
    """Scores from their JSON shape; values per unit are there where the JSON has them."""
    from cranfield.measures import measure

    by_command = {command: task for task, command in COMMANDS.items()}
    task: Task = by_command.get(payload["command"], "labels")
    measures = tuple(measure(m["name"]) for m in payload["measures"])
    runs = tuple(entry["name"] for entry in payload["runs"])
    rows = {unit: payload.get(f"per_{unit}") or [] for unit in ("topic", "item", "concept")}
    units, values, unit_of, of_item = {}, {}, {}, {}
    for unit, unit_rows in rows.items():
        if not unit_rows:
            continue
        units[unit] = tuple(dict.fromkeys(str(row[unit]) for row in unit_rows))
        for m in measures:
            if str(m) not in unit_rows[0]:
                continue
            flat = [math.nan if row[str(m)] is None else row[str(m)] for row in unit_rows]
            table = np.array(flat, dtype=np.float64).reshape(len(runs), -1)
            if task == "regions" and unit == "item":
                of_item[m] = table
            else:
                values[m], unit_of[m] = table, unit
    main = MAIN_UNIT[task]
    counts = [entry[f"{main}s"] for entry in payload["runs"]]
    notes = list(payload.get("notes", ()))
    lacking = [str(m) for m in measures if m not in values]
    if lacking:
        notes.append(
            f"{file_label} holds no values per {main} of {', '.join(lacking)}: only the means"
        )
    version = str(payload["cranfield"])
    if version.startswith("0.1"):
        notes.append(
            f"{file_label} was printed by Cranfield {version}; what 0.2 added is not in it"
        )
    means = {
        m: np.array(
            [math.nan if (v := e["mean"][str(m)]) is None else v for e in payload["runs"]],
            dtype=np.float64,
        )
        for m in measures
    }
    return Scores(
        task=task,
        runs=runs,
        measures=measures,
        units=units,
        unit_of={m: unit_of.get(m, main) for m in measures},
        values=values,
        overall=means,
        missing=tuple(c["missing"] for c in counts),
        evaluated=tuple(c["evaluated"] for c in counts),
        notes=tuple(notes),
        left={m: tuple(_left(entry, m, main) for entry in payload["runs"]) for m in measures},
        of_item=of_item,
    )


def _left(entry: Mapping[str, Any], measure: Measure, main: str) -> int:
    """How many units the mean of a run leaves out, as its JSON says."""
    for unit in (main, "concept"):
        counts = entry.get(f"{unit}s", {}).get("left_out", {})
        if str(measure) in counts:
            return int(counts[str(measure)])
    return 0


# What a worker needs to score one run: the options of the task, and the run under its name.
Piece: TypeAlias = tuple[dict[str, Any], tuple[str, Any]]


def score_distributed(
    work: Callable[[Piece], Scores],
    pieces: Sequence[Piece],
    executor: Executor,
    jobs: int | None,
    progress: Watcher | None,
) -> Scores:
    """The scores of all pieces as one; `work` must be importable by name, for it travels."""
    from cranfield.work.executors import Plan, run_pieces
    from cranfield.work.serialisation import full_path

    plan = Plan(executor, jobs)
    for options, (_, run) in pieces:
        if run == "-" or "-" in options.values():
            raise UsageError(f"standard input ('-') cannot be read by the executor {executor}")
    # Other workers may have been started in another folder.
    full_pieces = pieces if plan.is_local else full_path(list(pieces))
    by_name = {work_item[1][0]: work_item for work_item in full_pieces}
    replies = run_pieces(partial(_encoded, work), by_name, plan, study={}, progress=progress)
    return Scores.concat([decode(answer["scores"]) for answer in replies.values()])


def _encoded(work: Callable[[Piece], Scores], work_item: Piece) -> dict[str, Any]:
    return {"scores": encode(work(work_item))}


# Means that differ by less than rounding are equal.
SLACK = 1e-12
NAMED = 3


def join_names(names: Sequence[str], limit: int = NAMED) -> str:
    """Some names as part of a sentence.

    >>> join_names(["a", "b"]), join_names(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    if len(names) > limit + 1:
        return f"{', '.join(names[:limit])} and {len(names) - limit} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def shown(measure: Measure, value: float) -> str:
    """A value of a measure in a sentence."""
    return f"{value:.{0 if measure.averaging == 'sum' else 4}f}"


class Order(NamedTuple):
    """Runs with a mean under a measure, best first; those that are level with the best lead."""

    measure: Measure
    runs: tuple[str, ...]
    means: tuple[float, ...]
    # Where each run stood before it was put in order.
    given: tuple[int, ...] = ()

    @classmethod
    def of(cls, measure: Measure, runs: Sequence[str], means: Sequence[float]) -> Order:
        sign = 1.0 if measure.higher_is_better is False else -1.0
        defined = [(sign * v, i) for i, v in enumerate(means) if not math.isnan(v)]
        order = [i for _, i in sorted(defined)]
        best = tuple(float(means[i]) for i in order)
        return cls(measure, tuple(runs[i] for i in order), best, tuple(order))

    def level(self, start: int = 0) -> tuple[str, ...]:
        """The run at a position and those behind it with the same mean, as they were given."""
        slack = SLACK * max(1.0, abs(self.means[start]))
        behind = zip(self.given[start:], self.runs[start:], self.means[start:], strict=True)
        same = [(at, r) for at, r, v in behind if abs(v - self.means[start]) <= slack]
        return tuple(r for _, r in sorted(same))

    def sentence(self, total: int) -> str:
        """Who leads by what."""
        name = self.measure.mean_label
        if not self.runs:
            return f"No run has a value under {name}."
        best = shown(self.measure, self.means[0])
        if total == 1:
            return ""  # its table says it
        if self.measure.higher_is_better is None:
            last = shown(self.measure, self.means[-1])
            return f"{name} has no better direction; it goes from {last} to {best}."
        leaders = self.level()
        word = "lowest" if self.measure.higher_is_better is False else "highest"
        if len(leaders) > 1:
            if len(leaders) == total:
                every = "Both" if total == 2 else f"All {total}"
                return f"{every} runs have the same {name}, {best}."
            return f"{join_names(leaders)} share the {word} {name}, {best}."
        if len(self.runs) == 1:
            return f"{leaders[0]} alone has a value under {name}, {best}."
        second = self.level(1)
        gap = abs(self.means[0] - self.means[1])
        digits = 0 if self.measure.averaging == "sum" else 4
        ahead = f"less than {10**-digits:g}" if gap < 10**-digits else shown(self.measure, gap)
        then = shown(self.measure, self.means[1])
        return (
            f"{leaders[0]} leads with the {word} {name}, {best}: {ahead} "
            f"{'below' if word == 'lowest' else 'above'} {join_names(second)} ({then})."
        )


def score_verdict(
    scores: Scores, measure: Measure | None = None, *, items: bool = True
) -> tuple[str, ...]:
    """Who leads under a measure (or the first one), who leads under others, where all fail.

    Items are named only with `items`.
    """
    first = measure or scores.measures[0]
    order = Order.of(first, scores.runs, list(scores.plain_means(first)))
    sentences = [order.sentence(len(scores.runs)), _elsewhere(scores, order)]
    sentences.append(hardest(scores, first, items=items))
    return tuple(filter(None, sentences))


def _elsewhere(scores: Scores, order: Order) -> str:
    """The other measures under which another run leads."""
    if len(scores.runs) < 2 or not order.runs or order.measure.higher_is_better is None:
        return ""
    leaders = set(order.level())
    others: dict[str, list[str]] = {}
    compared = [m for m in scores.measures if m != order.measure and m.higher_is_better is not None]
    for m in compared:
        rival = Order.of(m, scores.runs, list(scores.plain_means(m)))
        if rival.runs and not leaders & set(rival.level()):
            others.setdefault(join_names(rival.level()), []).append(m.mean_label)
    if not others:
        return ""
    count = sum(map(len, others.values()))
    share = f"{count} of {len(compared)} other measure{'s' * (len(compared) > 1)}"
    leader_texts = [f"{runs} by {join_names(names)}" for runs, names in others.items()]
    ending = "; and so on" * (len(leader_texts) > NAMED)
    return f"Another run leads under {share}: {'; '.join(leader_texts[:NAMED])}{ending}."


def hardest(scores: Scores, measure: Measure, *, items: bool = True) -> str:
    """Where no run does well: the topics, items or concepts whose best value is the worst."""
    unit = scores.unit_of[measure]
    if unit == "item" and not items:
        return ""
    names = scores.units.get(unit, ())
    if measure not in scores.values or measure.higher_is_better is None or len(names) < 2:
        return ""
    best = best_values(scores, measure)
    defined = [v for v in best if not math.isnan(v)]
    if not defined:
        return ""
    lower = measure.higher_is_better is False
    worst = max(defined) if lower else min(defined)
    if worst == (min(defined) if lower else max(defined)):
        return ""  # all are equally hard
    worst_units = [name for name, v in zip(names, best, strict=True) if v == worst]
    limit = measure.range[1] if lower else measure.range[0]
    if worst == limit and math.isfinite(limit):
        count = f"{len(worst_units)} of {len(defined)} {unit}s"
        value = shown(measure, worst)
        return f"On {count} every run has the worst value, {value}: {join_names(worst_units)}."
    subject = f"The hardest {unit}s are" if len(worst_units) > 1 else f"The hardest {unit} is"
    runs = "no run gets below" if lower else "no run gets above"
    runs = runs if len(scores.runs) > 1 else "the run gets"
    return f"{subject} {join_names(worst_units)}: {runs} {shown(measure, worst)} there."


def best_values(scores: Scores, measure: Measure) -> list[float]:
    """The best value that any run has on each topic, item or concept; NaN where none has one."""
    pick = min if measure.higher_is_better is False else max
    return [
        pick((v for v in column if not math.isnan(v)), default=math.nan)
        for column in zip(*scores.plain_values(measure), strict=True)
    ]
