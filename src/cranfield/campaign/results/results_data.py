"""What result tables are made from: scores, their comparison, and what is known beside them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from cranfield._lazy import cached_property
from cranfield.answers import Answer
from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.scoring import TRUTH, only_kind, score_collection
from cranfield.campaign.submissions import PublicSet
from cranfield.comparison.answer import Comparison, Standing
from cranfield.data.collection import Collection, Kind, RunFacts, Team, Texts
from cranfield.data.regions import Regions
from cranfield.errors import NeedsError, UsageError, suggest
from cranfield.evaluation.scores import Scores, aggregate
from cranfield.measures.base import Measure
from cranfield.stats.design import UnitDesign
from cranfield.stats.posthoc import places

if TYPE_CHECKING:
    from cranfield.data import Judgements
    from cranfield.data.labels import LabelMatrix
    from cranfield.evaluation.scores import Values
    from cranfield.notes import Watcher


def only_runs(scores: Scores, runs: Container[str]) -> Scores:
    """The scores of some runs."""
    names = [run for run in scores.runs if run in runs]
    if not names:
        raise NeedsError("no run is left of those that were scored")
    return scores.of_runs(names)


def _design_of(scores: Scores, unit: str, columns: Sequence[int]) -> UnitDesign | None:
    """The design of some of the units, where it is theirs."""
    if scores.design is None or unit != scores.main_unit:
        return None
    return scores.design.at(np.array(columns))


def only_units(scores: Scores, unit: str, names: Sequence[str]) -> Scores:
    """The scores on some topics, items or concepts, with the means over these alone.

    Measures that speak of other units have no value on a part; they are left out, with a note.
    """
    unit_names = scores.units.get(unit, ())
    at = {name: j for j, name in enumerate(unit_names)}
    for name in names:
        if name not in at:
            raise UsageError(f"no scores for {unit} {name!r}.{suggest(name, unit_names)}")
    columns = [at[name] for name in dict.fromkeys(names)]
    measures = tuple(
        m
        for m in scores.measures
        if scores.unit_of[m] == unit and m in scores.values and scores.is_mean(m)
    )
    if not measures:
        raise NeedsError(f"no measure is a mean over {unit}s, so none has a value on some of them")
    values = {m: np.asarray(scores.values[m])[:, columns] for m in measures}
    dropped = [str(m) for m in scores.measures if m not in measures]
    notes = [f"{', '.join(dropped)}: left out, not a mean over {unit}s"] if dropped else []
    counts = (len(columns),) * len(scores.runs)
    return replace(
        scores,
        measures=measures,
        units={unit: tuple(unit_names[j] for j in columns)},
        unit_of=dict.fromkeys(measures, unit),
        values=values,
        # What items add to a mean over all concepts they do not add to one over some.
        influence={},
        design=_design_of(scores, unit, columns),
        overall={m: np.array([aggregate(m, row) for row in values[m]]) for m in measures},
        evaluated=counts if unit == scores.main_unit else scores.evaluated,
        left={m: tuple(int(n) for n in np.isnan(values[m]).sum(axis=1)) for m in measures},
        tie_range={},
        notes=(*scores.notes, *notes),
    )


@dataclass(frozen=True, eq=False)
class ResultsData:
    """Scores of a task with all that its tables need; built once, read by every table.

    `truth` is there only where it may be shown. `baseline` is the run that others are compared
    with; runs whose facts say baseline are shown without a rank. `comparison` may be made later:
    `compared()` gives the same material with one.
    """

    task: Kind
    scores: Scores
    primary: Measure
    run_facts: Mapping[str, RunFacts] = field(default_factory=dict)
    teams: tuple[Team, ...] = ()
    texts: Texts = field(default_factory=Texts)
    baseline: str = ""
    comparison: Comparison | None = None
    truth: Judgements | LabelMatrix | Regions | None = None
    public: PublicSet | None = None
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    title: str = ""
    series: str = ""
    year: str = ""
    years: Mapping[str, Path] = field(default_factory=dict)
    seed: int = 0

    @classmethod
    def of(
        cls,
        collection: Collection,
        kind: Kind | None = None,
        *,
        scores: Scores | None = None,
        comparison: Comparison | None = None,
        measures: str | Sequence[str] | None = None,
        concepts: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
        released: bool = False,
        jobs: int | None = None,
        progress: Watcher | None = None,
    ) -> ResultsData:
        """The material of a collection; its runs are scored unless `scores` are given.

        With `released` the truth goes along, for tables that show it.
        """
        kind = only_kind(collection, kind, measures)
        part = collection.part(kind)
        if scores is None and part.silver is not None:
            from cranfield.campaign.estimated import score_estimated

            names = measures.split() if isinstance(measures, str) else measures
            execution: dict[str, Any] = {"concepts": concepts, "jobs": jobs, "progress": progress}
            estimate = score_estimated(collection, kind, measures=names, **execution)
            scores, comparison = estimate.scores, estimate.comparison
        elif scores is None:
            scores = score_collection(
                collection,
                kind,
                measures=measures,
                concepts=concepts,
                items=items,
                jobs=jobs,
                progress=progress,
            )
        return cls(
            task=kind,
            scores=scores,
            primary=_primary(scores, part.primary),
            run_facts=collection.run_facts,
            teams=collection.teams,
            texts=read_texts(collection),
            baseline=part.baseline if part.baseline in scores.runs else "",
            comparison=comparison,
            truth=_visible_truth(collection, kind) if released else None,
            public=PublicSet.of(collection, kind),
            splits=collection.splits,
            title=collection.title or collection.name,
            series=collection.series,
            year=collection.year,
            years=collection.years,
            seed=collection.seed,
        )

    @classmethod
    def of_scores(
        cls, scores: Scores, *, primary: str = "", run_facts: Mapping[str, RunFacts] | None = None
    ) -> ResultsData:
        """The material of scores alone, with what is known of their runs."""
        primary_measure = scores.measure_named(primary) if primary else scores.measures[0]
        return cls(scores.task, scores, primary_measure, run_facts=run_facts or {})

    def facts(self, run: str) -> RunFacts:
        """What is known of a run; only its name, if nothing is."""
        return self.run_facts.get(run) or RunFacts(run)

    def team(self, acronym: str) -> Team:
        """A team by its acronym; only the acronym, if nothing else is known."""
        return self._teams.get(acronym) or Team(acronym)

    @cached_property
    def _teams(self) -> dict[str, Team]:
        return {team.acronym: team for team in self.teams}

    @cached_property
    def ranked_runs(self) -> tuple[int, ...]:
        """The positions of the runs that are ranked: all but baselines."""
        runs = enumerate(self.scores.runs)
        return tuple(i for i, run in runs if not self.facts(run).baseline)

    @cached_property
    def configurations(self) -> tuple[str, ...]:
        """The configurations that runs have, in the order in which they first occur."""
        names = (self.facts(run).configuration for run in self.scores.runs)
        return tuple(dict.fromkeys(c for c in names if c))

    def measure(self, name: str | None) -> Measure:
        """One of the measures by its name; the primary one without a name."""
        return self.primary if name is None else self.scores.measure_named(name)

    def only(
        self,
        *,
        configurations: Sequence[str] | None = None,
        teams: Sequence[str] | None = None,
        concepts: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
        topics: Sequence[str] | None = None,
    ) -> ResultsData:
        """The same material for some runs, or on some concepts, items or topics.

        Places and ranks are among the runs that are left; a comparison made before holds for pairs
        of runs, not for other units.
        """
        scores, comparison = self.scores, self.comparison
        if configurations is not None or teams is not None:
            scores = only_runs(scores, self._runs_of(configurations, teams))
        for unit, names in (("concept", concepts), ("item", items), ("topic", topics)):
            if names is not None:
                scores, comparison = only_units(scores, unit, names), None
        primary = self.primary if self.primary in scores.measures else scores.measures[0]
        baseline = self.baseline if self.baseline in scores.runs else ""
        return replace(
            self, scores=scores, primary=primary, baseline=baseline, comparison=comparison
        )

    def _runs_of(
        self, configurations: Sequence[str] | None, teams: Sequence[str] | None
    ) -> set[str]:
        runs: set[str] = set()
        for names, available, role in (
            (configurations, self.configurations, "configuration"),
            (
                teams,
                tuple(dict.fromkeys(f.team for f in map(self.facts, self.scores.runs))),
                "team",
            ),
        ):
            for name in names or ():
                if name not in available:
                    raise UsageError(f"no run has {role} {name!r}.{suggest(name, available)}")
        for run in self.scores.runs:
            facts = self.facts(run)
            if (configurations is None or facts.configuration in configurations) and (
                teams is None or facts.team in teams
            ):
                runs.add(run)
        return runs

    def compared(self, comparison: Comparison | None = None, **options: Any) -> ResultsData:
        """The same material with a comparison of its runs, made now if none is given."""
        if comparison is None and self.comparison is not None:
            return self
        options = {"rng": self.seed} | options
        return replace(self, comparison=comparison or self.scores.compare(**options))

    @cached_property
    def standings(self) -> dict[tuple[str, str], Standing]:
        """Where each run stands, by measure and run; empty without a comparison."""
        rows = () if self.comparison is None else self.comparison.standings
        return {(row.measure, row.run): row for row in rows}

    @cached_property
    def is_unsure(self) -> bool:
        """Whether the truth is a part of the intervals."""
        return any(row.truth_ci is not None for row in self.standings.values())

    @cached_property
    def ranks(self) -> dict[tuple[str, str], int]:
        """1 + the number of ranked runs that are significantly better, by measure and run.

        Only a comparison of all pairs tells them; one with a baseline does not.
        """
        if self.comparison is None or self.comparison.baseline is not None:
            return {}
        ranked = {self.scores.runs[i] for i in self.ranked_runs}
        rank_of: dict[tuple[str, str], int] = {}
        for name in self.comparison.pairs.measures:
            rank_of |= {(name, run): 1 for run in ranked}
            pairs = self.comparison.pairs.where(name).among(ranked)
            columns = pairs.columns
            for loser, sign in (("b", 1), ("a", -1)):
                for i in columns[loser][columns["mark"] == sign].tolist():
                    rank_of[name, pairs.runs[i]] += 1
        return rank_of


def _primary(scores: Scores, name: str) -> Measure:
    """The collection's primary measure where runs were scored under it, else the first one."""
    from cranfield.measures import measure_for

    by_name = {str(m): m for m in scores.measures}
    full_name = str(measure_for(name, scores.task)) if name else ""
    return by_name.get(name) or by_name.get(full_name) or scores.measures[0]


