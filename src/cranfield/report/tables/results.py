"""Result tables of a campaign, as their answer has them."""

from __future__ import annotations

from dataclasses import replace

from cranfield.campaign.results.answer import ResultPart, ResultTable
from cranfield.campaign.views.answer import View
from cranfield.report.document import Column, Document, Table
from cranfield.report.tables._study import study_document


def document(answer: ResultTable) -> Document:
    """A table for each part, below the verdict of a page."""
    found = study_document(answer, [table_of(part) for part in answer.parts])
    return replace(found, lead=answer.verdict) if isinstance(answer, View) else found


def table_of(part: ResultPart) -> Table:
    """A part as a table."""
    columns = [
        Column(c.name, c.places, best=c.better, numeric=c.numeric, heading=c.heading)
        for c in part.columns
    ]
    return Table(columns, part.rows, part.title, part.notes)
