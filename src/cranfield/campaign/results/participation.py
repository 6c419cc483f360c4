"""Who took part: groups that registered, groups that submitted, and their runs, over the years."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from cranfield.campaign.results.results_data import (
    Cell,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
    better,
    sign,
    unit_measure,
)
from cranfield.campaign.results.units import best_of_units
from cranfield.data.collection import Kind, RunFacts
from cranfield.errors import CranfieldError, InputError, NeedsError, Problem
from cranfield.evaluation.scores import MAIN_UNIT, Scores, aggregate
from cranfield.io.files import FileForm, csv_rows, describe, inner_suffix, number, open_text
from cranfield.measures import parse_measures
from cranfield.measures.base import Measure
from cranfield.stats.correlation import spearman

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix

COLUMNS = ("year", "registered", "participated", "runs")
TITLE = "Participation"
SOURCE = "No Table 10.2"


@dataclass(frozen=True, slots=True)
class ParticipationFigures:
    """The figures of a year; None where the registrations were not recorded."""

    registered: int | None
    participated: int
    runs: int

    @classmethod
    def of(cls, material: ResultsData) -> ParticipationFigures:
        """The figures of a collection: its teams, those with ranked runs, and these runs."""
        teams = _runs_of_teams(material)
        registered = len(material.teams) or None
        return cls(registered, len(teams), len(material.ranked_runs))


def participation(
    material: ResultsData, *, years: Mapping[str, ParticipationFigures] | None = None
) -> ResultTable:
    """This year beside earlier ones, and the runs of every team by configuration."""
    this_year = material.year or "this"
    figures = {**(years or {}), this_year: ParticipationFigures.of(material)}
    return _table(figures, (_teams(material),))


def printed_participation(path: FileForm) -> ResultTable:
    """The table from figures that were printed: CSV year,registered,participated,runs."""
    return _table(read_participation(path), ())


def read_participation(path: FileForm) -> dict[str, ParticipationFigures]:
    """Figures of several years: CSV year,registered,participated,runs."""
    source = describe(path)
    figures: dict[str, ParticipationFigures] = {}
    problems: list[Problem] = []
    with open_text(path) as stream:
        rows = csv_rows(stream, source)
        header = tuple(cell.strip() for cell in next(rows, (0, []))[1])
        if header != COLUMNS:
            raise InputError.single(source, f"expected a header: {','.join(COLUMNS)}", 1)
        for line, row in rows:
            cells = [cell.strip() for cell in row]
            if len(cells) != len(COLUMNS) or not all(c.isdecimal() for c in cells[2:]):
                problems.append(Problem(line, f"expected {','.join(COLUMNS)}, whole numbers"))
                continue
            registered = int(cells[1]) if cells[1].isdecimal() else None
            figures[cells[0]] = ParticipationFigures(registered, int(cells[2]), int(cells[3]))
    if problems or not figures:
        raise InputError(source, problems or [Problem(0, "has no rows below its header")])
    return figures


def is_participation(path: FileForm) -> bool:
    """Whether a CSV file has figures of participation, by its header."""
    with open_text(path) as stream:
        first = next(csv_rows(stream, describe(path)), (0, []))[1]
    return tuple(cell.strip() for cell in first) == COLUMNS


def _table(
    figures: Mapping[str, ParticipationFigures], further: tuple[ResultPart, ...]
) -> ResultTable:
    rows: list[tuple[Cell, ...]] = [
        (year, figure.registered, figure.participated, figure.runs)
        for year, figure in figures.items()
    ]
    columns = (
        ResultColumn("year", numeric=False),
        ResultColumn("registered", "teams registered", places=0),
        ResultColumn("participated", "teams that sent runs", places=0),
        ResultColumn("runs", places=0),
    )
    part = ResultPart("years", TITLE, columns, tuple(rows))
    return ResultTable("participation", TITLE, SOURCE, (part, *further))


def _runs_of_teams(material: ResultsData) -> dict[str, list[str]]:
    """The configurations of the ranked runs of each team that has any."""
    runs_of: dict[str, list[str]] = {}
    for i in material.ranked_runs:
        facts = material.facts(material.scores.runs[i])
        runs_of.setdefault(facts.team or facts.run, []).append(facts.configuration)
    return runs_of


def _teams(material: ResultsData) -> ResultPart:
    runs = _runs_of_teams(material)
    names = list(dict.fromkeys([*(team.acronym for team in material.teams), *runs]))
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        team, counts = material.team(name), Counter(runs.get(name, ()))
        by = (counts[c] for c in material.configurations)
        rows.append((name, team.name, team.country, counts.total(), *by, team.reference))
    columns = (
        ResultColumn("team", numeric=False, link="team"),
        ResultColumn("name", numeric=False),
        ResultColumn("country", numeric=False),
        ResultColumn("runs", places=0),
        *(ResultColumn(c, places=0) for c in material.configurations),
        ResultColumn("reference", numeric=False),
    )
    return ResultPart("teams", "Runs of each team", columns, tuple(rows))


UNITS: dict[str, Kind] = {"concept": "labels", "item": "labels", "topic": "ranked"}
ENDINGS = {"concept": ".concept", "item": ".example"}
FACTS = tuple(f.name for f in fields(RunFacts))
NAMELESS = "best"
NOT_SAID = ("", "-")


@dataclass(frozen=True)
class Figures:
    """Scores made of figures, and what their rows say of the runs."""

    scores: Scores
    run_facts: dict[str, RunFacts]


def read_figures(path: FileForm, *, kind: Kind | None = None) -> Figures:
    """The figures of a CSV file as scores; `kind` is needed where only means are given and the
    measures do not tell."""
    return _Reader(path, kind).figures()


class _Reader:
    """Collects the rows of a file, every complaint with its line."""

    def __init__(self, path: FileForm, kind: Kind | None) -> None:
        self.where = describe(path)
        with open_text(path) as stream:
            rows = csv_rows(stream, self.where, "\t" if inner_suffix(path) == ".tsv" else ",")
            self.header = [cell.strip() for cell in next(rows, (0, []))[1]]
            self.rows = [(n, [c.strip() for c in row]) for n, row in rows if any(row)]
        units = [name for name in UNITS if name in self.header]
        if len(units) > 1:
            raise InputError.single(self.where, f"figures are per {' or per '.join(units)}", 1)
        self.unit = units[0] if units else ""
        self.kind: Kind = UNITS[self.unit] if self.unit else kind or self._guessed()
        names = [n for n in self.header if n not in (*FACTS, self.unit)]
        if not names:
            raise InputError.single(self.where, "no column is a measure", 1)
        try:
            self.measures = dict(zip(names, self._parsed(names, self.kind), strict=True))
        except CranfieldError as error:
            columns = ", ".join((*FACTS, *UNITS))
            message = f"{error} (columns are measures, or one of {columns})"
            raise InputError.single(self.where, message, 1) from None
        self.problems: list[Problem] = []
        self.run_facts: dict[str, RunFacts] = {}
        self.cells: dict[tuple[str, str, str], float] = {}

    def _guessed(self) -> Kind:
        names = [n for n in self.header if n not in FACTS]
        try:
            self._parsed(names, "ranked")
        except CranfieldError:
            return "labels"
        return "ranked"

    def _parsed(self, names: list[str], kind: Kind) -> tuple[Measure, ...]:
        if kind == "ranked":
            return parse_measures(names)
        return tuple(self._label_measure(name) for name in names)

    def _label_measure(self, name: str) -> Measure:
        """A measure of annotation; per concept its printed name need not say so."""
        from cranfield.measures.labels.registry import parse_label_measures

        try:
            return parse_label_measures([name])[0]
        except CranfieldError:
            if self.unit not in ENDINGS:
                raise
            return parse_label_measures([name + ENDINGS[self.unit]])[0]

    def figures(self) -> Figures:
        for line, row in self.rows:
            if len(row) != len(self.header):
                message = f"{len(row)} values, expected {len(self.header)}: {','.join(self.header)}"
                self.problems.append(Problem(line, message))
            else:
                self._add(line, dict(zip(self.header, row, strict=True)))
        if self.problems:
            raise InputError(self.where, self.problems)
        if not self.cells:
            raise InputError.single(self.where, "has no rows below its header")
        return Figures(self._scores(), self.run_facts)

    def _add(self, line: int, row: dict[str, str]) -> None:
        team, configuration = row.get("team", ""), row.get("configuration", "")
        run = row.get("run") or " ".join(filter(None, (team, configuration))) or NAMELESS
        unit = row.get(self.unit, "")
        facts = {n: row[n] for n in FACTS if row.get(n) and n not in ("run", "baseline")}
        is_baseline = row.get("baseline", "").lower() in ("1", "yes", "true")
        self.run_facts.setdefault(run, RunFacts(run, **facts, baseline=is_baseline))
        if (run, unit, "") in self.cells:
            self.problems.append(Problem(line, f"{run!r} has {unit or 'figures'!r} twice"))
        self.cells[run, unit, ""] = line
        for name in self.measures:
            try:
                value = math.nan if row[name] in NOT_SAID else number(row[name])
            except ValueError:
                self.problems.append(Problem(line, f"{name} {row[name]!r} is not a number"))
                continue
            self.cells[run, unit, name] = value

    def _scores(self) -> Scores:
        runs = tuple(self.run_facts)
        names = tuple(dict.fromkeys(unit for _, unit, _ in self.cells))
        arrays = {
            measure: np.array(
                [[self.cells.get((r, u, name), math.nan) for u in names] for r in runs]
            )
            for name, measure in self.measures.items()
        }
        per_unit, main = bool(self.unit), MAIN_UNIT[self.kind]
        overall = {
            m: np.array([aggregate(m, row) for row in values]) if per_unit else values[:, 0]
            for m, values in arrays.items()
        }
        count = len(names) if self.unit == main else 0
        scores = Scores(
            task=self.kind,
            runs=runs,
            measures=tuple(arrays),
            units={self.unit: names} if per_unit else {},
            unit_of=dict.fromkeys(arrays, self.unit or main),
            values=arrays if per_unit else {},
            overall=overall,
            missing=(0,) * len(runs),
            evaluated=(count,) * len(runs),
            left={m: (0,) * len(runs) for m in arrays},
        )
        return replace(scores, notes=(f"{self.where}: figures as printed, not scored here",))


LEAST_FOR_CORRELATION = 3


def frequency(material: ResultsData, *, measure: str | None = None) -> ResultTable:
    """In how many items each concept is, against the best value that any run has for it."""
    truth = _truth(material)
    scored_measure = unit_measure(material, "concept", measure)
    scored = set(material.scores.units.get("item", ()))
    # A truth of all splits has items that no run was scored on.
    items = [i for i, item in enumerate(truth.items) if item in scored or not scored]
    counts = _counts(truth, items)
    rows: list[tuple[Cell, ...]] = [
        (best.unit, counts[best.unit], 100 * counts[best.unit] / len(items), best.value)
        for best in best_of_units(material, scored_measure)
        if best.unit in counts
    ]
    rows.sort(key=lambda row: -float(row[1] or 0))
    facts: dict[str, object] = {"measure": str(scored_measure), "items": len(items)}
    if len(rows) >= LEAST_FOR_CORRELATION:
        columns = np.array([[float(row[1] or 0), float(row[3] or 0)] for row in rows])
        correlation = spearman(columns[:, 0], sign(scored_measure) * columns[:, 1])
        defined = not math.isnan(correlation.value)
        facts["spearman"] = float(correlation.value) if defined else None
        facts["p"] = float(correlation.p) if defined else None
    title = f"Frequency of concepts against their best {scored_measure}"
    part = ResultPart(
        "concepts",
        title,
        (
            ResultColumn("concept", numeric=False, link="concept"),
            ResultColumn("items", places=0),
            ResultColumn("percent", "%", places=1),
            ResultColumn(
                str(scored_measure), f"best {scored_measure}", better=better(scored_measure)
            ),
        ),
        tuple(rows),
        _said(facts),
    )
    return ResultTable("frequency", title, "No Figure 10.3", (part,), facts)


def _said(facts: dict[str, object]) -> tuple[str, ...]:
    rho = facts.get("spearman")
    if not isinstance(rho, float):
        return ()
    return (f"Spearman's rho of frequency and goodness: {rho:.3f} (p = {facts['p']:.3g})",)


def occurrence(material: ResultsData) -> ResultTable:
    """In what share of the items of each split every concept is."""
    truth = _truth(material)
    at = {item: i for i, item in enumerate(truth.items)}
    splits = {
        name: [at[item] for item in items if item in at] for name, items in material.splits.items()
    }
    splits = {name: rows for name, rows in splits.items() if rows} or {
        "all": list(range(len(truth.items)))
    }
    counts = {name: _counts(truth, rows) for name, rows in splits.items()}
    rows: list[tuple[Cell, ...]] = [
        (concept, *(100 * counts[name][concept] / len(splits[name]) for name in splits))
        for concept in truth.concepts
    ]
    columns = (
        ResultColumn("concept", numeric=False, link="concept"),
        *(ResultColumn(name, f"{name} %", places=1) for name in splits),
    )
    sizes = ", ".join(f"{name}: {len(rows)} items" for name, rows in splits.items())
    absent = [name for name in material.splits if name not in splits]
    notes = [sizes] + ([f"the truth has no item of {', '.join(absent)}"] if absent else [])
    title = "Occurrence of concepts per split"
    part = ResultPart("concepts", title, columns, tuple(rows), tuple(notes))
    return ResultTable("occurrence", title, "No Figure 10.4", (part,))


def _truth(material: ResultsData) -> LabelMatrix:
    from cranfield.data.labels import LabelMatrix

    if not isinstance(material.truth, LabelMatrix):
        why = "is sealed" if material.task == "labels" else "has no concepts"
        raise NeedsError(f"this table needs the truth, which {why} here (released=True shows it)")
    return material.truth


def _counts(truth: LabelMatrix, rows: list[int]) -> dict[str, int]:
    """In how many of some items each concept is."""
    from cranfield.options import DEFAULT_THRESHOLD

    labels = truth.with_threshold(DEFAULT_THRESHOLD).labels
    sums = np.asarray(labels[rows].sum(axis=0)).ravel()  # type: ignore[index]
    return {concept: int(n) for concept, n in zip(truth.concepts, sums, strict=True)}
