"""Charts: builders that make one model of a picture from answers in hand, and its renderers.

A chart has `to_svg()`, `to_vega()`, `sized(...)` and `save(path)`; a notebook shows it.
"""

from cranfield.report.charts.annotation import (
    box_errors,
    box_recall,
    concept_precision_recall,
    concepts,
    cost_map,
    reliability,
)
from cranfield.report.charts.curves import (
    behaviour,
    density,
    differences,
    heatmap,
    measures,
    precision_recall,
    roc,
)
from cranfield.report.charts.leaderboard import leaderboard, significance
from cranfield.report.charts.model import Chart, draw, kind_of
from cranfield.report.charts.perspective import perspective
from cranfield.report.charts.rankings import (
    against,
    combined_ranks,
    critical_difference,
    cutoffs,
    detections,
    effectiveness,
    envelope,
    gains,
    generality,
    generality_sizes,
    joint,
    one_relevant,
    operating,
    rank_changes,
    surface,
    surface_edges,
    thresholds,
    topics,
    units,
)
from cranfield.report.charts.vega import MIME, SCHEMA

__all__ = [
    "MIME",
    "SCHEMA",
    "Chart",
    "against",
    "behaviour",
    "box_errors",
    "box_recall",
    "combined_ranks",
    "concept_precision_recall",
    "concepts",
    "cost_map",
    "critical_difference",
    "cutoffs",
    "density",
    "detections",
    "differences",
    "draw",
    "effectiveness",
    "envelope",
    "gains",
    "generality",
    "generality_sizes",
    "heatmap",
    "joint",
    "kind_of",
    "leaderboard",
    "measures",
    "one_relevant",
    "operating",
    "perspective",
    "precision_recall",
    "rank_changes",
    "reliability",
    "roc",
    "significance",
    "surface",
    "surface_edges",
    "thresholds",
    "topics",
    "units",
]
