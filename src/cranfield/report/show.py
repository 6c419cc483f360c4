"""An answer as text, for whoever holds it in Python; the command line and pages use the parts."""

from __future__ import annotations

from typing import Any

from cranfield.answers import Answer
from cranfield.comparison.answer import Comparison
from cranfield.report.render import html_table, lead_text, render, text_table
from cranfield.report.tables import document_of

ROWS_SHOWN = 40


def as_text(answer: Answer) -> str:
    """The tables of an answer as a terminal shows them, and its notes."""
    document = document_of(answer)
    lines = [*lead_text(document)]
    lines += [text_table(t.first(ROWS_SHOWN), colour=False).rstrip() for t in document.tables]
    lines += [f"note: {note}" for note in answer.notes]
    return "\n".join(lines)


def rendered(answer: Answer, form: str, **view: Any) -> str:
    """The answer in a format of the command line."""
    return render(document_of(answer, **view), form)


def notebook_bundle(answer: Answer) -> dict[str, Any]:
    """The answer as a notebook shows it: its tables as HTML and as text, and a chart."""
    tables = [t.first(ROWS_SHOWN) for t in document_of(answer).tables]
    bundle: dict[str, Any] = {
        "text/plain": as_text(answer),
        "text/html": "".join(html_table(t) for t in tables),
    }
    if isinstance(answer, Comparison):
        from cranfield.report.charts import MIME, leaderboard

        drawn = leaderboard(answer)
        bundle |= {MIME: drawn.to_vega(), "image/svg+xml": drawn.to_svg()}
    return bundle
