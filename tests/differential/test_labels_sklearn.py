"""Equal to scikit-learn where both define the same thing, to 1e-12."""

import math
import warnings

import numpy as np
import pytest

from cranfield.data.labels import LabelMatrix
from cranfield.evaluation.labels import evaluate_labels
from tests.peers import sklearn_metrics as sk

MEASURES = (
    "P.concept R.concept F.concept P.concept(mean='micro') R.concept(mean='micro') "
    "F.concept(mean='micro') Accuracy.concept P.example R.example F.example Accuracy.example "
    "HammingLoss ExactMatch AP.example Coverage RankingLoss AUC AP.concept"
)
CLOSE = {"rel": 0, "abs": 1e-12}


def problem(seed: int):
    """A random problem: ties, empty rows and columns, constant scores, all of them at times."""
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(3, 40)), int(rng.integers(3, 15))
    truth = rng.random((n, c)) < rng.uniform(0.05, 0.7)
    scores = rng.random((n, c))
    if seed % 2:
        scores = scores.round(1)
    if seed % 3 == 0:
        truth[rng.integers(n)] = False
        truth[:, rng.integers(c)] = False
    if seed % 5 == 0:
        scores[:, rng.integers(c)] = 0.5
        scores[rng.integers(n)] = 0.25
    if seed % 7 == 0:
        truth[rng.integers(n)] = True
        truth[:, rng.integers(c)] = True
    return truth, scores


def ours(truth, scores):
    return evaluate_labels(LabelMatrix.of(truth, name="truth"), [scores], MEASURES, jobs=1)


def edge(value, truth, predicted):
    """Where scikit-learn says 0/0, the catalogue says 1 for two empty sets, else 0."""
    both = ~truth.any() and ~predicted.any()
    return float(both) if math.isnan(value) else value


