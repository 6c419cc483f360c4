"""Annotation: truth and classifiers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.demo.images import (
    LEVELS,
    NAMES,
    SEED,
    SIDE,
    TRAINING,
    Digits,
    Floats,
    Ints,
    csv_text,
    item_id,
    stream,
)

# The concepts beside the digits themselves: which digits have them.
TRAITS: dict[str, tuple[int, ...]] = {
    "Even": (0, 2, 4, 6, 8),
    "Odd": (1, 3, 5, 7, 9),
    "Prime": (2, 3, 5, 7),
    "HasLoop": (0, 6, 8, 9),
    "StraightStrokes": (1, 4, 7),
}
CONCEPTS = (*NAMES, *TRAITS)
FEW = 30  # images to learn from


def concepts_of(digits: Ints) -> NDArray[np.bool_]:
    """One row per image, one column per concept."""
    rows = [
        [digit == d for d in range(10)] + [digit in t for t in TRAITS.values()]
        for digit in digits.tolist()
    ]
    return np.array(rows)


# What a classifier may see of the images, each a row of ink between 0 and 1.


def everything(ink: Floats) -> Floats:
    return ink


def amount(ink: Floats) -> Floats:
    """How much ink there is."""
    return ink.mean(axis=1, keepdims=True)


def greys(ink: Floats) -> Floats:
    """How many pixels have each of the 17 greys, wherever they are."""
    steps = np.round(ink * LEVELS)
    return np.stack([(steps == step).mean(axis=1) for step in range(LEVELS + 1)], axis=1)


def edges(ink: Floats) -> Floats:
    """The mean step from a pixel to the one below it, and to the one beside it."""
    square = _squares(ink)
    return np.stack([np.abs(np.diff(square, axis=a)).mean(axis=(1, 2)) for a in (1, 2)], axis=1)


def quarters(ink: Floats) -> Floats:
    """The ink in each quarter of the image."""
    half = SIDE // 2
    return ink.reshape(-1, 2, half, 2, half).mean(axis=(2, 4)).reshape(-1, 4)


def rows(ink: Floats) -> Floats:
    return _squares(ink).mean(axis=2)


def columns(ink: Floats) -> Floats:
    return _squares(ink).mean(axis=1)


def _squares(ink: Floats) -> Floats:
    return ink.reshape(-1, SIDE, SIDE)


def one_by_one(
    make: Callable[[], Any], see: Callable[[Floats], Floats] = everything, examples: int = TRAINING
) -> Callable[[Digits], Floats]:
    """Confidences from a classifier per concept that knows nothing of the other concepts.

    It sees no more of the images than `see` shows, and learns from the first `examples`.
    """

    def confidences(data: Digits) -> Floats:
        training = data.training[:examples]
        truth = concepts_of(data.digits[training])
        learn, ask = (see(data.pixels[of] / LEVELS) for of in (training, data.annotated))
        columns = [make().fit(learn, column).predict_proba(ask)[:, 1] for column in truth.T]
        return np.stack(columns, axis=1)

    return confidences


def logistic(**options: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=5000, **options)


def neighbours() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(9)


def tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=4, random_state=SEED)


def bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(var_smoothing=1e-2)


CLASSIFIERS: dict[str, Callable[[Digits], Floats]] = {
    "logistic": one_by_one(logistic),
    "neighbours": one_by_one(neighbours),
    "tree": one_by_one(tree),
    "bayes": one_by_one(bayes),
    # A missed concept costs it three hundred times a false one, so it says too much.
    "eager": one_by_one(partial(logistic, class_weight={True: 300.0, False: 1.0})),
    # These see little of an image, or of few images, and answer as the average system of a
    # campaign does: rarely, and not by chance.
    "quarters": one_by_one(logistic, quarters),
    "edges": one_by_one(logistic, edges),
    "greys": one_by_one(logistic, greys),
    "amount": one_by_one(logistic, amount),
    "rows": one_by_one(logistic, rows, FEW),
    "columns": one_by_one(logistic, columns, FEW),
    "chance": lambda data: stream("chance").random((len(data.annotated), len(CONCEPTS))),
}
TIMID_THRESHOLD = 0.97


def annotation_files(data: Digits) -> dict[str, str]:
    """Truth and runs; `timid` orders as `logistic` does but decides far too late."""
    items = [item_id(i) for i in data.annotated]
    head = [",".join(("item", *CONCEPTS))]
    truth = concepts_of(data.digits[data.annotated]).astype(int).tolist()
    files = {"truth.csv": csv_text(head, ((i, *row) for i, row in zip(items, truth, strict=True)))}
    training = concepts_of(data.digits[data.training]).astype(int).tolist()
    training_items = [item_id(i) for i in data.training]
    files["truth-training.csv"] = csv_text(
        head, ((i, *row) for i, row in zip(training_items, training, strict=True))
    )
    for name, classify in CLASSIFIERS.items():
        rows = [[f"{v:.4g}" for v in row] for row in np.round(classify(data), 4).tolist()]
        lines = [(i, *row) for i, row in zip(items, rows, strict=True)]
        files[f"labels/{name}.csv.gz"] = csv_text(head, lines)
        if name == "logistic":
            decisions = [
                (i, *("1" if float(v) >= TIMID_THRESHOLD else "0" for v in row))
                for i, *row in lines
            ]
            # ImageCLEF 2010: the confidence rows of all items, then as many rows of 0 and 1.
            files["labels/timid.txt.gz"] = "".join(
                " ".join(line) + "\n" for line in [*lines, *decisions]
            )
    files["costmap.csv"] = costmap_text()
    return files


def costmap_text() -> str:
    """What it costs to take one concept for another: 1 - shared digits / digits of either."""
    sets = [frozenset({d}) for d in range(10)] + [frozenset(t) for t in TRAITS.values()]
    rows = [
        (name, *(f"{1 - len(a & b) / len(a | b):.4g}" for b in sets))
        for name, a in zip(CONCEPTS, sets, strict=True)
    ]
    return csv_text([",".join(("", *CONCEPTS))], rows)


# An invented year before: fewer teams, which learned from fewer images.
EARLIER_EXAMPLES = 60
EARLIER: dict[str, tuple[str, Callable[[Digits], Floats]]] = {
    "logistic": ("FERN", one_by_one(logistic, everything, EARLIER_EXAMPLES)),
    "neighbours": ("OTTER", one_by_one(neighbours, everything, EARLIER_EXAMPLES)),
    "amount": ("QUARTZ", one_by_one(logistic, amount, EARLIER_EXAMPLES)),
}


def earlier_files(data: Digits) -> dict[str, str]:
    """The figures of that year as a paper would print them: average precision per concept."""
    from sklearn.metrics import average_precision_score

    truth = concepts_of(data.digits[data.annotated])
    rows = [
        (name, team, "T" if name == "amount" else "V", concept, f"{value:.3f}")
        for name, (team, classify) in EARLIER.items()
        for concept, value in zip(
            CONCEPTS,
            average_precision_score(truth, np.round(classify(data), 4), average=None),
            strict=True,
        )
    ]
    return {"earlier/2025.csv": csv_text(["run,team,configuration,concept,AP.concept"], rows)}
