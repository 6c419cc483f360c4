"""The exact distribution of a number of successes."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from cranfield.errors import UsageError
from cranfield.evaluation.category_votes import Distribution, convolve, mixture, poisson_binomial

CHANCE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300]))


@given(chances=st.lists(CHANCE, max_size=12))
@settings(max_examples=60, deadline=None)
def test_equals_brute_force(chances: list[float]) -> None:
    mass = np.zeros(len(chances) + 1)
    for outcome in product((0, 1), repeat=len(chances)):
        mass[sum(outcome)] += math.prod(
            p if x else 1 - p for x, p in zip(outcome, chances, strict=True)
        )
    assert poisson_binomial(chances).tolist() == pytest.approx(mass.tolist(), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 127, 1000, 10_000])
def test_sums_to_one_and_has_the_right_moments(n: int) -> None:
    chances = np.random.default_rng(n).random(n)
    mass = poisson_binomial(chances)
    assert abs(mass.sum() - 1) < 1e-12
    assert (mass >= 0).all()
    d = Distribution(np.arange(n + 1.0), mass)
    assert d.mean == pytest.approx(chances.sum(), rel=1e-10)
    assert d.variance == pytest.approx((chances * (1 - chances)).sum(), rel=1e-9)


def test_equal_chances_are_binomial_down_to_the_tails() -> None:
    got = poisson_binomial(np.full(1000, 0.3))
    wanted = binom.pmf(np.arange(1001), 1000, 0.3)
    kept = wanted > 1e-280
    assert kept.sum() > 800
    assert np.allclose(got[kept], wanted[kept], rtol=1e-9)


def test_long_factors_go_through_the_fourier_transform() -> None:
    a = poisson_binomial(np.full(9000, 0.5))
    assert np.allclose(convolve(a, a), np.convolve(a, a), rtol=0, atol=1e-16)


def test_outside_of_zero_and_one_is_refused() -> None:
    with pytest.raises(UsageError, match="chances lie in"):
        poisson_binomial([0.5, 1.1])


def test_quantiles_and_mixture() -> None:
    d = Distribution(np.array([0.0, 0.5, 1.0]), np.array([0.2, 0.3, 0.5]))
    assert [d.quantile(q) for q in (0.0, 0.2, 0.21, 0.5, 0.51, 1.0)] == [0, 0, 0.5, 0.5, 1, 1]
    both = mixture([(0.25, d), (0.75, Distribution(np.array([0.5, 2.0]), np.array([0.4, 0.6])))])
    assert both.values.tolist() == [0, 0.5, 1, 2]
    assert both.mass.tolist() == pytest.approx([0.05, 0.375, 0.125, 0.45])
