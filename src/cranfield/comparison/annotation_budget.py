"""How much more gold: what further gold units would bring, and which to judge next.

The squared reach of an interval is c (1/n - 1/N) for these units, and that plus what the choice of
the N units adds for such units; c and the addition are those of the data at hand. Quantiles are
taken to stay as they are, which is a little cautious for few units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.comparison.answer import SUCH, THESE
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.stats._resample import Rng, seed_of

if TYPE_CHECKING:
    from cranfield.comparison.ppi import Estimate, PoweredPair, PoweredScores

# The curve looks at so many times the gold units there are, and at all.
TIMES = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
POWER = 0.8
NEXT = 10


@dataclass(frozen=True, slots=True)
class GoldCurvePoint:
    """A measure with so many gold units: mean widths over runs, and what pairs would show.

    `detectable` is the difference of such units that a test finds with power 0.8, averaged over
    the pairs compared. It is a difference that somebody may care for, not the one that was seen:
    its power would only repeat the p-value.
    """

    measure: str
    units: int
    these_width: float
    such_width: float
    detectable: float | None


@dataclass(frozen=True, slots=True)
class GoldRequirement:
    """How many gold units a run or a pair needs; None where no number of them is enough."""

    measure: str
    what: str
    target: str
    goal: str
    units: int | None


class _Reach:
    """The squared half widths of an estimate as functions of the number of gold units."""

    def __init__(self, e: Estimate | PoweredPair) -> None:
        self.total = e.total
        these, such = ((high - low) / 2 for low, high in (e.these, e.such))
        remaining = 1 / e.units - 1 / e.total
        self.slope = these**2 / remaining if remaining > 0 else 0.0
        self.base = max(such**2 - these**2, 0.0)

    def these(self, units: float) -> float:
        return math.sqrt(self.slope * max(1 / units - 1 / self.total, 0.0))

    def such(self, units: float) -> float:
        return math.sqrt(self.these(units) ** 2 + self.base)

    @property
    def known(self) -> bool:
        return not math.isnan(self.slope)

    def units(self, half: float, target: str) -> int | None:
        """The fewest units with a reach of at most `half`."""
        if not self.known:
            return None
        remaining = half**2 - (self.base if target == SUCH else 0.0)
        if remaining < 0 or (remaining == 0 and self.slope > 0):
            return None
        needed = math.ceil(1 / (remaining / self.slope + 1 / self.total)) if self.slope else 1
        return min(needed, self.total)


def gold_curve(scores: PoweredScores) -> tuple[GoldCurvePoint, ...]:
    """Widths and detectable differences against the number of gold units, for every measure."""

    _check(scores)
    if scores.gold_units == scores.silver_units:
        return ()
    stretch = _stretch(scores.alpha, POWER)
    counts = sorted({min(round(scores.gold_units * t), scores.silver_units) for t in TIMES})
    counts = sorted({*counts, scores.silver_units})
    rows = []
    for m in dict.fromkeys(e.measure for e in scores.estimates):
        reaches = [r for r in (_Reach(e) for e in scores.estimates if e.measure == m) if r.known]
        pairs = [r for r in (_Reach(p) for p in scores.pairs if p.measure == m) if r.known]
        rows += [
            GoldCurvePoint(
                m,
                n,
                float(np.mean([2 * r.these(n) for r in reaches])) if reaches else math.nan,
                float(np.mean([2 * r.such(n) for r in reaches])) if reaches else math.nan,
                stretch * float(np.mean([r.such(n) for r in pairs])) if pairs else None,
            )
            for n in counts
        ]
    return tuple(rows)


def _stretch(alpha: float, power: float) -> float:
    """How many half widths a difference is that is found with some power."""
    from cranfield.stats._special import ndtri

    return 1 + float(ndtri(power)) / float(ndtri(1 - alpha / 2))


def gold_needed(
    scores: PoweredScores,
    *,
    width: float | None = None,
    detect: float | None = None,
    power: float = POWER,
) -> tuple[GoldRequirement, ...]:
    """The gold units for intervals of a width, and for a difference of each pair to be found."""
    _check(scores)
    for name, value in (("width", width), ("detect", detect)):
        if value is not None and not 0 < value < math.inf:
            raise UsageError(f"{name}={value!r} is not a number above 0")
    if not 0 < power < 1:
        raise UsageError(f"power={power!r} must lie between 0 and 1")
    rows = []
    if width is not None:
        for e in scores.estimates:
            for target in (THESE, SUCH):
                units = _Reach(e).units(width / 2, target)
                rows.append(GoldRequirement(e.measure, e.run, target, f"width {width:g}", units))
    if detect is not None:
        goal = f"power {power:g} at {detect:g}"
        for p in scores.pairs:
            units = _Reach(p).units(detect / _stretch(scores.alpha, power), SUCH)
            rows.append(GoldRequirement(p.measure, f"{p.a} - {p.b}", SUCH, goal, units))
    return tuple(rows)


def next_gold(
    gold: Sequence[str], silver: Scores, *, count: int = NEXT, rng: Rng = 0
) -> tuple[str, ...]:
    """The units to judge next: at random, but spread over what the silver makes of them.

    Units without gold are ordered by their silver value, those of equal value at random, and every
    so many is taken from a random start on: each has the same chance, as the estimates ask for it.
    """
    if count < 1:
        raise UsageError(f"count={count!r} is not a whole number from 1 on")
    unit, gold_names = silver.main_unit, set(gold)
    measure = next((m for m in silver.measures if silver.unit_of[m] == unit), None)
    if measure is None:
        raise UsageError(f"no measure speaks of {unit}s")
    values = np.nan_to_num(np.asarray(silver.values[measure])).mean(axis=0)
    names = silver.units[unit]
    generator = np.random.default_rng([seed_of(rng), 17])
    shuffled = generator.permutation(len(names)).tolist()
    by_value = sorted(shuffled, key=lambda i: float(values[i]))
    open_units = [names[i] for i in by_value if names[i] not in gold_names]
    count = min(count, len(open_units))
    # Parts of whole numbers of units would give those in the smaller parts a better chance.
    places = (np.arange(count) + generator.random()) * len(open_units) / max(count, 1)
    return tuple(open_units[int(place)] for place in places)


def more_payload(scores: PoweredScores) -> dict[str, Any]:
    """The curve and what is needed, as JSON."""
    if scores.design != "units":
        return {}
    return {
        "curve": [
            {name: getattr(row, name) for name in GoldCurvePoint.__slots__}
            for row in gold_curve(scores)
        ],
        "needed": [
            {name: getattr(row, name) for name in GoldRequirement.__slots__}
            for row in gold_needed(scores, width=scores.width, detect=scores.detect)
        ],
        "next": list(scores.next_units),
    }


def _check(scores: PoweredScores) -> None:
    if scores.design != "units":
        raise UsageError("how much more gold: of whole units, not of sampled pairs")
