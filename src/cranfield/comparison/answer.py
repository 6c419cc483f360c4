"""What a comparison of runs answers with."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, overload

from cranfield._lazy import np
from cranfield.answers import Answer
from cranfield.errors import MeasureError, UsageError, suggest
from cranfield.io import frames
from cranfield.options import FAMILY_WISE, STEP_DOWN

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from cranfield.stats.anova import Friedman, OneWay, Reliability, TwoWay

TITLES = {
    "bootstrap": "Paired bootstrap test",
    "randomization": "Paired randomisation test",
    "t": "Paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "Sign test",
    "tukey": "Tukey's HSD (two-way)",
    "tukey-randomization": "Randomised Tukey HSD",
    "nemenyi": "Nemenyi test",
}
_SIDES = {
    "two": "two-tailed",
    "one": "one-tailed (a better than b)",
    "seen": "one-tailed in the direction seen (its level over both directions is twice the p)",
}
# What the two intervals of little gold and much silver are about, as every output names them.
THESE, SUCH = "these units", "such units"
# The tables of a comparison that is printed, shown in a notebook or exported from Python.
EXPORTED_PARTS = ("summary", "leaderboard", "pairs", "effects", "families")
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def stars(p: float) -> str:
    """One, two or three stars for a p-value of at most 0.05, 0.01 and 0.001.

    >>> stars(0.004)
    '**'
    """
    return next((marks for level, marks in STARS if p <= level), "")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs under a measure; every difference is a - b on the topics that both have.

    `mark` is "up" where a is significantly better than b, "down" where it is worse, else empty;
    `sure` says whether other draws would give the same stars. A p-value that `is_floor` is as
    small as the draws can make it: the true one may be smaller. `wins`, `ties` and `losses` count
    the topics on which a is better, level and worse than b. `detectable` is the difference that
    so many topics would reveal after the correction for many pairs, `topics_needed` the number
    of topics that the difference asked for would need; `_alone` is either for a pair that is the
    only one. NaN and None stand for what cannot be said.
    """

    a: str
    b: str
    measure: str
    difference: float
    ci: tuple[float, float]
    p: float
    p_corrected: float
    stars: str
    mark: str
    sure: bool
    p_is_floor: bool
    p_corrected_is_floor: bool
    topics: int
    mean_a: float
    mean_b: float
    change_percent: float
    deviation_percent: float
    cohen_d: float
    cliffs_delta: float
    wins: int
    ties: int
    losses: int
    detectable: float
    detectable_alone: float
    topics_needed: int | None = None
    topics_needed_alone: int | None = None
    p_equivalence: float | None = None

    def to_dict(self) -> dict[str, Any]:
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        row["ci"] = list(self.ci)
        return row


_MARKS = {1: "up", 0: "", -1: "down"}


def interval_parts(unit: str, units: int = 0, gold_units: int = 0) -> str:
    """What the parts of an interval are about: topics, the truth, and both of them.

    >>> interval_parts("topic")
    'low, high: had other topics been asked; truth: were the truth another one that its \
probabilities allow; both: either; tests, ranks and groups: topics alone.'
    """
    truth = "were the truth another one that its probabilities allow"
    if gold_units:
        truth = (
            f"had people judged all {units} {unit}s, not {gold_units} ({THESE}: the others have "
            "silver)"
        )
    combined = (
        f"either ({SUCH})" if gold_units else f"either; tests, ranks and groups: {unit}s alone"
    )
    return f"low, high: had other {unit}s been asked; truth: {truth}; both: {combined}."


