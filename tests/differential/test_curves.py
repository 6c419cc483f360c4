"""Curves and areas against scikit-learn."""

import numpy as np
import pytest

from cranfield.data.labels import LabelMatrix
from cranfield.evaluation.calibration import concept_curves, reliability
from cranfield.evaluation.precision_recall import count_at_cutoffs, operating_curves, roc_curve

sklearn_metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
sklearn_calibration = pytest.importorskip("sklearn.calibration")

NAMES = {"items": [f"i{k:03d}" for k in range(80)], "concepts": ["A", "B", "C"]}


@pytest.fixture(scope="module", params=range(5))
def annotated(request):
    rng = np.random.default_rng(request.param)
    true = rng.random((80, 3)) < 0.4
    # Rounded, so that confidences tie.
    sure = np.round(np.clip(0.5 * true + rng.random((80, 3)) * 0.6, 0, 1), 2)
    return true, sure


def matrices(true, sure):
    return LabelMatrix.of(true, **NAMES), LabelMatrix.of(sure, **NAMES)


def test_precision_against_recall_of_concepts(annotated):
    true, sure = annotated
    for j, curve in enumerate(concept_curves(*matrices(true, sure))):
        precision, recall, _ = sklearn_metrics.precision_recall_curve(true[:, j], sure[:, j])
        # scikit-learn goes from the lowest threshold up and adds the point (0, 1).
        expected = list(zip(recall[:-1][::-1], precision[:-1][::-1], strict=True))
        np.testing.assert_allclose(curve.points, expected)


def test_reliability_is_the_calibration_curve(annotated):
    true, sure = annotated
    truth, run = matrices(true, sure)
    (found,) = reliability(truth, [run], bins=7)
    # Their bins are closed above, ours below: numbers that lie on no edge fall into the same.
    shares, means = sklearn_calibration.calibration_curve(true.ravel(), sure.ravel(), n_bins=7)
    np.testing.assert_allclose([b[0] for b in found.bins], means)
    np.testing.assert_allclose([b[1] for b in found.bins], shares)


def test_roc_area(annotated):
    true, sure = annotated
    area = sklearn_metrics.roc_auc_score(true.ravel(), sure.ravel())
    assert roc_curve(true, sure).auc == pytest.approx(area)


def test_operating_area_of_rankings_is_the_mean_of_roc_areas(annotated):
    """Topics are concepts; items that a run does not retrieve tie behind all others."""
    true, sure = annotated
    items = NAMES["items"]
    truth, run, areas = {}, {}, []
    for j, topic in enumerate(NAMES["concepts"]):
        scores = sure[:, j] + np.arange(80) * 1e-6
        kept = np.argsort(-scores)[: 50 - 10 * j]
        truth[topic] = {items[k]: int(true[k, j]) for k in range(80)}
        run[topic] = {items[k]: float(scores[k]) for k in kept}
        behind = np.full(80, -1.0)
        behind[kept] = scores[kept]
        areas.append(sklearn_metrics.roc_auc_score(true[:, j], behind))
    counts = count_at_cutoffs(truth, {"run": run}, collection_size=80)
    assert operating_curves(counts)["run"].auc == pytest.approx(np.mean(areas))
