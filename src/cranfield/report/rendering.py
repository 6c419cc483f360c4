"""An answer as text, page, chart or notebook output, for callers in Python."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cranfield._system import usable_cpus
from cranfield.answers import Answer, check_view
from cranfield.comparison.answer import EXPORTED_PARTS, Comparison
from cranfield.errors import MeasureError, UsageError, suggest
from cranfield.evaluation.scores import Scores
from cranfield.notes import Progress
from cranfield.report.document import Cell, Column, Document, Table, document_of, maker_of
from cranfield.report.render import BAR_WIDTH, html_table, lead_text, mark_text, render, text_table

if TYPE_CHECKING:
    from cranfield.report.charts.model import Chart
    from cranfield.report.document import Document

ROWS_SHOWN = 40


def as_text(answer: Answer) -> str:
    """The tables of an answer as a terminal shows them, and its notes."""
    document = _document_to_read(answer)
    lines = [*lead_text(document)]
    lines += [text_table(t.first(ROWS_SHOWN), colour=False).rstrip() for t in document.tables]
    lines += [f"note: {note}" for note in answer.notes]
    return "\n".join(lines)


def _document_to_read(answer: Answer) -> Document:
    """The document as people read it from the top: of a comparison the summary comes first."""
    if isinstance(answer, Comparison):
        return document_of(answer, parts=EXPORTED_PARTS)
    return document_of(answer)


def render_answer(answer: Answer, form: str, **view: Any) -> str:
    """The answer in a format of the command line."""
    return render(_document_with_view(answer, view), form)


def _document_with_view(answer: Answer, view: Mapping[str, Any]) -> Document:
    """The document of an answer under options given by name; an unknown option is an error."""
    check_view(view, maker_of(answer))
    return document_of(answer, **view)


def machine_columns(answer: Answer) -> dict[str, list[Cell]]:
    """The columns of the table that programs read, by their names."""
    table = document_of(answer).for_machines()
    return {
        column.name: _of_one_type([row[j] for row in table.rows])
        for j, column in enumerate(table.columns)
    }


def _of_one_type(cells: list[Cell]) -> list[Cell]:
    """Cells that are all numbers or all text, as frames need them."""
    if len({isinstance(cell, str) for cell in cells if cell is not None}) < 2:
        return cells
    return [None if cell is None else str(cell) for cell in cells]


def latex_of(
    answer: Answer,
    caption: str | None,
    label: str | None,
    columns: Sequence[str] | None = None,
    **view: Any,
) -> str:
    """The answer as LaTeX, its first table with this caption and label.

    Of each table only the named `columns` beside its first one, where it has any of them.
    """
    document = _document_with_view(answer, view)
    if columns is not None:
        document = _with_columns(answer, document, columns)
    if caption is not None and document.tables:
        first, *others = document.tables
        document = replace(document, tables=[replace(first, title=caption), *others])
    text = render(document, "latex")
    if label is None:
        return text
    return re.sub(r"\\label\{[^}]*\}", lambda _: f"\\label{{{label}}}", text, count=1)


def _with_columns(answer: Answer, document: Document, names: Sequence[str]) -> Document:
    """The document whose tables have their first column and those of these names."""
    present = dict.fromkeys(c.label for table in document.tables for c in table.columns)
    tables, missing = list(document.tables), []
    wanted = []
    for name in names:
        wanted.append(name)
        if not any(_position(table, name) is not None for table in tables):
            wanted[-1] = _column_of_measure(answer, name)
        if all(_position(table, wanted[-1]) is None for table in tables):
            missing.append(name)
    if missing:
        raise UsageError(
            f"columns={missing[0]!r}: there is no such column.{suggest(missing[0], present)} "
            f"The columns are: {', '.join(present)}"
        )
    selected = []
    for table in tables:
        places = [p for name in wanted if (p := _position(table, name)) is not None]
        selected.append(_take_columns(table, [0, *dict.fromkeys(p for p in places if p)]))
    return replace(document, tables=[t for t in selected if len(t.columns) > 1] or selected)


def _column_of_measure(answer: Answer, name: str) -> str:
    """The name of a measure that may be spelt in another way."""
    if not isinstance(answer, Scores | Comparison):
        return name
    try:
        return str(answer.measure_named(name))
    except MeasureError:
        return name


def _take_columns(table: Table, places: Sequence[int]) -> Table:
    at = {old: new for new, old in enumerate(places)}
    return replace(
        table,
        columns=[table.columns[j] for j in places],
        rows=[[row[j] for j in places] for row in table.rows],
        marks={(i, at[j]): mark for (i, j), mark in table.marks.items() if j in at},
    )


def page_of(answer: Answer, **view: Any) -> str:
    """The answer as one page: the interactive report of scores, else tables and charts."""
    if isinstance(answer, Scores):
        from cranfield.report.cases import ComparedScores, compare_for_report
        from cranfield.report.html_report import scores_page

        check_view(view, scores_page)
        comparison, left_out = compare_for_report(answer, None, usable_cpus(), Progress())
        return scores_page(ComparedScores(answer, comparison, (), left_out), **view)
    document = _document_with_view(answer, view)
    if isinstance(answer, Comparison):
        document = replace(document, figures=lambda: [chart_of_answer(answer)])
    return render(document, "html")


def chart_of_answer(answer: Answer, measure: str | None = None) -> Chart:
    """The chart of an answer: means with intervals, and groups where runs were compared."""
    from cranfield.report.charts import heatmap, leaderboard

    if isinstance(answer, Scores):
        measure = None if measure is None else str(answer.measure_named(measure))
        if len(answer.runs) < 2:
            return heatmap(answer, measure)
        answer = answer.compare(test="t", measures=None if measure is None else [measure])
    if isinstance(answer, Comparison):
        return leaderboard(answer, None if measure is None else answer.measure_named(measure))
    raise UsageError(f"there is no chart of a {type(answer).__name__} alone; see cranfield.charts")


def notebook_bundle(answer: Answer) -> dict[str, Any]:
    """The answer as a notebook shows it: what it says, its tables as HTML and as text, a chart."""
    document = _document_to_read(answer)
    tables = [t.first(ROWS_SHOWN) for t in document.tables]
    lead = "".join(f"<p>{html.escape(line)}</p>" for line in document.lead)
    noted = "".join(f"<p>note: {html.escape(note)}</p>" for note in answer.notes)
    bundle: dict[str, Any] = {
        "text/plain": as_text(answer),
        "text/html": lead + "".join(html_table(t) for t in tables) + noted,
    }
    if isinstance(answer, Comparison):
        from cranfield.report.charts import MIME

        chart = chart_of_answer(answer)
        bundle |= {MIME: chart.to_vega(), "image/svg+xml": chart.to_svg()}
    return bundle


def arrange_tables(
    document: Document,
    *,
    sort: str | None = None,
    digits: int | None = None,
    transpose: bool = False,
    width: int | None = None,
) -> Document:
    """The document with its tables sorted by a column, with other digits, or turned.

    A table that is wider than `width` is turned by itself where that makes it narrower. Programs
    read full values, so that digits and turning are for people only.
    """
    tables, machine = list(document.tables), document.machine
    machine = machine() if callable(machine) else machine
    if sort is not None:
        if not any(_position(table, sort) is not None for table in tables):
            names = [c.name for table in tables for c in table.columns]
            columns = ", ".join(dict.fromkeys(names))
            raise UsageError(
                f"sort={sort!r}: there is no such column.{suggest(sort, names)} "
                f"The columns are: {columns}"
            )
        tables = [_sort_rows(table, sort) for table in tables]
        machine = None if machine is None else _sort_rows(machine, sort)
    machine = machine or (tables[0] if tables else None)
    if digits is not None:
        tables = [_with_digits(table, digits) for table in tables]
    if transpose:
        tables = [transpose_table(table) for table in tables]
    elif width is not None:
        tables = [_fit_width(table, width) for table in tables]
    return replace(document, tables=tables, machine=machine)


def _position(table: Table, name: str) -> int | None:
    lowered_name = name.lower()
    for j, column in enumerate(table.columns):
        if lowered_name in (column.name.lower(), column.label.lower()):
            return j
    return None


def _sort_rows(table: Table, name: str) -> Table:
    """The best rows first, or the lowest where nothing is better; what does not compete last."""
    j = _position(table, name)
    if j is None:
        return table
    down = table.columns[j].best == "max"

    def key(i: int) -> tuple[bool, bool, float, str]:
        value = table.rows[i][j]
        apart = str(table.rows[i][0]).startswith("(")
        if isinstance(value, int | float) and not math.isnan(value):
            return apart, False, -value if down else value, ""
        return apart, value is None or isinstance(value, float), 0.0, str(value)

    order = sorted(range(len(table.rows)), key=key)
    place = {old: new for new, old in enumerate(order)}
    marks = {(place[i], column): mark for (i, column), mark in table.marks.items()}
    return replace(table, rows=[table.rows[i] for i in order], marks=marks)


def _with_digits(table: Table, digits: int) -> Table:
    columns = [replace(c, digits=digits) if c.numeric and c.digits else c for c in table.columns]
    return replace(table, columns=columns)


def transpose_table(table: Table) -> Table:
    """Rows as columns: a row for each column but the first, whose cells name the columns.

    The best of each row has a star, as the best of each column has it.
    """
    names = [str(row[0]) for row in table.rows]
    columns = [Column(table.columns[0].label, numeric=False)]
    columns += [Column(f"{j}", heading=name) for j, name in enumerate(names)]
    rows: list[Sequence[Cell]] = []
    for j, column in enumerate(table.columns[1:], 1):
        best = table.starred_rows(j)
        cells = [
            column.show(row[j]) + ("*" if i in best else " " * bool(best)) + mark_text(table, i, j)
            for i, row in enumerate(table.rows)
        ]
        rows.append([column.label, *cells])
    return Table(columns, rows, table.title, table.notes)


def _fit_width(table: Table, width: int) -> Table:
    wide = _width(table)
    if any(c.bar for c in table.columns) and wide + BAR_WIDTH > width:
        table = replace(table, columns=[replace(c, bar=False) for c in table.columns])
    if wide <= width or not table.rows:
        return table
    transposed = transpose_table(table)
    return transposed if _width(transposed) < wide else table


def _width(table: Table) -> int:
    """How many characters a line of the table takes, without the bars beside it."""
    cells = [
        [c.label for c in table.columns],
        *([c.show(v) for c, v in zip(table.columns, row, strict=True)] for row in table.rows),
    ]
    columns = zip(*cells, strict=True)
    return sum(max(len(text) + 2 for text in column) for column in columns)
