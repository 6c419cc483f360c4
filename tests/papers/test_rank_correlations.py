"""Published examples of AP correlation and rank-biased overlap."""

import string

import pytest

from cranfield import stats

# The example in the manual of the R package ircor, by the authors of "The Treatment of Ties in AP
# Correlation" (Urbano and Marrero 2017): tauAP 0.3928571; with y to one decimal tauAP_a 0.39903.
TRUE = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
ESTIMATED = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]


def test_ap_correlation_of_the_manual_of_ircor():
    assert stats.ap_correlation(TRUE, ESTIMATED).value == pytest.approx(0.3928571, abs=5e-8)
    tied = [round(value, 1) for value in ESTIMATED]
    assert stats.ap_correlation(TRUE, tied).value == pytest.approx(0.39903, abs=5e-7)


# Webber, Moffat and Zobel (2010), Figure 5: the mean of the agreements down to each depth.
AVERAGE_OVERLAP = (0.000, 0.000, 0.222, 0.292, 0.313, 0.317, 0.312)


def test_rank_biased_overlap_follows_the_agreements_of_figure_5():
    sums = [depth * mean for depth, mean in enumerate(AVERAGE_OVERLAP, 1)]
    agreements = [b - a for a, b in zip([0.0, *sums], sums, strict=False)]
    p = 0.9
    seen = sum((1 - p) * p ** (d - 1) * a for d, a in enumerate(agreements, 1))
    extrapolated = seen + p**7 * agreements[-1]
    ours = stats.rank_biased_overlap("abcdefg", "zcavwxy", p=p)
    # The printed means have three digits, and the last agreement is seven times as coarse.
    assert ours == pytest.approx(extrapolated, abs=0.003)


@pytest.mark.parametrize(
    ("other", "p", "printed"),
    [
        ("afcmleivjhs", 0.1, 0.951493),
        ("av", 0.2, 0.900000),
        ("bncxagm", 0.2, 0.105466),
        ("aweptzrs", 0.4, 0.770904),
        ("cdxlyeqisk", 0.4, 0.062130),
        ("karfvodcjmwgzlypebunq", 0.9, 0.468431),
        ("zhatsimjpnkvcfxwqgoeryubd", 0.9, 0.364444),
        ("zclx", 0.9, 0.233312),
        ("f", 0.9, 0.053090),
    ],
)
def test_rank_biased_overlap_as_the_program_of_webber_prints_it(other, p, printed):
    """His rbo_ext on the alphabet and another list, from the test data of the Rust package rbo."""
    ours = stats.rank_biased_overlap(string.ascii_lowercase, other, p=p)
    assert ours == pytest.approx(printed, abs=1e-6)
