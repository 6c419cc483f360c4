"""The interval of tau between two rankings of runs: what it is made of, and what it covers."""

import numpy as np
import pytest
from scipy import stats

from cranfield.evaluation.ranked import evaluate
from cranfield.lab.measure_correlation import correlate, correlate_scores
from cranfield.lab.resample import Draws

NAMES = ("A", "B")
UP = np.ones(2)


def test_ends_are_numpys_percentiles_and_their_mirror_image(ranked):
    found = correlate(ranked, resamples=40, rng=9)
    values = evaluate(ranked.truth, [s for _, s in ranked.runs], ranked.names)
    a, b = (values.values[m] for m in ranked.measures[:2])
    weights = Draws("bootstrap", 40, 9).weights(a.shape[1], 0, 40)
    assert (weights.sum(axis=1) == a.shape[1]).all()
    size = a.shape[1]
    taus = [
        stats.kendalltau(np.round(a @ w / size, 12), np.round(b @ w / size, 12)).statistic
        for w in weights
    ]
    low, high = np.percentile(taus, [2.5, 97.5])
    tau = found.pairs[0].kendall
    ends = min(low, 2 * tau - high), max(high, tau + (tau - low) / (np.sqrt(2) - 1))
    assert found.pairs[0].interval == pytest.approx((max(ends[0], -1), min(ends[1], 1)))


def drawn_means(rng, a, b, units=50, resamples=200):
    """Means of runs under two measures over some units, and over resampled ones."""
    noise = rng.normal(0, 0.3, (a.size, units))
    other = rng.normal(0, 0.3, (a.size, units))
    x, y = a[:, None] + noise, b[:, None] + 0.5 * noise + 0.87 * other
    weights = rng.multinomial(units, np.full(units, 1 / units), resamples).T / units
    scores = np.column_stack([x.mean(axis=1), y.mean(axis=1)])
    return scores, np.stack([x @ weights, y @ weights], axis=1)


@pytest.mark.parametrize("alike", [0.98, 0.5, -0.98])
def test_intervals_cover_the_tau_of_the_true_means(alike):
    """20 runs, 50 units; plain percentiles cover 3 % where the rankings are nearly the same."""
    rng = np.random.default_rng(5)
    trials, covered = 60, 0
    for _ in range(trials):
        a = rng.normal(0, 0.1, 20)
        b = alike * a + np.sqrt(1 - alike**2) * rng.normal(0, 0.1, 20)
        scores, drawn = drawn_means(rng, a, b)
        found = correlate_scores(NAMES, range(20), scores, UP, resampled=drawn).pairs[0]
        low, high = found.interval
        assert -1 <= low <= found.kendall <= high <= 1
        covered += low <= stats.kendalltau(a, b).statistic <= high
    assert covered >= 0.93 * trials
