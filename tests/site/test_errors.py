"""Error analysis holds to what the numbers say, one by one."""

import dataclasses
import json
import math

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.data.labels import LabelMatrix
from cranfield.errors import NeedsError
from cranfield.evaluation.explanations import BINS, Mistakes, score_with_mistakes
from cranfield.io.samples import SAMPLE

TRUTH = str(SAMPLE / "truth.csv")
LABELS = [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "tree", "chance")]
QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{n}.run.gz") for n in ("pca", "pixels", "random", "bits")]


@pytest.mark.parametrize("name", ["AP", "NMRR"])
def test_listings_are_what_a_loop_over_topics_finds(name):
    scores = cf.evaluate(QRELS, RUNS, name)
    found = cf.analyse_errors(scores, baseline="pixels", shown=None)
    rows = {(r["run"], r["topic"]): r[name] for r in scores.per_topic()}
    topics = scores.units["topic"]
    pick, sign = (min, -1) if name == "NMRR" else (max, 1)
    best = {t: pick(rows[run, t] for run in scores.runs) for t in topics}
    hardest = found.part("hardest").records()
    assert [r["best"] for r in hardest] == sorted(best.values(), reverse=name == "NMRR")
    for r in hardest:
        values = [rows[run, r["topic"]] for run in scores.runs]
        assert r["best"] == best[r["topic"]]
        assert r["mean"] == pytest.approx(sum(values) / len(values))
        holders = [run for run in scores.runs if rows[run, r["topic"]] == r["best"]]
        assert r["best_run"] == (holders[0] if len(holders) == 1 else f"{len(holders)} runs")
    spreads = [r["spread"] for r in found.part("disagreement").records()]
    assert spreads == sorted(spreads, reverse=True)
    for r in found.part("disagreement").records():
        values = [rows[run, r["topic"]] for run in scores.runs]
        assert r["spread"] == pytest.approx(np.std(values))
    for part, turn in (("gains", 1), ("losses", -1)):
        gaps = [
            turn * sign * (rows[run, t] - rows["pixels", t])
            for run in scores.runs
            for t in topics
            if run != "pixels"
        ]
        told = [turn * sign * r["difference"] for r in found.part(part).records()]
        assert told == sorted((g for g in gaps if g > 0), reverse=True)


def brute(truth, runs):
    """Mistakes by loops over cells."""
    concepts = truth.concepts
    confused = np.zeros((len(concepts),) * 2, dtype=int)
    assigned, wrong = [0] * BINS, [0] * BINS
    true, _ = truth.rows(0, len(truth.items))
    for run in runs:
        labels, sure = run.with_threshold(0.5).rows(0, len(truth.items))
        for i in range(len(truth.items)):
            missed = [c for c in range(len(concepts)) if true[i, c] and not labels[i, c]]
            false = [c for c in range(len(concepts)) if labels[i, c] and not true[i, c]]
            for a in missed:
                for b in false:
                    confused[a, b] += 1
            for c in range(len(concepts)):
                if labels[i, c] and sure is not None:
                    k = min(int(sure[i, c] * BINS), BINS - 1)
                    assigned[k] += 1
                    wrong[k] += int(not true[i, c])
    return confused, assigned, wrong


def test_mistakes_are_what_a_loop_over_cells_finds():
    rng = np.random.default_rng(4)
    items, concepts = tuple(f"i{k}" for k in range(40)), tuple("abcde")
    truth = LabelMatrix(items, concepts, labels=rng.random((40, 5)) < 0.4, name="truth")
    runs = [
        LabelMatrix(items, concepts, confidences=rng.random((40, 5)), name=f"r{k}")
        for k in range(3)
    ]
    runs.append(LabelMatrix(items, concepts, labels=rng.random((40, 5)) < 0.5, name="plain"))
    found = Mistakes(truth.concepts, truth)
    for run in runs:
        found.add(run)
    confused, assigned, wrong = brute(truth, runs)
    assert (found.confused == confused).all()
    assert found.assigned.tolist() == assigned
    assert found.wrong.tolist() == wrong
    sure = [w.confidence for w in found.worst]
    assert sure == sorted(sure, reverse=True)
    assert len(sure) == 50


def test_scores_beside_mistakes_are_those_of_the_evaluation():
    scores, mistakes = score_with_mistakes(TRUTH, LABELS, "AP.concept F.example")
    plain = cf.evaluate_labels(TRUTH, LABELS, "AP.concept F.example")
    assert scores.mean() == plain.mean()
    assert mistakes.runs == 3


def test_shares_are_of_the_misses_of_a_concept():
    found = cf.find_errors(LABELS, TRUTH, measures="AP.concept")
    for row in found.part("confused").records():
        assert 0 < row["share"] <= 100
    assert "Most often" in found.verdict[-1]


def test_one_run_and_one_topic():
    one = cf.analyse_errors(cf.evaluate({"t": {"a": 1}}, {"t": {"a": 1.0}}, "AP"))
    assert [part.name for part in one.parts] == ["hardest"]
    assert one.verdict == ()


def test_values_of_units_are_needed():
    scores = dataclasses.replace(cf.evaluate(QRELS, RUNS[:1], "AP"), values={})
    with pytest.raises(NeedsError, match="no values of single"):
        cf.analyse_errors(scores)


def test_missing_values_are_never_the_hardest():
    scores = cf.evaluate(
        {"t": {"a": 1}, "u": {"b": 1}}, {"x": {"t": {"a": 1.0}}}, "AP", topics="run"
    )
    found = cf.analyse_errors(scores).part("hardest").records()
    assert [r["topic"] for r in found] == ["t"]
    assert not any(math.isnan(r["best"]) for r in found)


def test_the_command_prints_the_answer(capsys):
    assert main(["errors", QRELS, *RUNS, "-m", "AP", "--count", "3", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["command"] == "errors"
    assert [len(p["rows"]) for p in told["parts"]] == [3, 3]


def test_a_collection_with_both_kinds_is_asked_about_that_of_the_measures(capsys):
    assert cf.find_errors([str(SAMPLE)], measures="AP").to_dict() == (
        cf.find_errors([str(SAMPLE)], kind="ranked", measures="AP").to_dict()
    )
    assert main(["errors", str(SAMPLE), "-m", "AP.concept", "--format", "json"]) == 0
    assert main(["errors", str(SAMPLE)]) == 2
    assert "--kind ranked or --kind labels" in capsys.readouterr().err