def _visible_truth(collection: Collection, kind: Kind) -> Judgements | LabelMatrix | Regions:
    if kind != "regions":
        return read_truth(collection, kind)
    from cranfield.io.regions import read_regions

    return read_regions(collection.need(TRUTH[kind]))


def read_truth(collection: Collection, kind: Kind) -> Judgements | LabelMatrix:
    """The truth itself, for what may show it."""
    from cranfield.evaluation.probabilistic_truth import likely_truth
    from cranfield.io import read_qrels

    path = collection.need(TRUTH[kind])
    return read_qrels(path) if kind == "ranked" else likely_truth(path, collection.unlisted or None)


Cell: TypeAlias = str | int | float | None
# What the name in a cell is of, so that a page can lead there.
Link: TypeAlias = Literal["", "run", "team", "topic", "item", "concept", "file"]


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column: its name for machines, its heading for people, how its values are read.

    `better` is "max" or "min" where one end of the column is the better one; `places` are the
    digits after the point, for numbers that are not whole.
    """

    name: str
    heading: str = ""
    numeric: bool = True
    places: int = 4
    better: str = ""
    link: Link = ""


@dataclass(frozen=True, slots=True)
class ResultPart:
    """One table of an answer, with what a reader must know beside it."""

    name: str
    title: str
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    # Between which the intervals of its means are drawn, where these have limits.
    limits: tuple[float, float] | None = None

    def records(self) -> list[dict[str, Cell]]:
        """A row as {column: value}."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def column(self, name: str) -> list[Cell]:
        """The values of one column."""
        at = [column.name for column in self.columns].index(name)
        return [row[at] for row in self.rows]


