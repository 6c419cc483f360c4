"""Weak labels: of the items that carry a tag, keep those whose features fit together.

Thesis 6.6 (after Lukashevich et al. 2009): most items with the same tag are assumed to show
it and to look alike; a one-class support vector machine, told nothing about right and wrong,
separates them from the outliers. It takes whatever is dense for right, also intruders who are
near-duplicates of each other; the distance to the median of the tag does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data.judgement_log import Floats
from cranfield.errors import InputError, MissingExtraError, UsageError, suggest
from cranfield.io.arrays import read_features
from cranfield.io.counts import read_tags
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import TAG_FILTERS, TagFilterMethod
from cranfield.validation import as_array, validate_params

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

    def rows(self) -> list[dict[str, Any]]:
        """Every item of the tag: how well it fits, and whether it is kept."""
        columns = zip(self.items, self.fit.tolist(), self.kept.tolist(), strict=True)
        return [
            {"item": i, "tag": self.tag, "fit": fit, "kept": is_kept} for i, fit, is_kept in columns
        ]


@dataclass(frozen=True, repr=False, eq=False)
class WeakLabels(Answer):
    """Which items of which tags are kept."""

    command: ClassVar[str] = "weaklabel"
    table_maker: ClassVar[str] = "cranfield.report.tables.agreement:weak_labels_document"
    method: TagFilterMethod
    outliers: float
    tags: tuple[TagFilter, ...]

    @property
    def with_truth(self) -> bool:
        return any(tag.correct is not None for tag in self.tags)

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "method": self.method,
            "outliers": self.outliers,
            "tags": [
                {
                    "tag": f.tag,
                    "items": len(f.items),
                    "kept": int(f.kept.sum()),
                    "precision_before": f.before,
                    "precision": f.precision,
                    "recall": f.recall,
                }
                for f in self.tags
            ],
            "per_item": [row for f in self.tags for row in f.rows()],
        }

    def headline(self) -> str:
        count = sum(int(f.kept.sum()) for f in self.tags)
        return (
            f"{count} of {sum(len(f.items) for f in self.tags)} items of {len(self.tags)} tags kept"
        )


@validate_params
@with_progress
def filter_weak_labels(
    items: Sequence[str],
    features: Floats,
    tags: Mapping[str, Sequence[str]],
    *,
    truth: Mapping[str, Sequence[str]] | None = None,
    method: str = "svm",
    outliers: float = 0.3,
    gamma: float | None = None,
    progress: Watcher | None = None,
) -> WeakLabels:
    """Which items fit their tag, tag by tag.

    `tags` has the items of each tag; `truth` the items that truly show it. `outliers` is the
    share of items that are expected not to fit. With `method` "svm" it is the nu of a one-class
    support vector machine, and `gamma` the width of its radial kernel on standardised features
    (default: 1 / number of features); with "median" the items farthest from the median of the
    tag's features are left out.
    """
    if method not in TAG_FILTERS:
        raise UsageError(f"no method named {method!r}.{suggest(method, TAG_FILTERS)}")
    if not 0 < outliers < 1:
        raise UsageError(f"outliers {outliers} is not between 0 and 1")
    if gamma is not None and (method != "svm" or not gamma > 0):
        raise UsageError(f"gamma {gamma} is not above 0, or not for the method {method!r}")
    features = as_array("features", features, ndim=2)
    watcher, notes = Progress.of(progress), Notes()
    position = {name: i for i, name in enumerate(items)}
    scale = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    filters = []
    for number, (tag, members) in enumerate(tags.items()):
        missing = [name for name in members if name not in position]
        if missing:
            raise InputError.single(
                "tags",
                f"item {missing[0]!r} of tag {tag!r} has no features ({len(missing)} such items)",
            )
        rows = standard[[position[name] for name in members]]
        correct = None
        if truth is not None:
            true_items = frozenset(truth.get(tag, ()))
            correct = np.array([name in true_items for name in members])
        if len(members) < FEWEST:
            fit = np.zeros(len(members))
        elif method == "svm":
            fit = _machine_fit(rows, outliers, gamma)
        else:
            fit = _median_fit(rows, outliers)
        filters.append(TagFilter(tag, tuple(members), fit, correct))
        watcher((number + 1) / len(tags))
    small = [f.tag for f in filters if len(f.items) < FEWEST]
    if small:
        notes.add(
            f"{len(small)} tags with fewer than {FEWEST} items are kept as they are, "
            f"such as {small[0]!r}"
        )
    filter_method: TagFilterMethod = "svm" if method == "svm" else "median"
    return WeakLabels(filter_method, outliers, tuple(filters), notes=notes.lines("tag"))


def _machine_fit(rows: Floats, outliers: float, gamma: float | None) -> Floats:
    """How far inside (positive) or outside of the learnt region each row lies."""
    try:
        from sklearn.svm import OneClassSVM
    except ModuleNotFoundError:
        raise MissingExtraError("scikit-learn", "ml", "Fitting weak labels") from None
    machine = OneClassSVM(
        kernel="rbf", nu=outliers, gamma=1 / rows.shape[1] if gamma is None else gamma
    )
    machine.fit(rows)
    return np.asarray(machine.decision_function(rows), dtype=np.float64)


def _median_fit(rows: Floats, outliers: float) -> Floats:
    """How much nearer (positive) than the last item kept each row is to the median."""
    distance = np.linalg.norm(rows - np.median(rows, axis=0), axis=1)
    count = max(1, math.ceil((1 - outliers) * len(rows) - 1e-9))
    return np.asarray(np.sort(distance)[count - 1] - distance)


def filter_weak_files(
    features: str | Path,
    tags: str | Path,
    *,
    descriptors: str = "CEDD EHD Tamura",
    truth: str | Path | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> WeakLabels:
    """`filter_weak_labels` of a file of vectors, or of a folder of pictures by `descriptors`."""
    watcher = Progress.of(progress)
    notes: tuple[str, ...] = ()
    if Path(features).is_dir():
        from cranfield.features.item_vectors import picture_features

        items, vectors, notes = picture_features(features, descriptors)
    else:
        items, vectors = read_features(features)
    answer = filter_weak_labels(
        items,
        vectors,
        read_tags(tags),
        truth=read_tags(truth) if truth else None,
        progress=watcher.part(0.1, 1.0),
        **options,
    )
    return replace(answer, notes=(*notes, *answer.notes))
