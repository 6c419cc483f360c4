"""Tables of one truth out of many opinions, and of those who made it."""

from __future__ import annotations

from typing import Any, Literal

from cranfield.agreement.aggregation import Aggregated
from cranfield.report.document import Column, Document, Table

Shape = Literal["truth", "soft", "confidences"]


def document(answer: Aggregated, *, shape: Shape = "truth", **_: Any) -> Document:
    """The truth: its answers, the probability of every answer, or that of every concept."""
    if shape == "confidences":
        names, rows = ["item", "concept", "value"], answer.confidences()
    else:
        middle = ["concept", "value"] if answer.kind == "concept" else ["category"]
        names = ["item", *middle, "probability"]
        rows = answer.soft_rows() if shape == "soft" else answer.rows()
    last = names[-1]
    columns = [Column(name, numeric=name == last) for name in names]
    table = Table(columns, [[row[name] for name in names] for row in rows])
    return Document(answer.to_dict(), [table], answer.notes)


def annotator_table(answer: Aggregated) -> Table:
    """Who judged how much, and how reliably."""
    columns = [Column("annotator", numeric=False), Column("judgements"), Column("reliability")]
    return Table(columns, [list(person.values()) for person in answer.people()])


def confusion_table(answer: Aggregated) -> Table:
    """What each annotator answers by true answer, where the method learns it."""
    names = ("annotator", "concept", "true", "answer")
    columns = [Column(name, numeric=False) for name in names] + [Column("probability")]
    return Table(columns, [list(row) for row in answer.confusion()])
