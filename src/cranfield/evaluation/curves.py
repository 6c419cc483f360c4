"""Curves of rankings: precision at levels of recall, and measures along the ranks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cranfield.errors import UsageError
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure, parse_measures

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix

LEVELS = tuple(level / 10 for level in range(11))
RECALL_MEASURES = " ".join(f"iP@{level:g}" for level in LEVELS)


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve of a run: points, and where there is one a band (x, low, high) around them."""

    name: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()


def recall_curves(scores: Scores, *, confidence: float = 0.95) -> tuple[Curve, ...]:
    """Mean interpolated precision at eleven levels of recall, from scores of `RECALL_MEASURES`.

    The band is the interval of each mean, where there is one at every level.
    """
    by_level = {m.at: m for m in scores.measures if m.name == "iP"}
    if any(level not in by_level for level in LEVELS):
        raise UsageError(f"precision against recall needs the measures {RECALL_MEASURES}")
    boxes = scores.interval(confidence=confidence)
    means = scores.mean()
    curves = []
    for run in scores.runs:
        points, band = [], []
        for level in LEVELS:
            name = str(by_level[level])
            points.append((level, means[run][name]))
            box = boxes[run][name]
            if box is not None:
                band.append((level, box.low, box.high))
        curves.append(Curve(run, tuple(points), tuple(band) if len(band) == len(LEVELS) else ()))
    return tuple(curves)


# A ranking of as many items is made for each of the ranks.
MOST_RANKS = 5_000


def behaviour_curves(
    measures: str | Iterable[str | Measure], *, size: int = 100, relevant: int = 1
) -> tuple[Curve, ...]:
    """The value of each measure when one of `relevant` items is retrieved, at each rank in turn.

    NMRR looks as deep as other topics allow: K is 4 NG, as in the figures of its paper.
    """
    if not 1 <= relevant <= size:
        raise UsageError(f"{relevant} relevant of {size} items: expected 1 to {size}")
    if size > MOST_RANKS:
        raise UsageError(f"a curve over {size:,} ranks: at most {MOST_RANKS:,} can be drawn")
    parsed = parse_measures(measures if isinstance(measures, str) else list(measures))
    width = len(str(size))
    truth: dict[str, Mapping[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    last = size + 1 - relevant  # those that are not retrieved stand behind it
    for rank in range(1, last + 1):
        topic = f"{rank:0{width}d}"
        truth[topic] = {"hit": 1, **{f"lost{n}": 1 for n in range(relevant - 1)}}
        run[topic] = {
            "hit" if at == rank else f"other{at}": float(-at) for at in range(1, last + 1)
        }
    scores = evaluate(truth, {"run": run}, parsed, collection_size=size, gmt=2 * relevant)
    return tuple(
        Curve(str(m), tuple((float(r + 1), float(v)) for r, v in enumerate(scores.values[m][0])))
        for m in parsed
    )


@dataclass(frozen=True, slots=True)
class Roc:
    """A ROC curve: points from (0, 0) to (1, 1), the rate of equal errors, the area."""

    points: tuple[tuple[float, float], ...]
    eer: float
    auc: float


def roc_curve(truth: Any, confidences: Any) -> Roc:
    """The curve over all thresholds, ties in one step; truth and confidences of equal shape.

    >>> roc_curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    Roc(points=((0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)), eer=0.5, auc=0.75)
    """
    import numpy as np

    true = np.asarray(truth, dtype=bool).ravel()
    scores = np.asarray(confidences, dtype=float).ravel()
    if true.all() or not true.any():
        raise UsageError("a ROC curve needs examples that are true and others that are not")
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    hits = np.cumsum(true[order])[ends]
    y = np.concatenate([[0.0], hits / true.sum()])
    x = np.concatenate([[0.0], (ends + 1 - hits) / (~true).sum()])
    return roc_of_points(list(zip(x.tolist(), y.tolist(), strict=True)))


def roc_of_points(points: Sequence[tuple[float, float]]) -> Roc:
    """The curve through points that rise from (0, 0) to (1, 1)."""
    steps = itertools.pairwise(points)
    area = sum((x1 - x0) * (y0 + y1) for (x0, y0), (x1, y1) in steps) / 2
    return Roc(tuple(points), _equal_errors(points), area)


def _equal_errors(points: Sequence[tuple[float, float]]) -> float:
    """Where the curve crosses the line FPR = 1 - TPR."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        before, after = x0 + y0 - 1, x1 + y1 - 1
        if after >= 0:
            return x0 + (x1 - x0) * -before / (after - before)
    raise AssertionError("a ROC curve ends at (1, 1)")


def roc_curves(
    truth: LabelMatrix, runs: Iterable[LabelMatrix], concept: str | None = None
) -> dict[str, Roc]:
    """The curve of every run with confidences; truth and runs have the same items."""
    if concept is not None and concept not in truth.concepts:
        raise UsageError(f"the truth has no concept {concept!r}")
    at = None if concept is None else truth.concepts.index(concept)
    columns = slice(None) if at is None else slice(at, at + 1)
    true = truth.rows(0, len(truth.items))[0]
    by_run = {}
    for run in runs:
        if not run.is_binary:
            confidences = run.rows(0, len(truth.items))[1]
            by_run[run.name] = roc_curve(true[:, columns], confidences[:, columns])  # type: ignore[index]
    if not by_run:
        raise UsageError("a ROC curve needs runs with confidences")
    return by_run


def ranking(places: Sequence[int], depth: int) -> dict[str, float]:
    """A ranked list with relevant items r0, r1, ... at these places and others elsewhere."""
    relevant = {rank: f"r{k}" for k, rank in enumerate(places)}
    return {relevant.get(rank, f"x{rank}"): -float(rank) for rank in range(1, depth + 1)}
