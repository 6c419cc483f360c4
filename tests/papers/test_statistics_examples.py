"""Worked examples of the statistics literature."""

import numpy as np
import pytest

from cranfield.stats import critical_difference, friedman, rank_biased_overlap
from cranfield.stats.posthoc import studentized_range_sf

# Demšar 2006 (JMLR 7), Table 5(a): critical values of the two-tailed Nemenyi test at 0.05,
# for 2 to 10 classifiers; they are studentised range quantiles divided by the root of two.
DEMSAR = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


@pytest.mark.parametrize("k, q", list(enumerate(DEMSAR, start=2)))
def test_demsar_critical_values(k, q):
    assert studentized_range_sf([q * 2**0.5], k, np.inf)[0] == pytest.approx(0.05, abs=2e-4)


def test_demsar_section_3_2_2_friedman_and_critical_difference():
    """AUC of C4.5 and its three variants on 14 data sets, Table 6: chi2 = 9.28, CD = 1.25.

    On voting two values print as 0.975 but rank 2 and 3; the first gets a further digit here.
    """
    table = np.array(
        [
            [
                0.763,
                0.599,
                0.954,
                0.628,
                0.882,
                0.936,
                0.661,
                0.583,
                0.775,
                1.000,
                0.940,
                0.619,
                0.972,
                0.957,
            ],
            [
                0.768,
                0.591,
                0.971,
                0.661,
                0.888,
                0.931,
                0.668,
                0.583,
                0.838,
                1.000,
                0.962,
                0.666,
                0.981,
                0.978,
            ],
            [
                0.771,
                0.590,
                0.968,
                0.654,
                0.886,
                0.916,
                0.609,
                0.563,
                0.866,
                1.000,
                0.965,
                0.614,
                0.9751,
                0.946,
            ],
            [
                0.798,
                0.569,
                0.967,
                0.657,
                0.898,
                0.931,
                0.685,
                0.625,
                0.875,
                1.000,
                0.962,
                0.669,
                0.975,
                0.970,
            ],
        ]
    )
    result = friedman(-table)
    assert result.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    # The paper takes no correction for its few ties: 9.28 against 9.28 / 0.93.
    plain = 12 * 14 / (4 * 5) * (sum(r * r for r in result.mean_ranks) - 4 * 25 / 4)
    assert plain == pytest.approx(9.28, abs=0.01)
    assert result.chi2 > plain
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_rank_biased_overlap_of_webber_moffat_zobel():
    """Their section 4.3 bounds: equal lists 1, disjoint lists 0, and more weight on the top."""
    assert rank_biased_overlap("abcdefg", "abcdefg") == pytest.approx(1)
    assert rank_biased_overlap("abc", "xyz") == 0
    early, late = rank_biased_overlap("abcd", "bacd"), rank_biased_overlap("abcd", "abdc")
    assert early < late < 1


# The package rbo 0.1.3, RankingSimilarity(a, b).rbo_ext(p) for lists of equal and unequal length.
@pytest.mark.parametrize(
    "first, second, p, expected",
    [
        ("abcdefg", "bacdxyz", 0.9, 0.6394345714285714),
        ("abcdefg", "bac", 0.9, 0.9),
        ("abcdefghij", "jihgfedcba", 0.5, 0.01629154265873016),
        ("abcde", "bacdfghi", 0.8, 0.71808),
    ],
)
def test_rank_biased_overlap_of_the_package_rbo(first, second, p, expected):
    assert rank_biased_overlap(first, second, p=p) == pytest.approx(expected, abs=1e-12)
