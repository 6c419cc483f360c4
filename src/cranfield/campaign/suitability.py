"""How far a collection meets the eleven requirements on test collections (Nowak, 3.2.1).

A program sees sizes, names and licences; whether images stand for a domain is for people to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cranfield.campaign.item_texts import public_items, public_topics, read_texts
from cranfield.campaign.results.results_data import read_truth
from cranfield.data.collection import Collection, Kind
from cranfield.data.labels import LabelMatrix
from cranfield.errors import CranfieldError, plural
from cranfield.evaluation.label_inputs import full_ontology
from cranfield.stats.effects import detectable_effect

MET, OPEN, PEOPLE = "met", "open", "for people"
# Half a standard deviation is a medium effect: smaller collections find large ones only.
LARGEST_EFFECT = 0.5


@dataclass(frozen=True, slots=True)
class Suitability:
    """A requirement, by its number: whether it is met, open, or for people to say, and why."""

    number: int
    requirement: str
    state: str
    figure: str


def suitability(collection: Collection) -> list[Suitability]:
    """What can be told of each requirement; what cannot be read is open."""
    checks: tuple[tuple[str, Callable[[Collection], tuple[str, str]]], ...] = (
        ("representative of its domain", lambda _: (PEOPLE, "")),
        ("diverse", _diversity),
        ("fits what is evaluated", lambda _: (PEOPLE, "")),
        ("large enough for tests", _size),
        ("can be divided and parameterised", _parameters),
        ("items of good quality", _quality),
        ("metadata of items", _metadata),
        ("free of copyright restrictions", _licence),
        ("can be used again", _reuse),
        ("complete and consistent truth", _truth),
        ("reliable", lambda _: (PEOPLE, "cranfield lab stability tells it from runs")),
    )
    findings = []
    for number, (requirement, check) in enumerate(checks, 1):
        try:
            state, figure = check(collection)
        except CranfieldError:
            state, figure = OPEN, "its files cannot be read"
        findings.append(Suitability(number, requirement, state, figure))
    return findings


def _labels(collection: Collection) -> LabelMatrix | None:
    if collection.truth is None:
        return None
    truth = read_truth(collection, "labels")
    return truth if isinstance(truth, LabelMatrix) else None


def _flags(truth: LabelMatrix) -> np.ndarray:
    flags, _ = truth.rows(0, len(truth.items))
    return np.zeros((0, 0), dtype=bool) if flags is None else flags


def _diversity(collection: Collection) -> tuple[str, str]:
    """How many different sets of concepts there are, and how many of equal size that would be."""
    truth = _labels(collection)
    if truth is None or not len(flags := _flags(truth)):
        return PEOPLE, ""
    _, counts = np.unique(flags, axis=0, return_counts=True)
    shares = counts / counts.sum()
    effective = float(np.exp(-(shares * np.log(shares)).sum()))
    rare = int((flags.sum(axis=0) < 10).sum())
    figure = f"{plural(len(counts), 'set')} of concepts, as many as {effective:.0f} equal ones"
    return PEOPLE, f"{figure}; {plural(rare, 'concept')} with less than 10 items"


def _units(collection: Collection) -> Iterator[tuple[Kind, str, int]]:
    if "ranked" in collection.kinds:
        topics = public_topics(collection)
        if topics is None and collection.judgements is not None:
            topics = tuple(read_truth(collection, "ranked").topics)  # type: ignore[union-attr]
        yield "ranked", "topic", len(topics or ())
    if "labels" in collection.kinds:
        items = public_items(collection, "labels")
        truth = None if items is not None else _labels(collection)
        names = items if truth is None else truth.items
        yield "labels", "item", len(names or ())


def _size(collection: Collection) -> tuple[str, str]:
    """The difference of two runs that so many units show with 80 %."""
    figures, enough = [], True
    for _, unit, count in _units(collection):
        effect = detectable_effect(count)
        enough = enough and effect <= LARGEST_EFFECT
        figures.append(f"{plural(count, unit)}: differences from {effect:.2f} deviations on")
    if not figures:
        return OPEN, "no topics and no items are named"
    return MET if enough else OPEN, "; ".join(figures)


def _parameters(collection: Collection) -> tuple[str, str]:
    names = ", ".join(collection.splits)
    return (MET, f"splits {names}") if names else (OPEN, "no splits are named")


def _quality(collection: Collection) -> tuple[str, str]:
    sheet = collection.images
    return PEOPLE, "" if sheet is None else f"pictures of {sheet.width} x {sheet.height}"


def _metadata(collection: Collection) -> tuple[str, str]:
    """How many items have a text, and topics a title, a description and a narrative."""
    texts, figures, complete = read_texts(collection), [], True
    items = {item for kind in collection.kinds for item in public_items(collection, kind) or ()}
    topics = set(public_topics(collection) or ())
    for name, ids, known in (
        ("items with a text", items, texts.items),
        ("topics with a text", topics, texts.topics),
        ("topics with a narrative", topics, texts.narratives),
    ):
        if ids:
            covered = sum(bool(known.get(id)) for id in ids)
            figures.append(f"{covered} of {len(ids)} {name}")
            complete = complete and (covered == len(ids) or name == "topics with a narrative")
    return (MET if figures and complete else OPEN), "; ".join(figures) or "no texts are named"


def _licence(collection: Collection) -> tuple[str, str]:
    return (MET, collection.licence) if collection.licence else (OPEN, "no licence is named")


def _reuse(collection: Collection) -> tuple[str, str]:
    truth = None if collection.judgements is not None else _labels(collection)
    if truth is not None and (truth.judged is None or bool(truth.judged.all())):
        return MET, "every cell of the annotations is judged"
    return PEOPLE, "cranfield lab pool tells what a run loses that was not in the pool"


def _truth(collection: Collection) -> tuple[str, str]:
    """How much is judged, and how many items break a rule of the ontology."""
    truth = _labels(collection)
    if truth is None:
        return PEOPLE, ""
    judged = 1.0 if truth.judged is None else float(truth.judged.mean())
    broken, flags = 0, _flags(truth)
    rules = full_ontology(collection.ontology, collection.rules, truth)
    if rules is not None:
        concepts = np.array(truth.concepts)
        distinct, counts = np.unique(flags, axis=0, return_counts=True)
        broken = sum(
            int(count)
            for row, count in zip(distinct, counts, strict=True)
            if rules.violations(concepts[row].tolist())
        )
    figure = f"{judged:.0%} of the cells are judged; items that break a rule: {broken}"
    return (MET if judged == 1 and not broken else OPEN), figure
