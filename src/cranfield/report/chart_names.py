"""Which charts there are and what each shows; to know it takes no numpy."""

from __future__ import annotations

from typing import Literal

CHARTS: dict[str, str] = {
    "leaderboard": "means with intervals, and runs that cannot be told apart",
    "significance": "every pair of runs, with stars",
    "heatmap": "runs by topics (items, concepts)",
    "differences": "a run minus a baseline, topic by topic",
    "precision-recall": "precision at eleven levels of recall, with bands",
    "roc": "annotation: ROC with points of equal error",
    "scatter": "runs under two measures",
    "density": "annotation: a score against label density",
    "concepts": "annotation: values of concepts, with their frequency",
    "behaviour": "measures when one relevant item moves over the ranks",
    "effectiveness": "precision against recall over all cutoffs, not interpolated",
    "topics": "precision against recall of every topic of a run",
    "cutoffs": "precision and recall by cutoff",
    "joint": "precision and recall of every topic at a cutoff",
    "operating": "ROC of rankings: recall against fallout, with areas",
    "detections": "ROC of rankings in counts: detections against false alarms",
    "generality": "precision and recall of topics against their generality",
    "generality-sizes": "a measure against generality in growing collections",
    "gain": "average (discounted) cumulated gain against rank or recall",
    "placements": "measures at every rank of one relevant item, low is good",
    "combined-ranks": "measures at every placement of two relevant items",
    "surface": "a measure at both ranks of two relevant items, as colour",
    "surface-edges": "the best and worst case of two relevant items, by the earlier one",
    "envelope": "the best and worst case of two relevant items, by the later one",
    "rank-changes": "how the ranking of runs changes between two measures",
    "critical-difference": "mean ranks, and runs that cannot be told apart",
    "against": "a run against a baseline, a dot for each topic",
    "units": "topics, items or concepts of a run under two measures",
    "concept-curves": "annotation: precision against recall of every concept",
    "reliability": "annotation: how often confidences are right",
    "box-recall": "boxes: precision against recall at an overlap of 0.5",
    "box-errors": "boxes: localisation, recall and precision errors by confidence",
}
# Charts of measures alone: they take no runs.
OF_MEASURES = (
    *("behaviour", "placements", "combined-ranks", "surface", "surface-edges", "envelope"),
)


# Charts of one kind of runs.
OF_LABELS = ("roc", "density", "concepts", "concept-curves", "reliability")
OF_BOXES = ("box-recall", "box-errors")
OF_RANKINGS = (
    *("precision-recall", "effectiveness", "topics", "cutoffs", "joint", "operating"),
    *("detections", "generality", "generality-sizes", "gain"),
)


def kind_of_runs(chart: str) -> Literal["labels", "ranked", "regions"] | None:
    """Which kind of runs a chart draws, None for those that draw any."""
    if chart in OF_BOXES:
        return "regions"
    return "labels" if chart in OF_LABELS else "ranked" if chart in OF_RANKINGS else None
