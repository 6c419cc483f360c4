"""Charts: builders that make one model of a picture from answers in hand, and its renderers.

A chart has `to_svg()`, `to_vega()` and `save(path)`; a notebook shows it.
"""

from cranfield.report.charts.concepts import concepts
from cranfield.report.charts.curves import behaviour, precision_recall, roc
from cranfield.report.charts.draw import draw, kind_of
from cranfield.report.charts.leaderboard import leaderboard, significance
from cranfield.report.charts.model import Chart
from cranfield.report.charts.scatter import density, measures
from cranfield.report.charts.topics import differences, heatmap
from cranfield.report.charts.vega import MIME, SCHEMA

__all__ = [
    "MIME",
    "SCHEMA",
    "Chart",
    "behaviour",
    "concepts",
    "density",
    "differences",
    "draw",
    "heatmap",
    "kind_of",
    "leaderboard",
    "measures",
    "precision_recall",
    "roc",
    "significance",
]
