"""Chatzichristofis et al., Table 8: deviations between descriptors, from the means of Table 5."""

import pytest

from cranfield.comparison.answer import stars
from cranfield.stats import deviation_percent

# Table 5 (Wang database): MAP, ANMRR, AMNRO.
MEANS = {
    "FCTH": (0.5736, 0.2737, 0.2948),
    "C.FCTH": (0.5222, 0.3154, 0.3467),
    "EHD": (0.3097, 0.5264, 0.5525),
    "CLD": (0.4626, 0.3927, 0.4326),
    "CH": (0.3018, 0.5913, 0.6160),
}
TABLE_8 = [
    ("EHD", "CLD", (49.37, 34.04, 27.73)),
    ("CH", "CLD", (53.25, 50.56, 42.41)),
    ("FCTH", "C.FCTH", (9.85, 15.23, 17.61)),
]


@pytest.mark.parametrize("first, second, printed", TABLE_8)
def test_deviation_is_in_percent_of_the_smaller_mean(first, second, printed):
    for a, b, percent in zip(MEANS[first], MEANS[second], printed, strict=True):
        # The printed means have four digits, which leaves the percentage this much room.
        room = 100 * 0.00005 * (1 + max(a, b) / min(a, b)) / min(a, b)
        assert deviation_percent(a, b) == pytest.approx(percent, abs=room + 0.005)
        assert deviation_percent(b, a) == deviation_percent(a, b)


def test_stars_at_the_levels_of_the_caption():
    assert [stars(p) for p in (0.2, 0.04, 0.009, 0.0009)] == ["", "*", "**", "***"]
