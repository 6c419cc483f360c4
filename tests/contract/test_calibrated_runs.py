"""Runs made probabilities: curves equal scikit-learn's, no item is calibrated by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.data.labels import LabelMatrix
from cranfield.errors import NeedsError, UsageError
from cranfield.evaluation.calibration import isotonic_curve, platt_curve, temperature_curve

ITEMS, CONCEPTS = 400, 5
TRIED = np.linspace(-3, 3, 41)


def _cells(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and scores whose logits are three times too steep."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.0, 1.0, (ITEMS, CONCEPTS))
    labels = rng.random(logits.shape) < 1 / (1 + np.exp(-logits))
    return labels, np.round(3 * logits, 2)


def _matrix(values: np.ndarray, name: str = "truth", *, unbounded: bool = False) -> LabelMatrix:
    items = [f"i{n:03d}" for n in range(len(values))]
    concepts = [f"c{n}" for n in range(values.shape[1])]
    return LabelMatrix.of(values, items=items, concepts=concepts, name=name, unbounded=unbounded)


def _run(scores: np.ndarray) -> LabelMatrix:
    return _matrix(1 / (1 + np.exp(-scores)), "mine")


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_is_that_of_scikit_learn(weighted: bool) -> None:
    isotonic = pytest.importorskip("sklearn.isotonic")
    labels, scores = (part.ravel() for part in _cells())
    weights = np.random.default_rng(2).uniform(1, 3 if weighted else 1, len(labels))
    theirs = isotonic.IsotonicRegression(out_of_bounds="clip").fit(scores, labels, weights)
    ours = isotonic_curve(scores, labels, weights)(TRIED)
    assert ours == pytest.approx(theirs.predict(TRIED), abs=1e-9)


def test_platt_is_that_of_scikit_learn() -> None:
    calibration = pytest.importorskip("sklearn.calibration")
    labels, scores = (part.ravel() for part in _cells())
    theirs = calibration._SigmoidCalibration().fit(scores, labels)
    ours = platt_curve(scores, labels, np.ones(len(labels)))(TRIED)
    assert ours == pytest.approx(theirs.predict(TRIED), abs=1e-5)


def test_temperature_is_recovered_and_has_the_least_loss() -> None:
    labels, scores = (part.ravel() for part in _cells())
    curve = temperature_curve(scores, labels, np.ones(len(labels)))
    factor = float(np.log(curve(np.array([1.0])) / (1 - curve(np.array([1.0]))))[0])
    assert factor == pytest.approx(1 / 3, abs=0.06)  # the logits were three times too steep
    # Where the loss is least its derivative is zero.
    chances = 1 / (1 + np.exp(-factor * scores))
    assert abs(((chances - labels) * scores).mean()) < 1e-6


@pytest.mark.parametrize("method", ["isotonic", "platt", "temperature"])
@pytest.mark.parametrize("per", ["run", "concept"])
def test_losses_fall_and_are_those_of_the_measures(method: str, per: str) -> None:
    labels, scores = _cells()
    truth, run = _matrix(labels), _run(scores)
    answer = cf.calibrate(truth, run, method=method, per=per)
    names = "Brier LogLoss ECE(mean='micro')"
    before, after = (
        cf.evaluate_labels(truth, {"x": matrix}, names).mean()["x"]
        for matrix in (run, answer.labels)
    )
    for name, (old, new) in answer.measures.items():
        assert old == pytest.approx(before[name], abs=1e-12)
        assert new == pytest.approx(after[name], abs=1e-12)
    assert after["Brier"] < before["Brier"] - 0.01
    assert after["ECE(mean='micro')"] < before["ECE(mean='micro')"] / 2


def test_no_item_is_calibrated_by_itself() -> None:
    labels, scores = _cells()
    first = cf.calibrate(_matrix(labels), _run(scores))
    changed = labels.copy()
    changed[7] = ~changed[7]
    second = cf.calibrate(_matrix(changed), _run(scores))
    assert (first.labels.confidences[7] == second.labels.confidences[7]).all()
    assert (first.labels.confidences != second.labels.confidences).any()


def test_what_was_fitted_on_is_left_out() -> None:
    labels, scores = _cells()
    on = [f"i{n:03d}" for n in range(100)]
    answer = cf.calibrate(_matrix(labels), _run(scores), on=on)
    assert answer.labels.items[0] == "i100"
    assert len(answer.labels.items) == 300
    confidences = np.asarray(_run(scores).confidences)
    curve = isotonic_curve(confidences[:100].ravel(), labels[:100].ravel(), np.ones(500))
    assert answer.labels.confidences == pytest.approx(curve(confidences[100:]))


def test_only_judged_cells_count_by_their_probability() -> None:
    labels, scores = _cells()
    judged = np.random.default_rng(3).random(labels.shape) < 0.5
    turned = np.where(judged, labels, ~labels)
    partly = replace(_matrix(turned & judged), judged=judged)
    first = cf.calibrate(partly, _run(scores))
    second = cf.calibrate(replace(_matrix(labels & judged), judged=judged), _run(scores))
    assert (first.labels.confidences == second.labels.confidences).all()


def test_scores_of_any_size_and_items_without_a_truth() -> None:
    labels, scores = _cells()
    run = _matrix(scores, "mine", unbounded=True)
    answer = cf.calibrate(_matrix(labels[:300]), run, method="platt", scores="any")
    assert len(answer.labels.items) == ITEMS
    assert not answer.labels.unbounded
    assert not answer.measures
    assert any("100 items without a truth" in note for note in answer.notes)


def test_what_cannot_be_calibrated_is_refused() -> None:
    labels, scores = _cells()
    with pytest.raises(NeedsError, match="labels alone"):
        cf.calibrate(_matrix(labels), _matrix(scores > 0))
    with pytest.raises(UsageError, match="of both kinds"):
        cf.calibrate(_matrix(np.zeros(labels.shape)), _run(scores))
    with pytest.raises(UsageError, match="written for the others"):
        cf.calibrate(_matrix(labels), _run(scores), on=["nothing"])


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels, scores = _cells()
    cf.write_labels(_matrix(labels), tmp_path / "truth.csv")
    cf.write_labels(_run(scores), tmp_path / "mine.csv")
    out = tmp_path / "calibrated.csv"
    words = ["runs", "calibrate", str(tmp_path / "truth.csv"), str(tmp_path / "mine.csv")]
    assert main([*words, "--method", "platt", "-o", str(out)]) == 0
    assert "Brier" in capsys.readouterr().out
    written = cf.read_labels(out)
    assert written.shape == (ITEMS, CONCEPTS)
    expected = cf.calibrate(_matrix(labels), cf.read_labels(tmp_path / "mine.csv"), method="platt")
    assert written.confidences == pytest.approx(np.asarray(expected.labels.confidences), abs=1e-6)
