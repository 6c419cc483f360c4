"""How often a confidence is right: the reliability of annotations, and curves per concept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.curves import Curve

BINS = 10


@dataclass(frozen=True, slots=True)
class Reliability:
    """A run's bins (mean confidence, share that is true, count), and the expected error.

    `error` is the mean distance of the two, weighted by the counts.
    """

    name: str
    bins: tuple[tuple[float, float, int], ...]
    error: float


def reliability(
    truth: LabelMatrix, runs: Iterable[LabelMatrix], *, bins: int = BINS
) -> tuple[Reliability, ...]:
    """The reliability of every run with confidences; truth and runs have the same items."""
    if bins < 1:
        raise UsageError(f"bins={bins}: expected at least 1")
    true = np.asarray(truth.rows(0, len(truth.items))[0], dtype=bool).ravel()
    found = []
    for run in runs:
        if run.is_binary:
            continue
        sure = np.asarray(run.rows(0, len(truth.items))[1], dtype=float).ravel()
        if sure.min() < 0 or sure.max() > 1:
            raise UsageError(f"{run.name}: reliability is of confidences between 0 and 1")
        at = np.minimum((sure * bins).astype(int), bins - 1)
        counts = np.bincount(at, minlength=bins)
        held = np.flatnonzero(counts)
        means = np.bincount(at, sure, bins)[held] / counts[held]
        shares = np.bincount(at, true, bins)[held] / counts[held]
        error = float((np.abs(means - shares) * counts[held]).sum() / len(sure))
        rows = zip(means.tolist(), shares.tolist(), counts[held].tolist(), strict=True)
        found.append(Reliability(run.name, tuple(rows), error))
    if not found:
        raise UsageError("reliability needs runs with confidences")
    return tuple(found)


def concept_curves(truth: LabelMatrix, run: LabelMatrix) -> tuple[Curve, ...]:
    """Precision against recall of every concept over all thresholds, ties in one step."""
    if run.is_binary:
        raise UsageError(f"{run.name}: precision against recall needs confidences")
    true = np.asarray(truth.rows(0, len(truth.items))[0], dtype=bool)
    sure = np.asarray(run.rows(0, len(truth.items))[1], dtype=float)
    return tuple(
        Curve(concept, _recall_points(true[:, j], sure[:, j]))
        for j, concept in enumerate(truth.concepts)
        if true[:, j].any()
    )


def _recall_points(true: np.ndarray, sure: np.ndarray) -> tuple[tuple[float, float], ...]:
    order = np.argsort(-sure, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(sure[order])), len(order) - 1)
    hits = np.cumsum(true[order])[ends]
    recall, precision = hits / true.sum(), hits / (ends + 1)
    return tuple(zip(recall.tolist(), precision.tolist(), strict=True))
