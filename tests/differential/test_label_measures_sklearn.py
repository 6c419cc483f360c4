"""Measures of annotation that scikit-learn has as well, and graded ones, to 1e-12."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, MeasureError, NeedsError
from cranfield.evaluation.labels import evaluate_labels
from tests.peers import sklearn_metrics as sk

CLOSE = {"rel": 0, "abs": 1e-12}


def problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Every item and every concept has both classes; ties at times."""
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(6, 60)), int(rng.integers(3, 12))
    truth = rng.random((n, c)) < rng.uniform(0.2, 0.6)
    truth[np.arange(n), np.arange(n) % c] = True
    truth[np.arange(n), (np.arange(n) + 1) % c] = False
    scores = rng.random((n, c))
    return truth, scores.round(1) if seed % 2 else scores


def means(truth: np.ndarray, scores: np.ndarray, measures: str) -> dict[str, float]:
    return evaluate_labels(truth, [scores], measures, jobs=1).mean()["run1"]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_over_concepts(seed: int, average: str) -> None:
    truth, scores = problem(seed)
    labels = scores >= 0.5
    mean = f"mean={average!r}"
    values = means(
        truth,
        scores,
        f"AP.concept({mean}) AUC({mean}) F.concept(beta=2, {mean}) Jaccard.concept({mean})",
    )
    options = {"average": average, "zero_division": 0}
    assert list(values.values()) == [
        pytest.approx(sk.average_precision_score(truth, scores, average=average), **CLOSE),
        pytest.approx(sk.roc_auc_score(truth, scores, average=average), **CLOSE),
        pytest.approx(sk.fbeta_score(truth, labels, beta=2, **options), **CLOSE),
        pytest.approx(sk.jaccard_score(truth, labels, **options), **CLOSE),
    ]


@pytest.mark.parametrize("seed", range(30))
def test_probabilities_and_specificity(seed: int) -> None:
    truth, scores = problem(seed)
    columns = list(zip(truth.T, scores.T, strict=True))
    values = means(truth, scores, "Brier LogLoss Specificity.concept F.example(beta=0.5)")
    assert values == {
        "Brier": pytest.approx(np.mean([sk.brier_score_loss(t, s) for t, s in columns]), **CLOSE),
        "LogLoss": pytest.approx(np.mean([sk.log_loss(t, s) for t, s in columns]), **CLOSE),
        "Specificity.concept": pytest.approx(
            np.mean([sk.recall_score(t, s >= 0.5, pos_label=0) for t, s in columns]), **CLOSE
        ),
        "F.example(beta=0.5)": pytest.approx(
            sk.fbeta_score(truth, scores >= 0.5, beta=0.5, average="samples", zero_division=0),
            **CLOSE,
        ),
    }


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_calibration_error_by_hand(bins: int) -> None:
    truth, scores = problem(4)
    expected = 0.0
    for b in range(bins):
        inside = (scores >= b / bins) & ((scores < (b + 1) / bins) | (b == bins - 1))
        if inside.any():
            gap = abs(scores[inside].mean() - truth[inside].mean())
            expected += inside.mean() * gap
    name = f"ECE(bins={bins}, mean='micro')"
    assert list(means(truth, scores, name).values()) == [pytest.approx(expected, **CLOSE)]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("k", [1, 2, 5])
def test_cutoffs_per_item(seed: int, k: int) -> None:
    truth, _ = problem(seed)
    scores = np.random.default_rng(seed).permutation(truth.size).reshape(truth.shape) / truth.size
    values = means(truth, scores, f"P@{k}.example R@{k}.example nDCG@{k}.example")
    best = np.argsort(-scores, axis=1)[:, :k]
    hits = np.take_along_axis(truth, best, axis=1).sum(axis=1)
    assert list(values.values()) == [
        pytest.approx((hits / k).mean(), **CLOSE),
        pytest.approx((hits / truth.sum(axis=1)).mean(), **CLOSE),
        pytest.approx(sk.ndcg_score(truth, scores, k=k), **CLOSE),
    ]


def test_top_k_accuracy() -> None:
    rng = np.random.default_rng(3)
    classes, scores = rng.integers(0, 6, 50), rng.random((50, 6))
    truth = np.eye(6, dtype=bool)[classes]
    for k in (1, 2, 5):
        value = means(truth, scores, f"Success@{k}.example")[f"Success@{k}.example"]
        assert value == pytest.approx(sk.top_k_accuracy_score(classes, scores, k=k), **CLOSE)


