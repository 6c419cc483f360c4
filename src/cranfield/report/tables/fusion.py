"""A fusion as tables: the weights, and what tuning found."""

from __future__ import annotations

from typing import Any

from cranfield.evaluation.fusion import Fusion
from cranfield.report.document import Cell, Column, Document, Table


def document(found: Fusion, **_: Any) -> Document:
    """The weights of the runs; with folds, those of each and what they reach."""
    runs = Table(
        [Column("run", numeric=False), Column("weight", digits=2)],
        [list(pair) for pair in zip(found.names, found.weights, strict=True)],
        found.headline(),
    )
    tables = [runs]
    if found.folds:
        columns = [Column("fold"), Column("topics"), Column("tuned"), Column("held out")]
        columns += [Column(name, digits=2) for name in found.names]
        rows: list[list[Cell]] = [
            [number, len(fold.topics), fold.tuned, fold.held_out, *fold.weights]
            for number, fold in enumerate(found.folds, 1)
        ]
        notes = (f"{found.measure} of all topics, each held out: {found.held_out:.4f}",)
        tables.append(Table(columns, rows, f"Tuned for {found.measure}", notes))
    return Document(found.to_dict(), tables, found.notes)
