"""The names of tails, intervals and corrections, for callers that only list them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Tail: TypeAlias = Literal["one", "two", "seen"]
TAILS: tuple[Tail, ...] = ("two", "one", "seen")
IntervalMethod: TypeAlias = Literal["studentized", "t", "bca", "percentile"]
METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
# Means of values with limits have one more; a difference of two has no such limits.
MeanMethod: TypeAlias = Literal["wilson", "studentized", "t", "bca", "percentile"]
MEAN_METHODS: tuple[MeanMethod, ...] = get_args(MeanMethod)
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
CORRECTION_NAMES: tuple[Correction, ...] = get_args(Correction)
