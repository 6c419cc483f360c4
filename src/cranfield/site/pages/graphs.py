"""The graphs of pages: precision against recall, the leaderboard drawn, pairs as colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.evaluation.precision_recall import LEVELS, Curve
from cranfield.report.charts.curves import recall_chart
from cranfield.site.page_view import Figure

if TYPE_CHECKING:
    from cranfield.report.charts.model import Chart
    from cranfield.site.results import Results

# More curves cannot be told apart.
CURVES_SHOWN = 12


def figure(chart: Chart, note: str = "") -> Figure:
    """A chart as part of a page; it escapes its own texts."""
    from markupsafe import Markup

    return Figure(chart.title, Markup(chart.to_svg(standalone=False)), note)


def topic_figures(results: Results, topic: str) -> list[Figure]:
    """Precision against recall of the best runs on one topic (SHREC's graphs per query)."""
    rows = results.curve_values
    if rows is None:
        return []
    j = results.values.place["topic"][topic]
    main = results.values.main("topic")
    order = results.best_runs(CURVES_SHOWN)
    curves = [
        Curve(run, tuple((level, rows[level][results.values.at[run]][j]) for level in LEVELS))
        for run in order
    ]
    chart = recall_chart(curves, topic=topic)
    shortened = len(order) < len(results.material.scores.runs)
    note = f"The {len(order)} best runs by {main}." if shortened else ""
    return [figure(chart, note)]


def run_figures(results: Results, runs: Sequence[str]) -> list[Figure]:
    """Mean precision against recall of some runs."""
    rows = results.curve_values
    if rows is None:
        return []
    curves = []
    for run in runs[:CURVES_SHOWN]:
        position = results.values.at[run]
        points = []
        for level in LEVELS:
            values = [v for v in rows[level][position] if v == v]
            points.append((level, sum(values) / len(values) if values else 0.0))
        curves.append(Curve(run, tuple(points)))
    return [figure(recall_chart(curves))]
