"""What the documents of all studies share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cranfield.answers import Answer
from cranfield.report.charts.studies import figures
from cranfield.report.document import Document, Table
from cranfield.stats.correlation import LEAST_FOR_A_VERDICT


def few_runs(count: int) -> str:
    """Why a test of rankings has no verdict, as the end of a sentence; nothing where it has."""
    minimum = LEAST_FOR_A_VERDICT
    if count >= minimum:
        return ""
    return f"; of fewer than {minimum} runs there is none, as chance would often pass"


def study_document(
    answer: Answer, tables: Sequence[Table], machine: Table | None = None
) -> Document:
    """The tables of a study; its charts are drawn only where a page asks for them."""
    return Document(
        answer.to_dict(), tables, answer.notes, machine, figures=partial(figures, answer)
    )
