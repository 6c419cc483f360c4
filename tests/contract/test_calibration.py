"""Under the null hypothesis every test rejects as often as it says; power grows with topics.

The whole study is `benchmarks/check_stats.py`; this is its quick part.
"""

import numpy as np
import pytest

from cranfield import stats

TRIALS, TOPICS = 2000, 49


def generated(trials, topics, shift, seed):
    rng = np.random.default_rng(seed)
    logit = rng.normal(-1, 1.2, (trials, 1, topics)) + rng.normal(0, 0.6, (trials, 2, topics))
    logit[:, 0] += shift
    return 1 / (1 + np.exp(-logit))


def p_values(test, table, tail):
    if test in ("bootstrap", "randomization"):
        flat = table.reshape(-1, table.shape[2])
        pairs = np.arange(len(flat)).reshape(-1, 2)
        function = getattr(stats, f"{test}_test")
        return function(flat, pairs, tail=tail, resamples=999, rng=3).p
    return getattr(stats, f"{test}_test")(table[:, 0] - table[:, 1], tail=tail).p


TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap"]


@pytest.mark.parametrize("tail", ["one", "two"])
@pytest.mark.parametrize("test", TESTS)
def test_equal_runs_are_told_apart_in_three_to_seven_percent_of_trials(test, tail):
    p = p_values(test, generated(TRIALS, TOPICS, 0.0, 1), tail)
    assert 0.03 <= (p < 0.05).mean() <= 0.07


@pytest.mark.parametrize("test", TESTS)
def test_power_grows_with_the_number_of_topics(test):
    shares = [
        (p_values(test, generated(400, n, 0.25, n), "two") < 0.05).mean() for n in (20, 60, 180)
    ]
    assert shares[0] + 0.1 < shares[1] < shares[2] - 0.1
