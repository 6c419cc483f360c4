"""The tests and corrections of a comparison by name; to know which there are takes no numpy."""

from __future__ import annotations

from cranfield.stats.choices import CORRECTION_NAMES

RESAMPLED = ("bootstrap", "randomization")
ROWWISE = ("t", "wilcoxon", "sign")
FAMILY_WISE = ("tukey", "tukey-randomization", "nemenyi")
TESTS = (*RESAMPLED, *ROWWISE, *FAMILY_WISE)
DRAWING = (*RESAMPLED, "tukey-randomization")
# The step-down maximum statistic is one of mean differences.
STEP_DOWN, OF_MEANS = "romano-wolf", (*RESAMPLED, "t")
CORRECTIONS = (STEP_DOWN, *CORRECTION_NAMES)