@dataclass(frozen=True, eq=False)
class Pairs(Sequence[Pair]):
    """The pairs of a comparison: kept as columns, given as `Pair`, one by one.

    The columns "a", "b" and "measure" are positions in `runs` and `measures`.
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def joined(
        cls, runs: Sequence[str], measures: Sequence[str], parts: Sequence[Mapping[str, Any]]
    ) -> Pairs:
        """The pairs of several measures behind one another."""
        names = list(parts[0])
        return cls(
            tuple(runs),
            tuple(measures),
            {name: np.concatenate([part[name] for part in parts]) for name in names},
        )

    def __len__(self) -> int:
        return len(self.columns["a"])

    @overload
    def __getitem__(self, at: int) -> Pair: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, at: int | slice) -> Pair | tuple[Pair, ...]:
        if isinstance(at, slice):
            return tuple(self._made(range(len(self))[at]))
        return next(self._made([range(len(self))[at]]))

    def __iter__(self) -> Iterator[Pair]:
        return self._made(range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pairs) and (
            (self.runs, self.measures) == (other.runs, other.measures)
            and self.columns.keys() == other.columns.keys()
            and all(np.array_equal(v, other.columns[k], True) for k, v in self.columns.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def where(self, measure: str) -> Pairs:
        """The pairs under a measure."""
        mask = self.columns["measure"] == self.measures.index(measure)
        return self.chosen(np.flatnonzero(mask))

    def among(self, runs: Container[str]) -> Pairs:
        """The pairs of which both runs are among some."""
        inside = np.array([run in runs for run in self.runs])
        mask = inside[self.columns["a"]] & inside[self.columns["b"]]
        return self.chosen(np.flatnonzero(mask))

    def chosen(self, at: NDArray[Any]) -> Pairs:
        """The pairs at some positions."""
        return Pairs(self.runs, self.measures, {k: v[at] for k, v in self.columns.items()})

    def lists(self) -> dict[str, list[Any]]:
        """The columns as people read them: names, stars and marks, None for what is not."""
        table = {name: column.tolist() for name, column in self.columns.items()}
        for name in ("a", "b"):
            table[name] = [self.runs[i] for i in table[name]]
        table["measure"] = [self.measures[i] for i in table["measure"]]
        table["mark"] = [_MARKS[i] for i in table["mark"]]
        table["stars"] = [stars(p) for p in table["p_corrected"]]
        table["ci"] = list(zip(table.pop("ci_low"), table.pop("ci_high"), strict=True))
        for name in ("topics_needed", "topics_needed_alone"):
            table[name] = [None if math.isnan(n) else int(n) for n in table[name]]
        table["p_equivalence"] = [None if math.isnan(p) else p for p in table["p_equivalence"]]
        return table

    def rows(self, names: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """A row per pair, as JSON has it; of every pair all there is, or what is named."""
        table, fields = self.lists(), names or _NAMES
        columns = [table[name] for name in fields]
        for values in zip(*columns, strict=True):
            yield dict(zip(fields, values, strict=True))

    def _made(self, at: Sequence[int]) -> Iterator[Pair]:
        part = self if len(at) == len(self) else self.chosen(np.array(at, dtype=np.int64))
        return (Pair(**row) for row in part.rows())


_NAMES = tuple(f.name for f in fields(Pair))
# What is said of a pair where there are very many of them.
FOLDED = ("a", "b", "measure", "difference", "ci", "p", "p_corrected")
_SAID_OF_FOLDED = (
    "{:,} pairs, each with its difference, interval and p-values; effect sizes, wins and losses "
    "are in the tables of pairs (csv, tsv), or here when all tables are asked for"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands under a measure.

    `place` is its position in the order of the means, `place_interval` the places that the tests
    leave open, that one among them. `rank` is 1 + the number of runs that are significantly better,
    so runs
    that cannot be told apart from the best share rank 1; two runs share no letter of `group`
    exactly when they differ significantly. `rank_spread` are the first and the last place that
    the tests leave open. With too many groups for letters `group` is empty.
    """

    measure: str
    run: str
    mean: float
    ci: tuple[float, float]
    place: int
    place_interval: tuple[int | None, int | None]
    rank: int
    group: str
    rank_spread: tuple[int, int]
    # Where the truth is not sure: what it leaves open, and with the choice of topics.
    truth_ci: tuple[float, float] | None = None
    both_ci: tuple[float, float] | None = None

    @property
    def open_ends(self) -> tuple[float, ...]:
        """The ends of both further intervals; NaN where the truth is sure."""
        nothing = (math.nan, math.nan)
        return (*(self.truth_ci or nothing), *(self.both_ci or nothing))


