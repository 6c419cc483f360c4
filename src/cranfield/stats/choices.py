"""The names of tails, intervals and corrections, for whoever only asks which there are."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Tail: TypeAlias = Literal["one", "two", "seen"]
TAILS: tuple[Tail, ...] = ("two", "one", "seen")
IntervalMethod: TypeAlias = Literal["studentized", "t", "bca", "percentile"]
METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
CORRECTION_NAMES: tuple[Correction, ...] = get_args(Correction)
