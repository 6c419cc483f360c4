"""Weak labels: of the items that carry a tag, keep those whose features fit together.

Thesis 6.6 (after Lukashevich et al. 2009): most items with the same tag are assumed to show
it and to look alike; a one-class support vector machine, told nothing about right and wrong,
separates them from the outliers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import Floats
from cranfield.errors import InputError, MissingExtraError, UsageError

# Fewer items than this do not show what a tag looks like.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class TagFilter:
    """One tag: its items, how well each fits (above zero: kept), and how well the filter did.

    `correct` says which items truly show the tag, where that is known. Precision is the share
    of kept items that are correct, `before` the share of all items; recall the share of the
    correct items that are kept.
    """

    tag: str
    items: tuple[str, ...]
    fit: Floats
    correct: NDArray[np.bool_] | None

    @property
    def kept(self) -> NDArray[np.bool_]:
        return self.fit >= 0

    @property
    def before(self) -> float:
        return math.nan if self.correct is None else float(self.correct.mean())

    @property
    def precision(self) -> float:
        if self.correct is None or not self.kept.any():
            return math.nan
        return float(self.correct[self.kept].mean())

    @property
    def recall(self) -> float:
        if self.correct is None or not self.correct.any():
            return math.nan
        return float(self.kept[self.correct].mean())


def filter_weak_labels(
    items: Sequence[str],
    features: Floats,
    tags: Mapping[str, Sequence[str]],
    *,
    truth: Mapping[str, frozenset[str]] | None = None,
    outliers: float = 0.3,
    gamma: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[TagFilter]:
    """Which items fit their tag, tag by tag.

    `tags` has the items of each tag; `truth` the items that truly show it. `outliers` is the
    share of items that are expected not to fit (the nu of the machine), `gamma` the width of
    its radial kernel on standardised features (default: 1 / number of features).
    """
    if not 0 < outliers < 1:
        raise UsageError(f"outliers {outliers} is not between 0 and 1")
    position = {name: i for i, name in enumerate(items)}
    scale = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    found = []
    for done, (tag, members) in enumerate(tags.items()):
        missing = [name for name in members if name not in position]
        if missing:
            raise InputError.single(
                "tags",
                f"item {missing[0]!r} of tag {tag!r} has no features ({len(missing)} such items)",
            )
        rows = standard[[position[name] for name in members]]
        correct = None
        if truth is not None and tag in truth:
            correct = np.array([name in truth[tag] for name in members])
        fit = _fit(rows, outliers, gamma) if len(members) >= FEWEST else np.zeros(len(members))
        found.append(TagFilter(tag, tuple(members), fit, correct))
        if progress is not None:
            progress((done + 1) / len(tags))
    return found


def _fit(rows: Floats, outliers: float, gamma: float | None) -> Floats:
    """How far inside (positive) or outside of the learnt region each row lies."""
    try:
        from sklearn.svm import OneClassSVM
    except ImportError:
        raise MissingExtraError("scikit-learn", "ml", "cranfield weaklabel") from None
    machine = OneClassSVM(
        kernel="rbf", nu=outliers, gamma=1 / rows.shape[1] if gamma is None else gamma
    )
    machine.fit(rows)
    return np.asarray(machine.decision_function(rows), dtype=np.float64)
