"""Printed figures as scores: a CSV file with a column per measure.

Columns `run`, `team` and `configuration` say whose figures a row has; a run without a name is
named by the other two. One of `concept`, `item` and `topic` says of what they are; without any
they are means. All other columns are measures; an empty cell is no value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from cranfield.data.collection import Kind, RunFacts
from cranfield.errors import CranfieldError, InputError, Problem
from cranfield.evaluation.scores import MAIN_UNIT, Scores, aggregate
from cranfield.io.files import FileForm, csv_rows, describe, inner_suffix, open_text
from cranfield.io.numbers import number
from cranfield.measures import parse_measures
from cranfield.measures._spec import Measure

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
            known = ", ".join((*FACTS, *UNITS))
            said = f"{error} (columns are measures, or one of {known})"
            raise InputError.single(self.where, said, 1) from None
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
                said = f"{len(row)} values, expected {len(self.header)}: {','.join(self.header)}"
                self.problems.append(Problem(line, said))
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
        said = {n: row[n] for n in FACTS if row.get(n) and n not in ("run", "baseline")}
        is_baseline = row.get("baseline", "").lower() in ("1", "yes", "true")
        self.run_facts.setdefault(run, RunFacts(run, **said, baseline=is_baseline))
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
        kept, main = bool(self.unit), MAIN_UNIT[self.kind]
        overall = {
            m: np.array([aggregate(m, row) for row in values]) if kept else values[:, 0]
            for m, values in arrays.items()
        }
        count = len(names) if self.unit == main else 0
        scores = Scores(
            task=self.kind,
            runs=runs,
            measures=tuple(arrays),
            units={self.unit: names} if kept else {},
            unit_of=dict.fromkeys(arrays, self.unit or main),
            values=arrays if kept else {},
            overall=overall,
            missing=(0,) * len(runs),
            evaluated=(count,) * len(runs),
            left={m: (0,) * len(runs) for m in arrays},
        )
        return replace(scores, notes=(f"{self.where}: figures as printed, not scored here",))
