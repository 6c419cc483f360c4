"""What the documents of all studies share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cranfield.answers import Answer
from cranfield.report.charts.studies import figures
from cranfield.report.document import Document, Table


def study_document(
    answer: Answer, tables: Sequence[Table], machine: Table | None = None
) -> Document:
    """The tables of a study; its charts are drawn only where a page asks for them."""
    return Document(
        answer.to_dict(), tables, answer.notes, machine, figures=partial(figures, answer)
    )