@pytest.mark.parametrize("seed", range(20))
def test_gain_of_grades(seed: int) -> None:
    truth, scores = problem(seed)
    grades = np.where(truth, np.random.default_rng(seed).integers(1, 4, truth.shape), 0)
    grades[0, np.argmax(truth[0])] = 3
    names = "nDCG.example nDCG@3.example nDCG.concept nDCG.example(gain='exp')"
    assert list(means(grades, scores, names).values()) == [
        pytest.approx(sk.ndcg_score(grades, scores), **CLOSE),
        pytest.approx(sk.ndcg_score(grades, scores, k=3), **CLOSE),
        pytest.approx(sk.ndcg_score(grades.T, scores.T), **CLOSE),
        pytest.approx(sk.ndcg_score(2.0**grades - 1, scores), **CLOSE),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_rank_correlations(seed: int) -> None:
    truth, scores = problem(seed)
    grades = np.where(truth, np.random.default_rng(seed).integers(1, 4, truth.shape), 0)
    grades[0, np.argmax(truth[0])] = 3
    for unit, rows, ranked in (("example", grades, scores), ("concept", grades.T, scores.T)):
        values = means(grades, scores, f"Spearman.{unit} Tau.{unit}")
        pairs = [(g, s) for g, s in zip(rows, ranked, strict=True) if np.ptp(g) and np.ptp(s)]
        assert list(values.values()) == [
            pytest.approx(np.mean([stats.spearmanr(g, s).statistic for g, s in pairs]), **CLOSE),
            pytest.approx(np.mean([stats.kendalltau(g, s).statistic for g, s in pairs]), **CLOSE),
        ]


def test_graded_average_precision_by_its_definition() -> None:
    # The definition adds up pairs of ranks: what both have of the levels is the lower grade.
    ranked, levels = [2, 0, 1, 3, 0, 1], 3
    above = sum(
        min(ranked[n], ranked[m]) / levels / (n + 1) for n in range(6) for m in range(n + 1)
    )
    expected = above / sum(grade / levels for grade in ranked)
    scores = np.linspace(0.9, 0.1, 6)[None, :]
    assert list(means(np.array([ranked]), scores, "GAP.example").values()) == [
        pytest.approx(expected, **CLOSE)
    ]
    truth, confidences = problem(2)
    values = means(truth, confidences, "GAP.concept AP.concept")
    assert values["GAP.concept"] == pytest.approx(values["AP.concept"], **CLOSE)
    with pytest.raises(MeasureError, match="above levels=2"):
        means(np.array([ranked]), scores, "GAP.example(levels=2)")


def test_graded_sets_by_hand() -> None:
    grades = np.array([[3, 1, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
    run = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=bool)
    values = means(grades, run, "gP.example gR.example gF.example gP.concept gR.concept")
    precision, recall = [0.5, 2 / 3, 1], [0.75, 1, 1]
    f = [2 * p * r / (p + r) for p, r in zip(precision, recall, strict=True)]
    assert list(values.values()) == [
        pytest.approx(np.mean(precision), **CLOSE),
        pytest.approx(np.mean(recall), **CLOSE),
        pytest.approx(np.mean(f), **CLOSE),
        pytest.approx(np.mean([1, 2 / 3, 0, 1]), **CLOSE),
        pytest.approx(np.mean([1, 2 / 3, 0, 1]), **CLOSE),
    ]


def test_scores_of_any_size_are_no_probabilities() -> None:
    run = LabelMatrix.of(np.array([[3.0, -2.0]]), name="r", unbounded=True)
    with pytest.raises(NeedsError, match="no probabilities, which Brier"):
        evaluate_labels(np.array([[1, 0]]), [run], "Brier")


def test_grades_in_files(tmp_path) -> None:
    wide, long, run = (tmp_path / f"{name}.csv" for name in ("wide", "long", "run"))
    wide.write_text("item,x,y,z\na,3,0,1\nb,0,2,0\n")
    long.write_text("item,concept,value\na,x,3\na,z,1\nb,y,2\n")
    run.write_text("item,x,y,z\na,0.1,0.2,0.9\nb,0.3,0.8,0.1\n")
    first = (1 + 3 / math.log2(4)) / (3 + 1 / math.log2(3))
    for truth in (wide, long):
        scores = evaluate_labels(truth, [run], "nDCG.example F.example")
        assert scores.mean()["run"]["nDCG.example"] == pytest.approx((first + 1) / 2, **CLOSE)
        assert scores.mean()["run"]["F.example"] == pytest.approx((2 / 3 + 1) / 2, **CLOSE)
        assert "from grade 1 on in F.example" in " ".join(scores.notes)
    shares = tmp_path / "shares.csv"
    shares.write_text("item,x,y,z\na,0.75,0,0.25\nb,0,0.5,0\n")
    scores = evaluate_labels(shares, [run], "nDCG.example")
    assert scores.mean()["run"]["nDCG.example"] == pytest.approx((first + 1) / 2, **CLOSE)
    with pytest.raises(InputError, match="values between 0 and 1"):
        evaluate_labels(shares, [run], "F.example nDCG.example")
    wide.write_text("item,x,y,z\na,-3,0,1\nb,0,2,0\n")
    with pytest.raises(InputError, match="-3"):
        evaluate_labels(wide, [run], "nDCG.example")
