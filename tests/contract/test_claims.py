"""What a comparison claims: ranks, letters, p-values and intervals that never contradict."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import stats
from cranfield.errors import UsageError
from cranfield.options import CORRECTIONS, FAMILY_WISE, OF_MEANS, TESTS
from tests.contract.test_comparison import scores

OF_MEANS_ALL = (*OF_MEANS, "tukey", "tukey-randomization")


def campaign(runs, topics, seed, *, spread=0.5, gaps=0.0, coarse=False):
    """Scores such as AP of runs that differ, with topics that some runs lack."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, spread, (runs, 1))
    logit = rng.normal(-1, 1.2, topics) + quality + rng.normal(0, 0.6, (runs, topics))
    values = 1 / (1 + np.exp(-logit))
    if coarse:
        values = np.round(3 * values) / 3
    values[rng.random(values.shape) < gaps] = math.nan
    return values


def check_consistent(result):
    """Nothing that a row or a pair says contradicts another."""
    board = {s.run: s for s in result.standings}
    for pair in result.pairs:
        a, b = board[pair.a], board[pair.b]
        apart = pair.p_corrected <= result.alpha
        if a.group or b.group:
            assert bool(set(a.group) & set(b.group)) != apart, (pair, a, b)
        assert pair.p <= pair.p_corrected
        assert (pair.mark != "") >= apart
        if result.interval == "studentized" and result.tail == "two":
            low, high = pair.ci
            assert (low > 0 or high < 0) == (pair.p <= result.alpha), pair
    if result.baseline is None:
        better, worse = Counter(), Counter()
        for pair in result.pairs:
            if pair.p_corrected <= result.alpha:
                first, second = (pair.a, pair.b)[:: 1 if pair.mark == "up" else -1]
                better[second] += 1
                worse[first] += 1
        for run, s in board.items():
            assert s.rank_spread == (s.rank, len(board) - worse[run])
            assert s.rank == 1 + better[run]
    for s in result.standings:
        assert s.rank <= s.rank_spread[1]
        low, high = s.place_interval
        assert low is None or low <= s.place <= high
    means = [s.mean for s in result.standings if not math.isnan(s.mean)]
    assert means == sorted(means, reverse=True)
    assert [s.place for s in result.standings] == sorted(s.place for s in result.standings)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(TESTS),
    st.sampled_from([None, *CORRECTIONS]),
    st.sampled_from(["two", "one", "seen"]),
    st.integers(2, 9),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.0, 0.1, 0.4]),
    st.booleans(),
    st.booleans(),
)
def test_nothing_contradicts(seed, test, correction, tail, runs, topics, gaps, coarse, baseline):
    values = campaign(runs, topics, seed, gaps=gaps, coarse=coarse, spread=0.8)
    options = {"test": test, "correction": correction, "tail": tail, "resamples": 199}
    if baseline or tail == "one":
        options["baseline"] = "run1"
    if test in FAMILY_WISE:
        options |= {"tail": "two", "correction": None}
    elif correction == "romano-wolf" and test not in OF_MEANS:
        options["correction"] = "holm"
    result = scores(values, higher=bool(seed % 2) or None).compare(**options | {"tail": "two"})
    check_consistent(result)
    result = scores(values).compare(**options)
    check_consistent(result)
    if test in OF_MEANS_ALL and not gaps and options["tail"] != "one":
        for s in result.standings:
            low, high = s.place_interval
            # What tests of means have settled, the order of the means keeps.
            assert s.rank <= s.place <= s.rank_spread[1]
            assert low is None or s.rank <= low <= high <= s.rank_spread[1]


@pytest.mark.parametrize("runs", [33, 73, 180])
def test_many_runs_are_told_apart(runs):
    values = campaign(runs, 50, runs)
    values[0] *= 0.02
    result = scores(values).compare()
    check_consistent(result)
    last = next(s for s in result.standings if s.run == "run0")
    assert last.rank > runs / 2
    assert last.rank_spread[0] == last.rank
    assert not set(last.group) & set(result.standings[0].group)
    assert "***" in {pair.stars for pair in result.pairs}


def test_too_many_groups_for_letters_are_shown_as_ranks():
    result = scores(campaign(130, 40, 1)).compare(test="t", correction="none")
    assert {s.group for s in result.standings} == {""}
    assert any("too many groups" in note for note in result.notes)
    assert "ranks" in str(result)
    check_consistent(result)


def test_a_setting_that_cannot_reach_the_level_says_so():
    result = scores(campaign(33, 50, 1)).compare(correction="holm", resamples=1000)
    assert min(pair.p_corrected for pair in result.pairs) > 0.05
    (note,) = result.notes
    assert note.startswith("AP: nothing can be significant: with 1000 resamples and holm over 528")
    result = scores(campaign(2, 4, 1)).compare(test="sign")
    assert "with 4 topics" in result.notes[0]
    result = scores(campaign(3, 2, 1)).compare(test="sign")
    assert result.notes[0].endswith("holm over 3 pairs no corrected p-value is below 1")


