"""Intervals of means: within the range of the measure, and holding what they promise."""

import math

import numpy as np
import pytest

import cranfield as cf
from cranfield import stats
from cranfield.errors import UsageError
from cranfield.options import MEAN_METHODS
from cranfield.stats.intervals import wilson_intervals

UNIT = (0.0, 1.0)


def hits(count, of):
    """A row of as many ones, then zeros."""
    return np.repeat([1.0, 0.0], [count, of - count])


def judged(topics):
    return {f"t{i}": {"a": 1, "b": 0} for i in range(topics)}


def found_first(right, topics):
    """A run that has the relevant item first on so many topics."""
    return {f"t{i}": {"a": 2.0 if i < right else 0.0, "b": 1.0} for i in range(topics)}


def test_shares_have_wilsons_interval():
    box = wilson_intervals(hits(79, 80)[None], UNIT, confidence=0.95)[0]
    assert (box.low, box.high) == pytest.approx((0.9325, 0.9978), abs=0.002)
    # Nothing but hits leaves room for misses.
    low, high = (
        getattr(wilson_intervals(np.ones((1, 20)), UNIT, confidence=0.95), e)
        for e in ("low", "high")
    )
    assert high[0] == 1.0
    assert low[0] == pytest.approx(0.82, abs=0.01)


@pytest.mark.parametrize("true", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("topics", [20, 50, 100])
def test_shares_are_covered(true, topics):
    """The coverage is computed, not drawn: every number of hits by its probability."""
    counts = np.arange(topics + 1)
    rows = np.array([hits(k, topics) for k in counts])
    ends = wilson_intervals(rows, UNIT, confidence=0.95)
    inside = (ends.low <= true) & (true <= ends.high)
    chance = np.array(
        [math.comb(topics, int(k)) * true**k * (1 - true) ** (topics - k) for k in counts]
    )
    assert chance[inside].sum() >= 0.93


WORLDS = {
    "reciprocal ranks": lambda rng, shape: 1.0 / rng.geometric(0.6, shape),
    "zero-heavy": lambda rng, shape: np.where(rng.random(shape) < 0.7, 0.0, rng.random(shape)),
    "lognormal": lambda rng, shape: np.minimum(0.07 * np.exp(0.9 * rng.normal(size=shape)), 1.0),
    "bounded": lambda rng, shape: rng.beta(1.2, 2.5, shape),
}


@pytest.mark.parametrize("name", WORLDS)
def test_other_values_are_covered(name):
    rng = np.random.default_rng(41)
    true = WORLDS[name](rng, 1_000_000).mean()
    ends = wilson_intervals(WORLDS[name](rng, (3000, 20)), UNIT, confidence=0.95)
    below, above = (true < ends.low).mean(), (true > ends.high).mean()
    assert below + above <= 0.07
    assert max(below, above) <= 0.05
    assert ends.low.min() >= 0.0
    assert ends.high.max() <= 1.0


def test_values_without_an_upper_limit():
    rng = np.random.default_rng(43)
    rows = np.exp(rng.normal(0, 0.7, (3000, 20)))
    ends = wilson_intervals(rows, (0.0, math.inf), confidence=0.95)
    true = math.exp(0.7**2 / 2)
    assert ((ends.low <= true) & (true <= ends.high)).mean() >= 0.93
    # The unit of the values does not matter, and nothing but zeros has no scale.
    scaled = wilson_intervals(1000 * rows, (0.0, math.inf), confidence=0.95)
    np.testing.assert_allclose(scaled.high, 1000 * ends.high)
    assert math.isnan(wilson_intervals(np.zeros((1, 5)), (0.0, math.inf), confidence=0.9).high[0])


@pytest.mark.parametrize("method", MEAN_METHODS)
def test_no_interval_leaves_the_range(method):
    rows = np.array([[1, 1, 1, 0.2], [0, 0, 0, 0.9], [0.4, 0.5, 0.6, 0.5]])
    for box in stats.run_intervals(rows, method=method, resamples=199, limits=UNIT):
        assert 0.0 <= box.low <= box.value <= box.high <= 1.0


def test_a_method_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match="interval 'exact' is not one of wilson"):
        stats.run_intervals(np.ones((1, 4)), method="exact")


def test_values_without_a_lower_limit_take_the_bootstrap():
    box = stats.run_intervals(
        np.array([[-1.0, 2.0, 3.0]]), method="wilson", limits=(-math.inf, math.inf)
    )[0]
    assert box.method == "studentized"


def test_boards_and_scores_show_the_same_interval():
    runs = {"good": found_first(79, 80), "other": found_first(50, 80)}
    scores = cf.evaluate(judged(80), runs, "P@1")
    board = {s.run: s for s in scores.compare(resamples=199).standings}
    box = scores.interval()["good"]["P@1"]
    assert board["good"].ci == (box.low, box.high)
    assert board["good"].ci == pytest.approx((0.9325, 0.9978), abs=0.002)
    # Another one is cut at the range.
    named = scores.compare(resamples=199, interval="t").standings[0]
    assert named.ci[1] == 1.0


def test_few_topics_are_said():
    runs = {"a": found_first(4, 4), "b": found_first(2, 4)}
    notes = cf.evaluate(judged(4), runs, "P@1").compare(resamples=199).notes
    assert any("4 topics only" in str(note) for note in notes)
    more = cf.evaluate(judged(12), {k: found_first(5, 12) for k in "ab"}, "P@1")
    assert not any("topics only" in str(note) for note in more.compare(resamples=199).notes)


def test_the_axis_is_the_range_of_the_measure():
    from cranfield.report.charts.leaderboard import leaderboard

    runs = {"a": found_first(10, 12), "b": found_first(9, 12)}
    comparison = cf.evaluate(judged(12), runs, "P@1").compare(resamples=199)
    assert leaderboard(comparison).panels[0].x.domain == (0.0, 1.0)
