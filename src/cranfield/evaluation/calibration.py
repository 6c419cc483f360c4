"""How often a confidence is right: reliability, curves per concept, and calibration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError, check_at_most
from cranfield.evaluation.precision_recall import Curve
from cranfield.evaluation.run_calibration import platt_curve
from cranfield.options import RELIABILITY_BINS
from cranfield.work.seeds import generator

_STREAM = 61


@dataclass(frozen=True, slots=True)
class Reliability:
    """A run's bins (mean confidence, share that is true, count), and the expected error.

    `error` is the mean distance of the two, weighted by the counts.
    """

    name: str
    bins: tuple[tuple[float, float, int], ...]
    error: float


def reliability(
    truth: LabelMatrix, runs: Iterable[LabelMatrix], *, bins: int = RELIABILITY_BINS
) -> tuple[Reliability, ...]:
    """The reliability of every run with confidences; truth and runs have the same items."""
    if bins < 1:
        raise UsageError(f"bins={bins}: expected at least 1")
    true = np.asarray(truth.rows(0, len(truth.items))[0], dtype=bool).ravel()
    diagrams = []
    for run in runs:
        if run.is_binary:
            continue
        sure = np.asarray(run.rows(0, len(truth.items))[1], dtype=float).ravel()
        if sure.min() < 0 or sure.max() > 1:
            raise UsageError(f"{run.name}: reliability is of confidences between 0 and 1")
        at = np.minimum((sure * bins).astype(int), bins - 1)
        counts = np.bincount(at, minlength=bins)
        filled_bins = np.flatnonzero(counts)
        means = np.bincount(at, sure, bins)[filled_bins] / counts[filled_bins]
        shares = np.bincount(at, true, bins)[filled_bins] / counts[filled_bins]
        error = float((np.abs(means - shares) * counts[filled_bins]).sum() / len(sure))
        rows = zip(means.tolist(), shares.tolist(), counts[filled_bins].tolist(), strict=True)
        diagrams.append(Reliability(run.name, tuple(rows), error))
    if not diagrams:
        raise UsageError("reliability needs runs with confidences")
    return tuple(diagrams)


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


def calibrated(
    truth: LabelMatrix, run: LabelMatrix, *, folds: int = 5, rng: int = 0
) -> LabelMatrix:
    """A run whose confidences are chances: a logistic curve for each concept (Platt, 1999).

    The curve of an item is fitted to the items of the other folds, so that no item's truth
    decides its own confidence. A concept's own order of items stays but for the folds' borders.
    """
    if run.is_binary:
        raise UsageError(f"{run.name}: only confidences can be calibrated")
    check_at_most(len(truth.items), folds=folds)
    if folds < 2:
        raise UsageError(f"folds={folds}: expected at least 2")
    true = np.asarray(truth.rows(0, len(truth.items))[0], dtype=bool)
    sure = np.asarray(run.rows(0, len(truth.items))[1], dtype=float)
    fold = generator(rng, _STREAM).permutation(len(true)) % folds
    confidences = np.empty_like(sure)
    for part in range(folds):
        inside = fold == part
        for concept in range(sure.shape[1]):
            values, labels = sure[~inside, concept], true[~inside, concept]
            curve = platt_curve(values, labels, np.ones(len(values)))
            confidences[inside, concept] = curve(sure[inside, concept])
    return replace(run, confidences=confidences, labels=None)
