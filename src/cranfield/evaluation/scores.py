"""The scores of runs: values per topic, item or concept, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from cranfield._json import jsonable
from cranfield._version import __version__
from cranfield.errors import MissingExtraError, UsageError, suggest
from cranfield.measures._spec import Measure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cranfield.comparison.answer import Comparison
    from cranfield.stats.intervals import Interval, IntervalMethod

else:
    from cranfield._lazy import np

Values: TypeAlias = "NDArray[np.float64]"
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


@dataclass(frozen=True)
class Scores:
    """What runs score under measures.

    Every measure speaks of one kind of unit ("topic", "item", "concept", or "whole" for a
    value that exists only for the whole run). `values[m]` has one row per run and one column
    per unit; NaN means that the unit is left out for that run. `overall[m]` has the value of
    each run over all its units, as the measure's own averaging gives it. `notes` say what a
    reader of the numbers must know, such as topics that a run misses.
    """

    command: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    units: Mapping[str, tuple[str, ...]]
    unit_of: Mapping[Measure, str]
    values: Mapping[Measure, Values]
    overall: Mapping[Measure, Values]
    missing: tuple[int, ...]
    evaluated: tuple[int, ...]
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    # What else the entry of each run says, and how many units each mean leaves out where the
    # values themselves were not kept.
    run_facts: tuple[Mapping[str, Any], ...] = ()
    left: Mapping[Measure, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def mean(self) -> dict[str, dict[str, float]]:
        """The value of every run under every measure: {run: {measure: value}}."""
        numbers = self.overall.numbers if isinstance(self.overall, Means) else self.overall
        return {
            run: {str(m): float(numbers[m][i]) for m in self.measures}
            for i, run in enumerate(self.runs)
        }

    def left_out(self, measure: Measure) -> list[int]:
        """How many units each run's mean leaves out because the measure is undefined there."""
        if measure in self.left:
            return list(self.left[measure])
        undefined = np.isnan(self.values[measure]).sum(axis=1)
        known = self.values[measure].shape[1] - np.asarray(self.evaluated)
        if self.unit_of[measure] == "topic":
            undefined = undefined - known
        return [int(n) for n in undefined]

    def is_mean(self, measure: Measure) -> bool:
        """Whether the value of every run is the plain mean of its values per unit."""
        values = self.values[measure]
        if self.unit_of[measure] == "whole" or not values.shape[1]:
            return False
        known = ~np.isnan(values)
        count = known.sum(axis=1)
        means = np.where(known, values, 0.0).sum(axis=1) / np.maximum(count, 1)
        means[count == 0] = np.nan
        return bool(np.allclose(self.overall[measure], means, rtol=1e-9, equal_nan=True))

    def rows(self, unit: str) -> Iterator[dict[str, Any]]:
        """One row per run and unit with the values of the measures that speak of that unit."""
        chosen = [m for m in self.measures if self.unit_of[m] == unit]
        if any(m not in self.values for m in chosen):
            raise UsageError(f"the values per {unit} were not kept (keep=True keeps them)")
        # Asked for once: each look into `values` may put its array together anew.
        table = {str(m): self.values[m].tolist() for m in chosen}
        for i, run in enumerate(self.runs):
            for j, name in enumerate(self.units.get(unit, ())):
                row: dict[str, Any] = {"run": run, unit: name}
                for measure, values in table.items():
                    value = values[i][j]
                    row[measure] = None if math.isnan(value) else value
                yield row

    def per_topic(self) -> list[dict[str, Any]]:
        return list(self.rows("topic"))

    def per_item(self) -> list[dict[str, Any]]:
        return list(self.rows("item"))

    def per_concept(self) -> list[dict[str, Any]]:
        return list(self.rows("concept"))

    def index_of(self, run: str) -> int:
        """The position of a run, or a UsageError with a suggestion."""
        if run not in self.runs:
            raise UsageError(f"no run named {run!r}.{suggest(run, self.runs)}")
        return self.runs.index(run)

    def interval(
        self,
        *,
        method: IntervalMethod = "bca",
        confidence: float = 0.95,
        resamples: int = 10_000,
        rng: int | np.random.Generator = 0,
        jobs: int = 1,
    ) -> dict[str, dict[str, Interval | None]]:
        """The mean of every run with a confidence interval: {run: {measure: interval}}.

        None stands where the value of a run is not a mean over topics, items or concepts.
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
                )
            for run, box in zip(self.runs, column, strict=True):
                boxes[run][str(m)] = box
        return boxes

    def compare(self, *, baseline: str | None = None, **options: Any) -> Comparison:
        """Is the difference real? See `cranfield.comparison.compare.compare` for the options."""
        from cranfield.comparison.compare import compare

        return compare(self, baseline=baseline, **options)

    def to_dict(self, *, per: Sequence[str] = ()) -> dict[str, Any]:
        """The JSON shape of the command line, with rows for the kinds of unit in `per`.

        A value that does not exist is None.
        """
        payload: dict[str, Any] = {
            "cranfield": __version__,
            "command": self.command,
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
        left = {m: self.left_out(m) for m in self.measures}
        payload["runs"] = []
        unit = self._main_unit
        for i, run in enumerate(self.runs):
            counts = {
                "evaluated": self.evaluated[i],
                "missing": self.missing[i],
                "left_out": {
                    str(m): left[m][i] for m in self.measures if self.unit_of[m] != "concept"
                },
            }
            entry = {"name": run, "mean": jsonable(means[run]), f"{unit}s": counts}
            payload["runs"].append(entry | dict(self.run_facts[i] if self.run_facts else {}))
        payload.update(self.facts)
        for unit in per:
            payload[f"per_{unit}"] = list(self.rows(unit))
        return payload

    def to_pandas(self, unit: str | None = None) -> Any:
        """The rows of a unit (default: topics, or items of an annotation) as a data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("pandas", "dataframe", "Scores.to_pandas") from None
        return pd.DataFrame.from_records(list(self.rows(unit or self._main_unit)))

    def to_polars(self, unit: str | None = None) -> Any:
        """The rows of a unit (default: topics, or items of an annotation) as a data frame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtraError("polars", "dataframe", "Scores.to_polars") from None
        return pl.DataFrame(list(self.rows(unit or self._main_unit)), infer_schema_length=None)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What a notebook shows: the leaderboard as a table."""
        # The report is built on scores, not the other way round: it is looked up when shown.
        from cranfield.report.notebook import scores_bundle

        return scores_bundle(self)

    @property
    def _main_unit(self) -> str:
        return "topic" if self.command == "eval" else "item"


def aggregate(measure: Measure, values: Values) -> float:
    """The value over units as the measure averages: NaN units are left out."""
    kept = values[~np.isnan(values)]
    if measure.averaging == "sum":
        return float(kept.sum())
    if kept.size == 0:
        return math.nan
    if measure.averaging == "geometric":
        return float(np.exp(np.log(np.maximum(kept, SMALLEST_FOR_GEOMETRIC_MEAN)).mean()))
    return float(kept.sum() / kept.size)
