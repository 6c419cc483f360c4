"""What little gold and much silver answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cranfield.answers import Answer
from cranfield.comparison.answer import SUCH, THESE
from cranfield.evaluation.scores import COMMANDS, Task

TARGETS = {
    THESE: "the value if people had judged all {total} {unit}s",
    SUCH: "the value over all {unit}s that might have been asked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered:
    """A value from little gold and much silver.

    `these` and `such` are the intervals of the two targets, `gold_` the same of the gold units
    alone. `weight` is how much of the silver is used, `correlation` how it varies with gold, and
    `effective` how many gold units alone would say as much; `units` of `total` units have gold.
    """

    measure: str
    value: float
    these: tuple[float, float]
    such: tuple[float, float]
    gold_value: float
    gold_these: tuple[float, float]
    gold_such: tuple[float, float]
    weight: float
    correlation: float
    effective: float
    units: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Powered):
    """The mean of a run; `same` says that gold and silver are equal wherever both are known,
    `constant` that all gold units have one value."""

    run: str
    same: bool = False
    constant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredPair(Powered):
    """The difference a - b of two runs; `p` tests it for such units, `these_p` for these."""

    a: str
    b: str
    p: float
    p_corrected: float
    these_p: float
    gold_p: float
    gold_p_corrected: float

    def to_dict(self) -> dict[str, Any]:
        """The row of a comparison: `ci` is the interval of such units."""
        row = asdict(self)
        row["difference"], row["ci"] = row.pop("value"), row["such"]
        row["gold_difference"] = row.pop("gold_value")
        return row


@dataclass(frozen=True, repr=False, eq=False)
class PoweredScores(Answer):
    """Means of runs, and their differences where asked for, from little gold and much silver."""

    task: Task
    runs: tuple[str, ...]
    measures: tuple[Mapping[str, Any], ...]
    unit: str
    gold_units: int
    silver_units: int
    estimates: tuple[Estimate, ...]
    pairs: tuple[PoweredPair, ...]
    compared: bool
    baseline: str | None
    correction: str
    interval: str
    alpha: float
    resamples: int
    seed: int
    # What was sampled: whole units, or pairs within every topic.
    design: str = "units"
    # A width that was asked for, and the units to judge next.
    width: float | None = None
    next_units: tuple[str, ...] = ()

    def _word(self) -> str:
        return "compare" if self.compared else COMMANDS[self.task]

    def targets(self) -> dict[str, str]:
        """What each of the two intervals is about."""
        if self.design == "pairs":
            return {
                THESE: "the value if people had judged every pair of these topics",
                SUCH: TARGETS[SUCH].format(unit="topic"),
            }
        return {
            name: text.format(total=self.silver_units, unit=self.unit)
            for name, text in TARGETS.items()
        }

    def estimate(self, run: str, measure: str) -> Estimate:
        """The estimate of one run under one measure."""
        for entry in self.estimates:
            if (entry.run, entry.measure) == (run, measure):
                return entry
        raise KeyError((run, measure))

    def mean(self) -> dict[str, dict[str, float]]:
        """The estimate of every run under every measure: {run: {measure: value}}."""
        table: dict[str, dict[str, float]] = {run: {} for run in self.runs}
        for estimate in self.estimates:
            table[estimate.run][estimate.measure] = estimate.value
        return table

    def headline(self) -> str:
        """How many runs from how much gold, and what the silver was worth."""
        gains = [e.effective for e in self.estimates if e.effective == e.effective] or [0.0]
        return (
            f"{len(self.runs)} runs from gold for {self.gold_units} of {self.silver_units} "
            f"{self.unit}s and silver for all: worth {min(gains):.0f} to {max(gains):.0f} gold "
            f"{self.unit}s"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        """Estimates with both intervals, plain gold beside them, and how they were made."""
        payload: dict[str, Any] = {
            "measures": [dict(m) for m in self.measures],
            "design": self.design,
            "unit": self.unit,
            "gold_units": self.gold_units,
            "silver_units": self.silver_units,
            "targets": self.targets(),
            "interval": self.interval,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.seed,
            "runs": [{"name": run, "mean": means} for run, means in self.mean().items()],
            "estimates": [asdict(e) for e in self.estimates],
        }
        from cranfield.comparison.annotation_budget import more_payload

        payload["more"] = more_payload(self)
        if self.compared:
            payload |= {
                "baseline": self.baseline,
                "test": "bootstrap" if self.interval == "studentized" else "t",
                "correction": self.correction,
                "difference": "a - b",
                "pairs": [pair.to_dict() for pair in self.pairs],
            }
        return payload
