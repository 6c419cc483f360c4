"""Result tables of a campaign, as their answer has them."""

from __future__ import annotations

from cranfield.campaign.results.answer import ResultPart, ResultTable
from cranfield.report.document import Column, Document, Table
from cranfield.report.tables._study import study_document


def document(answer: ResultTable) -> Document:
    """A table for each part."""
    return study_document(answer, [_table(part) for part in answer.parts])


def _table(part: ResultPart) -> Table:
    columns = [
        Column(c.name, c.places, best=c.better, numeric=c.numeric, heading=c.heading)
        for c in part.columns
    ]
    return Table(columns, part.rows, part.title, part.notes)
