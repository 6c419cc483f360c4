"""Relatedness of pairs of concepts by any method, and the senses that decided it.

TREE is 1 - the cost of the way through an ontology's tree (No 7.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cranfield.data.costmap import CostMap
from cranfield.data.counts import Snapshot, normalise_term
from cranfield.errors import NeedsError, UsageError
from cranfield.notes import Progress
from cranfield.relatedness import Method, Source
from cranfield.relatedness.counts import HitCounts
from cranfield.relatedness.gloss_measures import lesk
from cranfield.relatedness.links import InLinks, LinkVectors
from cranfield.relatedness.wordnet_database import Sense, WordNet


@dataclass(frozen=True)
class Tree:
    """The costs between the concepts of an ontology, and concepts that stand for other names."""

    costs: CostMap
    mapping: Mapping[str, str] = field(default_factory=dict)

    def concept_of(self, name: str) -> str | None:
        """The concept of a name, or the only one that differs in case and underscores alone."""
        for called in (self.mapping.get(name, name), name):
            if called in self.costs.concepts:
                return called
            alike = [c for c in self.costs.concepts if normalise_term(c) == normalise_term(called)]
            if len(alike) == 1:
                return alike[0]
        return None

    def knows(self, name: str) -> bool:
        return self.concept_of(name) is not None

    def relatedness(self, first: str, second: str) -> float:
        """1 - the summed costs of the links between two concepts."""
        return 1.0 - self.costs.cost(
            self.concept_of(first) or first, self.concept_of(second) or second
        )


METHODS = (
    Method(
        name="TREE",
        title="Way through the ontology",
        formula=r"1-\sum_{\text{links}}\frac{2^{l-1}}{2^{L+1}-2}",
        source=Source("nowak-thesis", "7.2"),
        thesis="7.3",
        family="ontology",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"ontology"}),
        reads="tree",
        score=Tree.relatedness,
        parts="",
        summary="Links between two concepts in the ontology, deep ones being cheap.",
    ),
)


PARTS = "nvar"
# Nouns where a word has any, else whatever it is: concepts are things before anything else.
NOUNS_FIRST = "auto"
ALTERNATIVE = "|"


@dataclass(frozen=True)
class Lexicon:
    """How concepts are looked up: which parts of speech count, and what stands for what.

    `mapping` gives the word that stands for a concept which WordNet does not list; several
    words, separated by a bar, mean any of them. An empty word takes the concept out.
    """

    wordnet: WordNet
    parts: str = NOUNS_FIRST
    mapping: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.parts != NOUNS_FIRST and not (self.parts and set(self.parts) <= set(PARTS)):
            raise UsageError(
                f"no parts of speech {self.parts!r} (expected {NOUNS_FIRST!r}, or letters of "
                f"{PARTS!r})"
            )

    def senses(self, concept: str) -> list[Sense]:
        """All senses of a concept; none when WordNet does not know it."""
        distinct: dict[Sense, None] = {}
        for word in self.mapping.get(concept, concept).split(ALTERNATIVE):
            if word.strip():
                distinct.update(dict.fromkeys(_senses(self.wordnet, word, self.parts)))
        return list(distinct)


def _senses(wordnet: WordNet, text: str, parts: str) -> list[Sense]:
    word, *marks = text.strip().lower().split("#")
    word = "_".join(word.split())
    if len(marks) == 2 and marks[0] in tuple(PARTS):
        return [s for s in _listed(wordnet, word, marks[0]) if str(s.number) == marks[1]]
    if len(marks) == 1 and marks[0] and set(marks[0]) <= set(PARTS):
        return _listed(wordnet, word, marks[0])
    if marks or not word:
        return []
    if parts != NOUNS_FIRST:
        return _listed(wordnet, word, parts)
    return _listed(wordnet, word, "n") or _listed(wordnet, word, "var")


def _listed(wordnet: WordNet, word: str, parts: str) -> list[Sense]:
    """The senses of a word as it stands, or else of its base form in each part of speech.

    An irregular form that is an entry of its own (teeth) has the senses of its base form too. A
    compound that is not listed with its hyphens is looked up with blanks.
    """
    for spelling in dict.fromkeys((word, word.replace("-", "_"))):
        senses = [sense for part in parts for sense in wordnet.senses(spelling, part)]
        if senses:
            bases = ((part, base) for part in parts for base in wordnet.irregular(spelling, part))
            return senses + [sense for part, base in bases for sense in wordnet.senses(base, part)]
        for part in parts:
            forms = wordnet.valid_forms(spelling, part)
            if forms:
                senses += wordnet.senses(forms[0], part)
        if senses:
            return senses
    return []


_HOW_TO_GIVE = {
    "wordnet": "WordNet (wordnet=, or install wordnet-base)",
    "tag counts": "WordNet's tag counts",
    "counts": "hit counts (counts=, tags= or provider=)",
    "tags": "a tag corpus (tags=) or its counts (counts=)",
    "links": "a link table (links=)",
    "ontology": "an ontology (ontology=)",
}


@dataclass(frozen=True)
class Resources:
    """What methods read; any of it may be absent.

    `progress` is told which share of the work is done, by methods and by pairs.
    """

    lexicon: Lexicon | None = None
    counts: HitCounts | None = None
    links: InLinks | None = None
    vectors: LinkVectors | None = None
    tree: Tree | None = None
    jobs: int = 1
    stop_words: bool = False
    progress: Progress = field(default_factory=Progress)

    def of(self, method: Method) -> HitCounts | InLinks | LinkVectors | Tree | None:
        """What a method that goes by names reads."""
        by_name: dict[str, HitCounts | InLinks | LinkVectors | Tree | None] = {
            "links": self.links,
            "vectors": self.vectors,
            "tree": self.tree,
        }
        return by_name.get(method.reads, self.counts)

    def need(self, method: Method) -> NeedsError:
        things = " and ".join(_HOW_TO_GIVE[need] for need in sorted(method.needs))
        return NeedsError(f"{method.name} needs {things}")


@dataclass(frozen=True, slots=True)
class PairScore:
    """The relatedness of two concepts; None when it does not exist."""

    word1: str
    word2: str
    relatedness: float | None
    sense1: Sense | None = None
    sense2: Sense | None = None


@dataclass(frozen=True)
class PairScores:
    """The pairs in the order given, and the concepts that have no value in any of them.

    `unknown` are those that the method's source does not know, `unusable` those that it knows
    only as parts of speech which the method cannot compare. `unseen` have a value, 0, but only
    because they were never counted.
    """

    method: Method
    pairs: tuple[PairScore, ...]
    unknown: tuple[str, ...] = field(default=())
    unusable: tuple[str, ...] = field(default=())
    unseen: tuple[str, ...] = field(default=())

    def values(self) -> NDArray[np.float64]:
        """The relatedness of each pair, NaN where it does not exist."""
        return np.array(
            [np.nan if p.relatedness is None else p.relatedness for p in self.pairs], np.float64
        )


Pairs = Sequence[tuple[str, str]]


def score_pairs(methods: Sequence[Method], pairs: Pairs, resources: Resources) -> list[PairScores]:
    """The relatedness of all pairs by each method; what methods share is worked out once."""
    expansions: dict[str, _Expansion] = {}
    results = []
    for number, method in enumerate(methods):
        step = resources.progress.part(number / len(methods), (number + 1) / len(methods))
        step(0.0)
        if method.family == "wordnet":
            if resources.lexicon is None:
                raise resources.need(method)
            if method.parts not in expansions:
                expansions[method.parts] = _Expansion(resources.lexicon, pairs, method.parts)
            results.append(_by_senses(method, pairs, expansions[method.parts], resources))
        else:
            results.append(_by_names(method, pairs, replace(resources, progress=step)))
    return results


class _Expansion:
    """Pairs of concepts as pairs of all their senses, those of a pair one after the other."""

    def __init__(self, lexicon: Lexicon, pairs: Pairs, parts: str) -> None:
        self.wordnet = lexicon.wordnet
        names = dict.fromkeys(name for pair in pairs for name in pair)
        senses = {name: lexicon.senses(name) for name in names}
        self.unknown = tuple(name for name in names if not senses[name])
        usable = {
            name: [s for s in name_senses if s.part in parts]
            for name, name_senses in senses.items()
        }
        self.unusable = tuple(name for name in names if senses[name] and not usable[name])
        self.left: list[Sense] = []
        self.right: list[Sense] = []
        self.starts = [0]
        for first, second in pairs:
            first_senses, second_senses = usable[first], usable[second]
            self.left += [sense for sense in first_senses for _ in second_senses]
            self.right += second_senses * len(first_senses)
            self.starts.append(len(self.left))


def _by_senses(
    method: Method, pairs: Pairs, expansion: _Expansion, resources: Resources
) -> PairScores:
    options = method.settings()
    if method.score is lesk:
        options |= {"jobs": resources.jobs, "stop_words": resources.stop_words}
    values = method.score(expansion.wordnet, expansion.left, expansion.right, **options)
    ranked = np.where(np.isnan(values), -np.inf, values)
    scored = []
    for k, (first, second) in enumerate(pairs):
        start, end = expansion.starts[k], expansion.starts[k + 1]
        if start == end:
            scored.append(PairScore(first, second, None))
            continue
        # The first of the best pairs of senses: lower sense numbers are commoner meanings.
        best = start + int(ranked[start:end].argmax())
        value = float(values[best])
        if np.isnan(value):
            scored.append(PairScore(first, second, None))
        else:
            senses = expansion.left[best], expansion.right[best]
            scored.append(PairScore(first, second, value, *senses))
    return PairScores(method, tuple(scored), expansion.unknown, expansion.unusable)


def _by_names(method: Method, pairs: Pairs, resources: Resources) -> PairScores:
    score, knows = _name_scorer(method, resources)
    names = dict.fromkeys(name for pair in pairs for name in pair)
    is_known = {name: knows(name) for name in names}
    scored = []
    for number, (a, b) in enumerate(pairs):
        resources.progress(number / len(pairs))
        scored.append(PairScore(a, b, score(a, b) if is_known[a] and is_known[b] else None))
    unseen: list[str] = []
    if method.family == "counts" and isinstance(resources.counts, Snapshot):
        unseen = [n for n in names if is_known[n] and resources.counts.hits(n) == 0]
    unknown = tuple(n for n in names if not is_known[n])
    return PairScores(method, tuple(scored), unknown, unseen=tuple(unseen))


def _name_scorer(
    method: Method, resources: Resources
) -> tuple[Callable[[str, str], float], Callable[[str], bool]]:
    """How two names are scored, and whether a name is known."""
    source = resources.of(method)
    if source is None:
        raise resources.need(method)
    # A live source of counts knows every word.
    knows: Callable[[str], bool] = getattr(source, "knows", bool)
    options = method.settings()
    return (lambda first, second: float(method.score(source, first, second, **options))), knows
