"""What a comparison of runs answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.stats.anova import Friedman, OneWay, TwoWay
from cranfield.stats.reliability import Reliability

FAMILY_WISE = ("tukey", "tukey-randomization", "nemenyi")
TITLES = {
    "bootstrap": "Paired bootstrap test",
    "randomization": "Paired randomisation test",
    "t": "Paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "Sign test",
    "tukey": "Tukey's HSD (two-way)",
    "tukey-randomization": "Randomised Tukey HSD",
    "nemenyi": "Nemenyi test",
}
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def stars(p: float) -> str:
    """One, two or three stars at 0.05, 0.01 and 0.001.

    >>> stars(0.004)
    '**'
    """
    return next((marks for level, marks in STARS if p < level), "")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs under a measure; every difference is a - b on the topics that both have.

    `wins`, `ties` and `losses` count the topics on which a is better, level and worse than b.
    `detectable` is the difference that so many topics would reveal, `topics_needed` the number
    of topics that the difference asked for would need. NaN and None stand for what cannot be
    said.
    """

    a: str
    b: str
    measure: str
    topics: int
    mean_a: float
    mean_b: float
    difference: float
    ci: tuple[float, float]
    p: float
    p_corrected: float
    change_percent: float
    deviation_percent: float
    cohen_d: float
    cliffs_delta: float
    wins: int
    ties: int
    losses: int
    detectable: float
    topics_needed: int | None = None
    p_equivalence: float | None = None

    @property
    def stars(self) -> str:
        return stars(self.p_corrected)

    def to_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "difference": self.difference,
            "ci": list(self.ci),
            "p": self.p,
            "p_corrected": self.p_corrected,
            "stars": self.stars,
        }
        rest = asdict(self)
        row.update({k: v for k, v in rest.items() if k not in row})
        return row


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of a run under a measure.

    `rank` is 1 + the number of runs that are significantly better, so runs that cannot be told
    apart from the best share rank 1; runs with a common letter in `group` do not differ.
    """

    measure: str
    run: str
    mean: float
    ci: tuple[float, float]
    rank: int
    rank_interval: tuple[int | None, int | None]
    group: str


@dataclass(frozen=True, slots=True)
class Family:
    """All runs together under a measure, on the topics that every run has."""

    measure: str
    topics: int
    one_way: OneWay | None
    two_way: TwoWay | None
    friedman: Friedman | None
    reliability: Reliability | None

    def to_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {"measure": self.measure, "topics": self.topics}
        for name in ("one_way", "two_way", "friedman"):
            test = getattr(self, name)
            row[name] = None if test is None else asdict(test)
        row["reliability"] = None
        if self.reliability is not None:
            run, topic, residual = self.reliability.shares
            row["reliability"] = {
                **asdict(self.reliability),
                "shares": {"run": run, "topic": topic, "residual": residual},
            }
        return row


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Answer):
    """The comparison of runs: pairs, standings and families, and how they were made."""

    command: ClassVar[str] = "compare"

    pairs: tuple[Pair, ...]
    standings: tuple[Standing, ...]
    families: tuple[Family, ...]
    runs: tuple[str, ...]
    measures: tuple[Mapping[str, Any], ...]
    baseline: str | None
    test: str
    correction: str
    tail: str
    alpha: float
    interval: str
    resamples: int | str | None
    seed: int
    topics: int
    unit: str
    margin: float | None
    detect: float | None
    power: float

    @property
    def pairing(self) -> str:
        """The rule by which scores are paired."""
        return f"each pair on the {self.unit}s for which both runs have a value"

    def pair(self, a: str, b: str, measure: str) -> Pair:
        """The pair of two runs under a measure, in the order in which they were compared."""
        for found in self.pairs:
            if (found.a, found.b, found.measure) == (a, b, measure):
                return found
        raise KeyError((a, b, measure))

    def footnotes(self) -> list[str]:
        """The footnote: test, correction, number of topics, seed, pairing."""
        sides = "one-tailed (a better than b)" if self.tail == "one" else "two-tailed"
        how = f"{TITLES[self.test]}, {sides}"
        if self.resamples is not None:
            how += f", {self.resamples} resamples, seed {self.seed}"
        if self.correction != "none":
            how += f"; {self.correction} correction over the pairs of each measure"
        elif self.test in FAMILY_WISE:
            how += "; its p-values hold for all pairs together"
        else:
            how += "; no correction"
        ends = f"{100 * (1 - self.alpha):g} % intervals: {self.interval}"
        if self.interval != "t":
            ends += f", seed {self.seed}"
        return [
            "* p < 0.05, ** p < 0.01, *** p < 0.001 (after correction); differences are a - b.",
            f"{how}.",
            f"{ends}. n: {self._counts()}; {self.pairing}.",
        ]

    def _counts(self) -> str:
        """How many topics the pairs have, said once where all measures agree."""
        said = {str(m["name"]): self._count(m) for m in self.measures}
        different = list(dict.fromkeys(said.values()))
        if len(different) == 1:
            return different[0]
        return ", ".join(f"{name} {count}" for name, count in said.items())

    def _count(self, measure: Mapping[str, Any]) -> str:
        counts = sorted({p.topics for p in self.pairs if p.measure == measure["name"]})
        unit = f"{measure['unit']}s"
        if counts[0] == counts[-1]:
            return f"{counts[0]} {unit} in every pair"
        return f"{counts[0]} to {counts[-1]} of {measure['units']} {unit}, by pair"

    def headline(self) -> str:
        """How many pairs, how they were tested, and how many differ."""
        differ = sum(pair.p_corrected <= self.alpha for pair in self.pairs)
        return (
            f"{len(self.runs)} runs, {TITLES[self.test]} over {self.topics} {self.unit}s: "
            f"{differ} of {len(self.pairs)} pairs differ at {self.alpha:g}"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        """How the runs were compared, their pairs, standings and families."""
        return {
            "measures": [dict(m) for m in self.measures],
            "runs": list(self.runs),
            "baseline": self.baseline,
            "test": self.test,
            "tail": self.tail,
            "correction": self.correction,
            "alpha": self.alpha,
            "interval": self.interval,
            "resamples": self.resamples,
            "seed": self.seed,
            "topics": self.topics,
            "unit": self.unit,
            "pairing": self.pairing,
            "difference": "a - b",
            "equivalence_margin": self.margin,
            "detect": self.detect,
            "power": self.power,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "leaderboard": [asdict(standing) for standing in self.standings],
            "families": [family.to_dict() for family in self.families],
        }

    def to_pandas(self) -> Any:
        """The pairs as a pandas data frame, a row each."""
        try:
            import pandas as pd
        except ImportError:
            from cranfield.errors import MissingExtraError

            raise MissingExtraError("pandas", "dataframe", "Comparison.to_pandas") from None
        rows = [pair.to_dict() for pair in self.pairs]
        for row in rows:
            row["ci_low"], row["ci_high"] = row.pop("ci")
        return pd.DataFrame.from_records(rows)
