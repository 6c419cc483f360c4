"""The best of N runs against the best of M: own arithmetic, and how often equal years differ."""

import itertools

import numpy as np
import pytest

from cranfield.stats import t_test
from cranfield.stats.best_of import compare_best, expected_best

SIMULATIONS = 200


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_expected_best_is_the_mean_over_all_draws(n):
    values = np.random.default_rng(3).normal(size=(5, 4)).round(1)
    draws = [values[list(rows)].max(axis=0) for rows in itertools.combinations(range(5), n)]
    assert expected_best(values, n) == pytest.approx(np.mean(draws, axis=0))


def test_all_divisions_are_tried_where_they_are_few():
    values = np.random.default_rng(4).normal(size=(6, 3))
    result = compare_best(values[:2], values[2:])
    pooled = [
        abs(
            expected_best(np.delete(values, rows, axis=0), 2).mean()
            - values[list(rows)].max(axis=0).mean()
        )
        for rows in itertools.combinations(range(6), 2)
    ]
    assert result.n == 2
    assert result.least_p == 1 / 15
    assert result.p == pytest.approx(np.mean(np.array(pooled) >= abs(result.difference) - 1e-12))


def field(rng, teams, per_team, units):
    """Runs of one population: good and bad teams, whose runs are much alike, and hard units."""
    hard = rng.normal(size=units)
    ability = np.repeat(rng.normal(size=teams), per_team)[:, None]
    return hard, ability + 0.5 * rng.normal(size=(teams * per_team, units))


@pytest.mark.parametrize("per_team", [1, 3])
def test_equal_years_are_seldom_called_different(per_team):
    """Five teams against fifteen, one population: the t-test over units is nearly always wrong."""
    rng = np.random.default_rng(11)
    claims, naive = [], []
    for _ in range(SIMULATIONS):
        hard, runs = field(rng, 20, per_team, 12)
        values = hard + runs
        split = 5 * per_team
        names = [f"t{i // per_team}" for i in range(len(values))]
        teams = (names[:split], names[split:])
        result = compare_best(values[:split], values[split:], teams=teams, resamples=99)
        claims.append(result.p <= 0.05)
        gap = values[split:].max(axis=0) - values[:split].max(axis=0)
        naive.append(float(t_test(gap).p[0]) <= 0.05)
    # Exact at 5 %; so many simulations see it within three standard errors.
    assert np.mean(claims) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / SIMULATIONS)
    assert np.mean(naive) > 0.7


def test_better_runs_are_found():
    rng = np.random.default_rng(5)
    _, runs = field(rng, 20, 1, 12)
    runs[8:] += 3
    result = compare_best(runs[:8], runs[8:], resamples=999)
    assert result.difference > 0
    assert result.p < 0.01
