"""Annotations are tested over items, whatever their measures average over."""

import numpy as np
import pytest
from sklearn import metrics

import cranfield as cf
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError

ITEMS, CONCEPTS = 60, 5


def annotation(seed, *, ties=False, items=ITEMS):
    """Truth and confidences as arrays; every concept has items with and without it."""
    rng = np.random.default_rng(seed)
    truth = rng.random((items, CONCEPTS)) < 0.3
    truth[0], truth[1] = True, False
    scores = 1 / (1 + np.exp(-rng.normal(0, 1, truth.shape) - np.where(truth, 1.0, -1.0)))
    return truth, np.round(scores, 1) if ties else scores


def matrices(truth, *runs):
    items = [f"i{k:04}" for k in range(len(truth))]
    concepts = [f"c{k}" for k in range(truth.shape[1])]
    known = LabelMatrix.of(truth.astype(int), items=items, concepts=concepts, name="truth")
    named = [
        LabelMatrix.of(run, items=items, concepts=concepts, name=f"r{k}")
        for k, run in enumerate(runs)
    ]
    return known, named


def labels_of(kind, **options):
    return lambda t, s, w: kind(t, s >= 0.5, sample_weight=w, zero_division=1, **options)


def scores_of(kind, **options):
    return lambda t, s, w: kind(t, s, sample_weight=w, **options)


WITNESSES = {
    "F.concept": labels_of(metrics.f1_score, average="macro"),
    "F.concept(mean='micro')": labels_of(metrics.f1_score, average="micro"),
    "F.concept(mean='weighted')": labels_of(metrics.f1_score, average="weighted"),
    "P.concept": labels_of(metrics.precision_score, average="macro"),
    "R.concept(mean='micro')": labels_of(metrics.recall_score, average="micro"),
    "Jaccard.concept": labels_of(metrics.jaccard_score, average="macro"),
    "AUC": scores_of(metrics.roc_auc_score, average="macro"),
    "AUC(mean='micro')": scores_of(metrics.roc_auc_score, average="micro"),
    "AUC(mean='weighted')": scores_of(metrics.roc_auc_score, average="weighted"),
    "AP.concept": scores_of(metrics.average_precision_score, average="macro"),
    "AP.concept(mean='micro')": scores_of(metrics.average_precision_score, average="micro"),
    "AP.concept(mean='weighted')": scores_of(metrics.average_precision_score, average="weighted"),
    "Brier": lambda t, s, w: ((t - s) ** 2).mean(axis=1) @ w / w.sum(),
}


@pytest.mark.parametrize("measure", WITNESSES)
@pytest.mark.parametrize("ties", [False, True])
def test_what_an_item_adds_is_the_derivative_by_its_weight(measure, ties):
    """The witness is scikit-learn with weights of samples."""
    truth, run = annotation(1, ties=ties)
    known, runs = matrices(truth, run)
    scores = cf.evaluate_labels(known, runs, measure)
    (influence,) = scores.influence[scores.measures[0]]
    step = 1e-5
    expected = []
    for i in range(ITEMS):
        change = [
            WITNESSES[measure](truth, run, np.ones(ITEMS) + sign * step * (np.arange(ITEMS) == i))
            for sign in (1, -1)
        ]
        expected.append(ITEMS * (change[0] - change[1]) / (2 * step))
    assert influence == pytest.approx(np.array(expected), abs=2e-3)
    assert influence.mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "measure", ["EER", "Rprec.concept", "P@20.concept", "iAP.concept", "MCC.concept", "ECE"]
)
def test_the_spread_is_that_of_items_drawn_anew(measure):
    """The witness is the measure computed anew on items that are drawn with replacement."""
    truth, run = annotation(2, items=200)
    known, runs = matrices(truth, run)
    scores = cf.evaluate_labels(known, runs, measure)
    (influence,) = scores.influence[scores.measures[0]]
    rng = np.random.default_rng(5)
    anew = []
    for _ in range(300):
        at = rng.integers(200, size=200)
        again, drawn = matrices(truth[at], run[at])
        anew.append(
            cf.evaluate_labels(again, drawn, measure, keep=False).overall[scores.measures[0]][0]
        )
    assert influence.std() / np.sqrt(200) == pytest.approx(np.std(anew), rel=0.25)


