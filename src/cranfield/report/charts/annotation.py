"""Annotation with confidences: precision against recall of concepts, reliability."""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.data.labels import LabelMatrix
from cranfield.evaluation.calibration import concept_curves
from cranfield.evaluation.calibration import reliability as reliabilities
from cranfield.evaluation.choices import BINS
from cranfield.evaluation.curves import Curve
from cranfield.report.charts.curves import UNIT
from cranfield.report.charts.model import Axis, Chart, Line, Rule, chart
from cranfield.report.charts.parts import curve_chart, thinned
from cranfield.validation import validate_params


@validate_params
def concept_precision_recall(truth: LabelMatrix, run: LabelMatrix) -> Chart:
    """Precision against recall of every concept of a run that is aligned to the truth."""
    curves = [Curve(c.name, tuple(thinned(c.points))) for c in concept_curves(truth, run)]
    return curve_chart(
        curves,
        title=f"Precision against recall of {len(curves)} concepts, {run.name}",
        description=f"{len(truth.items)} items of {run.name} over all thresholds, not "
        "interpolated.",
        x=Axis("recall", "recall", UNIT),
        y=Axis("precision", "precision", UNIT),
        of="concept",
    )


@validate_params
def reliability(truth: LabelMatrix, runs: Iterable[LabelMatrix], *, bins: int = BINS) -> Chart:
    """The share of true labels against the confidence, and the expected error of each run."""
    found = reliabilities(truth, runs, bins=bins)
    lines = [
        Line(
            tuple((sure, share) for sure, share, _ in run.bins),
            i,
            f"{run.name}: expected error {run.error:.4f}",
            dots=True,
        )
        for i, run in enumerate(found)
    ]
    return chart(
        "Reliability of confidences",
        f"The share of true labels in {bins} bins of confidence for {len(found)} runs; on the "
        "broken line confidences are right. In brackets the expected error.",
        Axis("confidence", "confidence", UNIT),
        Axis("share that is true", "share", UNIT),
        [[Rule(0, 0, 1, 1, "quiet", "right", 1, True)], lines],
        series=tuple(f"{run.name} ({run.error:.3f})" for run in found),
        square=True,
    )
