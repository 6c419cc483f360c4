"""Curves: precision against recall, ROC, and how a measure behaves along the ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cranfield.data.labels import LabelMatrix
from cranfield.evaluation.curves import Curve, behaviour_curves, recall_curves
from cranfield.evaluation.roc import Roc, roc_curves
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure
from cranfield.report.charts.model import Axis, Chart, Dot, Line, Rule, chart
from cranfield.report.charts.parts import curve_chart, thinned
from cranfield.validation import validate_params

UNIT = (0.0, 1.0)


@validate_params
def precision_recall(scores: Scores, *, confidence: float = 0.95) -> Chart:
    """Interpolated precision at eleven levels of recall, with a band for each run.

    The scores are those of `RECALL_MEASURES`; the band is Student's interval of each mean.
    """
    return recall_chart(recall_curves(scores, confidence=confidence), confidence=confidence)


def recall_chart(
    curves: Sequence[Curve], *, confidence: float = 0.95, topic: str | None = None
) -> Chart:
    """Curves of precision over recall in one plot, of means or of one topic."""
    about = "Mean interpolated" if topic is None else f"Topic {topic}: interpolated"
    bands = f", with bands of {100 * confidence:g} %" if any(c.band for c in curves) else ""
    return curve_chart(
        curves,
        title="Precision at eleven levels of recall" + ("" if topic is None else f", {topic}"),
        description=f"{about} precision of {len(curves)} runs at eleven levels of recall{bands}.",
        x=Axis("recall", "recall", UNIT),
        y=Axis("precision", "precision", UNIT),
    )


@validate_params
def roc(truth: LabelMatrix, runs: Iterable[LabelMatrix], concept: str | None = None) -> Chart:
    """ROC of runs that are aligned to the truth: one concept, or all decisions pooled."""
    what = f"concept {concept}" if concept else "all items and concepts pooled"
    return roc_chart(roc_curves(truth, runs, concept), what)


def roc_chart(curves: Mapping[str, Roc], what: str) -> Chart:
    """ROC curves in one square, with the points of equal error as dots."""
    return chart(
        f"ROC, {what}",
        f"True against false positives of {len(curves)} runs over all thresholds, {what}; the "
        "dots are the points of equal error.",
        Axis("false positive rate", "fpr", UNIT),
        Axis("true positive rate", "tpr", UNIT),
        [
            [Rule(0, 1, 1, 0, dashed=True, width=1, style="quiet")],
            [
                Line(tuple(thinned(c.points)), i, f"{run}: area {c.auc:.4f}")
                for i, (run, c) in enumerate(curves.items())
            ],
            [
                Dot(c.eer, 1 - c.eer, i, f"{run}: equal error rate {c.eer:.4f}")
                for i, (run, c) in enumerate(curves.items())
            ],
        ],
        series=tuple(f"{run} (EER {c.eer:.3f})" for run, c in curves.items()),
        square=True,
    )


@validate_params
def behaviour(
    measures: str | Iterable[str | Measure], *, size: int = 100, relevant: int = 1
) -> Chart:
    """What measures say when one relevant item moves over all ranks of a collection."""
    others = "" if relevant == 1 else f"; {relevant - 1} more not retrieved"
    return curve_chart(
        behaviour_curves(measures, size=size, relevant=relevant),
        title="A measure against the rank of one relevant item",
        description=f"The value of each measure when one relevant item stands at rank 1 to "
        f"{size + 1 - relevant} of {size}{others}.",
        x=Axis("rank of the relevant item", "rank"),
        y=Axis("value", "value"),
        of="measure",
    )
