"""Charts as Vega-Lite specifications: plain data, one function for each chart."""

from cranfield.report.charts._spec import MIME, SCHEMA
from cranfield.report.charts.concepts import concepts
from cranfield.report.charts.curves import behaviour, precision_recall, roc
from cranfield.report.charts.draw import draw, kind_of
from cranfield.report.charts.leaderboard import leaderboard, significance
from cranfield.report.charts.scatter import density, measures
from cranfield.report.charts.topics import differences, heatmap

__all__ = [
    "MIME",
    "SCHEMA",
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
