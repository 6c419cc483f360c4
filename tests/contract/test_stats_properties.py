"""Properties of the array functions that no outside tool shares."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield import stats
from cranfield.errors import UsageError
from cranfield.stats._resample import (
    Block,
    all_pairs,
    blocks,
    bootstrap_counts,
    exact_signs,
    random_orders,
    random_signs,
)

unit = st.floats(0, 1, allow_nan=False)


def table(runs=5, topics=20, seed=0):
    rng = np.random.default_rng(seed)
    return rng.beta(2, 3, topics) + rng.normal(0, 0.1, (runs, topics))


def test_draws_are_what_they_say():
    (block,) = blocks(100, 7)
    signs = random_signs(1, block, 7)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert (bootstrap_counts(1, block, 7).sum(axis=1) == 7).all()
    assert (np.sort(random_orders(1, block, 3, 4), axis=2) == np.arange(4)).all()
    every = np.vstack([exact_signs(Block(i, 512 * i, 512), 10) for i in range(2)])
    assert len(np.unique(every, axis=0)) == 1024
    assert [b.rows for b in blocks(1100, 7)] == [512, 512, 76]


def test_draws_look_random():
    signs = np.vstack([random_signs(1, b, 30) for b in blocks(20_000, 30)])
    assert np.abs(signs.mean(axis=0)).max() < 5 / math.sqrt(20_000)
    assert np.abs(np.corrcoef(signs.T) - np.eye(30)).max() < 5 / math.sqrt(20_000)


@given(st.lists(unit, min_size=2, max_size=12), st.lists(unit, min_size=2, max_size=12))
def test_cliffs_delta_is_its_definition(a, b):
    expected = np.sign(np.subtract.outer(np.array(a), np.array(b))).mean()
    assert stats.cliffs_delta(a, b) == pytest.approx(expected)


@given(st.lists(unit, min_size=1, max_size=20))
def test_corrections_never_lower_a_p_value_and_keep_the_order(p):
    p = np.array(p)
    holm, bonferroni, bh = (stats.correct(p, m) for m in ("holm", "bonferroni", "bh"))
    assert (p <= bh + 1e-15).all()
    assert (bh <= holm + 1e-12).all()
    assert (holm <= bonferroni + 1e-15).all()
    for adjusted in (holm, bonferroni, bh):
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_cronbachs_alpha_is_hoyts_reliability():
    """alpha = 1 - MS(residual) / MS(runs): Hoyt 1941."""
    for seed in range(5):
        values = table(6, 15, seed)
        anova = stats.two_way(values)
        assert stats.cronbach_alpha(values) == pytest.approx(1 - anova.ms_residual / anova.ms_runs)
        trust = stats.reliability(values)
        assert sum(trust.shares) == pytest.approx(1)
        # Spearman-Brown: the alpha of the same collection is its own.
        assert trust.with_topics(15) == pytest.approx(trust.alpha)
        assert trust.with_topics(150) > trust.alpha or trust.alpha <= 0


def test_parallel_topics_are_perfectly_reliable():
    values = np.linspace(0, 1, 4)[:, None] + np.linspace(0, 3, 6)
    assert stats.cronbach_alpha(values) == pytest.approx(1)


def test_variance_components_are_found_again():
    rng = np.random.default_rng(1)
    run, topic = rng.normal(0, 0.3, (300, 1)), rng.normal(0, 0.5, (1, 300))
    trust = stats.reliability(run + topic + rng.normal(0, 0.2, (300, 300)))
    found = (trust.var_run, trust.var_topic, trust.var_residual)
    assert found == pytest.approx((0.09, 0.25, 0.04), rel=0.2)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_reliability_needs_two_of_each(shape):
    assert math.isnan(stats.reliability(np.ones(shape)).alpha)


@given(st.integers(2, 7), st.integers(0, 2**21 - 1), st.integers(0, 100))
def test_runs_share_a_letter_exactly_when_they_do_not_differ(runs, bits, seed):
    significant = np.zeros((runs, runs), dtype=bool)
    for i, (a, b) in enumerate(all_pairs(runs)):
        significant[a, b] = significant[b, a] = bool(bits >> i & 1)
    means = np.random.default_rng(seed).permutation(runs).astype(float)
    letters = stats.compact_letters(np.argsort(-means), significant)
    for a, b in all_pairs(runs):
        assert bool(set(letters[a]) & set(letters[b])) != significant[a, b]
    assert all(letters)


def test_place_intervals_cover_the_places():
    drawn = np.array([[3.0, 3, 3, 1], [2, 2, 2, 2], [1, 1, 1, 3]])
    low, high = stats.place_intervals(drawn, confidence=0.9)
    assert low.tolist() == [1, 2, 1]
    assert high.tolist() == [3, 2, 3]
    tied = np.ones((3, 50))
    assert stats.place_intervals(tied)[1].tolist() == [1, 1, 1]


def test_many_runs_get_letters_or_none():
    runs = 50
    means = np.linspace(1, 0, runs)
    far = np.abs(np.subtract.outer(np.arange(runs), np.arange(runs))) > 2
    letters = stats.compact_letters(np.argsort(-means), far)
    assert letters[0] == "a"
    assert all(len(letter) <= 3 for letter in letters)
    assert letters[-1] == "V"
    # Nobody reads more letters than there are.
    far = np.abs(np.subtract.outer(np.arange(60), np.arange(60))) > 2
    assert stats.compact_letters(np.arange(60), far) == [""] * 60


def brute_tau_ap(truth, estimate):
    order = np.argsort(-np.array(estimate))
    truth = np.array(truth)[order]
    n = len(truth)
    right = [(truth[:i] > truth[i]).sum() / i for i in range(1, n)]
    return 2 / (n - 1) * sum(right) - 1


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=9, unique=True), st.randoms())
def test_ap_correlation_is_its_definition(truth, random):
    estimate = truth[:]
    random.shuffle(estimate)
    ours = stats.ap_correlation(truth, estimate).value
    assert ours == pytest.approx(brute_tau_ap(truth, estimate))
    assert stats.ap_correlation(truth, truth).value == pytest.approx(1)
    assert stats.ap_correlation(truth, [-t for t in truth]).value == pytest.approx(-1)


def test_ap_correlation_with_ties_is_the_mean_over_orders():
    truth, estimate = [5, 3, 4, 1, 2], [9, 7, 7, 7, 1]
    from itertools import permutations

    values = []
    for order in permutations([0.0, 0.1, 0.2]):
        broken = [9, 7 + order[0], 7 + order[1], 7 + order[2], 1]
        values.append(brute_tau_ap(truth, broken))
    assert stats.ap_correlation(truth, estimate).value == pytest.approx(np.mean(values))


@pytest.mark.parametrize("function", [stats.kendall, stats.spearman, stats.pearson])
def test_correlations_with_a_constant_do_not_exist(function):
    assert math.isnan(function([1, 2, 3], [1, 1, 1]).value)
    assert math.isnan(function([1], [1]).value)
    with pytest.raises(UsageError, match="same length"):
        function([1, 2], [1, 2, 3])
    with pytest.raises(UsageError, match="finite"):
        function([1, math.nan], [1, 2])


def test_kendall_says_which_tau_it_is():
    assert stats.kendall([1, 2, 3], [3, 2, 1]).name == "tau"
    assert stats.kendall([1, 1, 3], [3, 2, 1]).name == "tau-b"


def test_rank_biased_overlap_refuses_nonsense():
    with pytest.raises(UsageError, match="twice"):
        stats.rank_biased_overlap("aa", "bc")
    with pytest.raises(UsageError, match="between 0 and 1"):
        stats.rank_biased_overlap("ab", "bc", p=1)
    assert stats.rank_biased_overlap("", "") == 1
    assert stats.rank_biased_overlap("", "ab") == 0


def test_power_of_hopeless_and_certain_cases():
    assert stats.topics_needed(0.0, 1.0) is None
    assert stats.topics_needed(-0.1, 1.0, tail="one") is None
    assert stats.topics_needed(0.1, 0.0) == 2
    assert stats.topics_needed(1e-9, 1.0) is None
    assert stats.paired_power(0.1, 1.0, 1) == 0.0
    assert stats.paired_power(5.0, 1.0, 400) == pytest.approx(1)
    assert math.isinf(stats.detectable_effect(1))


@pytest.mark.parametrize("call, message", [
    (lambda: stats.t_test([math.nan, 1.0]), "finite"),
    (lambda: stats.randomization_test([1.0, 2.0], all_pairs(2)), "one row per run"),
    (lambda: stats.correct([1.2]), "from 0 to 1"),
    (lambda: stats.correct([0.2], "hlm"), "there are: holm"),
    (lambda: stats.equivalence_test([1.0, 2.0], margin=0), "greater than 0"),
    (lambda: stats.mean_intervals([1.0, 2.0], confidence=1.0), "between 0 and 1"),
    (lambda: stats.mean_intervals([1.0, 2.0], method="bcaa"), "not one of"),
    (lambda: stats.one_way([[1.0]]), "two groups"),
    (lambda: stats.friedman([[1.0]]), "two runs"),
    (lambda: stats.paired_power(0.1, 1, 10, alpha=2), "between 0 and 1"),
    (lambda: stats.topics_needed(0.1, 1, power=0.01), "between alpha"),
    (lambda: stats.bootstrap_test(table(), all_pairs(5), resamples="exact"), "no exact form"),
])  # fmt: skip
def test_nonsense_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        call()


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9, unique=True), st.randoms())
def test_overlap_of_scores_without_ties_is_rank_biased_overlap(first, random):
    second = random.sample(first, len(first))
    named = [sorted(range(len(first)), key=lambda i: -scores[i]) for scores in (first, second)]
    ours = stats.overlap_of_scores(first, second, p=0.8)
    assert ours == pytest.approx(stats.rank_biased_overlap(*named, p=0.8))


def test_overlap_of_scores_with_ties():
    # Depth 1: {a} and {a, b}, agreement 2/3; from depth 2 on the same two, then all three.
    by_hand = 0.1 / 0.9 * (2 / 3 * 0.9 + 0.9**2 + 0.9**3) + 0.9**3
    assert stats.overlap_of_scores([3, 2, 1], [2, 2, 1]) == pytest.approx(by_hand)
    orders = [stats.overlap_of_scores([1, 1, 1, 0], y) for y in ([1, 2, 3, 4], [3, 2, 1, 4])]
    assert orders[0] == orders[1]
    assert np.isnan(stats.overlap_of_scores([], []))


def test_ap_correlation_with_a_constant_does_not_exist():
    assert np.isnan(stats.ap_correlation([1, 1, 1], [1, 2, 3]).value)
    assert np.isnan(stats.ap_correlation([1, 2, 3], [1, 1, 1]).value)


@pytest.mark.parametrize("offset", [0, 1000, 1_000_000])
def test_an_analysis_of_variance_keeps_its_digits_far_from_zero(offset):
    # Multiples of 1/1024 stay exact at every offset: the tables differ by it and nothing else.
    near = np.random.default_rng(3).integers(0, 1024, (3, 9)) / 1024
    far = near + offset
    assert stats.one_way(list(far)).f == pytest.approx(stats.one_way(list(near)).f, rel=1e-12)
    assert stats.two_way(far).f_runs == pytest.approx(stats.two_way(near).f_runs, rel=1e-12)
    assert stats.two_way(far).f_topics == pytest.approx(stats.two_way(near).f_topics, rel=1e-12)