@pytest.mark.parametrize("seed", range(200))
def test_equal_to_scikit_learn(seed):
    truth, confidences = problem(seed)
    predicted = confidences >= 0.5
    scores = ours(truth, confidences)
    means = scores.mean()["run1"]
    for name, function in (
        ("P", sk.precision_score),
        ("R", sk.recall_score),
        ("F", sk.f1_score),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            each = function(truth, predicted, average=None, zero_division=np.nan)
            pooled = function(truth, predicted, average="micro", zero_division=np.nan)
            rows = function(truth.T, predicted.T, average=None, zero_division=np.nan)
        concept = [edge(v, truth[:, j], predicted[:, j]) for j, v in enumerate(np.atleast_1d(each))]
        assert means[f"{name}.concept"] == pytest.approx(np.mean(concept), **CLOSE)
        assert means[f"{name}.concept(mean='micro')"] == pytest.approx(
            edge(float(pooled), truth, predicted), **CLOSE
        )
        item = [edge(v, truth[i], predicted[i]) for i, v in enumerate(np.atleast_1d(rows))]
        assert means[f"{name}.example"] == pytest.approx(np.mean(item), **CLOSE)
    assert means["HammingLoss"] == pytest.approx(sk.hamming_loss(truth, predicted), **CLOSE)
    assert means["ExactMatch"] == pytest.approx(sk.accuracy_score(truth, predicted), **CLOSE)
    assert means["Accuracy.example"] == pytest.approx(
        sk.jaccard_score(truth, predicted, average="samples", zero_division=1), **CLOSE
    )
    assert means["Accuracy.concept"] == pytest.approx(
        1 - sk.hamming_loss(truth, predicted), **CLOSE
    )


@pytest.mark.parametrize("seed", range(200))
def test_ranked_equal_to_scikit_learn(seed):
    truth, confidences = problem(seed)
    scores = ours(truth, confidences)
    kept = truth.any(axis=1)
    if kept.any():
        rows, values = truth[kept], confidences[kept]
        means = scores.mean()["run1"]
        assert means["AP.example"] == pytest.approx(
            sk.label_ranking_average_precision_score(rows, values), **CLOSE
        )
        # scikit-learn counts from the first rank, the thesis from the number of true concepts.
        offset = rows.sum(axis=1).mean()
        assert means["Coverage"] == pytest.approx(sk.coverage_error(rows, values) - offset, **CLOSE)
        both = kept & ~truth.all(axis=1)
        if both.any():
            assert means["RankingLoss"] == pytest.approx(
                sk.label_ranking_loss(truth[both], confidences[both]), **CLOSE
            )
    for row in scores.per_concept():
        y, s = truth[:, int(row["concept"])], confidences[:, int(row["concept"])]
        if y.any():
            assert row["AP.concept"] == pytest.approx(sk.average_precision_score(y, s), **CLOSE)
        else:
            assert row["AP.concept"] is None
        if y.any() and not y.all():
            assert row["AUC"] == pytest.approx(sk.roc_auc_score(y, s), **CLOSE)
        else:
            assert row["AUC"] is None
    left = scores.to_dict()["runs"][0]["concepts"]["left_out"]
    assert left["AP.concept"] == int((~truth.any(axis=0)).sum())


def test_constant_run_has_auc_one_half():
    truth = np.array([[True], [False], [False]])
    scores = evaluate_labels(truth, [np.full((3, 1), 0.3)], "AUC EER")
    assert scores.mean()["run1"] == {"AUC": 0.5, "EER": 0.5}


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-13, 0.0])
def test_long_columns(spread):
    """Enough items for the radix sort, down to confidences that differ in their last bits only."""
    rng = np.random.default_rng(13)
    truth = rng.random((4000, 2)) < [0.4, 0.02]
    confidences = 0.5 - spread / 2 + spread * rng.integers(0, 3000, truth.shape) / 3000
    rows = ours(truth, confidences).per_concept()
    for j, row in enumerate(rows):
        y, s = truth[:, j], confidences[:, j]
        assert row["AUC"] == pytest.approx(sk.roc_auc_score(y, s), **CLOSE)
        assert row["AP.concept"] == pytest.approx(sk.average_precision_score(y, s), **CLOSE)


@pytest.mark.parametrize("seed", range(60))
def test_chance_and_weights_equal_scikit_learn(seed):
    """Matthews correlation, kappa, balanced accuracy per concept and pooled; weighted P, R, F."""
    truth, confidences = problem(seed)
    predicted = confidences >= 0.5
    names = ("MCC", "Kappa", "BalancedAccuracy")
    asked = " ".join(f"{n}.concept {n}.concept(mean='micro')" for n in names)
    weighted = " ".join(f"{n}.concept(mean='weighted')" for n in "PRF")
    scores = evaluate_labels(
        LabelMatrix.of(truth, name="truth"), {"run": predicted}, f"{asked} {weighted}", jobs=1
    )
    means = scores.mean()["run"]
    functions = (sk.matthews_corrcoef, sk.cohen_kappa_score, sk.balanced_accuracy_score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in zip(names, functions, strict=True):
            for j, row in enumerate(scores.per_concept()):
                one_class = truth[:, j].all() or not truth[:, j].any()
                theirs = function(truth[:, j], predicted[:, j])
                if math.isnan(theirs) or (name != "Kappa" and one_class):
                    assert row[f"{name}.concept"] is None
                else:
                    assert row[f"{name}.concept"] == pytest.approx(theirs, **CLOSE)
            pooled = function(truth.ravel(), predicted.ravel())
            assert means[f"{name}.concept(mean='micro')"] == pytest.approx(pooled, **CLOSE)
        for name, function in zip(
            "PRF", (sk.precision_score, sk.recall_score, sk.f1_score), strict=True
        ):
            theirs = function(truth, predicted, average="weighted", zero_division=0)
            assert means[f"{name}.concept(mean='weighted')"] == pytest.approx(theirs, **CLOSE)