@dataclass(frozen=True, slots=True)
class Family:
    """All runs together under a measure, on the topics that every run has."""

    measure: str
    topics: int
    one_way: OneWay | None
    two_way: TwoWay | None
    friedman: Friedman | None
    reliability: Reliability | None

    def to_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {"measure": self.measure, "topics": self.topics}
        for name in ("one_way", "two_way", "friedman"):
            test = getattr(self, name)
            row[name] = None if test is None else asdict(test)
        row["reliability"] = None
        if self.reliability is not None:
            run, topic, residual = self.reliability.shares
            row["reliability"] = {
                **asdict(self.reliability),
                "shares": {"run": run, "topic": topic, "residual": residual},
            }
        return row


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Answer):
    """The comparison of runs: pairs, standings and families, and how they were made."""

    command: ClassVar[str] = "compare"
    table_maker: ClassVar[str] = "cranfield.report.tables.comparison:comparison_document"

    pairs: Pairs
    standings: tuple[Standing, ...]
    families: tuple[Family, ...]
    runs: tuple[str, ...]
    measures: tuple[Mapping[str, Any], ...]
    baseline: str | None
    test: str
    correction: str
    tail: str
    alpha: float
    interval: str
    resamples: int | str | None
    seed: int
    topics: int
    unit: str
    margin: float | None
    detect: float | None
    power: float
    # Who leads, and who cannot be told apart, in a few sentences.
    verdict: tuple[str, ...] = ()
    # Under a truth with probabilities, for each measure and two runs: how far the difference is
    # sure, and the probability over truths that a is better.
    doubts: tuple[Mapping[str, Any], ...] = ()
    # From how many units with gold the means of all were estimated; 0 where nothing was.
    gold_units: int = 0
    # How the intervals of means were made, where that is not how those of differences were.
    mean_interval: str | None = None
    # How the units were sampled, in words; empty where each was drawn by itself.
    design: str = ""
    # Whether p-values are corrected for several measures too.
    measures_corrected: bool = False

    @property
    def pairing(self) -> str:
        """The rule by which scores are paired."""
        return f"each pair on the {self.unit}s for which both runs have a value"

    def pair(self, a: str, b: str, measure: str) -> Pair:
        """The pair of two runs under a measure, in the order in which they were compared."""
        columns, axes = self.pairs.columns, (self.runs, self.runs, self.pairs.measures)
        measure = self.measure_named(measure)
        if a in self.runs and b in self.runs and measure in self.pairs.measures:
            mask = np.ones(len(self.pairs), dtype=bool)
            for name, names, value in zip(
                ("a", "b", "measure"), axes, (a, b, measure), strict=True
            ):
                mask &= columns[name] == names.index(value)
            if mask.any():
                match: Pair = self.pairs[int(mask.argmax())]
                return match
            if (columns["a"] == self.runs.index(b)).any() and a != b:
                raise UsageError(
                    f"{a!r} and {b!r} were compared in the other order, and differences are first "
                    f"minus second: pair({b!r}, {a!r}, {measure!r})"
                )
        for run in (a, b):
            if run not in self.runs:
                runs = ", ".join(self.runs)
                raise UsageError(
                    f"no run named {run!r}.{suggest(run, self.runs)} There are: {runs}"
                )
        raise UsageError(f"{a!r} and {b!r} were not compared under {measure}")

    def measure_named(self, name: str) -> str:
        """The name here of a measure that may be spelt in another way, or a MeasureError."""
        from cranfield.measures import measure_for

        if name in self.pairs.measures:
            return name
        for task in ("ranked", "labels", "regions"):
            try:
                canonical = str(measure_for(name, task))
            except MeasureError:
                continue
            if canonical in self.pairs.measures:
                return canonical
        raise MeasureError(
            f"no comparison under the measure {name!r}.{suggest(name, self.pairs.measures)} "
            f"There are: {', '.join(self.pairs.measures)}"
        )

    def footnotes(self) -> list[str]:
        """The footnote: stars and marks; test, correction, draws; intervals, topics, pairing."""
        marks = " ".join(filter(None, [self.signs_explained(), "Differences are a - b."]))
        procedure = f"{TITLES[self.test]}, {_SIDES[self.tail]}"
        if self.design:
            procedure += f", {self.design}"
        if self.resamples is not None:
            procedure += f", {self.resamples} resamples, seed {self.seed}"
        if self.correction == STEP_DOWN:
            procedure += "; Romano-Wolf step-down correction over the pairs of each measure"
        elif self.correction != "none":
            procedure += f"; {self.correction} correction over the pairs of each measure"
        elif self.test in FAMILY_WISE:
            procedure += "; its p-values hold for all pairs together"
        else:
            procedure += "; no correction"
        if self.measures_corrected:
            procedure += f", times the {len(self.measures)} measures (Bonferroni)"
        ends = f"{100 * (1 - self.alpha):g} % intervals: {self.interval_names()}"
        if self.interval != "t":
            ends += f", seed {self.seed}"
        return [marks, f"{procedure}.", f"{ends}. n: {self._counts()}; {self.pairing}."]

    def interval_names(self) -> str:
        """How intervals were made: those of means may be others than those of differences."""
        if self.mean_interval in (None, self.interval):
            return self.interval
        inside = ", within the range of the measure" if self.mean_interval == "wilson" else ""
        return f"of means {self.mean_interval}{inside}; of differences {self.interval}"

    def signs_explained(self) -> str:
        """What the stars and marks beside differences mean: those that there are."""
        columns = self.pairs.columns
        present = {stars(p) for p in columns["p_corrected"].tolist()}
        parts = []
        if signs_used := [(sign, level) for level, sign in reversed(STARS) if sign in present]:
            signs, levels = (", ".join(str(pair[i]) for pair in signs_used) for i in (0, 1))
            parts.append(f"{signs}: p at most {levels} after correction.")
        else:
            parts.append(f"No p is at most {STARS[-1][0]} after correction.")
        if self.tail != "two":
            ways = {1: ("up", "better"), -1: ("down", "worse")}
            directions = [
                ways[direction] for direction in (1, -1) if (columns["mark"] == direction).any()
            ]
            if directions:
                names, senses = (", ".join(pair[i] for pair in directions) for i in (0, 1))
                parts.append(f"{names}: a is significantly {senses} than b.")
        if not columns["sure"].all():
            parts.append("?: other draws could give other stars; more resamples would settle it.")
        return " ".join(parts)

    def interval_parts(self) -> str:
        """What the parts of an interval are about, where the truth is one of them."""
        return interval_parts(self.unit, self.topics, self.gold_units)

    def _counts(self) -> str:
        """How many topics the pairs have, said once where all measures agree."""
        by_measure = {str(m["name"]): self._count(m) for m in self.measures}
        different = list(dict.fromkeys(by_measure.values()))
        if len(different) == 1:
            return different[0]
        return ", ".join(f"{name} {count}" for name, count in by_measure.items())

    def _count(self, measure: Mapping[str, Any]) -> str:
        counts = np.unique(self.pairs.where(measure["name"]).columns["topics"]).tolist()
        unit = f"{measure['unit']}s"
        if not counts:
            return f"{measure['units']} {unit}"
        if counts[0] == counts[-1]:
            return f"{counts[0]} {unit} in every pair"
        return f"{counts[0]} to {counts[-1]} of {measure['units']} {unit}, by pair"

    def headline(self) -> str:
        """How many pairs, how they were tested, and how many differ."""
        differ = int((self.pairs.columns["p_corrected"] <= self.alpha).sum())
        return (
            f"{len(self.runs)} runs, {TITLES[self.test]} over {self.topics} {self.unit}s: "
            f"{differ} of {len(self.pairs)} pairs differ significantly at {self.alpha:g}"
        )

    def payload(self, *, folded: bool = False, **_: object) -> dict[str, Any]:
        """How the runs were compared, their pairs, standings and families.

        `folded` pairs have the difference and how sure it is, and it is said that they have more.
        """
        return {
            "verdict": list(self.verdict),
            "measures": [dict(m) for m in self.measures],
            "runs": list(self.runs),
            "baseline": self.baseline,
            "test": self.test,
            "tail": self.tail,
            "correction": self.correction,
            "alpha": self.alpha,
            "interval": self.interval,
            "resamples": self.resamples,
            "seed": self.seed,
            "topics": self.topics,
            "unit": self.unit,
            **({"design": self.design} if self.design else {}),
            "pairing": self.pairing,
            "difference": "a - b",
            "equivalence_margin": self.margin,
            "detect": self.detect,
            "power": self.power,
            "pairs": list(self.pairs.rows(FOLDED if folded else ())),
            **({"pairs_folded": _SAID_OF_FOLDED.format(len(self.pairs))} if folded else {}),
            "leaderboard": [asdict(standing) for standing in self.standings],
            "families": [family.to_dict() for family in self.families],
            "conclusions": [
                {"about": about, "statement": statement} for about, statement in self.conclusions()
            ],
            **({"doubts": [dict(row) for row in self.doubts]} if self.doubts else {}),
        }

    def to_latex(  # type: ignore[override]
        self,
        caption: str | None = None,
        label: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        parts: Sequence[str] = EXPORTED_PARTS,
    ) -> str:
        """The tables as LaTeX, the summary with its stars first.

        Parameters
        ----------
        caption, label
            Of the first table, in place of its own.
        columns
            Headings: the tables have the first column and these.
        parts
            The tables: "summary", "leaderboard", "pairs", "effects", "families", "conclusions".
        """
        return super().to_latex(caption, label, columns=columns, parts=parts)

    def to_markdown(self, *, parts: Sequence[str] = ("summary",)) -> str:  # type: ignore[override]
        """The tables as Markdown; `parts` as in `to_latex`."""
        return super().to_markdown(parts=parts)

    def report(  # type: ignore[override]
        self, path: str | Path, *, parts: Sequence[str] = EXPORTED_PARTS
    ) -> None:
        """Write a page with tables and chart; `parts` as in `to_latex`."""
        super().report(path, parts=parts)

    def to_pandas(self) -> pd.DataFrame:
        """The pairs as a pandas data frame, a row each."""
        return frames.to_pandas(self.pair_columns(), "Comparison.to_pandas")

    def to_polars(self) -> pl.DataFrame:
        """The pairs as a polars data frame, a row each."""
        return frames.to_polars(self.pair_columns(), "Comparison.to_polars")

    def to_arrow(self) -> pa.Table:
        """The pairs as an Arrow table, a row each."""
        return frames.to_arrow(self.pair_columns(), "Comparison.to_arrow")

    def to_csv(self, path: str | Path | None = None) -> str:
        """The pairs as CSV, a row each, written to a file where one is named."""
        return frames.to_csv(self.pair_columns(), path)

    def conclusions(self) -> tuple[tuple[str, str], ...]:
        """What may be concluded, in sentences to copy: what each is about, and the sentence.

        They say what was sampled, what was corrected and what was not, and what holds under each
        measure.
        """
        from cranfield.comparison.summary import conclusions

        return conclusions(self)

    def pair_columns(self) -> dict[str, list[Any]]:
        """The pairs as columns by name, with an interval in two of them."""
        columns = self.pairs.lists()
        ends = columns.pop("ci")
        columns["ci_low"], columns["ci_high"] = ([e[i] for e in ends] for i in (0, 1))
        return columns
