"""What a rehearsal finds out: each thing that must hold, whether it did, and its figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from cranfield.answers import Answer


@dataclass(frozen=True)
class Check:
    """One row: R1 to R6, as the docs of the campaign name them."""

    name: str
    holds: bool
    figure: str


@dataclass(frozen=True, repr=False, eq=False)
class Rehearsal(Answer):
    """The checks, and figures that are told but not judged: seconds and memory."""

    command: ClassVar[str] = "campaign rehearse"
    seed: int
    scale: float
    database: str
    checks: tuple[Check, ...]
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    def payload(self, **_: Any) -> dict[str, Any]:
        """The checks, then the figures."""
        return {
            "seed": self.seed,
            "scale": self.scale,
            "database": self.database,
            "checks": [{"name": c.name, "holds": c.holds, "figure": c.figure} for c in self.checks],
            "figures": dict(self.figures),
        }

    def headline(self) -> str:
        holding = sum(check.holds for check in self.checks)
        return f"{holding} of {len(self.checks)} checks hold"


def joined(name: str, parts: list[tuple[bool, str]]) -> Check:
    """Several findings as one row: it holds when all of them do."""
    return Check(name, all(holds for holds, _ in parts), "; ".join(text for _, text in parts))
