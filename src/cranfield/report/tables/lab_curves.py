"""The table of values at every rank."""

from __future__ import annotations

from cranfield.lab.studies.rank_curves import Curves
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import study_document


def curves_document(answer: Curves) -> Document:
    """A row per rank."""
    return study_document(answer, [_values(answer)])


def _values(answer: Curves) -> Table:
    """One relevant item: the value at each rank. Two: lowest and highest at each rank."""
    if len(answer.ranks[0]) == 1:
        columns = [Column("rank", 0), *(Column(m) for m in answer.measures)]
        rows: list[list[Cell]] = [
            [r[0], *map(float, v)] for r, v in zip(answer.ranks, answer.values, strict=True)
        ]
        return Table(columns, rows, f"One relevant item among {answer.size:,}")
    columns = [Column("rank", 0, heading="last rank")]
    for m in answer.measures:
        columns += [Column(f"{m}_low", heading=f"{m} low"), Column(f"{m}_high", heading="high")]
    sides = [answer.envelope(m) for m in answer.measures]
    rows = [
        [first[0], *(v for side in sides for v in side[k][1:])] for k, first in enumerate(sides[0])
    ]
    return Table(columns, rows, f"Two relevant items among {answer.size:,}")
