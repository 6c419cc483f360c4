"""Boxes: precision over recall, and what is wrong with them by confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.evaluation.precision_recall import Curve
from cranfield.evaluation.regions import LEVELS, RegionCurves
from cranfield.report.charts.curves import UNIT
from cranfield.report.charts.helpers import curve_chart
from cranfield.report.charts.model import Axis, Chart, Dot, Line, chart
from cranfield.validation import validate_params

Points = tuple[tuple[float, float], ...]


@validate_params
def box_recall(curves: Sequence[RegionCurves], *, iou: float = 0.5, concept: str = "") -> Chart:
    """Precision at 101 levels of recall; the mean of a curve is the average precision."""
    scope = concept or "mean over concepts"
    return curve_chart(
        [
            Curve(
                f"{c.run} (AP {float(c.precision.mean()):.3f})",
                tuple(zip(LEVELS, c.precision.tolist(), strict=True)),
            )
            for c in curves
        ],
        title=f"Precision against recall of boxes, {scope}",
        description=f"The best precision at each of 101 levels of recall or beyond, of "
        f"{len(curves)} runs at an overlap of {iou:g}, {scope}. In brackets the average precision.",
        x=Axis("recall", "recall", UNIT),
        y=Axis("precision", "precision", UNIT),
    )


@validate_params
def box_errors(
    curves: Sequence[RegionCurves],
    *,
    iou: float = 0.5,
    concept: str = "",
    run: str | None = None,
) -> Chart:
    """The localisation recall precision error by the confidence from which boxes count.

    Several runs have a line each, whose dot is where the error is least; one alone, or `run`, has
    the three parts of the error as well.
    """
    scope = concept or "mean over concepts"
    chosen = [c for c in curves if run in (None, c.run)]
    title = f"Errors of boxes by confidence, {scope}"
    about = f"at an overlap of {iou:g}, {scope}; the dots are the least errors"
    if len(chosen) == 1:
        one = chosen[0]
        parts = (
            ("LRP error", one.error),
            ("badly placed", one.misplaced),
            ("wrong boxes", one.wrong),
            ("missed", one.missed),
        )
        names = tuple(name for name, _ in parts)
        lines = [
            Line(_points(one.confidences, values), i, name)
            for i, (name, values) in enumerate(parts)
        ]
        title, of = f"{title}, {one.run}", "error"
        description = f"The error of {one.run} and its parts by the least confidence, {about}."
    else:
        names = tuple(f"{c.run} ({float(c.error[c.best]):.3f})" for c in chosen)
        lines = [
            Line(_points(c.confidences, c.error), i, f"{c.run}: {float(c.error[c.best]):.4f}")
            for i, c in enumerate(chosen)
        ]
        of = "run"
        description = f"The error of {len(chosen)} runs by the least confidence, {about}."
    dots = [
        Dot(
            float(c.confidences[c.best]),
            float(c.error[c.best]),
            i,
            f"{c.run}: {float(c.error[c.best]):.4f} at a confidence of "
            f"{float(c.confidences[c.best]):.3g}",
        )
        for i, c in enumerate(chosen)
    ]
    return chart(
        title,
        description,
        Axis("confidence from which boxes count", "confidence"),
        Axis("error", "error", UNIT),
        [lines, dots],
        series=names,
        of=of,
    )


def _points(confidences: np.ndarray, values: np.ndarray) -> Points:
    """The points of a curve from the least confidence on, without those that do not exist."""
    pairs = zip(confidences[::-1].tolist(), values[::-1].tolist(), strict=True)
    return tuple((x, y) for x, y in pairs if y == y)
