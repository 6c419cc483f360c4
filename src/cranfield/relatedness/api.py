"""Relatedness as it is asked for: of pairs of words, of all pairs of concepts, and by what."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.costmap import CostMap
from cranfield.errors import UsageError, plural
from cranfield.io.concepts import WordPair, read_concepts, read_pairs
from cranfield.notes import Notes, Progress, with_progress
from cranfield.references import REFERENCES
from cranfield.relatedness import METHODS, Method, parse_methods
from cranfield.relatedness.concept_sources import SourceOptions, Sources, with_sources
from cranfield.relatedness.cost_maps import ConceptCosts, cost_maps
from cranfield.relatedness.scoring import PairScores, score_pairs
from cranfield.validation import validate_params

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


Missing = Literal["leave-out", "zero"]
Watcher = Progress | Callable[[float], None] | None
Pairs = Iterable[WordPair | Sequence[str | float | None]] | str | Path


@validate_params
@with_progress
def relate_pairs(
    pairs: Pairs,
    method: str | Method | Iterable[str | Method] = "wordnet",
    *,
    missing: Missing = "leave-out",
    progress: Watcher = None,
    **sources: Unpack[SourceOptions],
) -> PairRelatedness:
    """How close the words of each pair are, by each method, and the senses that decided it.

    A pair is (word, word) or (word, word, people's score); pairs may also be a file. Where people
    scored pairs, each method's values are correlated with theirs; `missing` says what becomes of
    pairs without a value then. The other keywords are what methods read: see `Sources`.
    """
    if missing not in get_args(Missing):
        raise UsageError(f"missing={missing!r} is not one of {', '.join(get_args(Missing))}")
    word_pairs = read_pairs(pairs) if isinstance(pairs, str | Path) else [_pair(p) for p in pairs]
    if not word_pairs:
        raise UsageError("no pair of words was given")
    words = [(p.word1, p.word2) for p in word_pairs]
    methods, read = parse_methods(method), Sources.of(sources)
    names, reporter = [word for pair in words for word in pair], Progress.of(progress)
    apart = read.apart(methods)
    results: tuple[MethodPairs, ...] = ()
    for number, (source, inputs, source_methods) in enumerate(apart):
        scored = with_sources(
            inputs,
            source_methods,
            names,
            lambda asked, resources: score_pairs(asked, words, resources),
            reporter.part(number / len(apart), (number + 1) / len(apart)),
        )
        results += tuple(replace(_judged(r, word_pairs, missing), source=source) for r in scored)
    notes = Notes()
    note_names(notes, results, "so without a value")
    notes.extend(read.unread(methods))
    if len(word_pairs) > 1:
        notes.extend(read.shared(methods))
    return PairRelatedness(results, notes=notes.lines())


@validate_params
@with_progress
def relate_concepts(
    concepts: Sequence[str] | str | Path,
    method: str | Method = "WUP",
    *,
    progress: Watcher = None,
    **sources: Unpack[SourceOptions],
) -> ConceptCosts:
    """What it costs to confuse any two of the concepts: 1 - relatedness, scaled to [0, 1].

    Concepts are names, a file of names or a built-in ontology. The other keywords are what the
    method reads: see `Sources`.
    """
    methods = parse_methods(method)
    if len(methods) != 1:
        raise UsageError("a cost map is made by one method: name it with method=, such as WUP")
    names = read_concepts(concepts) if isinstance(concepts, str | Path) else tuple(concepts)
    sources.setdefault("columns", names)
    read = Sources.of(sources)
    (costs,) = with_sources(
        read,
        methods,
        names,
        lambda chosen, resources: cost_maps(chosen, names, resources),
        Progress.of(progress),
    )
    notes = Notes()
    note_names(notes, [costs], "so at cost 1 from all others")
    notes.extend(read.unread(methods))
    return replace(costs, notes=notes.lines())


@validate_params
def cost_map(
    concepts: Sequence[str] | str | Path,
    method: str | Method = "WUP",
    **sources: Unpack[SourceOptions],
) -> CostMap:
    """The costs of `relate_concepts`, as measures and `write_costmap` take them."""
    return relate_concepts(concepts, method, **sources).costs


def relate(
    pairs: str | Path | None = None,
    method: str = "wordnet",
    *,
    pair: Sequence[Sequence[str]] = (),
    concepts: str | Path | None = None,
    human: bool = False,
    missing: Missing = "leave-out",
    progress: Watcher = None,
    **sources: Unpack[SourceOptions],
) -> PairRelatedness | ConceptCosts:
    """`relate_pairs` of a file and single pairs, or `relate_concepts` of a file of concepts.

    With a corpus of tags the concepts may stand beside pairs: they name its columns.
    """
    if pairs is None and not pair:
        if concepts is None:
            raise UsageError("nothing to relate: give a file of pairs, pair=, or concepts=")
        if human:
            raise UsageError("human= needs pairs with people's scores, not concepts=")
        return relate_concepts(concepts, method, progress=progress, **sources)
    if concepts is not None:
        if sources.get("tags") is None:
            raise UsageError("give pairs or concepts=, not both")
        sources["columns"] = str(concepts)
    word_pairs = [*(WordPair(a, b) for a, b in pair), *(read_pairs(pairs) if pairs else ())]
    if human and all(word_pair.human is None for word_pair in word_pairs):
        raise UsageError(NOT_JUDGED)  # before anything is loaded to relate them
    return relate_pairs(word_pairs, method, missing=missing, progress=progress, **sources)


@validate_params
def list_methods() -> MethodCatalogue:
    """Every method, with its source and what it needs."""
    return MethodCatalogue(tuple(METHODS.values()))


def _pair(entry: WordPair | Sequence[str | float | None]) -> WordPair:
    if isinstance(entry, WordPair):
        pair = entry
    elif isinstance(entry, str) or not 2 <= len(entry) <= 3:
        raise UsageError(f"{entry!r} is not a pair of words, with people's score or without")
    else:
        first, second, *score = entry
        human = float(score[0]) if score and score[0] is not None else None
        pair = WordPair(str(first), str(second), human)
    if not pair.word1.strip() or not pair.word2.strip():
        raise UsageError("pair= wants two words, and one of them is empty")
    return pair


def _judged(scores: PairScores, word_pairs: Sequence[WordPair], missing: Missing) -> MethodPairs:
    """The pairs of a method beside people's scores."""
    people: HumanCorrelation | None = None
    if any(pair.human is not None for pair in word_pairs):
        values = scores.values()
        if missing == "zero":
            values[[math.isnan(v) for v in values]] = 0.0
        human = [math.nan if p.human is None else p.human for p in word_pairs]
        people = correlation_with_people(values, human)
    pairs = tuple(
        RelatedPair(
            p.word1,
            p.word2,
            p.relatedness,
            None if p.sense1 is None else str(p.sense1),
            None if p.sense2 is None else str(p.sense2),
            pair.human,
        )
        for p, pair in zip(scores.pairs, word_pairs, strict=True)
    )
    return MethodPairs(scores.method, pairs, people, scores.unknown, scores.unusable, scores.unseen)
