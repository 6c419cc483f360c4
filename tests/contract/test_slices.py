"""Scores by slices: means, intervals and tests of each slice, corrected over all of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import cranfield as cf
from cranfield.cli import main

TOPICS = [f"t{i}" for i in range(12)]
KINDS = {topic: "even" if i % 2 == 0 else "odd" for i, topic in enumerate(TOPICS)}


@pytest.fixture(scope="module")
def scores() -> cf.Scores:
    rng = np.random.default_rng(4)
    judged = {t: {f"d{k}": int(rng.random() < 0.4) for k in range(8)} | {"d8": 1} for t in TOPICS}
    runs = {
        name: {t: {f"d{k}": float(rng.random()) for k in range(9)} for t in TOPICS}
        for name in ("one", "two", "three")
    }
    return cf.evaluate(judged, runs, "AP RR")


def test_means_are_those_of_the_topics_of_a_slice(scores: cf.Scores) -> None:
    sliced = scores.by(KINDS, resamples=200)
    for kind in ("even", "odd"):
        for run in scores.runs:
            values = [r["AP"] for r in scores.per_topic() if r["run"] == run]
            own = [v for v, t in zip(values, TOPICS, strict=True) if KINDS[t] == kind]
            assert sliced.mean()[kind][run]["AP"] == pytest.approx(np.mean(own), rel=1e-12)
    # The whole is the mean of its equal halves.
    whole = scores.mean()["one"]["AP"]
    halves = [sliced.mean()[kind]["one"]["AP"] for kind in ("even", "odd")]
    assert np.mean(halves) == pytest.approx(whole)


def test_p_values_are_corrected_over_slices_and_pairs(scores: cf.Scores) -> None:
    sliced = scores.by(KINDS, baseline="one", test="t")
    pairs = [p for p in sliced.pairs if p.measure == "AP"]
    assert {(p.slice, p.a, p.b) for p in pairs} == {
        (kind, run, "one") for kind in ("even", "odd") for run in ("two", "three")
    }
    rows = {(r["run"], r["topic"]): r["AP"] for r in scores.per_topic()}
    for pair in pairs:
        topics = [t for t in TOPICS if KINDS[t] == pair.slice]
        a, b = ([rows[run, t] for t in topics] for run in (pair.a, pair.b))
        assert pair.p == pytest.approx(stats.ttest_rel(a, b).pvalue)
    # Holm: the smallest times 4, the next times 3, ..., never falling.
    ordered = sorted(pairs, key=lambda p: p.p)
    expected = np.maximum.accumulate([min(1, p.p * (4 - i)) for i, p in enumerate(ordered)])
    assert [p.p_corrected for p in ordered] == pytest.approx(expected)


def test_a_topic_may_be_in_two_slices_or_in_none(scores: cf.Scores) -> None:
    sliced = scores.by({"t0": ["a", "b"], "t1": "a", "t2": "b"}, test="t")
    assert dict(sliced.slices) == {"a": 2, "b": 2}
    assert any("9 topics in no group" in note for note in sliced.notes)
    with pytest.raises(cf.UsageError, match="no topic"):
        scores.by({"x": "a"})


def test_a_slice_of_one_topic_is_not_tested(scores: cf.Scores) -> None:
    sliced = scores.by({"t0": "alone", "t1": "two", "t2": "two"}, test="t")
    assert {p.slice for p in sliced.pairs} == {"two"}
    assert any("'alone' has one topic" in note for note in sliced.notes)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels.txt").write_text("t 0 a 1\nu 0 b 1\nv 0 a 1\nw 0 b 1\n")
    run = "".join(f"{t} Q0 a 1 2 x\n{t} Q0 b 2 1 x\n" for t in "tuvw")
    (tmp_path / "one.run").write_text(run)
    groups = tmp_path / "groups.tsv"
    groups.write_text("query_id\tkind\nt\tshort\nv\tshort\nu\tlong\nw\tlong\n")
    words = ["eval", str(tmp_path / "qrels.txt"), str(tmp_path / "one.run"), "-m", "RR"]
    assert main([*words, "--by", str(groups), "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    # The relevant item is first in the short ones and second in the long ones.
    assert {(r["slice"], r["mean"]) for r in printed["means"]} == {("short", 1.0), ("long", 0.5)}
    groups.write_text("subject,kind\nt,short\n")
    assert main([*words, "--by", str(groups)]) == 2
    assert "topic,group" in capsys.readouterr().err


def test_concepts_and_items_of_annotations() -> None:
    truth = {"i": ["cat"], "j": ["dog"], "k": ["cat"]}
    scores = cf.evaluate_labels(
        truth, {"run": {"i": ["cat"], "j": ["cat"], "k": ["cat"]}}, "F.example"
    )
    sliced = scores.by({"i": "easy", "k": "easy", "j": "hard"})
    assert sliced.unit == "item"
    assert sliced.mean()["easy"]["run"]["F.example"] == 1.0
    assert sliced.mean()["hard"]["run"]["F.example"] == 0.0
