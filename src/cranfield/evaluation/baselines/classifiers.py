"""Classifiers behind the baselines: each learns confidences of all concepts from vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from cranfield.errors import MissingExtraError
from cranfield.features.collections import ItemTable
from cranfield.features.search import search
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