@dataclass(frozen=True, repr=False, eq=False)
class ResultTable(Answer):
    """A result table of a campaign; the first part is the table itself, more may follow.

    `facts` are single figures that the table stands for, such as counts of wins.
    """

    command: ClassVar[str] = "campaign results"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:results_document"

    name: str
    title: str
    source: str
    parts: tuple[ResultPart, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def part(self, name: str) -> ResultPart:
        """A part by its name."""
        return next(part for part in self.parts if part.name == name)

    def payload(self, **_: object) -> dict[str, Any]:
        """The rows of every part, by its name, and the figures."""
        return {
            "table": self.name,
            "title": self.title,
            "source": self.source,
            "facts": dict(self.facts),
            "parts": [
                {"name": p.name, "title": p.title, "rows": p.records(), "notes": list(p.notes)}
                for p in self.parts
            ],
        }

    def headline(self) -> str:
        """What the table is and how long."""
        rows = len(self.parts[0].rows) if self.parts else 0
        return f"{self.title}: {rows} rows"


@dataclass(frozen=True, slots=True)
class RunPlacing:
    """A run under a measure: its mean and its place among the ranked runs.

    `place` is by the means alone; `rank` is 1 + the number of ranked runs that are
    significantly better. Neither is there for a baseline or a run without a value.
    """

    run: str
    value: float | None
    place: int | None
    rank: int | None


def sign(measure: Measure) -> float:
    """1 where more is better, -1 where less is."""
    return -1.0 if measure.higher_is_better is False else 1.0


def better(measure: Measure) -> str:
    """Which end of a column is the better one."""
    return "min" if measure.higher_is_better is False else "max"


def place_runs(material: ResultsData, measure: Measure) -> dict[str, RunPlacing]:
    """All runs under a measure, the best first; runs that share a value share a place."""
    runs = material.scores.runs
    means = np.asarray(material.scores.overall[measure], dtype=np.float64)
    oriented = np.nan_to_num(sign(measure) * means, nan=-np.inf)
    ranked = np.array([i for i in material.ranked_runs if not np.isnan(means[i])], dtype=np.intp)
    place = dict(zip(ranked.tolist(), places(oriented[ranked]).tolist(), strict=True))
    placings: dict[str, RunPlacing] = {}
    for i in np.argsort(-oriented, kind="stable").tolist():
        rank = material.ranks.get((str(measure), runs[i])) if i in place else None
        value = None if np.isnan(means[i]) else float(means[i])
        placings[runs[i]] = RunPlacing(runs[i], value, place.get(i), rank)
    return placings


def unit_values(material: ResultsData, measure: Measure) -> Values:
    """The values of all runs per unit, or a NeedsError where only means are known."""
    values = material.scores.values.get(measure)
    if values is None or not material.scores.units.get(material.scores.unit_of[measure]):
        unit = material.scores.unit_of[measure]
        raise NeedsError(f"{measure}: the scores have no values per {unit}, only means")
    return np.asarray(values, dtype=np.float64)


def unit_measure(material: ResultsData, unit: str, name: str | None) -> Measure:
    """The measure asked for, else the first that has values per unit, the primary one before."""
    scores = material.scores
    if name is not None:
        measure = material.measure(name)
        if scores.unit_of[measure] != unit:
            raise NeedsError(
                f"{measure} has no values per {unit}, but per {scores.unit_of[measure]}"
            )
        return measure
    for measure in (material.primary, *scores.measures):
        if scores.unit_of[measure] == unit and measure in scores.values:
            return measure
    raise NeedsError(f"no measure has values per {unit} here")
