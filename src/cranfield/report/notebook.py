"""Scores and comparisons as a notebook shows them."""

from __future__ import annotations

from typing import Any

from cranfield.comparison.answer import Comparison
from cranfield.evaluation.scores import Scores
from cranfield.report.charts import MIME, leaderboard
from cranfield.report.comparison import comparison_document
from cranfield.report.document import Table
from cranfield.report.render import html_table, text_table
from cranfield.report.scores import leaderboard as score_table


def scores_bundle(scores: Scores) -> dict[str, Any]:
    """The leaderboard as text and as HTML."""
    return _bundle([score_table(scores)])


def comparison_bundle(comparison: Comparison) -> dict[str, Any]:
    """The leaderboard of the first measure as a chart, and all tables as text and HTML."""
    document = comparison_document(comparison, parts=("leaderboard", "pairs"))
    return {MIME: leaderboard(comparison), **_bundle(document.tables)}


def _bundle(tables: Any) -> dict[str, Any]:
    shown: list[Table] = list(tables)
    return {
        "text/plain": "\n".join(text_table(t, colour=False) for t in shown),
        "text/html": "".join(html_table(t) for t in shown),
    }
