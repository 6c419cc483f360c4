"""Confidences across concepts (No 11.3), and asking for more until all is found (Sa 5)."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.data.categories import SubjectRankings
from cranfield.errors import UsageError
from cranfield.evaluation.calibration import calibrated, platt_curve, reliability
from cranfield.evaluation.displacement import ask_until_found
from cranfield.io.samples import SAMPLE

RUNS = [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "tree", "bayes", "rows")]
TRUTH = str(SAMPLE / "truth.csv")


def _platt(values, true):
    """Slope and level of the curve, from its logits at 1 and 0."""
    chances = platt_curve(values, true, np.ones(len(values)))(np.array([1.0, 0.0]))
    both, level = np.log(chances / (1 - chances))
    return both - level, level


@pytest.mark.parametrize("size", [30, 400])
def test_the_curve_is_that_of_scikit_learn(size):
    from sklearn.calibration import _sigmoid_calibration

    rng = np.random.default_rng(size)
    values = rng.random(size)
    true = rng.random(size) < 1 / (1 + np.exp(3 - 6 * values))
    slope, level = _platt(values, true)
    theirs = _sigmoid_calibration(values, true.astype(int))
    assert (slope, level) == pytest.approx((-theirs[0], -theirs[1]), abs=1e-3)


def test_values_that_part_the_truth_have_a_finite_curve():
    values = np.repeat([0.0, 1.0], 20)
    slope, level = _platt(values, values > 0.5)
    # Platt's targets: 21/22 and 1/22.
    assert 1 / (1 + np.exp(-(slope + level))) == pytest.approx(21 / 22, abs=1e-4)
    assert 1 / (1 + np.exp(-level)) == pytest.approx(1 / 22, abs=1e-4)


def test_scales_of_concepts_are_of_no_effect_after_calibration():
    """The same run with every concept on a scale of its own: calibrated, both are one."""
    truth, run = cf.read_labels(TRUTH), cf.read_labels(RUNS[0])
    scales = np.linspace(0.2, 1.0, len(run.concepts))
    bent = cf.LabelMatrix(
        run.items, run.concepts, None, np.asarray(run.confidences) * scales, "bent"
    )
    aligned = truth.only(run.concepts)
    both = [calibrated(aligned, one) for one in (run, bent)]
    assert np.asarray(both[1].confidences) == pytest.approx(
        np.asarray(both[0].confidences), abs=2e-3
    )
    raw, made = (
        [
            next(iter(cf.evaluate_labels(aligned, [one], "AP.example").mean().values()))[
                "AP.example"
            ]
            for one in pair
        ]
        for pair in ((run, bent), both)
    )
    assert raw[0] > raw[1] + 0.01
    assert made[0] == pytest.approx(made[1], abs=0.005)
    before, after = reliability(aligned, [bent, both[1]])
    assert after.error < before.error


def test_the_study_scores_both_and_correlates_the_rankings():
    material = cf.lab.StudyInput.labels(TRUTH, RUNS, "AP.example OneError")
    found = cf.lab.comparable(material)
    scores = cf.evaluate_labels(TRUTH, RUNS, "AP.example").mean()
    assert [row[0] for row in found.raw] == pytest.approx(
        [scores[name]["AP.example"] for name in found.runs]
    )
    assert all(-1 <= tau <= 1 for tau in found.taus)
    assert (found.errors[:, 1] < 0.05).all()
    with pytest.raises(UsageError, match="annotation"):
        cf.lab.comparable(cf.lab.StudyInput.ranked({"t": {"a": 1}}, {"r": {"t": {"a": 1.0}}}, "AP"))


PEOPLE = SubjectRankings.from_rows(
    [("s", "q", "x", 1.0), ("s", "q", "y", 0.8), ("t", "q", "z", 0.5), ("t", "p", "a", 1.0)]
)
ANSWERS = {"q": "uxvywz", "p": "abc"}


def test_asking_for_more_until_all_is_found_leaves_nothing_to_suppose():
    """Sa 5: then B is empty, and every hypothesis gives equation 21."""
    asked = []

    def ask(topic, count):
        asked.append((topic, count))
        return ANSWERS[topic][:count]

    found = ask_until_found(PEOPLE, ask, first=2)
    assert asked == [("q", 2), ("q", 4), ("q", 8), ("p", 2)]
    assert (found.depths, found.never) == ({"q": 6, "p": 2}, {})
    values = [
        cf.evaluate_displacement(
            PEOPLE, [found.run], f"Displacement(missing='{m}')", collection_size=1000
        )
        for m in ("optimist", "pessimist", "printed")
    ]
    means = [float(scores.mean(scores.measures[0])[0]) for scores in values]
    # s: |1 - 2| + 0.8 |2 - 4|; t: q 0.5 |1 - 6|, p 0.
    assert means == pytest.approx([((1 + 1.6) + (2.5 + 0) / 2) / 2] * 3)
    assert values[0].absent == (0,)


def test_what_is_never_found_is_told():
    found = ask_until_found(PEOPLE, lambda topic, count: ANSWERS[topic][:count], first=2, most=4)
    assert found.never == {"q": ("z",)}
    with pytest.raises(UsageError, match="the first ones changed"):
        ask_until_found(PEOPLE, lambda _, count: [f"{count}-{k}" for k in range(count)])
    with pytest.raises(UsageError, match="twice"):
        ask_until_found(PEOPLE, lambda _, count: ["a"] * count)
