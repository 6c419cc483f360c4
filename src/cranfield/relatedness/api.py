"""Relatedness as it is asked for: of pairs of words, of all pairs of concepts, and by what."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack, get_args

from cranfield.data.costmap import CostMap
from cranfield.errors import UsageError
from cranfield.io.concepts import WordPair, read_concepts, read_pairs
from cranfield.notes import Notes, Progress, with_progress
from cranfield.relatedness import METHODS, parse_methods
from cranfield.relatedness._spec import Method
from cranfield.relatedness.concept_sources import SourceOptions, Sources, with_sources
from cranfield.relatedness.cost_maps import cost_maps
from cranfield.relatedness.results import (
    NOT_JUDGED,
    ConceptCosts,
    HumanCorrelation,
    MethodCatalogue,
    MethodPairs,
    PairRelatedness,
    RelatedPair,
    correlation_with_people,
    note_names,
)
from cranfield.relatedness.scoring import PairScores, score_pairs
from cranfield.validation import validate_params

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
