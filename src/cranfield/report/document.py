"""What a command answers with: one JSON payload and the tables that show it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from cranfield.answers import Answer
    from cranfield.report.charts.model import Chart

Cell: TypeAlias = str | int | float | None


class Bound(float):
    """A number that the true one does not exceed, such as a p-value that draws cannot make
    smaller: people see "<0.0010"."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, and how numbers in it are shown.

    `best` marks the best value of the column: "max", "min" or "" for none. `heading` is what
    people see where it differs from the name that machines read. With `below` a number that
    the digits would round to nothing is shown as "<0.0001". A `bar` column is also drawn as
    bars on a terminal, from 0 to its largest value.
    """

    name: str
    digits: int = 4
    best: str = ""
    numeric: bool = True
    heading: str = ""
    below: bool = False
    bar: bool = False

    @property
    def label(self) -> str:
        """The heading for people."""
        return self.heading or self.name

    def show(self, value: Cell) -> str:
        """A cell as people read it; machine formats keep the full value instead."""
        if value is None:
            return "-"
        if isinstance(value, float):
            if math.isnan(value):
                return "-"
            if self.below and 0 <= value < 10**-self.digits:
                return f"<{10**-self.digits:.{self.digits}f}"
            if isinstance(value, Bound):
                return f"<{value:.{self.digits}f}"
            return f"{value:.{self.digits}f}"
        return str(value)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values under columns, with a title and notes for the reader.

    `marks` stand beside the cell of a row and column, such as the stars of significance. In a
    `tested` table a star is about significance, also where there is none: none marks a best value.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    notes: Sequence[str] = ()
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    tested: bool = False

    def starred_rows(self, column: int) -> frozenset[int]:
        """The rows whose value has a star as the best of a column, where text alone can say it."""
        return frozenset() if self.tested or self.marks else self.best_rows(column)

    def mark(self, row: int, column: int) -> str:
        """What stands beside a cell, or nothing."""
        return self.marks.get((row, column), "")

    def first(self, count: int) -> Table:
        """The first rows, and a note of how many more there are."""
        hidden = len(self.rows) - count
        if hidden <= 0:
            return self
        marks = {cell: mark for cell, mark in self.marks.items() if cell[0] < count}
        notes = (f"... and {hidden} more rows", *self.notes)
        return Table(self.columns, self.rows[:count], self.title, notes, marks, self.tested)

    def best_rows(self, column: int) -> frozenset[int]:
        """The rows that hold the best value of a column (several when they tie)."""
        direction = self.columns[column].best
        if not direction or len(self.rows) < 2:
            return frozenset()
        numbers = [
            (float(row[column]), i)  # type: ignore[arg-type]
            for i, row in enumerate(self.rows)
            if isinstance(row[column], int | float) and not math.isnan(float(row[column]))  # type: ignore[arg-type]
        ]
        if not numbers:
            return frozenset()
        best = (max if direction == "max" else min)(numbers)[0]
        return frozenset(i for value, i in numbers if value == best)


@dataclass(frozen=True, slots=True)
class Document:
    """The whole answer of a command.

    `payload` is what `--format json` prints, `tables` what formats for people print. CSV and
    TSV hold one table: `machine`, or the first one. Where these two are large, they are given
    as functions and made only when they are asked for. `warnings` go to standard error. `page` is
    the interactive report where there is one; it is made only when HTML is asked for. `figures`
    are charts below the tables of a page without one, and are made only for it. `lead` says in
    a few sentences what the tables show; people read it first.
    """

    payload: dict[str, Any] | Callable[[], dict[str, Any]]
    tables: Sequence[Table]
    warnings: Sequence[str] = ()
    machine: Table | Callable[[], Table] | None = None
    page: str | None = None
    figures: Callable[[], Sequence[Chart]] = tuple
    lead: Sequence[str] = ()

    def for_json(self) -> dict[str, Any]:
        """The payload, made now if it was not."""
        return self.payload() if callable(self.payload) else self.payload

    def for_machines(self) -> Table:
        """The one table of CSV and TSV."""
        table = self.machine() if callable(self.machine) else self.machine
        return table or self.tables[0]


def document_of(answer: Answer, **view: Any) -> Document:
    """The tables of an answer, and its JSON; `view` is what its maker takes."""
    return maker_of(answer)(answer, **view)


def maker_of(answer: Answer | type[Answer]) -> Callable[..., Document]:
    """The function that makes the tables of an answer: one of `report/tables`."""
    module, _, function = answer.table_maker.partition(":")
    maker: Callable[..., Document] = getattr(import_module(module), function)
    return maker
