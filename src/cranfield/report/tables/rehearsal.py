"""Tables of a rehearsal."""

from __future__ import annotations

from typing import Any

from cranfield.report.document import Cell, Column, Document, Table


def document(answer: Any) -> Document:
    """The checks, then what was measured. (The answer is the server's, a room above this one.)"""
    checks: list[list[Cell]] = [
        [c.name, "holds" if c.holds else "does not hold", c.figure] for c in answer.checks
    ]
    columns = [Column(name, numeric=False) for name in ("check", "result", "figure")]
    figures: list[list[Cell]] = [[k.replace("_", " "), str(v)] for k, v in answer.figures.items()]
    measured = [Column(name, numeric=False) for name in ("measured", "value")]
    tables = [
        Table(columns, checks, f"Rehearsal with seed {answer.seed}"),
        Table(measured, figures),
    ]
    return Document(answer.to_dict(), tables, answer.notes)
