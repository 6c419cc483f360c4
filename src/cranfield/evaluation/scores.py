"""The scores of runs: values per topic, item or concept, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cranfield._json import jsonable
from cranfield._records import dataclass, field, replace
from cranfield.answers import Answer
from cranfield.errors import MissingExtraError, UsageError, suggest
from cranfield.measures.base import Measure
from cranfield.notes import join_notes

if TYPE_CHECKING:
    from concurrent.futures import Executor as Pool

    import numpy as np
    from numpy.typing import NDArray

    from cranfield.comparison.answer import Comparison
    from cranfield.evaluation.truth_uncertainty import Doubt
    from cranfield.stats.choices import MeanMethod
    from cranfield.stats.intervals import Interval

else:
    from cranfield._lazy import np

Values: TypeAlias = "NDArray[np.float64]"
Task: TypeAlias = Literal["ranked", "labels"]
# Where runs are scored: here, or by an executor of `cranfield.work`.
THREADS = "threads"
Executor: TypeAlias = "str | Pool"
COMMANDS: dict[Task, str] = {"ranked": "eval", "labels": "label"}
_UNITS = ("topic", "item", "concept")
MAIN_UNIT: dict[Task, str] = {"ranked": "topic", "labels": "item"}
# Zeros would make every geometric mean 0: trec_eval replaces them by this.
SMALLEST_FOR_GEOMETRIC_MEAN = 1e-5


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


@dataclass(frozen=True, repr=False, eq=False)
class Scores(Answer):
    """What runs score under measures.

    `task` says of what kind the runs are: rankings, or annotations of items with labels. Every
    measure speaks of one kind of unit ("topic", "item", "concept", or "whole" for a
    value that exists only for the whole run). `values[m]` has one row per run and one column
    per unit; NaN means that the unit is left out for that run. `overall[m]` has the value of
    each run over all its units, as the measure's own averaging gives it. `notes` say what a
    reader of the numbers must know, such as topics that a run misses.
    """

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

    def __getstate__(self) -> dict[str, Any]:
        """What travels: arrays, not the judgements and plans that they are looked up through."""
        state = dict(self.__dict__)
        state["values"] = {m: self.values[m] for m in self.values}
        state["overall"] = {m: self.overall[m] for m in self.overall}
        return state

    def mean(self) -> dict[str, dict[str, float]]:
        """The value of every run under every measure: {run: {measure: value}}."""
        columns = {str(m): self.plain_means(m) for m in self.measures}
        return {
            run: {name: values[i] for name, values in columns.items()}
            for i, run in enumerate(self.runs)
        }

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
        from cranfield.evaluation.summary import score_verdict

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

    def rows(self, unit: str) -> Iterator[dict[str, Any]]:
        """One row per run and unit with the values of the measures that speak of that unit."""
        if unit not in _UNITS:
            raise UsageError(f"no unit {unit!r}: they are {', '.join(_UNITS)}")
        of_unit = [m for m in self.measures if self.unit_of[m] == unit]
        if any(m not in self.values for m in of_unit):
            raise UsageError(f"the values per {unit} were not kept (keep=True keeps them)")
        # Asked for once: each look into `values` may put its array together anew.
        table = {str(m): self.values[m].tolist() for m in of_unit}
        for i, run in enumerate(self.runs):
            for j, name in enumerate(self.units.get(unit, ())):
                row: dict[str, Any] = {"run": run, unit: name}
                for measure, values in table.items():
                    value = values[i][j]
                    row[measure] = None if math.isnan(value) else value
                yield row

    def per_topic(self) -> list[dict[str, Any]]:
        """A row of values for every run and topic."""
        return list(self.rows("topic"))

    def per_item(self) -> list[dict[str, Any]]:
        """A row of values for every run and item."""
        return list(self.rows("item"))

    def per_concept(self) -> list[dict[str, Any]]:
        """A row of values for every run and concept."""
        return list(self.rows("concept"))

    def select(self, measures: Iterable[Measure]) -> Scores:
        """The same runs under some of the measures, in the order given."""
        selected = tuple(measures)
        return replace(
            self,
            measures=selected,
            unit_of={m: self.unit_of[m] for m in selected},
            values={m: self.values[m] for m in selected if m in self.values},
            overall={m: self.overall[m] for m in selected},
            left={m: tuple(self.left_out(m)) for m in selected},
            tie_range={m: self.tie_range[m] for m in selected if m in self.tie_range},
            doubt=None if self.doubt is None else self.doubt.select(selected),
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

        None stands where the value of a run is not a mean over topics, items or concepts. No
        interval leaves the range of its measure; "wilson" is Wilson's for shares and what follows
        from it for other values, the other methods are cut at the range.
        """
        from cranfield.stats._resample import seed_of
        from cranfield.stats.intervals import run_intervals

        seed = seed_of(rng)
        boxes: dict[str, dict[str, Interval | None]] = {run: {} for run in self.runs}
        for m in self.measures:
            column: list[Interval | None] = [None] * len(self.runs)
            if self.is_mean(m):
                column[:] = run_intervals(
                    self.values[m],
                    method=method,
                    confidence=confidence,
                    resamples=resamples,
                    rng=seed,
                    jobs=jobs,
                    limits=m.range,
                )
            for run, box in zip(self.runs, column, strict=True):
                boxes[run][str(m)] = box
        return boxes

    def compare(self, *, baseline: str | None = None, **options: Any) -> Comparison:
        """Is the difference real? See `cranfield.comparison.compare.compare` for the options."""
        from cranfield.comparison.compare import compare

        return compare(self, baseline=baseline, **options)

    def payload(self, *, per: Sequence[str] = (), **_: Any) -> dict[str, Any]:
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
        from cranfield.measures import measure_for

        by_name = {str(m): m for m in self.measures}
        match = by_name.get(name) or by_name.get(str(measure_for(name, self.task)))
        if match is None:
            raise UsageError(f"no scores under the measure {name!r}.{suggest(name, by_name)}")
        return match

    def to_pandas(self, unit: str | None = None) -> Any:
        """The rows of a unit (default: topics, or items of an annotation) as a data frame."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise MissingExtraError("pandas", "dataframe", "Scores.to_pandas") from None
        return pd.DataFrame.from_records(list(self.rows(unit or self.main_unit)))

    def to_polars(self, unit: str | None = None) -> Any:
        """The rows of a unit (default: topics, or items of an annotation) as a data frame."""
        try:
            import polars as pl
        except ModuleNotFoundError:
            raise MissingExtraError("polars", "dataframe", "Scores.to_polars") from None
        return pl.DataFrame(list(self.rows(unit or self.main_unit)), infer_schema_length=None)

    @property
    def main_unit(self) -> str:
        """The unit that runs are averaged over unless a measure says otherwise."""
        return MAIN_UNIT[self.task]


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
        raise UsageError("scores of rankings and of annotations cannot be joined")
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

    task: Task = "ranked" if payload["command"] == "eval" else "labels"
    measures = tuple(measure(m["name"]) for m in payload["measures"])
    runs = tuple(entry["name"] for entry in payload["runs"])
    rows = {unit: payload.get(f"per_{unit}") or [] for unit in ("topic", "item", "concept")}
    units, values, unit_of = {}, {}, {}
    for unit, unit_rows in rows.items():
        if not unit_rows:
            continue
        units[unit] = tuple(dict.fromkeys(str(row[unit]) for row in unit_rows))
        for m in measures:
            if str(m) in unit_rows[0]:
                flat = [math.nan if row[str(m)] is None else row[str(m)] for row in unit_rows]
                values[m] = np.array(flat, dtype=np.float64).reshape(len(runs), -1)
                unit_of[m] = unit
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
    )


def _left(entry: Mapping[str, Any], measure: Measure, main: str) -> int:
    """How many units the mean of a run leaves out, as its JSON says."""
    for unit in (main, "concept"):
        counts = entry.get(f"{unit}s", {}).get("left_out", {})
        if str(measure) in counts:
            return int(counts[str(measure)])
    return 0
