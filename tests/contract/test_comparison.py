"""What a comparison promises: degenerate data, pairing, seeds, threads, directions."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cranfield.comparison.compare import TESTS
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure, Source
from cranfield.options import INTERVAL_METHODS
from cranfield.report.render import FORMATS, render
from cranfield.report.tables.comparison import comparison_document


def measure(name="AP", *, higher=True, aggregate="mean"):
    return Measure(
        name=name, title=name, formula="", source=Source("test"), range=(0, 1),
        higher_is_better=higher, needs=frozenset(), plan=lambda: None, aggregate=aggregate,
    )  # fmt: skip


def scores(values, *, higher=True, names=None, unit="topic", aggregate="mean"):
    values = np.asarray(values, dtype=float)
    runs = names or tuple(f"run{i}" for i in range(len(values)))
    m = measure(higher=higher, aggregate=aggregate)
    units = {unit: tuple(f"{unit}{j}" for j in range(values.shape[1]))}
    known = [row[~np.isnan(row)] for row in values]
    overall = np.array([row.mean() if row.size else math.nan for row in known])
    if aggregate == "geometric":
        overall = np.exp([np.log(row + 1e-5).mean() for row in known])
    if aggregate == "sum":
        overall = np.array([row.sum() for row in known])
    n = (values.shape[1],) * len(values)
    return Scores("ranked", tuple(runs), (m,), units, {m: unit}, {m: values}, {m: overall},
                  (0,) * len(values), n)  # fmt: skip


def generated(runs=4, topics=30, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.beta(1.5, 3, topics)
    return np.clip(base + rng.normal(0, 0.1, (runs, topics)), 0, 1)


@pytest.mark.parametrize("tail", ["one", "two", "seen"])
@pytest.mark.parametrize("interval", INTERVAL_METHODS)
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("topics", [1, 2, 3, 25])
def test_a_run_against_itself_is_equal(test, interval, tail, topics):
    if test in ("tukey", "nemenyi", "tukey-randomization"):
        tail = "two"
    row = generated(1, topics)[0]
    result = scores([row, row]).compare(
        baseline="run0", test=test, tail=tail, interval=interval, resamples=200
    )
    (pair,) = result.pairs
    assert (pair.p, pair.p_corrected) == (1.0, 1.0)
    assert (pair.difference, pair.ci) == (0.0, (0.0, 0.0))
    assert (pair.wins, pair.ties, pair.losses) == (0, topics, 0)
    assert (pair.cohen_d, pair.cliffs_delta) == (0.0, 0.0)
    assert (pair.deviation_percent, pair.change_percent, pair.stars) == (0.0, 0.0, "")
    assert [s.rank for s in result.standings] == [1, 1]
    assert [s.group for s in result.standings] == ["a", "a"]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    "values",
    [
        np.zeros((3, 5)),
        np.ones((3, 1)),
        [[0.1], [0.2], [0.9]],
        [[0.1, 0.1], [0.2, 0.2], [0.9, 0.9]],
        [[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1]],
        np.vstack([np.linspace(0, 0.5, 20), np.linspace(0, 0.5, 20) + 0.25, np.full(20, 0.125)]),
        [[0.1, math.nan, 0.3], [math.nan, 0.2, math.nan], [0.5, 0.5, 0.5]],
        [[math.nan, math.nan], [0.1, 0.2], [0.2, 0.1]],
    ],
    ids=["zeros", "one topic, equal", "one topic", "constant", "ties only", "shifted", "disjoint",
         "run without a value"],
)  # fmt: skip
def test_degenerate_data_never_crash_and_p_is_a_probability(test, values):
    result = scores(values).compare(test=test, resamples=100)
    for pair in result.pairs:
        assert 0 <= pair.p <= 1
        assert 0 <= pair.p_corrected <= 1
    for form in FORMATS:
        assert render(comparison_document(result), form)
    text = render(comparison_document(result), "json")
    assert "NaN" not in text
    assert len(json.loads(text)["pairs"]) == 3


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_resampled_p_values_are_count_plus_one_over_n_plus_one(test):
    for pair in scores(generated()).compare(test=test, resamples=999).pairs:
        count = pair.p * 1000
        assert count == pytest.approx(round(count), abs=1e-9)
        assert count >= 1


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "tukey-randomization"])
def test_threads_do_not_change_a_number(test):
    table = scores(generated(6, 60))
    one = table.compare(test=test, rng=7, jobs=1, interval="bca", resamples=3000)
    for jobs in (2, 5):
        other = table.compare(test=test, rng=7, jobs=jobs, interval="bca", resamples=3000)
        assert other == one
    assert table.compare(test=test, rng=8, interval="bca", resamples=3000) != one


def test_a_generator_gives_a_seed_that_reproduces_the_numbers():
    table = scores(generated())
    first = table.compare(rng=np.random.default_rng(5), resamples=500)
    assert table.compare(rng=first.seed, resamples=500) == first


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "t", "wilcoxon", "sign"])
def test_a_pair_does_not_depend_on_the_other_runs(test):
    values = generated(5)
    small = scores(values[:2]).compare(test=test, correction="none", resamples=500)
    large = scores(values).compare(test=test, correction="none", resamples=500)
    assert small.pairs[0].p == large.pairs[0].p
    assert small.pairs[0].ci == pytest.approx(large.pairs[0].ci, abs=1e-12)


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "t", "wilcoxon", "sign"])
def test_lower_is_better_turns_the_one_tailed_question_round(test):
    values = generated(2)
    options = {"test": test, "tail": "one", "baseline": "run1", "resamples": 500}
    up = scores(values).compare(**options).pairs[0]
    down = scores(-values, higher=False).compare(**options).pairs[0]
    assert down.p == up.p
    assert (down.wins, down.losses) == (up.wins, up.losses)
    assert down.difference == pytest.approx(-up.difference)


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "bootstrap"])
def test_one_tailed_finds_the_better_run_only(test):
    base = generated(1, 40)[0]
    better = base + 0.05 + np.random.default_rng(1).normal(0, 0.05, 40)
    result = scores([better, base]).compare(test=test, tail="one", baseline="run1").pairs[0]
    reverse = scores([better, base]).compare(test=test, tail="one", baseline="run0").pairs[0]
    assert result.p < 0.01
    assert reverse.p > 0.9


def test_pairing_on_the_common_topics_is_stated_and_kept():
    values = generated(3, 20)
    values[0, :5] = math.nan
    values[1, 3:8] = math.nan
    result = scores(values).compare(test="t")
    by_names = {(p.a, p.b): p for p in result.pairs}
    assert [by_names[k].topics for k in (("run0", "run1"), ("run0", "run2"), ("run1", "run2"))] == [
        12, 15, 15,
    ]  # fmt: skip
    common = slice(8, 20)
    expected = (values[0, common] - values[1, common]).mean()
    assert by_names["run0", "run1"].difference == pytest.approx(expected)
    assert by_names["run0", "run1"].mean_a == pytest.approx(values[0, common].mean())
    assert "12 to 15 of 20 topics" in " ".join(result.footnotes())
    assert result.to_dict()["pairing"] == "each pair on the topics for which both runs have a value"
    assert result.families[0].topics == 12
    # The leaderboard shows each run's own mean.
    assert {s.run: s.mean for s in result.standings}["run0"] == pytest.approx(values[0, 5:].mean())


def test_pairs_without_a_common_topic_say_nothing():
    result = scores([[0.1, math.nan], [math.nan, 0.9]]).compare(test="t")
    (pair,) = result.pairs
    assert (pair.topics, pair.p, pair.p_corrected) == (0, 1.0, 1.0)
    assert math.isnan(pair.difference)
    row = json.loads(render(comparison_document(result), "json"))["pairs"][0]
    assert row["difference"] is None
    assert row["ci"] == [None, None]


@pytest.mark.parametrize("test", TESTS)
def test_clear_differences_are_found_and_ranked(test):
    rng = np.random.default_rng(3)
    base = rng.beta(2, 3, 50)
    table = np.vstack([base + shift + rng.normal(0, 0.03, 50) for shift in (0, 0.002, 0.3)])
    result = scores(table, names=("low", "also low", "high")).compare(test=test, resamples=2000)
    ranks = {s.run: s.rank for s in result.standings}
    assert ranks == {"high": 1, "low": 2, "also low": 2}
    groups = {s.run: s.group for s in result.standings}
    assert groups == {"high": "a", "low": "b", "also low": "b"}
    top = result.standings[0]
    assert (top.run, top.place, top.place_interval, top.rank_spread) == ("high", 1, (1, 1), (1, 1))
    assert all(s.place_interval == s.rank_spread == (2, 3) for s in result.standings[1:])
    assert [s.place for s in result.standings] == [1, 2, 3]


def test_json_has_the_shape_of_the_contract():
    payload = scores(generated(3)).compare(baseline="run1", test="bootstrap", rng=7).to_dict()
    assert {"pairs", "test", "correction", "seed", "topics"} <= payload.keys()
    assert (payload["test"], payload["correction"]) == ("bootstrap", "romano-wolf")
    assert (payload["seed"], payload["topics"]) == (7, 30)
    assert [(p["a"], p["b"]) for p in payload["pairs"]] == [("run0", "run1"), ("run2", "run1")]
    for pair in payload["pairs"]:
        assert {"a", "b", "measure", "difference", "ci", "p", "p_corrected"} <= pair.keys()
        assert pair["ci"][0] <= pair["difference"] <= pair["ci"][1]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"test": "bootstap"}, "Did you mean 'bootstrap'"),
        ({"baseline": "run9"}, "no run named 'run9'"),
        ({"correction": "hlm"}, "Did you mean 'holm'"),
        ({"tail": "both"}, "none of 'two', 'one', 'seen'"),
        ({"tail": "one"}, "name a baseline"),
        ({"test": "wilcoxon", "correction": "romano-wolf"}, "for tests of means"),
        ({"alpha": 1.5}, "between 0 and 1"),
        ({"interval": "bcaa"}, "Did you mean 'bca'"),
        ({"resamples": 0}, "from 1 on"),
        ({"resamples": "exact"}, "exact form"),
        ({"test": "randomization", "resamples": "exact"}, "up to 20 topics"),
        ({"test": "tukey", "correction": "holm"}, "corrects for all pairs itself"),
        ({"test": "nemenyi", "tail": "one"}, "two-tailed"),
        ({"test": "tukey", "tail": "seen"}, "two-tailed"),
        ({"rng": -1}, "from 0 on"),
        ({"jobs": 0}, "1 or more"),
        ({"margin": 0.0}, "greater than 0"),
        ({"detect": -0.1}, "greater than 0"),
        ({"power": 0.01}, "between alpha"),
    ],
)
def test_senseless_options_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        scores(generated()).compare(**options)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(UsageError, match="two runs or more"):
        scores(generated(1)).compare()
    with pytest.raises(UsageError, match="no values of single topics, which the sign test"):
        scores(generated(), aggregate="geometric").compare(test="sign")
    with pytest.raises(UsageError, match="no better direction"):
        scores(generated(), higher=None).compare(tail="one", baseline="run0")


def test_intervals_of_means():
    values = generated(3)
    values[0, :4] = math.nan
    table = scores(values)
    for method in INTERVAL_METHODS:
        boxes = table.interval(method=method, rng=1)
        for i, run in enumerate(table.runs):
            box = boxes[run]["AP"]
            kept = values[i][~np.isnan(values[i])]
            assert box.low < kept.mean() == pytest.approx(box.value)
            assert box.value < box.high
            assert box.n == kept.size
    assert scores(values, aggregate="sum").interval()["run1"]["AP"] is None


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(2, 4), st.integers(1, 8)),
           elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, math.nan])),
    st.sampled_from(TESTS),
)  # fmt: skip
def test_anything_finite_or_absent_can_be_compared(values, test):
    result = scores(values).compare(test=test, resamples=50)
    assert len(result.pairs) == len(values) * (len(values) - 1) // 2
    for pair in result.pairs:
        assert 0 <= pair.p <= pair.p_corrected <= 1
        low, high = pair.ci
        assert math.isnan(low) or low <= high
        assert pair.wins + pair.ties + pair.losses == pair.topics
    render(comparison_document(result), "json")


def test_swapping_a_pair_swaps_the_signs():
    values = generated(2)
    there = scores(values).compare(test="randomization", resamples=500).pairs[0]
    back = scores(values[::-1]).compare(test="randomization", resamples=500).pairs[0]
    assert there.p == back.p
    assert there.difference == pytest.approx(-back.difference)
    assert there.cohen_d == pytest.approx(-back.cohen_d)
    assert there.cliffs_delta == pytest.approx(-back.cliffs_delta)
    assert there.deviation_percent == pytest.approx(back.deviation_percent)
