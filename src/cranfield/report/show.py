"""An answer as text, for whoever holds it in Python; the command line and pages use the parts."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cranfield.answers import Answer, check_view
from cranfield.comparison.answer import Comparison
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.notes import Progress
from cranfield.report.render import html_table, lead_text, render, text_table
from cranfield.report.tables import document_of, maker_of

if TYPE_CHECKING:
    from cranfield.report.charts.model import Chart
    from cranfield.report.document import Document

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
    return render(_asked_for(answer, view), form)


def _asked_for(answer: Answer, view: Mapping[str, Any]) -> Document:
    """The tables with what somebody asks for by name, in which a slip is no silence."""
    check_view(view, maker_of(answer))
    return document_of(answer, **view)


def latex_of(answer: Answer, caption: str | None, label: str | None, **view: Any) -> str:
    """The answer as LaTeX, its first table with this caption and label."""
    document = _asked_for(answer, view)
    if caption is not None and document.tables:
        first, *others = document.tables
        document = replace(document, tables=[replace(first, title=caption), *others])
    text = render(document, "latex")
    if label is None:
        return text
    return re.sub(r"\\label\{[^}]*\}", lambda _: f"\\label{{{label}}}", text, count=1)


def page_of(answer: Answer, **view: Any) -> str:
    """The answer as one page: the interactive report of scores, else tables and charts."""
    if isinstance(answer, Scores):
        from cranfield.report.cases import Compared, compared
        from cranfield.report.parts import scores_page

        check_view(view, scores_page)
        found, left_out = compared(answer, None, os.cpu_count() or 1, Progress())
        return scores_page(Compared(answer, found, (), left_out), **view)
    document = _asked_for(answer, view)
    if isinstance(answer, Comparison):
        document = replace(document, figures=lambda: [plotted(answer)])
    return render(document, "html")


def plotted(answer: Answer, measure: str | None = None) -> Chart:
    """The chart of an answer: means with intervals, and groups where runs were compared."""
    from cranfield.report.charts import heatmap, leaderboard

    if isinstance(answer, Scores):
        if len(answer.runs) < 2:
            return heatmap(answer, measure)
        answer = answer.compare(test="t", measures=None if measure is None else [measure])
    if isinstance(answer, Comparison):
        return leaderboard(answer, measure)
    raise UsageError(f"there is no chart of a {type(answer).__name__} alone; see cranfield.charts")


def notebook_bundle(answer: Answer) -> dict[str, Any]:
    """The answer as a notebook shows it: what it says, its tables as HTML and as text, a chart."""
    document = document_of(answer)
    tables = [t.first(ROWS_SHOWN) for t in document.tables]
    said = "".join(f"<p>{html.escape(line)}</p>" for line in document.lead)
    noted = "".join(f"<p>note: {html.escape(note)}</p>" for note in answer.notes)
    bundle: dict[str, Any] = {
        "text/plain": as_text(answer),
        "text/html": said + "".join(html_table(t) for t in tables) + noted,
    }
    if isinstance(answer, Comparison):
        from cranfield.report.charts import MIME

        drawn = plotted(answer)
        bundle |= {MIME: drawn.to_vega(), "image/svg+xml": drawn.to_svg()}
    return bundle
