"""The sentences that open an answer are true, whatever the numbers."""

import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.comparison.summary import indistinct
from cranfield.evaluation.scores import Order, join_names, shown

MEASURES = {m: cf.measure(m) for m in ("AP", "NMRR", "num_rel_ret", "Generality")}


def made(values, name="AP", *, names=None):
    """Scores with these values per run and topic."""
    measure = cf.measure(name)
    array = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    means = np.where(known, array, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    means[~known.any(axis=1)] = math.nan
    runs = tuple(names or (f"r{i}" for i in range(len(array))))
    return cf.Scores(
        task="ranked",
        runs=runs,
        measures=(measure,),
        units={"topic": tuple(f"t{j}" for j in range(array.shape[1]))},
        unit_of={measure: "topic"},
        values={measure: array},
        overall={measure: means},
        missing=(0,) * len(runs),
        evaluated=(array.shape[1],) * len(runs),
    )


cells = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, width=32))
tables = st.tuples(st.integers(1, 6), st.integers(1, 8)).flatmap(
    lambda shape: st.lists(
        st.lists(cells, min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+\.\d{4}", text)]


@given(tables, st.sampled_from(["AP", "NMRR"]))
@settings(max_examples=150, deadline=None)
def test_who_leads_is_who_has_the_best_mean(values, name):
    scores = made(values, name)
    measure = scores.measures[0]
    pick = min if name == "NMRR" else max
    means = scores.plain_means(measure)
    best = pick(means)
    level = [r for r, v in zip(scores.runs, means, strict=True) if abs(v - best) <= 1e-12]
    said = scores.verdict()
    assert len(said) <= 4
    assert "significant" not in " ".join(said)
    assert "told apart" not in " ".join(said)
    if len(scores.runs) == 1:
        assert not any("lead" in line for line in said)
        return
    assert shown(measure, best) in said[0]
    if len(level) == len(scores.runs):
        assert said[0].startswith("Both" if len(level) == 2 else "All")
    elif len(level) > 1:
        assert said[0].startswith(f"{join_names(level)} share the")
        assert (" lowest " if name == "NMRR" else " highest ") in said[0]
    else:
        assert said[0].startswith(f"{level[0]} leads")
        second = pick(v for v in means if abs(v - best) > 1e-12)
        assert shown(measure, second) in said[0]
        gap = abs(second - best)
        assert ("less than 0.0001" in said[0]) == (gap < 1e-4)


@given(tables, st.sampled_from(["AP", "NMRR"]))
@settings(max_examples=150, deadline=None)
def test_where_everybody_fails_nobody_does_better(values, name):
    scores = made(values, name)
    said = [s for s in scores.verdict() if s.startswith(("The hardest", "On "))]
    array = np.asarray(values)
    best = array.min(axis=0) if name == "NMRR" else array.max(axis=0)
    if array.shape[1] < 2 or best.min() == best.max():
        assert said == []
        return
    worst = best.max() if name == "NMRR" else best.min()
    there = [f"t{j}" for j in np.flatnonzero(best == worst)]
    assert len(said) == 1
    assert join_names(there) in said[0]
    assert f"{worst:.4f}" in said[0]


@given(tables, st.sampled_from(["AP", "NMRR"]), st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_who_cannot_be_told_apart_shares_a_letter(values, name, baseline):
    if len(values) < 2:
        values = [*values, [0.5] * len(values[0])]
    scores = made(values, name)
    found = scores.compare(
        resamples=200, test="t", **({"baseline": scores.runs[0]} if baseline else {})
    )
    board = found.standings
    first = board[0]
    same = indistinct(found, first)
    assert same == [s.run for s in board[1:] if set(s.group) & set(first.group)]
    text = " ".join(found.verdict)
    if same:
        every = len(same) == len(board) - 1 and len(same) > 2
        whom = f"any of the {len(same)} others" if every else join_names(same)
        assert f"{first.run} cannot be told apart from {whom}" in text
    else:
        assert "cannot be told apart" not in text
    worse = len(board) - 1 - len(same) - (first.rank - 1)
    claimed = re.search(r"is significantly better than (every other run|the other (one|\d+))", text)
    assert bool(claimed) == (worse > 0)
    if claimed and claimed[2]:
        assert {"one": 1}.get(claimed[2]) == worse or claimed[2] == str(worse)
    if baseline:
        marks = found.pairs.columns["mark"]
        assert f"{int((marks > 0).sum())} of {len(marks)} run" in text


def test_no_leader_where_no_direction_is_better():
    order = Order.of(MEASURES["Generality"], ["a", "b"], [0.2, 0.3])
    assert "no better direction" in order.sentence(2)


def test_runs_without_any_value_do_not_lead():
    nan = math.nan
    scores = made([[nan, nan], [0.1, 0.2], [nan, 0.4]])
    assert scores.verdict()[0].startswith("r2 leads with the highest MAP, 0.4000")
    assert made([[nan], [nan]]).verdict()[0] == "No run has a value under MAP."


def test_180_runs_are_summed_up_in_few_words():
    rng = np.random.default_rng(5)
    skill = rng.random((180, 1)) * 0.3
    values = np.clip(rng.random((180, 50)) * 0.5 + skill, 0, 1)
    found = made(values).compare(resamples=500)
    assert 2 <= len(found.verdict) <= 4
    assert all(len(sentence) < 250 for sentence in found.verdict)
    first = found.standings[0]
    count = len(indistinct(found, first))
    assert count == len([p for p in found.pairs if first.run in (p.a, p.b) and not p.mark])


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_the_sentences_open_what_is_printed(command, tmp_path, capsys):
    from cranfield.cli import main

    (tmp_path / "q.txt").write_text("t1 0 a 1\nt2 0 b 1\n")
    (tmp_path / "x.run").write_text("t1 Q0 a 1 2 x\nt2 Q0 b 1 2 x\n")
    (tmp_path / "y.run").write_text("t1 Q0 a 1 2 x\nt2 Q0 c 1 2 x\n")
    files = [str(tmp_path / n) for n in ("q.txt", "y.run", "x.run")]
    assert main([command, *files, "-m", "AP", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("x leads with the highest MAP, 1.0000: 0.5000 above y (0.5000).")
    # The table below is sorted by the first measure.
    assert out.index("\nx ") < out.index("\ny ") if command == "eval" else True
