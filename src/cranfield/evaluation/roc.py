"""ROC curves over all thresholds of a confidence: points, area, the rate of equal errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix


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
    return roc_of_points(list(zip(x.tolist(), y.tolist(), strict=True)))


def roc_of_points(points: Sequence[tuple[float, float]]) -> Roc:
    """The curve through points that rise from (0, 0) to (1, 1)."""
    steps = itertools.pairwise(points)
    area = sum((x1 - x0) * (y0 + y1) for (x0, y0), (x1, y1) in steps) / 2
    return Roc(tuple(points), _equal_errors(points), area)


def _equal_errors(points: Sequence[tuple[float, float]]) -> float:
    """Where the curve crosses the line FPR = 1 - TPR."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        before, after = x0 + y0 - 1, x1 + y1 - 1
        if after >= 0:
            return x0 + (x1 - x0) * -before / (after - before)
    raise AssertionError("a ROC curve ends at (1, 1)")


def roc_curves(
    truth: LabelMatrix, runs: Iterable[LabelMatrix], concept: str | None = None
) -> dict[str, Roc]:
    """The curve of every run with confidences; truth and runs have the same items."""
    if concept is not None and concept not in truth.concepts:
        raise UsageError(f"the truth has no concept {concept!r}")
    at = None if concept is None else truth.concepts.index(concept)
    columns = slice(None) if at is None else slice(at, at + 1)
    true = truth.rows(0, len(truth.items))[0]
    found = {}
    for run in runs:
        if not run.is_binary:
            confidences = run.rows(0, len(truth.items))[1]
            found[run.name] = roc_curve(true[:, columns], confidences[:, columns])  # type: ignore[index]
    if not found:
        raise UsageError("a ROC curve needs runs with confidences")
    return found