def test_p_values_at_their_floor_are_shown_as_bounds():
    base = campaign(2, 50, 1)
    base[0] += 0.5
    result = scores(base).compare(resamples=999)
    (pair,) = result.pairs
    assert (pair.p, pair.p_is_floor, pair.p_corrected_is_floor) == (0.001, True, True)
    assert "<0.0010" in str(result)
    assert result.to_dict()["pairs"][0]["p"] == 0.001


def test_stars_that_other_draws_could_change_are_marked():
    rng = np.random.default_rng(1)
    unsure = 0
    for _ in range(40):
        values = np.vstack([rng.normal(0.28, 1, 50), np.zeros(50)])
        first, *others = (scores(values).compare(rng=s, resamples=500).pairs[0] for s in range(6))
        if first.sure:
            assert {pair.stars for pair in others} == {first.stars}
        unsure += not first.sure
    assert 0 < unsure < 40


def test_resamples_without_spread_are_judged_by_their_mean():
    wins = np.vstack([np.ones(200), np.zeros(200)])
    wins[0, 0] = 0
    (pair,) = scores(wins).compare().pairs
    assert pair.p < 0.001
    few = np.vstack([np.repeat([1.0, 0.0], [2, 48]), np.zeros(50)])
    (pair,) = scores(few).compare().pairs
    assert pair.p > 0.1


def test_a_run_on_easy_topics_is_not_ranked_above_one_that_beats_it_there():
    easy, hard = np.full(30, 0.5), np.full(30, math.nan)
    rng = np.random.default_rng(0)
    partial = np.concatenate([easy, hard]) + rng.normal(0, 0.02, 60)
    full = np.concatenate([easy + 0.4, np.full(30, 0.05)]) + rng.normal(0, 0.02, 60)
    result = scores([partial, full], names=("partial", "full")).compare()
    ranks = {s.run: (s.place, s.rank) for s in result.standings}
    assert ranks == {"partial": (1, 2), "full": (2, 1)}
    assert any("over its own topics (30 to 60 of 60)" in note for note in result.notes)
    assert any(note.startswith("partial: AP: stands above its rank") for note in result.notes)


@pytest.mark.parametrize("test", ["sign", "nemenyi", "wilcoxon"])
def test_a_run_that_loses_most_topics_is_ranked_by_what_the_test_asks(test):
    losing = np.concatenate([np.full(40, 0.40), np.full(10, 1.0)])
    steady = np.concatenate([np.full(40, 0.45), np.full(10, 0.5)])
    result = scores([losing, steady], names=("losing", "steady")).compare(test=test)
    board = {s.run: (s.place, s.rank) for s in result.standings}
    if test == "wilcoxon":
        assert board["losing"][0] == 1
        return
    assert board == {"losing": (1, 2), "steady": (2, 1)}


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "t", "wilcoxon", "sign"])
def test_seen_is_the_smaller_of_the_two_one_tailed_p_values(test):
    values = campaign(4, 40, 3)
    seen = scores(values).compare(test=test, tail="seen", correction="none", resamples=999)
    for pair in seen.pairs:
        both = [
            scores(values)
            .compare(test=test, tail="one", baseline=base, correction="none", resamples=999)
            .pair(other, base, "AP")
            .p
            for base, other in ((pair.a, pair.b), (pair.b, pair.a))
        ]
        assert pair.p == pytest.approx(min(both), abs=1e-12)
        expected = "" if pair.p > 0.05 else "up" if pair.difference > 0 else "down"
        assert pair.mark == expected


def test_one_tailed_says_nothing_of_a_run_that_is_worse():
    values = campaign(3, 40, 1, spread=0)
    values[2] -= 0.3
    result = scores(values).compare(tail="one", baseline="run0")
    pair = result.pair("run2", "run0", "AP")
    assert (pair.p > 0.9, pair.mark, pair.stars) == (True, "", "")
    assert " down" not in str(result)


def test_one_tailed_marks_equal_runs_as_often_as_its_level():
    """Marks in either direction would come twice as often."""
    values = np.random.default_rng(12).normal(0.5, 0.1, (401, 30))
    values[0] = 0.5
    found = scores(values).compare(test="t", tail="one", baseline="run0", correction="none")
    marks = found.pairs.columns["mark"]
    assert 0.03 <= (marks != 0).mean() <= 0.07


def test_boards_name_the_intervals_of_means_beside_those_of_differences():
    found = scores(campaign(3, 20, 1)).compare(resamples=99)
    named = "of means wilson, within the range of the measure; of differences studentized"
    assert named in found.footnotes()[-1]
    # Once below the pairs, once below the leaderboard.
    assert str(found).count(named) == 2
    same = scores(campaign(3, 20, 1)).compare(interval="t", test="t")
    assert "95 % intervals: t." in same.footnotes()[-1]


