"""What builders share: measures by name, the order of runs, axes of names, curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cranfield.errors import UsageError, suggest
from cranfield.evaluation.precision_recall import Curve
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure
from cranfield.report.charts.layout import MANY
from cranfield.report.charts.model import Axis, Band, Chart, Dot, Line, Ramp, all_finite, chart

MOST_POINTS = 200
MOST_DOTS = 30  # on a line: beyond that they run together
MOST_NAMES = 80  # of columns: beyond that there is no room for names
MOST_BANDS = 12  # beyond that they hide each other


def measure_of(scores: Scores, measure: str | None) -> Measure:
    """A measure of the scores by name; the first one without a name."""
    if measure is None:
        return scores.measures[0]
    for known_measure in scores.measures:
        if str(known_measure) == measure:
            return known_measure
    names = [str(m) for m in scores.measures]
    raise UsageError(f"no scores for {measure!r}.{suggest(measure, names)}")


def values_of(scores: Scores, measure: Measure) -> Any:
    """The values per topic, item or concept, or a UsageError where there are none."""
    if measure not in scores.values or scores.unit_of[measure] == "whole":
        raise UsageError(f"{measure} has no values per topic, item or concept to draw")
    return scores.values[measure]


def best_first(scores: Scores, measure: Measure) -> list[int]:
    """Positions of the runs, the best mean first; runs without a value come last."""
    return scores.best_first(measure)


def number(value: Any) -> Any:
    """A value as JSON has it: NaN and infinities are null."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def thin_points(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `MOST_POINTS` points of a curve in the unit square, spread evenly, ends included."""
    if len(points) <= MOST_POINTS:
        return list(points)
    selected, step = [points[0]], 2 / (MOST_POINTS - 2)
    for point in points[1:-1]:
        if abs(point[0] - selected[-1][0]) + abs(point[1] - selected[-1][1]) >= step:
            selected.append(point)
    return [*selected, points[-1]]


def column_axis(title: str, names: Iterable[str], field: str) -> Axis:
    """Names across; where they are too many the title says how many there are."""
    labels = tuple(names)
    readable = len(labels) <= MOST_NAMES
    count = "" if readable else f" ({len(labels)})"
    return Axis(f"{title}{count}", field, names=labels, shown=readable)


def heat_ramp(title: str, values: Iterable[float], *, reverse: bool = False) -> Ramp:
    """A ramp from the least to the greatest value."""
    finite = [v for v in values if all_finite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    return Ramp(title, low, high, "heat", reverse)


def curve_chart(
    curves: Sequence[Curve],
    *,
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    of: str = "run",
    bands: bool = True,
    **options: Any,
) -> Chart:
    """Curves in one plot, named in a legend; bands where they are few enough to be seen."""
    with_bands = bands and len(curves) <= MOST_BANDS
    dotted = len(curves) <= MANY and all(len(c.points) <= MOST_DOTS for c in curves)
    return chart(
        title,
        description,
        x,
        y,
        [
            [Band(c.band, i, c.name) for i, c in enumerate(curves) if c.band] if with_bands else [],
            [Line(c.points, i, c.name, dots=dotted) for i, c in enumerate(curves)],
        ],
        series=tuple(c.name for c in curves),
        of=of,
        **options,
    )


def named_dots(names: Sequence[str], xs: Iterable[float], ys: Iterable[float]) -> list[Dot]:
    """A labelled dot for each name."""
    return [
        Dot(float(a), float(b), "accent", f"{name}: {a:.4g}, {b:.4g}", name)
        for name, a, b in zip(names, xs, ys, strict=True)
    ]
