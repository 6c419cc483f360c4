"""Baselines of annotation: from vectors and a truth to confidences of concepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from cranfield.answers import Answer
from cranfield.data.labels import LabelMatrix, dense
from cranfield.data.ontology import Ontology
from cranfield.errors import InputError, MissingExtraError, UsageError, check_counts, plural
from cranfield.evaluation.choices import AFTER, CLASSIFIERS, FUSIONS, THRESHOLDS
from cranfield.features.item_vectors import ItemTable, read_items
from cranfield.features.search import search
from cranfield.io.coerce import LabelsForm, coerce_labels
from cranfield.io.files import FileForm, Input
from cranfield.io.ontology import read_ontology
from cranfield.notes import Notes, Progress, with_progress
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# What needs no vectors: how far one gets by knowing nothing, and by knowing only how frequent
# concepts are.
BLIND = ("prior", "random")


@dataclass(frozen=True)
class Settings:
    """What the classifiers can be told."""

    neighbours: int = 10
    strength: float = 1.0
    seed: int = 0


def confidences(
    method: str, train: ItemTable, labels: Bools, apply: ItemTable, settings: Settings
) -> Floats:
    """The confidence of every concept for every item of `apply`."""
    if method == "random":
        return generator(settings.seed).random((len(apply.items), labels.shape[1]))
    prior = np.tile(labels.mean(axis=0), (len(apply.items), 1))
    if method == "prior":
        return prior
    if method == "neighbours":
        return _neighbours(train, labels, apply, settings)
    return _linear(method, train, labels, apply, settings, prior)


def _neighbours(train: ItemTable, labels: Bools, apply: ItemTable, settings: Settings) -> Floats:
    """The share of the nearest training items that have a concept, weighed by similarity."""
    found = search(train, apply, k=settings.neighbours, keep_query=True)
    weights = np.where(found.found >= 0, found.scores, 0.0)
    votes = labels[np.maximum(found.found, 0)] * weights[:, :, None]
    total = weights.sum(axis=1)[:, None]
    prior = labels.mean(axis=0)[None, :]
    return np.asarray(
        np.where(total > 0, votes.sum(axis=1) / np.where(total > 0, total, 1.0), prior)
    )


def _linear(
    method: str,
    train: ItemTable,
    labels: Bools,
    apply: ItemTable,
    settings: Settings,
    prior: Floats,
) -> Floats:
    """A linear classifier for each concept, of standardised vectors.

    A concept that all or none of the training items have keeps its share.
    """
    fit = _logistic if method == "logistic" else _machine
    mean, spread = train.vectors.mean(axis=0), train.vectors.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    known, asked = (train.vectors - mean) / scale, (apply.vectors - mean) / scale
    found = prior.copy()
    # Many small problems: threads would wait for each other.
    with threadpool_limits(1):
        for concept in range(labels.shape[1]):
            shown = labels[:, concept]
            if 0 < int(shown.sum()) < len(shown):
                found[:, concept] = fit(known, shown, asked, settings)
    return found


def _logistic(known: Floats, shown: Bools, asked: Floats, settings: Settings) -> Floats:
    kind = _sklearn("linear_model", "LogisticRegression")
    model = kind(C=settings.strength, max_iter=2000).fit(known, shown)
    return np.asarray(model.predict_proba(asked)[:, 1])


def _machine(known: Floats, shown: Bools, asked: Floats, settings: Settings) -> Floats:
    """A linear support vector machine; a logistic curve over what it says of items held out."""
    machine = _sklearn("svm", "LinearSVC")
    least = min(int(shown.sum()), int((~shown).sum()))
    model = machine(C=settings.strength, random_state=settings.seed)
    if least < 2:
        far = model.fit(known, shown).decision_function(asked)
        return np.asarray(1 / (1 + np.exp(-far)))
    split = _sklearn("model_selection", "StratifiedKFold")(
        min(3, least), shuffle=True, random_state=settings.seed
    )
    predict = _sklearn("model_selection", "cross_val_predict")
    held_out = predict(model, known, shown, cv=split, method="decision_function")
    curve = _sklearn("linear_model", "LogisticRegression")().fit(held_out[:, None], shown)
    far = model.fit(known, shown).decision_function(asked)
    return np.asarray(curve.predict_proba(far[:, None])[:, 1])


def _sklearn(module: str, name: str) -> Callable[..., Any]:
    from importlib import import_module

    try:
        found: Callable[..., Any] = getattr(import_module(f"sklearn.{module}"), name)
    except ModuleNotFoundError:
        raise MissingExtraError("scikit-learn", "ml", "Annotating by classifiers") from None
    return found


# How much of a confidence is what the other concepts let expect.
EXPECTED_SHARE = 0.3


def by_rules(confidences: Floats, concepts: tuple[str, ...], ontology: Ontology) -> Floats:
    """Confidences that agree with the ontology.

    Of a group that allows one label, the confidences are divided by their sum where it exceeds 1;
    a concept is as certain as the most certain of those it requires at most; a category is as
    certain as the most certain concept below it at least.
    """
    found = confidences.copy()
    column = {concept: i for i, concept in enumerate(concepts)}
    for _, group in ontology.exclusive:
        members = [[column[c] for c in member if c in column] for member in group]
        members = [m for m in members if m]
        if len(members) < 2:
            continue
        total = sum(found[:, m].max(axis=1) for m in members)
        scale = np.maximum(total, 1.0)[:, None]
        for m in members:
            found[:, m] /= scale
    for _, need in ontology.requirements:
        options = [column[c] for c in need.any_of if c in column]
        if need.concept in column and options:
            place = column[need.concept]
            found[:, place] = np.minimum(found[:, place], found[:, options].max(axis=1))
    for concept, place in column.items():
        if concept in ontology.concepts:
            for above in ontology.ancestors(concept):
                if above in column:
                    higher = column[above]
                    found[:, higher] = np.maximum(found[:, higher], found[:, place])
    return found


def by_cooccurrence(confidences: Floats, labels: Bools) -> Floats:
    """Confidences moved towards what the other concepts let expect, as in training."""
    counts = labels.T.astype(np.float64) @ labels
    given = counts / np.maximum(np.diag(counts), 1.0)[:, None]
    np.fill_diagonal(given, 0.0)
    total = confidences.sum(axis=1, keepdims=True) - confidences
    expected = (confidences @ given) / np.where(total > 0, total, 1.0)
    return np.asarray((1 - EXPECTED_SHARE) * confidences + EXPECTED_SHARE * expected)


VectorsForm = FileForm | ItemTable
_FOLDS = 3


@dataclass(frozen=True, repr=False, eq=False)
class Annotation(Answer):
    """Confidences of concepts for items, and the thresholds that make labels of them."""

    command: ClassVar[str] = "annotate"
    method: str
    vectors: tuple[str, ...]
    fusion: str
    after: str
    trained_on: int
    labels: LabelMatrix
    thresholds: Mapping[str, float]

    def payload(self, **_: Any) -> dict[str, Any]:
        """How it was made, and the thresholds."""
        return {
            "method": self.method,
            "vectors": list(self.vectors),
            "fusion": self.fusion,
            "after": self.after,
            "trained_on": self.trained_on,
            "items": len(self.labels.items),
            "concepts": list(self.labels.concepts),
            "thresholds": dict(self.thresholds),
        }

    def headline(self) -> str:
        return (
            f"{self.method}: {plural(len(self.labels.items), 'item')} annotated with "
            f"{plural(len(self.labels.concepts), 'concept')}, trained on {self.trained_on}"
        )


@validate_params
@with_progress
def annotate(
    train: VectorsForm | Sequence[VectorsForm],
    truth: LabelsForm,
    apply: VectorsForm | Sequence[VectorsForm],
    *,
    method: str = "logistic",
    fusion: str = "early",
    after: str | None = None,
    ontology: str | Path | Ontology | None = None,
    rules: str | Path | None = None,
    threshold: str = "one",
    neighbours: int = 10,
    strength: float = 1.0,
    name: str = "",
    seed: Seed = 0,
    progress: Progress | Callable[[float], None] | None = None,
) -> Annotation:
    """Learn the concepts of `truth` from vectors, and annotate other vectors with them.

    Several files of vectors are put together before learning (`fusion="early"`), or learnt from
    one by one, and their confidences averaged ("late"). `after="rules"` makes the confidences
    agree with the ontology, "cooccurrence" moves them towards what other concepts let expect.
    `threshold` is "one" (0.5 for all), "concept" (those that give the best F on training items
    held out) or "labels" (the decisions themselves are part of the answer).
    """
    _check(method, fusion, after, threshold, ontology)
    check_counts(neighbours=neighbours)
    told, notes = Progress.of(progress), Notes()
    known, asked = _tables(train), _tables(apply)
    _check_pairs(known, asked)
    matrix = coerce_labels(truth, "truth").with_threshold(0.5)
    known, labels = _with_truth(known, matrix, notes)
    asked = _common(asked, notes)
    settings = Settings(neighbours, strength, seed)
    learner = _Learner(method, fusion, settings)
    found = learner.confidences(known, labels, asked)
    told(0.6)
    tree = _ontology(ontology, rules)
    finish = _after(after, matrix.concepts, tree, labels)
    limits = np.full(len(matrix.concepts), 0.5)
    if threshold != "one" and method not in BLIND:
        limits = learner.limits(known, labels, finish)
    final = np.clip(finish(found), 0.0, 1.0)
    told(1.0)
    return Annotation(
        method=method,
        vectors=tuple(table.name for table in known),
        fusion=fusion,
        after=after or "",
        trained_on=len(labels),
        labels=LabelMatrix(
            asked[0].items,
            matrix.concepts,
            labels=final >= limits if threshold == "labels" else None,
            confidences=final,
            name=name or method,
            named=matrix.named,
        ),
        thresholds=dict(zip(matrix.concepts, limits.tolist(), strict=True)),
        notes=notes.lines(),
    )


def _check(method: str, fusion: str, after: str | None, threshold: str, ontology: object) -> None:
    for word, given, known in (
        ("method", method, CLASSIFIERS),
        ("fusion", fusion, FUSIONS),
        ("after", after, (None, *AFTER)),
        ("threshold", threshold, THRESHOLDS),
    ):
        if given not in known:
            raise UsageError(f"{word}={given!r} is not one of {', '.join(filter(None, known))}")
    if after == "rules" and ontology is None:
        raise UsageError("after= rules needs ontology=")


def _check_pairs(known: Sequence[ItemTable], asked: Sequence[ItemTable]) -> None:
    if len(known) != len(asked):
        raise UsageError(f"{len(known)} files of vectors to train on, {len(asked)} to apply")
    for k, a in zip(known, asked, strict=True):
        if k.length != a.length:
            raise UsageError(
                f"{k.name} to train on has {plural(k.length, 'number')} an item, {a.name} to apply "
                f"{a.length}; both are of one kind, in the same order"
            )


def _tables(given: VectorsForm | Sequence[VectorsForm]) -> list[ItemTable]:
    one = isinstance(given, str | Path | Input | ItemTable)
    many = cast("Sequence[VectorsForm]", [given] if one else given)
    found = [v if isinstance(v, ItemTable) else read_items(v) for v in many]
    if not found:
        raise UsageError("no vectors were given")
    return found


def _rows(table: ItemTable, items: Sequence[str]) -> ItemTable:
    place = {item: row for row, item in enumerate(table.items)}
    chosen = [place[item] for item in items]
    return replace(table, items=tuple(items), vectors=table.vectors[chosen].astype(np.float64))


def _common(tables: Sequence[ItemTable], notes: Notes) -> list[ItemTable]:
    """The tables with the items that all of them have."""
    shared = set(tables[0].items).intersection(*(t.items for t in tables))
    items = [item for item in tables[0].items if item in shared]
    if not items:
        raise InputError.single(tables[0].name, "no item has a vector in all files")
    for table in tables:
        if len(table.items) > len(items):
            more = plural(len(table.items) - len(items), "item")
            notes.add(f"{more} without vectors in the other files left out", about=table.name)
    return [_rows(table, items) for table in tables]


def _with_truth(
    tables: Sequence[ItemTable], truth: LabelMatrix, notes: Notes
) -> tuple[list[ItemTable], Bools]:
    """The items that have both vectors and a truth, in the order of the truth."""
    shared = set(truth.items).intersection(*(t.items for t in tables))
    rows = [i for i, item in enumerate(truth.items) if item in shared]
    if not rows:
        raise InputError.single(truth.where, "no item of it has vectors")
    if len(rows) < len(truth.items):
        notes.add(f"{plural(len(truth.items) - len(rows), 'item')} of the truth without vectors")
    items = [truth.items[i] for i in rows]
    labels = np.asarray(dense(truth.labels), dtype=bool)[rows]
    return [_rows(table, items) for table in tables], labels


def _ontology(source: str | Path | Ontology | None, rules: str | Path | None) -> Ontology | None:
    if source is None or isinstance(source, Ontology):
        return source
    return read_ontology(source, rules=rules)


def _after(
    after: str | None, concepts: tuple[str, ...], ontology: Ontology | None, labels: Bools
) -> Callable[[Floats], Floats]:
    if after == "rules" and ontology is not None:
        return lambda found: by_rules(found, concepts, ontology)
    if after == "cooccurrence":
        return lambda found: by_cooccurrence(found, labels)
    return lambda found: found


@dataclass(frozen=True)
class _Learner:
    """A method over one or several kinds of vectors."""

    method: str
    fusion: str
    settings: Settings

    def confidences(
        self, known: Sequence[ItemTable], labels: Bools, asked: Sequence[ItemTable]
    ) -> Floats:
        if len(known) > 1 and self.fusion == "early":
            known, asked = _joined(known, asked)
        each = [
            confidences(self.method, k, labels, a, self.settings)
            for k, a in zip(known, asked, strict=True)
        ]
        return np.asarray(np.mean(each, axis=0))

    def limits(
        self, known: Sequence[ItemTable], labels: Bools, finish: Callable[[Floats], Floats]
    ) -> Floats:
        """For each concept the threshold with the best F on items that were held out."""
        count = len(labels)
        folds = generator(self.settings.seed, 1).permutation(count) % _FOLDS
        found = np.zeros(labels.shape)
        for fold in range(_FOLDS):
            inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            if not inside.size or not outside.size:
                continue
            parts = [
                [_rows(t, [t.items[i] for i in rows]) for t in known] for rows in (inside, outside)
            ]
            found[outside] = self.confidences(parts[0], labels[inside], parts[1])
        found = finish(found)
        return np.array([best_threshold(found[:, c], labels[:, c]) for c in range(labels.shape[1])])


def _joined(
    known: Sequence[ItemTable], asked: Sequence[ItemTable]
) -> tuple[list[ItemTable], list[ItemTable]]:
    """All kinds of vectors side by side, each standardised and of the same weight."""
    parts: tuple[list[Floats], list[Floats]] = ([], [])
    for k, a in zip(known, asked, strict=True):
        mean, spread = k.vectors.mean(axis=0), k.vectors.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0) * np.sqrt(k.length)
        parts[0].append((k.vectors - mean) / scale)
        parts[1].append((a.vectors - mean) / scale)
    name = "+".join(k.name for k in known)
    return (
        [ItemTable(known[0].items, np.concatenate(parts[0], axis=1), name)],
        [ItemTable(asked[0].items, np.concatenate(parts[1], axis=1), name)],
    )


def best_threshold(scores: Floats, shown: Bools) -> float:
    """The confidence from which on labels have the best F; 0.5 where nothing is shown.

    >>> best_threshold(np.array([0.25, 0.5, 0.75]), np.array([False, True, True]))
    0.375
    """
    if not shown.any():
        return 0.5
    order = np.argsort(-scores, kind="stable")
    ranked, right = scores[order], np.cumsum(shown[order])
    f = 2 * right / (np.arange(1, len(shown) + 1) + shown.sum())
    # A threshold cannot cut between items of one confidence.
    last = np.append(ranked[1:] != ranked[:-1], True)
    best = int(np.argmax(np.where(last, f, -1.0)))
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return float((ranked[best] + below) / 2)
