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
from cranfield.features.item_vectors import ItemTable, read_items
from cranfield.features.search import search
from cranfield.io.coerce import LabelsForm, coerce_labels
from cranfield.io.files import FileForm, Input
from cranfield.io.labels import check_all_listed
from cranfield.io.ontology import read_ontology
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import CLASSIFIERS, FUSIONS, LEARNED_THRESHOLDS, POSTPROCESSING
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
    neighbours = search(train, apply, k=settings.neighbours, keep_query=True)
    weights = np.where(neighbours.found >= 0, neighbours.scores, 0.0)
    votes = labels[np.maximum(neighbours.found, 0)] * weights[:, :, None]
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
    examples, targets = (train.vectors - mean) / scale, (apply.vectors - mean) / scale
    confidences = prior.copy()
    # Many small problems: threads would wait for each other.
    with threadpool_limits(1):
        for concept in range(labels.shape[1]):
            labelled = labels[:, concept]
            if 0 < int(labelled.sum()) < len(labelled):
                confidences[:, concept] = fit(examples, labelled, targets, settings)
    return confidences


def _logistic(examples: Floats, labelled: Bools, targets: Floats, settings: Settings) -> Floats:
    kind = _sklearn("linear_model", "LogisticRegression")
    model = kind(C=settings.strength, max_iter=2000).fit(examples, labelled)
    return np.asarray(model.predict_proba(targets)[:, 1])


def _machine(examples: Floats, labelled: Bools, targets: Floats, settings: Settings) -> Floats:
    """A linear support vector machine; a logistic curve over what it says of items held out."""
    machine = _sklearn("svm", "LinearSVC")
    smaller_class = min(int(labelled.sum()), int((~labelled).sum()))
    model = machine(C=settings.strength, random_state=settings.seed)
    if smaller_class < 2:
        margins = model.fit(examples, labelled).decision_function(targets)
        return np.asarray(1 / (1 + np.exp(-margins)))
    split = _sklearn("model_selection", "StratifiedKFold")(
        min(3, smaller_class), shuffle=True, random_state=settings.seed
    )
    predict = _sklearn("model_selection", "cross_val_predict")
    held_out = predict(model, examples, labelled, cv=split, method="decision_function")
    curve = _sklearn("linear_model", "LogisticRegression")().fit(held_out[:, None], labelled)
    margins = model.fit(examples, labelled).decision_function(targets)
    return np.asarray(curve.predict_proba(margins[:, None])[:, 1])


def _sklearn(module: str, name: str) -> Callable[..., Any]:
    from importlib import import_module

    try:
        estimator: Callable[..., Any] = getattr(import_module(f"sklearn.{module}"), name)
    except ModuleNotFoundError:
        raise MissingExtraError("scikit-learn", "ml", "Annotating by classifiers") from None
    return estimator


# How much of a confidence is what the other concepts let expect.
EXPECTED_SHARE = 0.3


def by_rules(confidences: Floats, concepts: tuple[str, ...], ontology: Ontology) -> Floats:
    """Confidences that agree with the ontology.

    Of a group that allows one label, the confidences are divided by their sum where it exceeds 1;
    a concept is as certain as the most certain of those it requires at most; a category is as
    certain as the most certain concept below it at least.
    """
    adjusted = confidences.copy()
    column = {concept: i for i, concept in enumerate(concepts)}
    for _, group in ontology.exclusive:
        members = [[column[c] for c in member if c in column] for member in group]
        members = [m for m in members if m]
        if len(members) < 2:
            continue
        total = sum(adjusted[:, m].max(axis=1) for m in members)
        scale = np.maximum(total, 1.0)[:, None]
        for m in members:
            adjusted[:, m] /= scale
    for _, need in ontology.requirements:
        options = [column[c] for c in need.any_of if c in column]
        if need.concept in column and options:
            place = column[need.concept]
            adjusted[:, place] = np.minimum(adjusted[:, place], adjusted[:, options].max(axis=1))
    for concept, place in column.items():
        if concept in ontology.concepts:
            for above in ontology.ancestors(concept):
                if above in column:
                    higher = column[above]
                    adjusted[:, higher] = np.maximum(adjusted[:, higher], adjusted[:, place])
    return adjusted


