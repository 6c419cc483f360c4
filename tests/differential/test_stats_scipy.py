"""Every test that SciPy or statsmodels has, on random and on degenerate data, to 1e-10."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats as ss

from cranfield import stats
from cranfield.stats._resample import all_pairs
from cranfield.stats.posthoc import studentized_range_sf
from tests import peers

CLOSE = {"rtol": 1e-10, "atol": 1e-10}
ALTERNATIVE = {"two": "two-sided", "one": "greater"}
TAILS = ["one", "two"]


def differences(kind, n, seed):
    """Rows of differences: smooth, coarse (ties and zeros), or skewed."""
    rng = np.random.default_rng(seed)
    if kind == "smooth":
        return rng.normal(0.1, 1, n)
    if kind == "coarse":
        return np.round(rng.normal(0.2, 1, n), 0) / 10
    return rng.exponential(1, n) - 0.8


CASES = [
    (kind, n, seed)
    for kind in ("smooth", "coarse", "skewed")
    for n in (2, 5, 12, 13, 14, 30, 50, 51, 200)
    for seed in range(3)
]


def silently(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **options)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("kind, n, seed", CASES)
def test_t(kind, n, seed, tail):
    d = differences(kind, n, seed)
    if not d.any():
        assert stats.t_test(d, tail=tail).p[0] == 1.0
        return
    expected = silently(ss.ttest_1samp, d, 0, alternative=ALTERNATIVE[tail])
    ours = stats.t_test(d, tail=tail)
    np.testing.assert_allclose(ours.p[0], expected.pvalue, **CLOSE)
    np.testing.assert_allclose(ours.statistic[0], expected.statistic, **CLOSE)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("kind, n, seed", CASES)
def test_wilcoxon(kind, n, seed, tail):
    d = differences(kind, n, seed)
    ours = stats.wilcoxon_test(d, tail=tail).p[0]
    if not d.any():
        assert ours == 1.0
        return
    expected = silently(ss.wilcoxon, d, alternative=ALTERNATIVE[tail]).pvalue
    np.testing.assert_allclose(ours, expected, **CLOSE)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("kind, n, seed", CASES)
def test_sign(kind, n, seed, tail):
    d = differences(kind, n, seed)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    ours = stats.sign_test(d, tail=tail).p[0]
    if wins + losses == 0:
        assert ours == 1.0
        return
    expected = ss.binomtest(wins, wins + losses, 0.5, alternative=ALTERNATIVE[tail]).pvalue
    np.testing.assert_allclose(ours, expected, **CLOSE)
    if tail == "two":
        np.testing.assert_allclose(ours, peers.statsmodels_signs.sign_test(d)[1], **CLOSE)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("kind", ["smooth", "coarse", "skewed"])
@pytest.mark.parametrize("n", [2, 5, 8, 11])
def test_exact_randomization_equals_scipys_permutation_test(kind, n, tail):
    d = differences(kind, n, 1)
    pair = np.vstack([d, np.zeros(n)])
    ours = stats.randomization_test(pair, all_pairs(2), tail=tail, resamples="exact").p[0]
    expected = ss.permutation_test(
        (d,),
        np.mean,
        permutation_type="samples",
        n_resamples=2**n,
        alternative=ALTERNATIVE[tail],
        vectorized=True,
    ).pvalue
    np.testing.assert_allclose(ours, expected, **CLOSE)


@pytest.mark.parametrize("tail", TAILS)
def test_random_randomization_is_near_the_exact_value(tail):
    d = differences("skewed", 16, 3)
    pair = np.vstack([d, np.zeros(16)])
    exact = stats.randomization_test(pair, all_pairs(2), tail=tail, resamples="exact").p[0]
    drawn = stats.randomization_test(pair, all_pairs(2), tail=tail, resamples=100_000).p[0]
    assert abs(exact - drawn) < 5 * math.sqrt(exact * (1 - exact) / 100_000)


@pytest.mark.parametrize("margin", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("kind, n, seed", CASES[::4])
def test_equivalence(kind, n, seed, margin):
    d = differences(kind, n, seed)
    if np.ptp(d) == 0:
        return
    expected = silently(peers.statsmodels_weights.ttost_paired, d, np.zeros(n), -margin, margin)[0]
    ours = stats.equivalence_test(d, margin=margin).p[0]
    np.testing.assert_allclose(ours, expected, **CLOSE)


@pytest.mark.parametrize("kind, n, seed", CASES[::5])
def test_t_interval(kind, n, seed):
    d = differences(kind, n, seed)
    if np.ptp(d) == 0:
        return
    ours = stats.mean_intervals(d, method="t", confidence=0.9)[0]
    low, high = peers.statsmodels_weights.DescrStatsW(d).tconfint_mean(alpha=0.1)
    np.testing.assert_allclose([ours.low, ours.high], [low, high], **CLOSE)


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("kind, n, seed", [c for c in CASES if c[1] > 2][::5])
def test_bootstrap_intervals_from_the_same_resamples(kind, n, seed, method):
    d = differences(kind, n, seed)
    if np.ptp(d) == 0:
        return
    drawn = stats.bootstrap_means(d, resamples=2000, rng=seed)
    prior = ss.bootstrap((d,), np.mean, n_resamples=2, method="percentile", rng=1)
    # SciPy leaves resamples that equal the data to rounding; it gets them equal.
    prior.bootstrap_distribution = np.where(np.abs(drawn[0] - d.mean()) < 1e-13, d.mean(), drawn[0])
    expected = silently(
        ss.bootstrap,
        (d,),
        np.mean,
        n_resamples=0,
        method=method.replace("bca", "BCa"),
        bootstrap_result=prior,
        confidence_level=0.95,
    ).confidence_interval
    ours = stats.mean_intervals(d, method=method, resamples=2000, rng=seed)[0]
    np.testing.assert_allclose([ours.low, ours.high], list(expected), **CLOSE)


@pytest.mark.parametrize(
    "method, theirs", [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_corrections(method, theirs, n):
    p = np.round(np.random.default_rng(n).random(n) ** 3, 3)
    expected = peers.statsmodels_tests.multipletests(p, method=theirs)[1]
    np.testing.assert_allclose(stats.correct(p, method), expected, **CLOSE)


def scores(runs, topics, seed, coarse=False):
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 0.1, (runs, topics)) + rng.normal(0.4, 0.2, topics)
    table += np.linspace(0, 0.1, runs)[:, None]
    return np.round(table, 1) if coarse else table


SHAPES = [(2, 10), (3, 2), (3, 25), (5, 50), (8, 20)]


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("runs, topics", SHAPES)
def test_one_way(runs, topics, coarse):
    table = scores(runs, topics, 1, coarse)
    ours = stats.one_way(list(table))
    expected = ss.f_oneway(*table)
    np.testing.assert_allclose([ours.f, ours.p], list(expected), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("runs, topics", SHAPES)
def test_two_way(runs, topics, coarse):
    table = scores(runs, topics, 2, coarse)
    frame = pd.DataFrame(
        [(f"r{i}", f"t{j}", table[i, j]) for i in range(runs) for j in range(topics)],
        columns=["run", "topic", "value"],
    )
    model = peers.statsmodels_formulas.ols("value ~ C(run) + C(topic)", data=frame).fit()
    expected = peers.statsmodels_api.stats.anova_lm(model)
    ours = stats.two_way(table)
    np.testing.assert_allclose(
        [ours.f_runs, ours.p_runs, ours.f_topics, ours.p_topics, ours.ms_residual],
        [
            *expected["F"][:2].iloc[[0]],
            *expected["PR(>F)"][:2].iloc[[0]],
            expected["F"].iloc[1],
            expected["PR(>F)"].iloc[1],
            expected["mean_sq"].iloc[2],
        ],
        rtol=1e-8,
        atol=1e-10,
    )


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("runs, topics", [s for s in SHAPES if s[0] > 2])
def test_friedman(runs, topics, coarse):
    table = scores(runs, topics, 3, coarse)
    ours = stats.friedman(table)
    expected = ss.friedmanchisquare(*table)
    np.testing.assert_allclose([ours.chi2, ours.p], list(expected), **CLOSE)


@pytest.mark.parametrize("runs, topics", SHAPES)
def test_tukey_for_independent_groups(runs, topics):
    table = scores(runs, topics, 4)
    pairs = all_pairs(runs)
    ours = stats.tukey_test(table, pairs, blocked=False)
    theirs = ss.tukey_hsd(*table).pvalue[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(ours.p, theirs, **CLOSE)
    names = np.repeat([f"r{i}" for i in range(runs)], topics)
    again = peers.statsmodels_groups.pairwise_tukeyhsd(table.ravel(), names).pvalues
    np.testing.assert_allclose(ours.p, again, **CLOSE)


@pytest.mark.parametrize("runs", [2, 3, 10, 40, 180])
@pytest.mark.parametrize("df", [1, 2, 3, 7, 8, 20, 98, 1000, math.inf])
def test_studentized_range(runs, df):
    q = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 3.5, 5.0, 8.0, 12.0])
    expected = silently(ss.studentized_range.sf, q, runs, df)
    np.testing.assert_allclose(studentized_range_sf(q, runs, df), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("runs, df", [(46, 200), (180, 8771), (1000, math.inf)])
def test_studentized_range_of_all_pairs_of_many_runs(runs, df):
    seen = np.array([0.0, 1.0, 3.0, 5.0, 5.7, 7.0, 12.0, 30.0, 31.0, 1e6])
    expected = silently(ss.studentized_range.sf, seen, runs, df)
    q = np.concatenate([seen, np.random.default_rng(1).uniform(0, 40, 20_000)])
    found = studentized_range_sf(q, runs, df)
    np.testing.assert_allclose(found[: seen.size], expected, rtol=0, atol=1e-10)
    assert found[0] == 1.0
    assert found[seen.size - 1] == 0.0
    assert (np.diff(found[np.argsort(q)]) < 1e-11).all()


@pytest.mark.parametrize("tail, theirs", [("one", "larger"), ("two", "two-sided")])
@pytest.mark.parametrize("effect, n", [*itertools.product([0.1, 0.5, 0.7], [5, 20, 60])])
def test_power(effect, n, tail, theirs):
    expected = peers.statsmodels_power.TTestPower().power(effect, n, 0.05, alternative=theirs)
    np.testing.assert_allclose(stats.paired_power(effect, 1.0, n, tail=tail), expected, **CLOSE)


@pytest.mark.parametrize("tail, theirs", [("one", "larger"), ("two", "two-sided")])
@pytest.mark.parametrize("effect", [0.1, 0.33, 0.5, 0.9])
def test_topics_needed(effect, tail, theirs):
    expected = peers.statsmodels_power.TTestPower().solve_power(
        effect, power=0.8, alpha=0.05, alternative=theirs
    )
    assert stats.topics_needed(effect, 1.0, tail=tail) == math.ceil(expected)
    found = stats.detectable_effect(math.ceil(expected), tail=tail)
    assert found <= effect + 1e-9


@pytest.mark.parametrize("kind, n, seed", [c for c in CASES if c[1] > 2][::3])
def test_cohen_d_and_bootstrap_test_against_a_plain_loop(kind, n, seed):
    d = differences(kind, n, seed)
    if np.ptp(d) == 0:
        return
    np.testing.assert_allclose(stats.cohen_d(d)[0], d.mean() / d.std(ddof=1), **CLOSE)
    pair = np.vstack([d, np.zeros(n)])
    ours = stats.bootstrap_test(pair, all_pairs(2), resamples=4000, rng=1).p[0]
    # The bootstrap of a t statistic has no outside twin; a loop with other draws stands by.
    rng = np.random.default_rng(99)
    t = abs(ss.ttest_1samp(d, 0).statistic)
    shifted = d - d.mean()
    drawn = shifted[rng.integers(n, size=(4000, n))]
    mean, error = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(
            error > 1e-12, np.abs(mean) / error, np.where(np.abs(mean) > 1e-12, np.inf, 0)
        )
    expected = (np.count_nonzero(ratio >= t * (1 - 1e-9)) + 1) / 4001
    assert abs(ours - expected) < 5 * math.sqrt(2 * expected * (1 - expected) / 4000) + 1e-3
