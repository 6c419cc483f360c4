"""Annotations under draws of a truth: draws without a value, and runs that are sorted once."""

import itertools
import json
import warnings

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.labels import LabelMatrix
from cranfield.evaluation import labels as evaluation
from cranfield.evaluation import probabilistic_truth
from cranfield.measures.labels import blocks

# No item may have the only concept: measures of its ranking have no value then.
RARE = {"i1": {"A": 0.3}, "i2": {"A": 0.25}, "i3": {"A": 0.0}}
RUNS = {
    "x": {"i1": {"A": 0.9}, "i2": {"A": 0.3}, "i3": {"A": 0.5}},
    "y": {"i1": {"A": 0.1}, "i2": {"A": 0.3}, "i3": {"A": 0.5}},
}
RANKED = "AP.concept AUC OneError"


def test_draws_without_a_value_are_left_out_of_the_expected_one():
    """The witness is the list of all truths, each with its probability."""
    scores = cf.evaluate_labels(RARE, RUNS, RANKED, soft=True, draws=4000)
    unsure = [i for i in RARE if RARE[i]["A"]]
    sums = {run: dict.fromkeys(("AP.concept", "AUC", "OneError"), 0.0) for run in RUNS}
    total = 0.0
    for shown in itertools.product((0.0, 1.0), repeat=len(unsure)):
        if not any(shown):
            continue
        truth = {i: {"A": 0.0} for i in RARE}
        truth |= {i: {"A": s} for i, s in zip(unsure, shown, strict=True)}
        pairs = zip(unsure, shown, strict=True)
        chance = np.prod([RARE[i]["A"] if s else 1 - RARE[i]["A"] for i, s in pairs])
        total += chance
        for run, row in cf.evaluate_labels(truth, RUNS, RANKED).mean().items():
            for m, value in row.items():
                sums[run][m] += chance * value
    for i, run in enumerate(RUNS):
        for m in scores.measures:
            expected = sums[run][str(m)] / total
            error = scores.doubt.spread[m][i] / np.sqrt(4000 * total)
            assert scores.overall[m][i] == pytest.approx(expected, abs=4 * error + 1e-12)
    assert scores.left_out(scores.measures[0]) == [0, 0]


def test_places_and_gaps_are_of_draws_with_values():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cf.evaluate_labels(RARE, RUNS, "AP.concept RankingLoss", soft=True, draws=500)
        told = scores.to_dict()["doubt"]
        compared = scores.compare(baseline="x")
    better = {row["measure"]: row for row in told["better"]}
    assert 0.5 < better["AP.concept"]["better"] <= 1
    assert better["AP.concept"]["by_truth"] >= 0
    places = [r["probability"] for r in told["places"] if r["measure"] == "AP.concept"]
    assert np.sum(places, axis=1) == pytest.approx([1, 1])
    # One concept alone: nothing can be ranked wrongly, under no draw.
    assert better["RankingLoss"]["better"] is None
    json.dumps(compared.to_dict(), allow_nan=False)


def _large(seed=0, items=60, concepts=7):
    rng = np.random.default_rng(seed)
    names = tuple(f"i{k:02d}" for k in range(items)), tuple(f"c{k}" for k in range(concepts))
    truth = LabelMatrix(*names, confidences=rng.random((items, concepts)), name="truth")
    runs = [
        LabelMatrix(*names, confidences=rng.integers(0, 9, (items, concepts)) / 8, name=f"r{k}")
        for k in range(3)
    ]
    return truth, runs


@pytest.mark.parametrize("most", [1 << 24, 1])
def test_a_run_is_sorted_once_for_all_draws(monkeypatch, most):
    """The numbers are those of draws that sort anew, however many runs are held."""
    truth, runs = _large()
    names = "AP.concept P@10.concept AUC EER F.example HammingLoss"
    plain = evaluation.score_run

    def anew(plans, truth, run, knowledge, jobs, known=None, **more):
        return plain(plans, truth, run, knowledge, jobs, **more)

    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "score_run", anew)
        expected = cf.evaluate_labels(truth, runs, names, soft=True, draws=20)
    count = []
    made = blocks.SortedRun.__init__
    monkeypatch.setattr(
        blocks.SortedRun, "__init__", lambda self, run: (count.append(run.name), made(self, run))[1]
    )
    monkeypatch.setattr(probabilistic_truth, "MOST_SORTED", most)
    found = cf.evaluate_labels(truth, runs, names, soft=True, draws=20)
    assert sorted(count) == ["r0", "r1", "r2"]
    for m in found.measures:
        for part in ("values", "overall"):
            assert np.array_equal(getattr(found, part)[m], getattr(expected, part)[m])
        for part in ("means", "spread", "unit_spread"):
            ours, theirs = getattr(found.doubt, part)[m], getattr(expected.doubt, part)[m]
            assert np.array_equal(ours, theirs, equal_nan=True)
