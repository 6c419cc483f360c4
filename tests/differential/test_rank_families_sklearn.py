"""Normalized recall is the area under the ROC curve, and so on: scikit-learn as a witness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the witness here")

ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=30).filter(
    lambda rows: 0 < sum(r[0] for r in rows) < len(rows)
)


def evaluate(rows: list[tuple[int, int]], name: str, **options: object) -> float:
    judgements = {"t": {f"i{n}": grade for n, (grade, _) in enumerate(rows)}}
    run = {"t": {f"i{n}": float(score) for n, (_, score) in enumerate(rows)}}
    scores = cf.evaluate(judgements, run, name, collection_size=len(rows), **options)
    return next(iter(scores.mean()["run"].values()))


@given(rows=ROWS)
@settings(max_examples=100, deadline=None)
def test_norm_recall_is_the_area_under_the_roc_curve(rows: list[tuple[int, int]]) -> None:
    """With the mean ranks of ties, which the curve joins by straight lines."""
    truth, scores = zip(*rows, strict=True)
    wanted = metrics.roc_auc_score(truth, scores)
    assert evaluate(rows, "NormRecall", ties="average") == pytest.approx(wanted)
    assert evaluate(rows, "NormRecall(scale=5)", ties="average") == pytest.approx(
        1 - 5 * (1 - wanted)
    )


@given(rows=ROWS)
@settings(max_examples=100, deadline=None)
def test_shrec_ap_of_a_whole_ranking_is_average_precision(rows: list[tuple[int, int]]) -> None:
    truth = [grade for grade, _ in rows]
    order = np.arange(len(rows), 0, -1)
    ranked = [(grade, int(score)) for grade, score in zip(truth, order, strict=True)]
    assert evaluate(ranked, "ShrecAP") == pytest.approx(
        metrics.average_precision_score(truth, order)
    )


@given(rows=ROWS, k=st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_counts_are_the_confusion_matrix(rows: list[tuple[int, int]], k: int) -> None:
    truth = [grade for grade, _ in rows]
    ranked = [(grade, len(rows) - n) for n, grade in enumerate(truth)]
    predicted = [int(n < k) for n in range(len(rows))]
    tn, fp, fn, tp = metrics.confusion_matrix(truth, predicted, labels=[0, 1]).ravel()
    for name, wanted in (("TP", tp), ("FP", fp), ("FN", fn), ("TN", tn)):
        assert evaluate(ranked, f"{name}@{k}") == wanted
