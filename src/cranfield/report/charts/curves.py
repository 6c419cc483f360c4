"""Curves: precision against recall, ROC, and how a measure behaves along the ranks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure, parse_measures
from cranfield.report.charts._spec import INK, Spec, field, frame

LEVELS = tuple(level / 10 for level in range(11))
RECALL_MEASURES = " ".join(f"iP@{level:g}" for level in LEVELS)
MOST_POINTS = 200


def precision_recall(scores: Scores, *, confidence: float = 0.95) -> Spec:
    """Interpolated precision at eleven levels of recall, with a band for each run.

    The scores are those of `RECALL_MEASURES`; the band is Student's interval of each mean.
    """
    rows = recall_points(scores, confidence=confidence)
    x = field("recall", "q", scale={"domain": [0, 1]})
    return frame(
        "Precision at eleven levels of recall",
        f"Mean interpolated precision of {len(scores.runs)} runs at eleven levels of recall, with "
        f"bands of {100 * confidence:g} %.",
        rows,
        width=420,
        height=320,
        encoding={"x": x, "color": field("run", "n", sort=None)},
        layer=[
            {
                "mark": {"type": "area", "opacity": 0.15},
                "encoding": {"y": field("low", "q", "precision"), "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "line", "point": True},
                "encoding": {
                    "y": field("precision", "q", scale={"domain": [0, 1]}),
                    "tooltip": [field(k, "n") for k in ("run", "recall", "precision")],
                },
            },
        ],
    )


def recall_points(scores: Scores, *, confidence: float = 0.95) -> list[dict[str, Any]]:
    """One row per run and level of recall: the mean precision and its interval."""
    by_level = {m.at: m for m in scores.measures if m.name == "iP"}
    if any(level not in by_level for level in LEVELS):
        raise UsageError(f"precision against recall needs the measures {RECALL_MEASURES}")
    boxes = scores.interval(method="t", confidence=confidence)
    means = scores.mean()
    rows = []
    for run in scores.runs:
        for level in LEVELS:
            name = str(by_level[level])
            box = boxes[run][name]
            rows.append(
                {
                    "run": run,
                    "recall": level,
                    "precision": means[run][name],
                    "low": None if box is None else max(box.low, 0.0),
                    "high": None if box is None else min(box.high, 1.0),
                }
            )
    return rows


@dataclass(frozen=True, slots=True)
class Roc:
    """A ROC curve: points from (0, 0) to (1, 1), the rate of equal errors, the area."""

    points: tuple[tuple[float, float], ...]
    eer: float
    auc: float


def roc_curve(truth: Any, confidences: Any) -> Roc:
    """The curve over all thresholds, ties in one step; truth and confidences of equal shape.

    >>> roc_curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    Roc(points=((0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)), eer=0.5, auc=0.75)
    """
    import numpy as np

    true = np.asarray(truth, dtype=bool).ravel()
    scores = np.asarray(confidences, dtype=float).ravel()
    if true.all() or not true.any():
        raise UsageError("a ROC curve needs examples that are true and others that are not")
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    hits = np.cumsum(true[order])[ends]
    y = np.concatenate([[0.0], hits / true.sum()])
    x = np.concatenate([[0.0], (ends + 1 - hits) / (~true).sum()])
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    area = float((np.diff(x) * (y[1:] + y[:-1])).sum() / 2)
    return Roc(tuple(points), _equal_errors(points), area)


def _equal_errors(points: Sequence[tuple[float, float]]) -> float:
    """Where the curve crosses the line FPR = 1 - TPR."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        before, after = x0 + y0 - 1, x1 + y1 - 1
        if after >= 0:
            return x0 + (x1 - x0) * -before / (after - before)
    raise AssertionError("a ROC curve ends at (1, 1)")


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `MOST_POINTS` points, spread evenly along the curve, ends included."""
    if len(points) <= MOST_POINTS:
        return list(points)
    kept, step = [points[0]], 2 / (MOST_POINTS - 2)
    for point in points[1:-1]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= step:
            kept.append(point)
    return [*kept, points[-1]]


def roc(truth: LabelMatrix, runs: Iterable[LabelMatrix], concept: str | None = None) -> Spec:
    """ROC of runs that are aligned to the truth: one concept, or all decisions pooled."""
    rows, marks = [], []
    for run, curve in roc_curves(truth, runs, concept).items():
        label = f"{run} (EER {curve.eer:.3f})"
        rows += [{"run": label, "fpr": x, "tpr": y} for x, y in thinned(curve.points)]
        marks.append({"run": label, "eer": curve.eer, "right": 1 - curve.eer})
    what = f"concept {concept}" if concept else "all items and concepts pooled"
    return frame(
        f"ROC, {what}",
        f"True against false positives of {len(marks)} runs over all thresholds, {what}; the dots "
        "are the points of equal error.",
        rows,
        width=340,
        height=340,
        encoding={"color": field("run", "n", sort=None)},
        layer=[
            {
                "data": {"values": [{"x": 0, "y": 1}, {"x": 1, "y": 0}]},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": INK, "strokeWidth": 1},
                "encoding": {"x": field("x", "q", ""), "y": field("y", "q", ""), "color": {}},
            },
            {
                "mark": {"type": "line", "interpolate": "linear"},
                "encoding": {
                    "x": field("fpr", "q", "false positive rate"),
                    "y": field("tpr", "q", "true positive rate"),
                    "order": {"field": "tpr"},
                },
            },
            {
                "data": {"values": marks},
                "mark": {"type": "point", "filled": True, "size": 60},
                "encoding": {"x": field("eer", "q", ""), "y": field("right", "q", "")},
            },
        ],
    )


def roc_curves(
    truth: LabelMatrix, runs: Iterable[LabelMatrix], concept: str | None = None
) -> dict[str, Roc]:
    """The curve of every run with confidences; truth and runs have the same items."""
    if concept is not None and concept not in truth.concepts:
        raise UsageError(f"the truth has no concept {concept!r}")
    columns = slice(None) if concept is None else slice(*_one(truth.concepts.index(concept)))
    true = truth.rows(0, len(truth.items))[0]
    found = {}
    for run in runs:
        if not run.is_binary:
            confidences = run.rows(0, len(truth.items))[1]
            found[run.name] = roc_curve(true[:, columns], confidences[:, columns])  # type: ignore[index]
    if not found:
        raise UsageError("a ROC curve needs runs with confidences")
    return found


def _one(position: int) -> tuple[int, int]:
    return position, position + 1


def behaviour(
    measures: str | Iterable[str | Measure], *, size: int = 100, relevant: int = 1
) -> Spec:
    """What measures say when one relevant item moves over all ranks of a collection."""
    rows = behaviour_points(measures, size=size, relevant=relevant)
    others = "" if relevant == 1 else f"; {relevant - 1} more not retrieved"
    return frame(
        "A measure against the rank of one relevant item",
        f"The value of each measure when one relevant item stands at rank 1 to {size} of {size}"
        f"{others}.",
        rows,
        width=460,
        height=300,
        mark={"type": "line"},
        encoding={
            "x": field("rank", "q", "rank of the relevant item"),
            "y": field("value", "q"),
            "color": field("measure", "n", sort=None),
            "tooltip": [field(k, "n") for k in ("measure", "rank", "value")],
        },
    )


def behaviour_points(
    measures: str | Iterable[str | Measure], *, size: int, relevant: int
) -> list[dict[str, Any]]:
    """One row per measure and rank of the one relevant item that is retrieved."""
    from cranfield.evaluation.ranked import evaluate

    if not 1 <= relevant <= size:
        raise UsageError(f"{relevant} relevant of {size} items: expected 1 to {size}")
    chosen = parse_measures(measures if isinstance(measures, str) else list(measures))
    width = len(str(size))
    truth: dict[str, Mapping[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for rank in range(1, size + 1):
        topic = f"{rank:0{width}d}"
        truth[topic] = {"hit": 1, **{f"lost{n}": 1 for n in range(relevant - 1)}}
        run[topic] = {
            "hit" if at == rank else f"other{at}": float(-at)
            for at in range(1, size + 2 - relevant)
        }
    scores = evaluate(truth, {"run": run}, chosen, collection_size=size)
    return [
        {"measure": str(m), "rank": rank, "value": float(scores.values[m][0, rank - 1])}
        for m in chosen
        for rank in range(1, size + 1)
    ]
