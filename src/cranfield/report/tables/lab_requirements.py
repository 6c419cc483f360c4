"""The table of requirements on measures."""

from __future__ import annotations

from cranfield.lab.studies.requirements import TITLES, Requirements
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import study_document


def requirements_document(answer: Requirements) -> Document:
    """A row per measure, and the counter-examples below."""
    return study_document(answer, [_held(answer)])


def _held(answer: Requirements) -> Table:
    text = {True: "yes", False: "no", None: "people"}
    tried = {(r.measure, r.number) for r in answer.found}
    columns = [Column("measure", numeric=False)]
    columns += [Column(str(n), numeric=False) for n in answer.numbers]
    rows: list[list[Cell]] = [
        [m, *(text[answer.of(m, n).holds] if (m, n) in tried else "-" for n in answer.numbers)]
        for m in answer.measures
    ]
    notes = [f"{n}: {TITLES[n]}" for n in answer.numbers]
    notes += [
        f"{r.measure}, {r.number}: {r.counter_example}" for r in answer.found if r.counter_example
    ]
    return Table(columns, rows, "Requirements on a metric", notes)
