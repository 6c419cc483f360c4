"""Pages of single runs, teams, topics, concepts and items: their scores beside those of others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.campaign.results.results_data import (
    Cell,
    Link,
    ResultColumn,
    ResultPart,
    ResultsData,
)
from cranfield.campaign.views.answer import View, count, text
from cranfield.campaign.views.board import OPEN_ENDS
from cranfield.evaluation.summary import join_names
from cranfield.measures import Measure

RANKS = ("place", "rank", "spread", "group")
DISTANCE = ("difference", "stars")


class Values:
    """The values of material as plain lists, put together once for all pages."""

    def __init__(self, material: ResultsData) -> None:
        self.material, self.scores = material, material.scores
        measures = [m for m in self.scores.measures if m in self.scores.values]
        self.by_unit: dict[str, list[Measure]] = {}
        for m in measures:
            if self.scores.unit_of[m] != "whole":
                self.by_unit.setdefault(self.scores.unit_of[m], []).append(m)
        self._rows: dict[Measure, list[list[float]]] = {}
        self._best: dict[Measure, list[float]] = {}
        self.at = {run: i for i, run in enumerate(self.scores.runs)}
        self.place = {
            unit: {name: j for j, name in enumerate(names)}
            for unit, names in self.scores.units.items()
        }

    def rows(self, measure: Measure) -> list[list[float]]:
        """A list of values per run."""
        if measure not in self._rows:
            self._rows[measure] = self.scores.plain_values(measure)
        return self._rows[measure]

    def best(self, measure: Measure) -> list[float]:
        """The best value of any run per unit."""
        if measure not in self._best:
            from cranfield.evaluation.summary import best_values

            self._best[measure] = best_values(self.scores, measure)
        return self._best[measure]

    def main(self, unit: str) -> Measure | None:
        """The measure by which a unit is sorted: the primary one, if it speaks of the unit."""
        measures = self.by_unit.get(unit, [])
        primary = self.material.primary
        return primary if primary in measures else measures[0] if measures else None


def run_view(
    values: Values, run: str, boards: Mapping[Measure, ResultPart], units: Sequence[str]
) -> View:
    """A run: its means with ranks and distances, then its topics, concepts or items."""
    material = values.material
    facts = material.facts(run)
    parts = [_means(material, run, boards)]
    parts += [_units_of_run(values, run, unit) for unit in units if unit in values.by_unit]
    return View(
        name="run",
        title=run,
        source="",
        parts=tuple(parts),
        facts={
            "run": run,
            "team": facts.team,
            "tag": facts.tag,
            "configuration": facts.configuration,
            "description": facts.description,
            "features": facts.features,
            "classifier": facts.classifier,
            "threshold": facts.threshold,
            "baseline": facts.baseline,
        },
        verdict=tuple(_run_verdict(values, run, boards)),
    )


def _means(material: ResultsData, run: str, boards: Mapping[Measure, ResultPart]) -> ResultPart:
    """A row per measure, as the leaderboards have it."""
    names = ("mean", "ci_low", "ci_high", *(name for name, _ in OPEN_ENDS), *RANKS, *DISTANCE)
    rows: list[tuple[Cell, ...]] = []
    for measure, board in boards.items():
        record = _record(board, run)
        rows.append((measure.mean_label, *(record.get(name) for name in names)))
    columns = (
        text("measure"),
        ResultColumn("mean", "value"),
        ResultColumn("ci_low", "low"),
        ResultColumn("ci_high", "high"),
        *(ResultColumn(name, heading) for name, heading in OPEN_ENDS),
        count("place"),
        count("rank"),
        text("spread"),
        text("group"),
        ResultColumn("difference", f"vs {material.baseline}" if material.baseline else ""),
        text("stars", "sig."),
    )
    total = len(material.ranked_runs)
    note = f"place and rank: among {total} runs that compete"
    return _with_content(ResultPart("measures", "All measures", columns, tuple(rows), (note,)))


def _record(board: ResultPart, run: str) -> dict[str, Cell]:
    names = [c.name for c in board.columns]
    at = names.index("run")
    row = next(row for row in board.rows if row[at] == run)
    return dict(zip(names, row, strict=True))


def _with_content(part: ResultPart) -> ResultPart:
    """The part without columns that say nothing in any row."""
    columns = [
        j
        for j, c in enumerate(part.columns)
        if any(row[j] not in (None, "") for row in part.rows) or j == 0
    ]
    rows = tuple(tuple(row[j] for j in columns) for row in part.rows)
    return ResultPart(
        part.name, part.title, tuple(part.columns[j] for j in columns), rows, part.notes
    )


def _units_of_run(values: Values, run: str, unit: str) -> ResultPart:
    """Every topic (concept, item) of a run, where it loses most against the best first."""
    measures = values.by_unit[unit]
    main = values.main(unit) or measures[0]
    at = values.at[run]
    sign = -1.0 if main.higher_is_better is False else 1.0
    best = values.best(main)
    run_values = values.rows(main)[at]
    names = values.scores.units[unit]

    def lost(j: int) -> tuple[bool, float, int]:
        gap = sign * (run_values[j] - best[j])
        return math.isnan(gap), gap, j

    order = sorted(range(len(names)), key=lost)
    rows = tuple(
        (names[j], *(_cell(values.rows(m)[at][j]) for m in measures), _cell(best[j])) for j in order
    )
    link: Link = unit  # type: ignore[assignment]
    columns = (
        text(unit, link=link),
        *(_column(m) for m in measures),
        ResultColumn("best_of_runs", f"best {main}"),
    )
    note = f"first the {unit}s on which the run is furthest from the best one, by {main}"
    return ResultPart(f"{unit}s", f"All {unit}s", columns, rows, (note,))


def _run_verdict(values: Values, run: str, boards: Mapping[Measure, ResultPart]) -> list[str]:
    material = values.material
    record = _record(boards[material.primary], run)
    label, mean = material.primary.mean_label, record.get("mean")
    if mean is None:
        return [f"{run} has no value under {label}."]
    if record.get("place") is None:
        return [f"{run} has {label} {mean:.4f}; it is a baseline and not ranked."]
    total = len(material.ranked_runs)
    sentences = [f"Place {record['place']} of {total} by {label}, {mean:.4f}."]
    spread = str(record.get("spread") or "")
    if "-" in spread:
        low, _, high = spread.partition("-")
        sentences.append(f"The tests leave places {low} to {high} open.")
    elif spread:
        sentences.append("The tests leave no other place open.")
    return sentences


def unit_view(values: Values, unit: Link, name: str, *, about: Mapping[str, Any]) -> View:
    """A topic, concept or item: every run on it, best first."""
    material = values.material
    measures, main = values.by_unit.get(unit, []), values.main(unit)
    j = values.place.get(unit, {}).get(name)
    rows: list[tuple[Cell, ...]] = []
    verdict: tuple[str, ...] = ()
    if main is not None and j is not None:
        sign = -1.0 if main.higher_is_better is False else 1.0
        column = [row[j] for row in values.rows(main)]
        order = sorted(
            range(len(column)), key=lambda i: (math.isnan(column[i]), -sign * column[i], i)
        )
        for i in order:
            run = values.scores.runs[i]
            facts = material.facts(run)
            cells = [_cell(values.rows(m)[i][j]) for m in measures]
            rows.append((run, facts.team, facts.configuration, *cells))
        verdict = _unit_verdict(values, main, [values.scores.runs[i] for i in order], column, order)
    columns = (
        text("run", link="run"),
        text("team", link="team"),
        text("configuration", "conf."),
        *(_column(m, best=True) for m in measures),
    )
    part = _with_content(ResultPart("runs", f"Runs on {unit} {name}", columns, tuple(rows)))
    return View(unit, name, "", (part,), facts={unit: name, **about}, verdict=verdict)


def _unit_verdict(
    values: Values,
    measure: Measure,
    runs: Sequence[str],
    column: Sequence[float],
    order: Sequence[int],
) -> tuple[str, ...]:
    """Who is best on the unit, and how hard it is among all."""
    defined = [column[i] for i in order if not math.isnan(column[i])]
    if not defined or measure.higher_is_better is None:
        return ()
    unit = values.scores.unit_of[measure]
    leaders = [run for run, i in zip(runs, order, strict=True) if column[i] == defined[0]]
    holders = f"all {len(runs)} runs" if len(leaders) == len(runs) > 1 else join_names(leaders)
    sentences = [f"The best {measure} here is {defined[0]:.4f}, of {holders}."]
    best = [v for v in values.best(measure) if not math.isnan(v)]
    sign = -1.0 if measure.higher_is_better is False else 1.0
    harder = sum(sign * v < sign * defined[0] for v in best)
    if len(best) > 1:
        some = f"{harder} of the other {len(best) - 1} {unit}s {'is' if harder == 1 else 'are'}"
        sentences.append(f"By the best value {some if harder else f'no other {unit} is'} harder.")
    return tuple(sentences)


def team_view(material: ResultsData, acronym: str, boards: Mapping[Measure, ResultPart]) -> View:
    """A team: its runs under all measures, best first by the primary one."""
    team = material.team(acronym)
    board = boards[material.primary]
    at = [c.name for c in board.columns].index("run")
    runs = [str(row[at]) for row in board.rows if material.facts(str(row[at])).team == acronym]
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        record = _record(board, run)
        means = [_record(boards[m], run).get("mean") for m in boards]
        facts = material.facts(run)
        ranks = [record.get(name) for name in RANKS]
        rows.append((run, facts.configuration, *ranks, *means, facts.description))
    columns = (
        text("run", link="run"),
        text("configuration", "conf."),
        count("place"),
        count("rank"),
        text("spread"),
        text("group"),
        *(_column(m, mean=True, best=True) for m in boards),
        text("description"),
    )
    label = material.primary.mean_label
    notes = (f"place, rank, spread and group: by {label}",) if rows else ()
    part = _with_content(ResultPart("runs", "Runs", columns, tuple(rows), notes))
    return View(
        "team",
        team.name or acronym,
        "",
        (part,),
        facts={
            "team": acronym,
            "name": team.name,
            "country": team.country,
            "reference": team.reference,
        },
    )


def _cell(value: float) -> float | None:
    return None if math.isnan(value) else value


def _column(measure: Measure, *, mean: bool = False, best: bool = False) -> ResultColumn:
    end = {True: "max", False: "min", None: ""}[measure.higher_is_better] if best else ""
    places = 0 if measure.averaging == "sum" else 4
    heading = measure.mean_label if mean else str(measure)
    return ResultColumn(str(measure), heading, places=places, better=end)
