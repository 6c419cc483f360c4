"""Who took part: groups that registered, groups that submitted, and their runs, over the years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from cranfield.campaign.results.answer import Cell, ResultColumn, ResultPart, ResultTable
from cranfield.campaign.results.material import Material
from cranfield.errors import InputError, Problem
from cranfield.io.files import FileForm, csv_rows, describe, open_text

COLUMNS = ("year", "registered", "participated", "runs")
TITLE = "Participation"
SOURCE = "No Table 10.2"


@dataclass(frozen=True, slots=True)
class TakingPart:
    """The figures of a year; None where nobody wrote down who registered."""

    registered: int | None
    participated: int
    runs: int

    @classmethod
    def of(cls, material: Material) -> TakingPart:
        """The figures of a collection: its teams, those with ranked runs, and these runs."""
        teams = _runs_of_teams(material)
        registered = len(material.teams) or None
        return cls(registered, len(teams), len(material.ranked_runs))


def participation(
    material: Material, *, years: Mapping[str, TakingPart] | None = None
) -> ResultTable:
    """This year beside earlier ones, and the runs of every team by configuration."""
    own = material.year or "this"
    figures = {**(years or {}), own: TakingPart.of(material)}
    return _table(figures, (_teams(material),))


def printed_participation(path: FileForm) -> ResultTable:
    """The table from figures that were printed: CSV year,registered,participated,runs."""
    return _table(read_participation(path), ())


def read_participation(path: FileForm) -> dict[str, TakingPart]:
    """Figures of several years: CSV year,registered,participated,runs."""
    where = describe(path)
    found: dict[str, TakingPart] = {}
    problems: list[Problem] = []
    with open_text(path) as stream:
        rows = csv_rows(stream, where)
        header = tuple(cell.strip() for cell in next(rows, (0, []))[1])
        if header != COLUMNS:
            raise InputError.single(where, f"expected a header: {','.join(COLUMNS)}", 1)
        for line, row in rows:
            cells = [cell.strip() for cell in row]
            if len(cells) != len(COLUMNS) or not all(c.isdecimal() for c in cells[2:]):
                problems.append(Problem(line, f"expected {','.join(COLUMNS)}, whole numbers"))
                continue
            registered = int(cells[1]) if cells[1].isdecimal() else None
            found[cells[0]] = TakingPart(registered, int(cells[2]), int(cells[3]))
    if problems or not found:
        raise InputError(where, problems or [Problem(0, "has no rows below its header")])
    return found


def is_participation(path: FileForm) -> bool:
    """Whether a CSV file has figures of participation, by its header."""
    with open_text(path) as stream:
        first = next(csv_rows(stream, describe(path)), (0, []))[1]
    return tuple(cell.strip() for cell in first) == COLUMNS


def _table(figures: Mapping[str, TakingPart], more: tuple[ResultPart, ...]) -> ResultTable:
    rows: list[tuple[Cell, ...]] = [
        (year, one.registered, one.participated, one.runs) for year, one in figures.items()
    ]
    columns = (
        ResultColumn("year", numeric=False),
        ResultColumn("registered", "groups registered", places=0),
        ResultColumn("participated", "groups participated", places=0),
        ResultColumn("runs", places=0),
    )
    part = ResultPart("years", TITLE, columns, tuple(rows))
    return ResultTable("participation", TITLE, SOURCE, (part, *more))


def _runs_of_teams(material: Material) -> dict[str, list[str]]:
    """The configurations of the ranked runs of each team that has any."""
    found: dict[str, list[str]] = {}
    for i in material.ranked_runs:
        facts = material.facts(material.scores.runs[i])
        found.setdefault(facts.team or facts.run, []).append(facts.configuration)
    return found


def _teams(material: Material) -> ResultPart:
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
