"""What an evaluation under uncertain categories answers with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from cranfield.answers import Answer
from cranfield.evaluation.uncertain.distribution import Distribution

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Half of the width of a band that holds nine tenths of a normal distribution.
NINE_TENTHS = 1.6448536269514722
What: TypeAlias = Literal["precision", "recall"]


@dataclass(frozen=True, slots=True)
class QueryCategory:
    """A category that a query may be of: how likely, and how many items are of it."""

    category: str
    probability: float
    size: float


@dataclass(frozen=True, slots=True)
class TopicScore:
    """Precision and recall of one ranking. Recall is None when the category has no items."""

    topic: str
    retrieved: int
    precision: Distribution
    recall: Distribution | None
    categories: tuple[QueryCategory, ...] = ()


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely run a finds more items of the query's category than run b does."""

    better: float
    equal: float
    worse: float

    def to_dict(self) -> dict[str, float]:
        return {"better": self.better, "equal": self.equal, "worse": self.worse}


@dataclass(frozen=True, slots=True)
class UncertainPair:
    """Two runs topic by topic, and by the mean of precision over the topics both have.

    `p` is of the paired randomisation test of the expected values over these topics: whether
    other topics would say the same. The odds say it of these topics and other people.
    """

    a: str
    b: str
    overall: Odds
    topics: Mapping[str, Odds]
    p: float


@dataclass(frozen=True, slots=True)
class BandPoint:
    """The mean of a run over topics at one depth, within a band of nine tenths of the chances."""

    run: str
    k: int
    precision: tuple[float, float, float]
    recall: tuple[float, float, float]


@dataclass(frozen=True, repr=False, eq=False)
class UncertainScores(Answer):
    """What runs reach under uncertain categories in their first k items (None: in all)."""

    command: ClassVar[str] = "uncertain"
    k: int | None
    runs: Mapping[str, tuple[TopicScore, ...]]
    comparisons: tuple[UncertainPair, ...]
    bands: tuple[BandPoint, ...] = ()

    @property
    def measure(self) -> str:
        """What the runs are compared by."""
        return "UncertainR" if self.k is None else f"UncertainP@{self.k}"

    def mean(self, run: str, what: What) -> tuple[float, float]:
        """Mean over topics of the expectation, and the standard deviation of that mean."""
        return mean_of([getattr(score, what) for score in self.runs[run]])

    def payload(self, **_: Any) -> dict[str, Any]:
        depth = "all" if self.k is None else self.k
        parts: dict[str, Any] = {
            "k": depth,
            "runs": [self._run(name, topics) for name, topics in self.runs.items()],
            "better": {
                "measure": self.measure,
                "pairs": [
                    {
                        "a": c.a,
                        "b": c.b,
                        **c.overall.to_dict(),
                        "p": c.p,
                        "topics": [{"topic": t, **o.to_dict()} for t, o in c.topics.items()],
                    }
                    for c in self.comparisons
                ],
            },
        }
        if self.bands:
            parts["bands"] = [
                {"run": b.run, "k": b.k, "precision": list(b.precision), "recall": list(b.recall)}
                for b in self.bands
            ]
        return parts

    def _run(self, name: str, topics: tuple[TopicScore, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {"name": name}
        for what in ("precision", "recall"):
            value, sd = self.mean(name, "precision" if what == "precision" else "recall")
            found[what] = {"mean": value, "sd": sd}
        found["topics"] = [
            {
                "topic": t.topic,
                "retrieved": t.retrieved,
                "precision": self._distribution(t, t.precision),
                "recall": self._distribution(t, t.recall),
                "categories": [
                    {"category": c.category, "probability": c.probability, "size": c.size}
                    for c in t.categories
                ],
            }
            for t in topics
        ]
        return found

    def _distribution(self, topic: TopicScore, d: Distribution | None) -> dict[str, Any] | None:
        if d is None:
            return None
        return {
            "k": topic.retrieved if self.k is None else self.k,
            "mean": d.mean,
            "sd": d.sd,
            "quantiles": {str(q): d.quantile(q) for q in QUANTILES},
            "values": d.values.tolist(),
            "mass": d.mass.tolist(),
        }

    def headline(self) -> str:
        means = ", ".join(f"{run} {self.mean(run, 'precision')[0]:.4f}" for run in self.runs)
        return f"expected precision of the first {self.k or 'all'} items: {means}"


def mean_of(parts: list[Distribution | None]) -> tuple[float, float]:
    """The mean of expectations, and the standard deviation of that mean."""
    known = [p for p in parts if p is not None]
    if not known:
        return math.nan, math.nan
    mean = sum(p.mean for p in known) / len(known)
    return mean, math.sqrt(sum(p.variance for p in known)) / len(known)


def band_of(parts: list[Distribution | None]) -> tuple[float, float, float]:
    """The mean of expectations between the ends of its band."""
    mean, sd = mean_of(parts)
    return mean, max(mean - NINE_TENTHS * sd, 0.0), mean + NINE_TENTHS * sd
