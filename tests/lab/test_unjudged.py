"""Runs ordered without judgements: own arithmetic, and what is said beside the true order."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.data import Judgements
from cranfield.io.samples import SAMPLE
from cranfield.lab.unjudged import METHODS, TRUE

TRUTH = {"t": {"a": 1, "b": 1, "c": 0}, "u": {"a": 1, "d": 0}}
RUNS = {
    "x": {"t": {"a": 3.0, "b": 2.0}, "u": {"a": 2.0, "d": 1.0}},
    "y": {"t": {"b": 3.0, "c": 2.0}, "u": {"d": 2.0, "a": 1.0}},
    "z": {"t": {"e": 3.0, "c": 2.0}, "u": {"f": 2.0, "d": 1.0}},
}


def study(**options):
    return cf.lab.rank_unjudged(cf.lab.StudyInput.ranked(TRUTH, RUNS, "AP"), **options)


def test_counts_and_overlaps_by_hand():
    found = study(depth=2, trials=3)
    # x: b, then a in y, d in y and z. y: b and c; d twice, and a. z: c; d twice.
    # Of 2 topics, 2 ranks and 2 other runs.
    assert found.scores["reference-count"]["AP"] == pytest.approx((4 / 8, 5 / 8, 3 / 8))
    xy, xz, yz = (1 / 3 + 1) / 2, (0 + 1 / 3) / 2, (1 / 3 + 1 / 3) / 2
    expected = ((xy + xz) / 2, (xy + yz) / 2, (xz + yz) / 2)
    assert found.scores["agreement"]["AP"] == pytest.approx(expected)


def test_first_items_are_relevant():
    found = study(depth=2, top=1, trials=3)
    pooled = {"t": {"a": 1, "b": 1, "c": 0, "e": 1}, "u": {"a": 1, "d": 1, "f": 1}}
    expected = cf.evaluate(pooled, RUNS, "AP").mean()
    assert found.scores["top-items"]["AP"] == pytest.approx([expected[r]["AP"] for r in RUNS])
    true = cf.evaluate(TRUTH, RUNS, "AP").mean()
    assert found.scores[TRUE]["AP"] == pytest.approx([true[r]["AP"] for r in RUNS])


def test_random_judgements_have_as_many_relevant_items_as_there_are():
    rng = np.random.default_rng(4)
    names = [f"i{n}" for n in range(200)]
    judged = {t: {i: int(rng.random() < 0.2) for i in names} for t in "abcdefgh"}
    runs = {r: {t: {i: float(rng.random()) for i in names} for t in judged} for r in "xyz"}
    material = cf.lab.StudyInput.ranked(judged, runs, "P@100")
    found = cf.lab.rank_unjudged(material, depth=200, trials=40)
    share = np.mean([g for grades in judged.values() for g in grades.values()])
    for method in ("random", "random-weighted"):
        assert np.mean(found.scores[method]["P@100"]) == pytest.approx(share, abs=0.01)
    again = cf.lab.rank_unjudged(material, depth=200, trials=40)
    assert again.scores == found.scores


def test_orders_are_held_against_the_true_one():
    runs = sorted(SAMPLE.glob("runs/*.run.gz"))
    material = cf.lab.StudyInput.ranked(SAMPLE / "qrels.txt.gz", runs, "AP")
    found = cf.lab.rank_unjudged(material, trials=5)
    true = found.scores[TRUE]["AP"]
    for order in found.orders:
        values = found.scores[order.method]["AP"]
        assert order.tau == pytest.approx(cf.stats.kendall(true, values).value)
        assert order.best == found.runs[int(np.argmax(true))]
        better = sum(v > values[int(np.argmax(true))] for v in values)
        assert order.place_of_best == 1 + better
    assert [order.method for order in found.orders] == list(METHODS)


def test_what_cannot_be_ordered():
    two = {name: RUNS[name] for name in "xy"}
    with pytest.raises(cf.UsageError, match="give at least 3"):
        cf.lab.rank_unjudged(cf.lab.StudyInput.ranked(TRUTH, two, "AP"))
    other = cf.lab.StudyInput.ranked(Judgements.from_dict({"w": {"a": 1}}), RUNS, "AP")
    with pytest.raises(cf.CranfieldError, match="no run has a topic that is judged"):
        cf.lab.rank_unjudged(other)
