"""What relating concepts answers with: pairs and their correlation with people, costs, methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.costmap import CostMap
from cranfield.errors import UsageError, plural
from cranfield.notes import Notes
from cranfield.references import REFERENCES
from cranfield.relatedness._spec import Method

Floats = NDArray[np.float64]
_FEWEST = 4  # pairs below which a correlation has no interval


@dataclass(frozen=True)
class HumanCorrelation:
    """Correlations with people's scores, their intervals, and the number of pairs they rest on."""

    spearman: float
    spearman_interval: tuple[float, float]
    pearson: float
    pearson_interval: tuple[float, float]
    pairs: int
    left_out: int


def correlation_with_people(
    values: Sequence[float] | Floats, human: Sequence[float] | Floats, *, confidence: float = 0.95
) -> HumanCorrelation:
    """Spearman and Pearson over the pairs that have both values; NaN entries are left out.

    Intervals are Fisher's; Spearman's has the wider variance of Bonett and Wright (2000).
    """
    from scipy.stats import norm, rankdata

    x, y = np.asarray(values, float), np.asarray(human, float)
    scored = ~(np.isnan(x) | np.isnan(y))
    x, y = x[scored], y[scored]
    ranks: Callable[[Floats], Floats] = rankdata
    rho, r = _correlation(ranks(x), ranks(y)), _correlation(x, y)
    width = float(norm.ppf(0.5 + confidence / 2))
    return HumanCorrelation(
        rho,
        _interval(rho, 1.0 + rho * rho / 2.0, len(x), width),
        r,
        _interval(r, 1.0, len(x), width),
        len(x),
        int((~scored).sum()),
    )


def _correlation(x: Floats, y: Floats) -> float:
    if len(x) < 2:
        return math.nan
    a, b = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, float(a @ b) / scale)) if scale > 0 else math.nan


def _interval(value: float, variance: float, pairs: int, width: float) -> tuple[float, float]:
    if math.isnan(value) or pairs < _FEWEST:
        return math.nan, math.nan
    if abs(value) >= 1.0:
        return value, value
    half = width * math.sqrt(variance / (pairs - 3))
    centre = math.atanh(value)
    return math.tanh(centre - half), math.tanh(centre + half)


NOT_JUDGED = "human= needs pairs with people's scores: a column named human"


@dataclass(frozen=True, slots=True)
class RelatedPair:
    """The relatedness of two words, None when it does not exist; the senses that decided it."""

    word1: str
    word2: str
    relatedness: float | None
    sense1: str | None = None
    sense2: str | None = None
    human: float | None = None


@dataclass(frozen=True)
class MethodPairs:
    """The pairs by one method, in the order given, and the names it could do nothing with.

    `unknown` are those that the method's source does not know, `unusable` those that it knows
    only as parts of speech which the method cannot compare. `unseen` have a value, 0, but only
    because they were never counted. `people` is there where people scored pairs too. `source` is
    the name of the counts behind it, where there are several.
    """

    method: Method
    pairs: tuple[RelatedPair, ...]
    people: HumanCorrelation | None = None
    unknown: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    source: str = ""

    @property
    def name(self) -> str:
        """The method, with the source where several are read."""
        return f"{self.method} ({self.source})" if self.source else str(self.method)

    def values(self) -> NDArray[np.float64]:
        """The relatedness of each pair, NaN where it does not exist."""
        return np.array(
            [np.nan if p.relatedness is None else p.relatedness for p in self.pairs], np.float64
        )


@dataclass(frozen=True, repr=False, eq=False)
class PairRelatedness(Answer):
    """How close the words of each pair are, by each method."""

    command: ClassVar[str] = "relatedness"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:pairs_document"
    results: tuple[MethodPairs, ...]

    @property
    def judged(self) -> bool:
        """Whether people scored any of the pairs."""
        return any(result.people is not None for result in self.results)

    def values(self, method: str | None = None) -> NDArray[np.float64]:
        """The relatedness of each pair by a method (default: the only one)."""
        return self.result(method).values()

    def result(self, method: str | None = None) -> MethodPairs:
        """What a method found (default: the only one)."""
        matches = [r for r in self.results if method is None or r.name == method]
        if len(matches) != 1:
            names = ", ".join(r.name for r in self.results)
            raise UsageError(f"name one of the methods: {names}")
        return matches[0]

    def check_judged(self) -> None:
        """A UsageError where correlations are asked for and no pair has a score of people."""
        if not self.judged:
            raise UsageError(NOT_JUDGED)

    def payload(self, *, human: bool = False, **_: object) -> dict[str, Any]:
        """Pairs and correlations of every method; with `human` the correlations alone."""
        if human:
            self.check_judged()
        methods = [_of_method(result, human) for result in self.results]
        return methods[0] if len(methods) == 1 else {"methods": methods}

    def headline(self) -> str:
        pairs = plural(len(self.results[0].pairs), "pair")
        parts = [
            r.name + ("" if r.people is None else f" (Spearman {r.people.spearman:.3f})")
            for r in self.results
        ]
        return f"{pairs} by {', '.join(parts)}"


