"""What judging the judges answers with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.evaluation.scores import Task
from cranfield.stats._resample import Floats
from cranfield.stats.bootstrap import Draws


@dataclass(frozen=True, slots=True)
class Estimated:
    """A number between the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreed:
    """A judge beside the gold: `confusion` has a row per gold grade, a column per grade given.

    `share` is how often both give the same grade, `kappa` that beyond chance (Cohen), `weighted`
    the same with squared distances of grades; `shift` is the mean grade of the judge less that of
    the gold.
    """

    levels: tuple[float, ...]
    confusion: tuple[tuple[int, ...], ...]
    judgements: int
    share: Estimated
    kappa: Estimated
    weighted: Estimated
    shift: Estimated

    @classmethod
    def of(cls, counts: Floats, levels: Floats, draws: Draws, alpha: float) -> Agreed:
        """From counts (units x gold grades x grades given); intervals resample units."""
        size = len(levels)
        flat = counts.reshape(len(counts), -1)
        drawn = np.concatenate([draws.weights(block) @ flat for block in draws.blocks])
        drawn = drawn.reshape(-1, size, size)
        whole = counts.sum(axis=0)[None]

        def estimated(statistic: Callable[[Floats], Floats]) -> Estimated:
            values = statistic(drawn)
            known = values[~np.isnan(values)]
            ends = [np.nan, np.nan]
            if len(known):
                ends = np.quantile(known, [alpha / 2, 1 - alpha / 2]).tolist()
            return Estimated(float(statistic(whole)[0]), float(ends[0]), float(ends[1]))

        far = (levels[:, None] - levels[None, :]) ** 2
        step = levels[None, :] - levels[:, None]
        total = whole.sum(axis=0)
        return cls(
            tuple(levels.tolist()),
            tuple(tuple(int(n) for n in row) for row in total),
            int(total.sum()),
            estimated(lambda c: _mean(c, np.eye(size))),
            estimated(lambda c: _kappa(c, 1.0 - np.eye(size))),
            estimated(lambda c: _kappa(c, far)),
            estimated(lambda c: _mean(c, step)),
        )


def _mean(counts: Floats, weights: Floats) -> Floats:
    found: Floats = (counts * weights).sum(axis=(1, 2)) / counts.sum(axis=(1, 2))
    return found


def _kappa(counts: Floats, disagreement: Floats) -> Floats:
    """Cohen's kappa with a disagreement of every two grades; NaN where chance leaves no room."""
    total = counts.sum(axis=(1, 2))
    expected = (
        counts.sum(axis=2)[:, :, None] * counts.sum(axis=1)[:, None, :] / total[:, None, None]
    )
    seen, chance = ((c * disagreement).sum(axis=(1, 2)) for c in (counts, expected))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance > 0, 1.0 - seen / chance, np.nan)


@dataclass(frozen=True, slots=True)
class Swap:
    """Two runs of which one truth is sure and the other says the opposite; differences a - b."""

    a: str
    b: str
    gold_difference: float
    judged_difference: float
    gold_p: float
    judged_p: float


@dataclass(frozen=True, slots=True)
class Favour:
    """How much more than the others a run, or a family of runs, gains under a judge."""

    name: str
    ahead: float
    ci: tuple[float, float]
    p_corrected: float


@dataclass(frozen=True, slots=True)
class JudgedMeasure:
    """One measure under the gold and under a judge.

    `shift` has for each run the interval of its mean under the judge less that under the gold.
    `interaction_p` tests that the judge changes all runs alike (runs by units, analysis of
    variance of the changes).
    """

    measure: str
    units: int
    runs: tuple[str, ...]
    gold: tuple[float, ...]
    judged: tuple[float, ...]
    shift: tuple[tuple[float, float], ...]
    tau: float
    tau_ap: float
    swaps: tuple[Swap, ...]
    pairs: int
    interaction_p: float | None
    favours: tuple[Favour, ...]
    families: tuple[Favour, ...]


@dataclass(frozen=True, slots=True)
class Judge:
    """One judge: how it agrees with the gold, and what it does to every measure."""

    name: str
    agreement: Agreed
    measures: tuple[JudgedMeasure, ...]


@dataclass(frozen=True, repr=False, eq=False)
class JudgesReport(Answer):
    """Judges beside the gold."""

    command: ClassVar[str] = "judges"
    task: Task
    unit: str
    units: int
    judges: tuple[Judge, ...]
    alpha: float
    resamples: int
    seed: int

    def headline(self) -> str:
        """How many judges, and which agrees best."""
        best = max(self.judges, key=lambda j: j.agreement.weighted.value)
        return (
            f"{len(self.judges)} judges on {self.units} {self.unit}s; {best.name} is nearest to "
            f"the gold (weighted kappa {best.agreement.weighted.value:.3f})"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        """Everything of every judge."""
        return {
            "task": self.task,
            "unit": self.unit,
            "units": self.units,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.seed,
            "judges": [asdict(judge) for judge in self.judges],
        }
