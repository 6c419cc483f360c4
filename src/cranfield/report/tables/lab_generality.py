"""The table of growing collections."""

from __future__ import annotations

from cranfield.errors import plural
from cranfield.lab.studies.generality import Generality
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import study_document


def generality_document(answer: Generality) -> Document:
    """A row per size of the collection."""
    tables = [_sizes(answer)]
    if len(answer.runs) > 1:
        tables.append(_runs(answer))
    return study_document(answer, tables)


def _runs(answer: Generality) -> Table:
    """A row per run, its value under every measure in every collection."""
    columns = [Column("run", numeric=False)]
    for m in answer.measures:
        columns += [Column(f"{m}_{size}", heading=f"{m}, {size:,} items") for size in answer.sizes]
    rows: list[list[Cell]] = [
        [run, *(float(v) for j in range(len(answer.measures)) for v in answer.scores[:, i, j])]
        for i, run in enumerate(answer.runs)
    ]
    return Table(columns, rows, "Every run")


def _sizes(answer: Generality) -> Table:
    columns = [Column("size", 0, heading="items")]
    for m in answer.measures:
        columns += [Column(m), Column(f"{m}_deviation", 2, heading="dev. %")]
    means = answer.mean()
    rows: list[list[Cell]] = [
        [
            size,
            *(
                v
                for j, m in enumerate(answer.measures)
                for v in (float(means[k, j]), answer.deviation(m)[k] if k else None)
            ),
        ]
        for k, size in enumerate(answer.sizes)
    ]
    notes = [f"mean over {plural(len(answer.runs), 'run')}; dev. %: from the smallest collection"]
    return Table(columns, rows, "The same topics in growing collections", notes)
