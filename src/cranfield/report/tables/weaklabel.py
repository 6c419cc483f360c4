"""Tables of weak labels: what is kept of each tag."""

from __future__ import annotations

from typing import Any

from cranfield.agreement.weak_labels import WeakLabels
from cranfield.report.document import Cell, Column, Document, Table


def document(answer: WeakLabels, **_: Any) -> Document:
    """How many items of each tag fit, and how well that was told where the truth is known."""
    columns = [Column("tag", numeric=False), Column("items"), Column("kept")]
    rows: list[list[Cell]] = [[f.tag, len(f.items), int(f.kept.sum())] for f in answer.tags]
    if answer.with_truth:
        columns += [Column("precision_before"), Column("precision"), Column("recall")]
        for row, f in zip(rows, answer.tags, strict=True):
            row += [f.before, f.precision, f.recall]
    return Document(
        answer.to_dict(), [Table(columns, rows, "Items that fit their tag")], answer.notes
    )


def kept_table(answer: WeakLabels) -> Table:
    """The items that are kept, with how well each fits."""
    rows: list[list[Cell]] = [
        [row["item"], row["tag"], row["fit"]]
        for f in answer.tags
        for row in f.rows()
        if row["kept"]
    ]
    return Table([Column("item", numeric=False), Column("tag", numeric=False), Column("fit")], rows)
