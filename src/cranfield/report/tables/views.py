"""Pages of results as tables: one per part."""

from __future__ import annotations

from typing import Any

from cranfield.campaign.results.answer import ResultPart
from cranfield.campaign.views.answer import View
from cranfield.report.document import Column, Document, Table


def document(view: View, **_: Any) -> Document:
    """The parts of a page, the first one for programs that read one."""
    tables = [table_of(part) for part in view.parts]
    return Document(view.to_dict(), tables, view.notes, lead=view.verdict)


def table_of(part: ResultPart) -> Table:
    """A part as a table."""
    columns = [Column(c.name, c.places, c.better, c.numeric, c.heading) for c in part.columns]
    return Table(columns, part.rows, part.title, part.notes)