def test_runs_with_bad_items_of_their_own_are_not_told_apart():
    """Equal runs, each of which fails on a quarter of the items: over concepts nearly half of such
    pairs differ, since all concepts share these items."""
    over = {"items": 0, "concepts": 0, "both": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = rng.random((100, 30)) < 0.15
        skill = [np.where(rng.random(100) < 0.25, 0.3, 1.5) for _ in range(2)]
        runs = [
            1
            / (
                1
                + np.exp(-2 * (s[:, None] * np.where(truth, 1, -1) + rng.normal(0, 1, truth.shape)))
            )
            for s in skill
        ]
        known, named = matrices(truth, *runs)
        scores = cf.evaluate_labels(known, named, "F.concept")
        for units in over:
            (pair,) = scores.compare(units=units, resamples=400).pairs
            over[units] += pair.p_corrected <= 0.05
    assert over["items"] <= 3
    assert over["both"] <= over["items"]
    assert over["concepts"] >= 5


def test_what_was_sampled_is_said_and_saved(tmp_path):
    truth, run = annotation(3)
    other = np.clip(run + np.random.default_rng(1).normal(0, 0.3, run.shape), 0, 1)
    known, runs = matrices(truth, run, other)
    scores = cf.evaluate_labels(known, runs, "AP.concept F.concept(mean='micro')")
    result = scores.compare(resamples=500)
    assert [(m["unit"], m["units"]) for m in result.measures] == [("item", ITEMS)] * 2
    assert [p.topics for p in result.pairs] == [ITEMS] * 2
    for pair in result.pairs:
        means = scores.mean()
        assert pair.difference == pytest.approx(
            means["r0"][pair.measure] - means["r1"][pair.measure], abs=1e-12
        )
    scores.save(tmp_path / "scores.json")
    again = cf.load(tmp_path / "scores.json").compare(resamples=500)
    assert list(again.pairs) == list(result.pairs)
    box = scores.interval()["r0"]["AP.concept"]
    assert 0 <= box.low < box.value < box.high <= 1
    assert (box.n, box.value) == (ITEMS, pytest.approx(scores.mean()["r0"]["AP.concept"]))


def test_concepts_are_a_sample_only_where_that_is_asked():
    truth, run = annotation(3)
    known, runs = matrices(truth, run, run[::-1].copy())
    scores = cf.evaluate_labels(known, runs, "AP.concept F.example AP.concept(mean='micro')")
    by_concept = scores.compare(measures="AP.concept", units="concepts", resamples=200)
    assert by_concept.measures[0]["units"] == CONCEPTS
    with pytest.raises(UsageError, match="no values of single concepts"):
        scores.compare(measures="F.example", units="concepts")
    with pytest.raises(UsageError, match="not a mean over concepts"):
        scores.compare(measures="AP.concept(mean='micro')", units="both")
    with pytest.raises(UsageError, match="no values of single items, which the sign test"):
        scores.compare(measures="AP.concept", test="sign")
    ranked = cf.evaluate({"t": {"a": 1}}, {n: {"t": {"a": 1.0}} for n in "xy"}, "AP")
    with pytest.raises(UsageError, match="rankings have topics alone"):
        ranked.compare(units="items")


def test_printed_scores_do_not_know_their_items():
    truth, run = annotation(3)
    known, runs = matrices(truth, run, run[::-1].copy())
    scores = cf.evaluate_labels(known, runs, "AP.concept")
    printed = cf.Scores.from_dict(scores.to_dict(per=["concept"]))
    with pytest.raises(UsageError, match="evaluate the runs again, or ask about concepts"):
        printed.compare()
    assert printed.compare(units="concepts", resamples=100).topics == CONCEPTS


def test_the_geometric_mean_is_tested():
    """By own arithmetic: the t-test of logarithms has nearly the same p-value."""
    rng = np.random.default_rng(4)
    judged = {f"t{i}": {f"d{k}": 1 for k in range(9)} for i in range(60)}

    def run(quality):
        return {
            t: {**{f"d{k}": 50.0 - k for k in range(int(n))}, "z": 60.0}
            for t, n in zip(judged, rng.integers(1, quality, 60), strict=True)
        }

    scores = cf.evaluate(judged, {"a": run(9), "b": run(7)}, "GMAP")
    result = scores.compare(test="t")
    logs = np.log(scores.values[scores.measures[0]])
    gap = logs[0] - logs[1]
    t = gap.mean() / gap.std(ddof=1) * np.sqrt(60)
    (pair,) = result.pairs
    from scipy import stats

    assert pair.p == pytest.approx(2 * stats.t.sf(abs(t), 59), abs=0.02)
    assert pair.mean_a == pytest.approx(scores.mean()["a"]["GMAP"])


def test_several_measures_are_corrected_where_that_is_asked():
    truth, run = annotation(3)
    known, runs = matrices(truth, run, run[::-1].copy())
    scores = cf.evaluate_labels(known, runs, "AP.concept F.concept F.example")
    alone, together = (scores.compare(correct=c, resamples=300) for c in ("pairs", "measures"))
    for pair, corrected in zip(alone.pairs, together.pairs, strict=True):
        assert corrected.p == pair.p
        assert corrected.p_corrected == min(1.0, 3 * pair.p_corrected)
    said = dict(alone.conclusions())["not corrected"]
    assert "3 measures were compared" in said
    assert "up to 15 %" in said
    said = dict(together.conclusions())
    assert "measures were compared" not in said["not corrected"]
    assert said["corrected"].startswith("The chance of any false difference among all 3 pairs")
    assert "times the 3 measures" in together.footnotes()[1]
    with pytest.raises(UsageError, match="is not one of pairs, measures"):
        scores.compare(correct="all")


def test_what_may_be_concluded_is_said():
    truth, run = annotation(3)
    known, runs = matrices(truth, run, run[::-1].copy())
    result = cf.evaluate_labels(known, runs, "AP.concept").compare(resamples=300)
    said = dict(result.conclusions())
    assert said["sampled"].startswith("Every statement is about other items like these 60 items")
    assert said["AP.concept"] == (
        "1 of 1 pairs differ significantly; no run is significantly better than r0."
    )
    rows = result.to_dict()["conclusions"]
    assert [(row["about"], row["statement"]) for row in rows] == list(result.conclusions())
