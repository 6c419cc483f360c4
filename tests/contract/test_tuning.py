"""Thresholds are chosen on some items, and what is reported is of the others."""

import json

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.data.labels import LabelMatrix
from cranfield.errors import CranfieldError
from cranfield.evaluation.tuning import evaluate_tuned
from tests.peers import sklearn_metrics


@pytest.fixture(scope="module")
def problem():
    draw = np.random.default_rng(5)
    truth = draw.random((300, 4)) < [0.1, 0.3, 0.5, 0.7]
    # Confidences that are right in their order, each concept on a scale of its own.
    confidences = np.clip((truth * 0.3 + draw.random((300, 4)) * 0.4) * [0.3, 0.6, 1, 1.4], 0, 1)
    items = [f"i{n}" for n in range(300)]
    concepts = ["a", "b", "c", "d"]
    return (
        LabelMatrix.of(truth.astype(int), items=items, concepts=concepts, name="truth"),
        LabelMatrix.of(confidences, items=items, concepts=concepts, name="run"),
    )


def best_by_scikit(truth, confidences, rows):
    tried = np.linspace(0.01, 0.99, 400)
    return [
        max(
            sklearn_metrics.f1_score(truth[rows, c], confidences[rows, c] >= t, zero_division=0)
            for t in tried
        )
        for c in range(truth.shape[1])
    ]


def test_thresholds_per_concept_nearly_reach_the_best_f_there_is(problem):
    truth, run = problem
    on = list(truth.items[:150])
    tuned = evaluate_tuned(truth, [run], "F.concept", tune="F.concept", on=on, per="concept")
    plain = cf.evaluate_labels(truth, [run], "F.concept").mean()["run"]["F.concept"]
    assert tuned.mean()["run"]["F.concept"] > plain + 0.05
    one = evaluate_tuned(truth, [run], "F.concept", tune="F.concept", on=on)
    assert tuned.mean()["run"]["F.concept"] > one.mean()["run"]["F.concept"]
    best = best_by_scikit(truth.labels, run.confidences, np.arange(150, 300))
    assert np.mean(best) - 0.05 < tuned.mean()["run"]["F.concept"] <= np.mean(best) + 1e-9


def test_the_items_of_tuning_do_not_count(problem):
    truth, run = problem
    on, others = list(truth.items[:100]), truth.items[100:]
    found = evaluate_tuned(truth, [run], "F.example", tune="F.example", on=on)
    threshold = float(found.notes[-1].rsplit(" ", 1)[1])
    rest = LabelMatrix.of(
        truth.labels[100:].astype(int), items=others, concepts=truth.concepts, name="truth"
    )
    part = run.map(lambda m: m[100:], items=others)
    expected = cf.evaluate_labels(rest, [part], "F.example", threshold=threshold)
    assert found.mean()["run"]["F.example"] == pytest.approx(
        expected.mean()["run"]["F.example"], abs=1e-12
    )
    assert "which are not among those evaluated" in found.notes[-1]
    # Whatever the truth says of the items that are evaluated, the threshold is the same.
    other = LabelMatrix.of(
        np.vstack([truth.labels[:100], ~truth.labels[100:]]).astype(int),
        items=truth.items,
        concepts=truth.concepts,
        name="truth",
    )
    again = evaluate_tuned(other, [run], "F.example", tune="F.example", on=on)
    assert again.notes[-1] == found.notes[-1]


def test_a_measure_of_loss_is_made_small(problem):
    truth, run = problem
    on = list(truth.items[:150])
    found = evaluate_tuned(truth, [run], "HammingLoss", tune="HammingLoss", on=on)
    plain = cf.evaluate_labels(truth, [run], "HammingLoss")
    assert found.mean()["run"]["HammingLoss"] < plain.mean()["run"]["HammingLoss"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tune": "AP.concept", "on": ["i1"]}, "no threshold changes it"),
        ({"tune": "F.example", "on": ["i1"], "per": "concept"}, "no value per concept"),
        ({"tune": "F.example", "on": ["i1", "nobody"]}, "no item 'nobody'"),
        ({"tune": "F.example", "on": []}, "leave none"),
        ({"tune": "F.example F.concept", "on": ["i1"]}, "one measure"),
        ({"tune": "F.example", "on": ["i1"], "per": "item"}, "not one of run, concept"),
    ],
)
def test_what_cannot_be_tuned_is_told(problem, options, message):
    truth, run = problem
    with pytest.raises(CranfieldError, match=message):
        evaluate_tuned(truth, [run], **options)


def test_command(tmp_path, capsys):
    (tmp_path / "truth.csv").write_text("item,Sky\na,1\nb,0\nc,1\nd,0\n")
    (tmp_path / "run.csv").write_text("item,Sky\na,0.4\nb,0.2\nc,0.35\nd,0.1\n")
    (tmp_path / "on.txt").write_text("a\nb\n")
    asked = ["label", str(tmp_path / "truth.csv"), str(tmp_path / "run.csv"), "-m", "F.concept"]
    tuning = ["--tune-threshold", "F.concept", "--on", str(tmp_path / "on.txt")]
    assert main([*asked, *tuning, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["runs"][0]["mean"]["F.concept"] == 1.0
    assert main([*asked, "--tune-threshold", "F.concept"]) == 2
    assert "the items to choose on: --on" in capsys.readouterr().err
