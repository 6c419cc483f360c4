"""Tables of forms that came back: batches, people, items, comments, and the log itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from cranfield.campaign.responses import CLASSES, FormResponses, Tally
from cranfield.report.charts.people import collected_figures
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.agreement import log_table

# Names shown of many, the first ones.
ROWS_SHOWN = 20


def document(answer: FormResponses, **_: Any) -> Document:
    """The figures for people; files of rows hold the log."""
    tables = [_batches(answer), _tallies(answer.people, "annotator")]
    if answer.rejected:
        tables += [_tallies([i for i in answer.items if i.rejected], "item"), _reasons(answer)]
    if answer.remarks:
        tables.append(_remarks(answer))
    figures = partial(collected_figures, answer)
    return Document(answer.to_dict(), tables, answer.notes, log_table(answer.log), figures=figures)


def _batches(answer: FormResponses) -> Table:
    columns = [
        Column("batch", numeric=False),
        Column("forms", 0),
        Column("rejected", 0),
        Column("percent", 2, heading="%"),
        Column("annotators", 0),
        Column("items", 0),
        Column("seconds", 1, heading="seconds per form"),
        Column("seconds_rejected", 1, heading="of rejected"),
        Column("hours", 2),
    ]
    rows: list[list[Cell]] = [
        [
            b.batch,
            b.forms,
            b.rejected,
            100 * b.share,
            b.annotators,
            b.items,
            b.seconds,
            b.seconds_rejected,
            b.hours,
        ]
        for b in answer.batches
    ]
    in_several = sum(p.batches > 1 for p in answer.people)
    notes = [f"{in_several} worked on several batches"] if len(answer.batches) > 1 else []
    if answer.twice:
        notes.append(f"{len(answer.twice)} items were judged twice by the same annotator")
    return Table(columns, rows, "Batches", notes)


def _tallies(tallies: Sequence[Tally], unit: str) -> Table:
    columns = [Column(unit, numeric=False), Column("forms", 0, bar=True), Column("rejected", 0)]
    ordered = (
        tallies if unit == "annotator" else sorted(tallies, key=lambda t: (-t.rejected, t.name))
    )
    rows: list[list[Cell]] = [[t.name, t.forms, t.rejected] for t in ordered]
    title = "Items per annotator" if unit == "annotator" else "Rejections per item"
    return Table(columns, rows, title).first(ROWS_SHOWN)


def _reasons(answer: FormResponses) -> Table:
    columns = [Column("reason", numeric=False), Column("forms", 0)]
    rows: list[list[Cell]] = [[reason, count] for reason, count in answer.reasons.items()]
    return Table(columns, rows, "Why forms were rejected").first(ROWS_SHOWN)


def _remarks(answer: FormResponses) -> Table:
    columns = [Column(n, numeric=False) for n in ("about", "comment", "annotator", "item")]
    rows: list[list[Cell]] = [
        [r.about, r.text, r.annotator, r.item]
        for name in CLASSES
        for r in answer.remarks
        if r.about == name
    ]
    return Table(columns, rows, "Comments").first(ROWS_SHOWN)
