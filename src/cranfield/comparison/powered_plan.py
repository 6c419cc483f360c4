"""How estimates from little gold and much silver are asked for, once for every design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cranfield.errors import UsageError, suggest
from cranfield.stats._resample import DEFAULT_RESAMPLES, Ints, all_pairs, seed_of
from cranfield.stats.choices import Correction
from cranfield.stats.ppi import PoweredMethod

# Options of evaluations and comparisons that say nothing about gold and silver.
FOREIGN = (
    *("per_topic", "per_item", "per_concept", "explain", "public", "tie_range", "fail_under"),
    *("junit", "summary", "fail_if_worse", "worse_by"),
    *("executor", "tail", "test", "margin", "detect", "power", "show", "keep_going"),
    *("tune", "on", "tune_per", "draws"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PPIPlan:
    """The options of `powered` and `evaluate_powered`.

    With `pairs` (or a `baseline`) also every difference is estimated, with a weight of the silver
    of its own, and tested; the correction is over the pairs of a measure. Fewer than 5 gold units
    are refused unless `few_gold` says that they are meant. `width` asks how many gold units
    intervals of that width need.
    """

    pairs: bool = False
    baseline: str | None = None
    correction: Correction = "holm"
    interval: PoweredMethod = "studentized"
    alpha: float = 0.05
    resamples: int = DEFAULT_RESAMPLES
    few_gold: bool = False
    width: float | None = None
    rng: int = 0

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> tuple[PPIPlan, dict[str, Any]]:
        """The plan, and the options that are not of one; None stands for what is usual."""
        names = {f.name for f in fields(cls)}
        plan_options = {k: v for k, v in options.items() if k in names and v is not None}
        plan_options["rng"] = seed_of(plan_options.get("rng", 0))
        return cls(**plan_options), {k: v for k, v in options.items() if k not in names}

    def __post_init__(self) -> None:
        if self.width is not None and not 0 < self.width < math.inf:
            raise UsageError(f"width={self.width!r} is not a number above 0")

    def asked(self, runs: tuple[str, ...]) -> Ints:
        """Positions of the runs to compare: each with the baseline, every two, or none."""
        if not self.pairs and self.baseline is None:
            return np.empty((0, 2), np.int64)
        if len(runs) < 2:
            raise UsageError("a comparison needs two runs or more")
        if self.baseline is None:
            return all_pairs(len(runs))
        if self.baseline not in runs:
            raise UsageError(f"no run named {self.baseline!r}.{suggest(self.baseline, runs)}")
        at = runs.index(self.baseline)
        return np.array([(i, at) for i in range(len(runs)) if i != at], dtype=np.int64)

    def said(self) -> dict[str, Any]:
        """What an answer says of it."""
        return {
            "baseline": self.baseline,
            "correction": self.correction,
            "interval": self.interval,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.rng,
            "width": self.width,
        }