def test_the_correction_uses_that_pairs_move_together():
    values = campaign(20, 50, 5, spread=0.4)
    pairs = stats._resample.all_pairs(20)
    single = stats.randomization_test(values, pairs, resamples=9999).p
    together = stats.step_down(values, pairs, resamples=9999)
    assert (together.p <= 0.05).sum() > (stats.correct(single, "holm") <= 0.05).sum()
    assert (np.maximum(single, together.p) >= single).all()
    # One pair alone needs no correction; many copies of a run cost nothing.
    copies = np.vstack([values[:2], values[1], values[1]])
    one = stats.step_down(values[:2], pairs[:1], resamples=9999).p[0]
    many = stats.step_down(copies, np.array([[0, 1], [0, 2], [0, 3]]), resamples=9999).p
    assert many == pytest.approx([one] * 3)


@pytest.mark.parametrize("tail", ["two", "one", "seen"])
def test_the_step_down_follows_its_definition(tail):
    """Every draw by itself: the largest statistic among the pairs that are no more significant."""
    values = campaign(4, 8, 2)
    pairs = stats._resample.all_pairs(4)
    found = stats.step_down(values, pairs, tail=tail, resamples="exact").p
    rows = values[pairs[:, 0]] - values[pairs[:, 1]]
    signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    common = np.median(rows.var(axis=1, ddof=1))
    own = (rows**2).sum(axis=1) / 7
    size = np.sqrt(8 * np.minimum(0.5 * own + 0.5 * common, 1.2 * own))
    turn = np.sign(rows.sum(axis=1)) if tail == "seen" else np.ones(len(rows))
    shape = np.abs if tail == "two" else lambda x: x
    seen = shape(turn * rows.sum(axis=1) / size)
    drawn = shape(turn * (signs @ rows.T) / size)
    expected = np.array(
        [(drawn[:, seen <= s + 1e-12].max(axis=1) >= s - 1e-9).mean() for s in seen]
    )
    for i in range(len(seen)):
        assert found[i] == pytest.approx(expected[seen >= seen[i] - 1e-12].max())


def test_power_is_said_after_the_correction_and_alone():
    result = scores(campaign(8, 50, 1, spread=0)).compare(detect=0.05, correction="holm", test="t")
    for pair in result.pairs:
        assert pair.detectable > pair.detectable_alone
        assert pair.topics_needed > pair.topics_needed_alone
        spread = pair.difference / pair.cohen_d
        assert stats.paired_power(pair.detectable, spread, 50, alpha=0.05 / 28) == pytest.approx(
            0.8
        )
    alone = scores(campaign(2, 50, 1)).compare(detect=0.05).pairs[0]
    assert alone.detectable == alone.detectable_alone
    drawn = scores(campaign(8, 50, 1, spread=0)).compare().pairs[0]
    # Pairs that move together leave each a higher level than Holm does.
    assert drawn.detectable_alone < drawn.detectable < result.pairs[0].detectable


def test_a_comparison_can_be_cancelled_and_kept(tmp_path):
    import copy
    import pickle

    import cranfield as cf
    from cranfield.errors import CancelledError
    from cranfield.notes import Progress

    progress = Progress()
    progress.cancel()
    with pytest.raises(CancelledError):
        scores(campaign(5, 30, 1)).compare(progress=progress)
    result = scores(campaign(5, 30, 1)).compare(resamples=200, margin=0.1)
    result.save(tmp_path / "kept.json")
    for kept in (cf.load(tmp_path / "kept.json"), copy.deepcopy(result)):
        assert kept == result
        assert kept.pairs == result.pairs
        assert kept.to_dict() == result.to_dict()
    assert pickle.loads(pickle.dumps(result)) == result
    assert len(repr(result)) < 1000


def test_one_tailed_needs_a_baseline():
    with pytest.raises(UsageError, match="name a baseline, or take the tail 'seen'"):
        scores(campaign(3, 20, 1)).compare(tail="one")


def test_the_places_shown_are_those_that_the_tests_leave_open():
    """Runs that share a letter share places, in rows and in the table that people read."""
    result = scores(campaign(6, 20, 5, spread=0.1)).compare(resamples=199)
    board = {s.run: s for s in result.standings}
    for s in result.standings:
        first, last = s.rank_spread
        assert s.place_interval == (min(first, s.place), max(last, s.place))
    alike = [p for p in result.pairs if set(board[p.a].group) & set(board[p.b].group)]
    assert alike
    for pair in alike:
        a, b = board[pair.a].place_interval, board[pair.b].place_interval
        assert max(a[0], b[0]) <= min(a[1], b[1])
    shown = str(result)
    assert "spread" in shown
    assert "places: where" not in shown