def _of_method(result: MethodPairs, human: bool) -> dict[str, Any]:
    record: dict[str, Any] = {"method": result.name}
    if not human:
        record["pairs"] = [
            {
                "word1": p.word1,
                "word2": p.word2,
                "relatedness": p.relatedness,
                "sense1": p.sense1,
                "sense2": p.sense2,
                "human": p.human,
            }
            for p in result.pairs
        ]
    people = result.people
    record["spearman"] = people and people.spearman
    record["pearson"] = people and people.pearson
    if people:
        record["spearman_ci"] = list(people.spearman_interval)
        record["pearson_ci"] = list(people.pearson_interval)
        record["correlated_pairs"], record["left_out"] = people.pairs, people.left_out
    record["unmapped"] = [*result.unknown, *result.unusable, *result.unseen]
    return record


@dataclass(frozen=True, repr=False, eq=False)
class ConceptCosts(Answer):
    """A cost map, the method it came from, and the concepts that cost 1 for want of data."""

    command: ClassVar[str] = "relatedness"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:costs_document"
    method: Method
    costs: CostMap
    unknown: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    def payload(self, **_: object) -> dict[str, Any]:
        """The square of costs."""
        return {
            "method": str(self.method),
            "concepts": list(self.costs.concepts),
            "costs": self.costs.costs.tolist(),
            "unmapped": [*self.unknown, *self.unusable, *self.unseen],
        }

    def headline(self) -> str:
        return f"costs between {plural(len(self.costs.concepts), 'concept')} by {self.method}"


@dataclass(frozen=True, repr=False, eq=False)
class MethodCatalogue(Answer):
    """The methods that there are, and what they need."""

    command: ClassVar[str] = "relatedness"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:catalogue_document"
    methods: tuple[Method, ...]

    def __iter__(self) -> Iterator[Method]:
        return iter(self.methods)

    def __len__(self) -> int:
        return len(self.methods)

    def payload(self, **_: object) -> dict[str, Any]:
        """All that the declarations say."""
        return {"methods": [describe_method(method) for method in self.methods]}

    def headline(self) -> str:
        return f"{len(self.methods)} methods: {', '.join(map(str, self.methods))}"


def describe_method(method: Method) -> dict[str, Any]:
    """All that a declaration says, as plain data."""
    record = {
        "name": method.name,
        "title": method.title,
        "family": method.family,
        "formula": method.formula,
        "source": method.source.key,
        "reference": str(REFERENCES[method.source.key]),
        "equations": method.source.equations,
        "deviation": method.source.deviation,
        "thesis": method.thesis,
        "range": list(method.range),
        "needs": sorted(method.needs),
        "symmetric": method.symmetric,
        "summary": method.summary,
        "undefined": method.undefined,
    }
    params = {n: {"default": p.default, "doc": p.doc} for n, p in method.params.items()}
    return record | ({"params": params} if params else {})


def note_names(notes: Notes, results: Sequence[MethodPairs | ConceptCosts], outcome: str) -> None:
    """Notes about names that methods could do nothing with."""
    unknown = dict.fromkeys(name for result in results for name in result.unknown)
    if unknown:
        notes.add(f"not found, {outcome}: {', '.join(unknown)}")
    unusable = dict.fromkeys(name for result in results for name in result.unusable)
    if unusable:
        methods = ", ".join(str(result.method) for result in results if result.unusable)
        notes.add(f"no noun or verb, {outcome} for {methods}: {', '.join(unusable)}")
    unseen = dict.fromkeys(name for result in results for name in result.unseen)
    if unseen:
        notes.add(f"counted 0 times, so unrelated to all others: {', '.join(unseen)}")