def by_cooccurrence(confidences: Floats, labels: Bools) -> Floats:
    """Confidences moved towards what the other concepts let expect, as in training."""
    counts = labels.T.astype(np.float64) @ labels
    conditional = counts / np.maximum(np.diag(counts), 1.0)[:, None]
    np.fill_diagonal(conditional, 0.0)
    total = confidences.sum(axis=1, keepdims=True) - confidences
    expected = (confidences @ conditional) / np.where(total > 0, total, 1.0)
    return np.asarray((1 - EXPECTED_SHARE) * confidences + EXPECTED_SHARE * expected)


VectorsForm = FileForm | ItemTable
_FOLDS = 3


@dataclass(frozen=True, repr=False, eq=False)
class Annotation(Answer):
    """Confidences of concepts for items, and the thresholds that make labels of them."""

    command: ClassVar[str] = "annotate"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:annotation_document"
    method: str
    vectors: tuple[str, ...]
    fusion: str
    after: str
    trained_on: int
    labels: LabelMatrix
    thresholds: Mapping[str, float]

    def payload(self, **_: object) -> dict[str, Any]:
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
    progress: Watcher | None = None,
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
    report_progress, notes = Progress.of(progress), Notes()
    train_tables, apply_tables = _tables(train), _tables(apply)
    _check_pairs(train_tables, apply_tables)
    matrix = check_all_listed(coerce_labels(truth, "truth"), "Learning").with_threshold(0.5)
    train_tables, labels = _with_truth(train_tables, matrix, notes)
    apply_tables = _common(apply_tables, notes)
    settings = Settings(neighbours, strength, seed)
    learner = _Learner(method, fusion, settings)
    confidences = learner.confidences(train_tables, labels, apply_tables)
    report_progress(0.6)
    tree = _ontology(ontology, rules)
    finish = _after(after, matrix.concepts, tree, labels)
    limits = np.full(len(matrix.concepts), 0.5)
    if threshold != "one" and method not in BLIND:
        limits = learner.limits(train_tables, labels, finish)
    final = np.clip(finish(confidences), 0.0, 1.0)
    report_progress(1.0)
    return Annotation(
        method=method,
        vectors=tuple(table.name for table in train_tables),
        fusion=fusion,
        after=after or "",
        trained_on=len(labels),
        labels=LabelMatrix(
            apply_tables[0].items,
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
    for word, value, choices in (
        ("method", method, CLASSIFIERS),
        ("fusion", fusion, FUSIONS),
        ("after", after, (None, *POSTPROCESSING)),
        ("threshold", threshold, LEARNED_THRESHOLDS),
    ):
        if value not in choices:
            raise UsageError(f"{word}={value!r} is not one of {', '.join(filter(None, choices))}")
    if after == "rules" and ontology is None:
        raise UsageError("after= rules needs ontology=")


def _check_pairs(train_tables: Sequence[ItemTable], apply_tables: Sequence[ItemTable]) -> None:
    if len(train_tables) != len(apply_tables):
        raise UsageError(
            f"{len(train_tables)} files of vectors to train on, {len(apply_tables)} to apply"
        )
    for k, a in zip(train_tables, apply_tables, strict=True):
        if k.length != a.length:
            raise UsageError(
                f"{k.name} to train on has {plural(k.length, 'number')} an item, {a.name} to apply "
                f"{a.length}; both are of one kind, in the same order"
            )


def _tables(vectors: VectorsForm | Sequence[VectorsForm]) -> list[ItemTable]:
    single = isinstance(vectors, str | Path | Input | ItemTable)
    many = cast("Sequence[VectorsForm]", [vectors] if single else vectors)
    tables = [v if isinstance(v, ItemTable) else read_items(v) for v in many]
    if not tables:
        raise UsageError("no vectors were given")
    return tables


def _rows(table: ItemTable, items: Sequence[str]) -> ItemTable:
    place = {item: row for row, item in enumerate(table.items)}
    row_numbers = [place[item] for item in items]
    return replace(table, items=tuple(items), vectors=table.vectors[row_numbers].astype(np.float64))


def _common(tables: Sequence[ItemTable], notes: Notes) -> list[ItemTable]:
    """The tables with the items that all of them have."""
    shared = set(tables[0].items).intersection(*(t.items for t in tables))
    items = [item for item in tables[0].items if item in shared]
    if not items:
        raise InputError.single(tables[0].name, "no item has a vector in all files")
    for table in tables:
        if len(table.items) > len(items):
            surplus = plural(len(table.items) - len(items), "item")
            notes.add(f"{surplus} without vectors in the other files left out", about=table.name)
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
        self, train_tables: Sequence[ItemTable], labels: Bools, apply_tables: Sequence[ItemTable]
    ) -> Floats:
        if len(train_tables) > 1 and self.fusion == "early":
            train_tables, apply_tables = _joined(train_tables, apply_tables)
        each = [
            confidences(self.method, k, labels, a, self.settings)
            for k, a in zip(train_tables, apply_tables, strict=True)
        ]
        return np.asarray(np.mean(each, axis=0))

    def limits(
        self, train_tables: Sequence[ItemTable], labels: Bools, finish: Callable[[Floats], Floats]
    ) -> Floats:
        """For each concept the threshold with the best F on items that were held out."""
        count = len(labels)
        folds = generator(self.settings.seed, 1).permutation(count) % _FOLDS
        confidences = np.zeros(labels.shape)
        for fold in range(_FOLDS):
            inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            if not inside.size or not outside.size:
                continue
            parts = [
                [_rows(t, [t.items[i] for i in rows]) for t in train_tables]
                for rows in (inside, outside)
            ]
            confidences[outside] = self.confidences(parts[0], labels[inside], parts[1])
        confidences = finish(confidences)
        return np.array(
            [best_threshold(confidences[:, c], labels[:, c]) for c in range(labels.shape[1])]
        )


def _joined(
    train_tables: Sequence[ItemTable], apply_tables: Sequence[ItemTable]
) -> tuple[list[ItemTable], list[ItemTable]]:
    """All kinds of vectors side by side, each standardised and of the same weight."""
    parts: tuple[list[Floats], list[Floats]] = ([], [])
    for k, a in zip(train_tables, apply_tables, strict=True):
        mean, spread = k.vectors.mean(axis=0), k.vectors.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0) * np.sqrt(k.length)
        parts[0].append((k.vectors - mean) / scale)
        parts[1].append((a.vectors - mean) / scale)
    name = "+".join(k.name for k in train_tables)
    return (
        [ItemTable(train_tables[0].items, np.concatenate(parts[0], axis=1), name)],
        [ItemTable(apply_tables[0].items, np.concatenate(parts[1], axis=1), name)],
    )


def best_threshold(scores: Floats, labelled: Bools) -> float:
    """The confidence from which on labels have the best F; 0.5 where nothing is shown.

    >>> best_threshold(np.array([0.25, 0.5, 0.75]), np.array([False, True, True]))
    0.375
    """
    if not labelled.any():
        return 0.5
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(labelled[order])
    f = 2 * hits / (np.arange(1, len(labelled) + 1) + labelled.sum())
    # A threshold cannot cut between items of one confidence.
    last = np.append(ranked[1:] != ranked[:-1], True)
    best = int(np.argmax(np.where(last, f, -1.0)))
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return float((ranked[best] + below) / 2)
