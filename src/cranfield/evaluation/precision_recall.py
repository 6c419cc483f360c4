"""What rankings have found at every cutoff, and the curves and points made from that.

Rocchio, section 2 (B: estimates over topics, C: retrieved sets, D: precision against recall);
Chatzichristofis et al., section 2: the counts A_k to D_k, retrieval effectiveness, receiver and
relative operating characteristic, precision and recall against generality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError, suggest
from cranfield.evaluation.curves import Curve, Roc
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import coerce_judgements, coerce_run, name_runs
from cranfield.measures import measure
from cranfield.stats.intervals import wilson_intervals

Floats: TypeAlias = NDArray[np.float64]
Mean: TypeAlias = Literal["macro", "micro"]
DEPTH = 1000
# Beyond this many numbers cutoffs are spread over the logarithm of the rank.
MOST_CELLS = 6_000_000
SPREAD = 150


@dataclass(frozen=True, eq=False)
class CutoffCounts:
    """How many relevant items each run has found at each cutoff.

    `hits` and `retrieved` are runs x topics x cutoffs; `relevant` has a number per topic. Topics
    without a relevant item are left out.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    cutoffs: tuple[int, ...]
    hits: Floats
    retrieved: Floats
    relevant: Floats
    collection_size: int | None = None

    def index_of(self, run: str | None) -> int:
        """The position of a run by name; without one, of the best by average precision."""
        if run is None:
            return int(self.average_precision.mean(axis=1).argmax())
        if run not in self.runs:
            raise UsageError(f"no run named {run!r}.{suggest(run, self.runs)}")
        return self.runs.index(run)

    @property
    def average_precision(self) -> Floats:
        """Runs x topics, exact where every cutoff was counted."""
        new_hits = np.diff(self.hits, axis=2, prepend=0.0)
        means: Floats = (new_hits * self.precision).sum(axis=2) / self.relevant
        return means

    @property
    def precision(self) -> Floats:
        """Runs x topics x cutoffs; 0 where nothing was retrieved."""
        shares: Floats = self.hits / np.maximum(self.retrieved, 1)
        return shares

    @property
    def recall(self) -> Floats:
        """Runs x topics x cutoffs."""
        shares: Floats = self.hits / self.relevant[None, :, None]
        return shares


def count_at_cutoffs(
    judgements: Any,
    runs: Any,
    *,
    depth: int = DEPTH,
    cutoffs: Sequence[int] | None = None,
    collection_size: int | None = None,
    jobs: int = 1,
    **options: Any,
) -> CutoffCounts:
    """The counts of runs at all cutoffs that they reach, to `depth`, or at these cutoffs.

    Judgements and runs have any of the forms of `evaluate`, and its further options hold.

    >>> found = count_at_cutoffs({"t": {"a": 1, "b": 1}}, {"t": {"a": 3.0, "x": 2.0}}, depth=3)
    >>> found.hits[0, 0].tolist(), found.retrieved[0, 0].tolist()
    ([1.0, 1.0], [1.0, 2.0])
    """
    names = cutoffs
    if names is None:
        judgements = coerce_judgements(judgements)
        names = cutoffs_to(depth, len(name_runs(runs)) * len(judgements.topics))
    measure_names = ["NumRel", "NumRet", *(f"P@{k}" for k in names)]
    scores = evaluate(judgements, runs, measure_names, jobs=jobs, **options)
    return counts_of(scores, names, collection_size)


def counts_of(
    scores: Scores, cutoffs: Sequence[int], collection_size: int | None = None
) -> CutoffCounts:
    """The counts in scores of NumRel, NumRet and P at these cutoffs."""
    relevant, returned = per_topic(scores, "NumRel"), per_topic(scores, "NumRet")
    # Behind the end of the longest ranking nothing changes.
    deepest = int(np.nanmax(returned, initial=1))
    places = tuple(k for n, k in enumerate(cutoffs) if n == 0 or cutoffs[n - 1] < deepest)
    precision = np.stack([per_topic(scores, f"P@{k}") for k in places], axis=2)
    hits = np.rint(np.nan_to_num(precision) * np.array(places))
    topic_columns = np.flatnonzero(np.nan_to_num(relevant[0]) > 0)
    if not len(topic_columns):
        raise UsageError("no topic has a relevant item: there is nothing to find")
    retrieved = np.minimum(np.nan_to_num(returned)[:, :, None], np.array(places, dtype=float))
    topics = scores.units["topic"]
    return CutoffCounts(
        tuple(scores.runs),
        tuple(topics[t] for t in topic_columns),
        places,
        hits[:, topic_columns],
        retrieved[:, topic_columns],
        relevant[0, topic_columns],
        collection_size,
    )


def per_topic(scores: Scores, name: str) -> Floats:
    """Runs x topics: the values of a measure by name."""
    table: Floats = np.asarray(scores.values[measure(name)], dtype=float)
    return table


def cutoffs_to(depth: int, lists: int) -> tuple[int, ...]:
    """All cutoffs to a depth, or fewer where the lists are many."""
    if lists * depth <= MOST_CELLS:
        return tuple(range(1, depth + 1))
    spread = np.geomspace(1, depth, SPREAD)
    return tuple(sorted({round(float(k)) for k in spread}))


def effectiveness_curves(
    counts: CutoffCounts, *, mean: Mean = "macro", confidence: float = 0.95
) -> tuple[Curve, ...]:
    """Precision against recall over all cutoffs, not interpolated, one curve per run.

    "macro" is the mean of the topics (Ro 5.11, 5.12), with the interval of precision as a
    band; "micro" adds the counts of all topics before it divides (Ro 5.13, 5.14).
    """
    curves, of_topics = [], counts.precision
    for i, run in enumerate(counts.runs):
        precision, recall = _averages(counts, i, mean)
        points = _points(recall, precision)
        band: tuple[tuple[float, float, float], ...] = ()
        if mean == "macro" and len(counts.topics) > 1:
            box = wilson_intervals(of_topics[i].T, (0.0, 1.0), confidence=confidence)
            band = tuple(zip(recall.tolist(), box.low.tolist(), box.high.tolist(), strict=True))
        curves.append(Curve(run, points, band))
    return tuple(curves)


def topic_curves(counts: CutoffCounts, run: str | None = None) -> tuple[Curve, ...]:
    """Precision against recall of every topic of one run."""
    i = counts.index_of(run)
    recall, precision = counts.recall[i], counts.precision[i]
    return tuple(
        Curve(topic, _points(recall[t], precision[t])) for t, topic in enumerate(counts.topics)
    )


def cutoff_curves(
    counts: CutoffCounts, quantity: Literal["precision", "recall"], *, confidence: float = 0.95
) -> tuple[Curve, ...]:
    """The mean of precision or of recall over topics against the cutoff."""
    values = counts.precision if quantity == "precision" else counts.recall
    ranks = [float(k) for k in counts.cutoffs]
    curves = []
    for i, run in enumerate(counts.runs):
        band: tuple[tuple[float, float, float], ...] = ()
        if len(counts.topics) > 1:
            box = wilson_intervals(values[i].T, (0.0, 1.0), confidence=confidence)
            band = tuple(zip(ranks, box.low.tolist(), box.high.tolist(), strict=True))
        curves.append(Curve(run, _points(ranks, values[i].mean(axis=0)), band))
    return tuple(curves)


def joint_points(
    counts: CutoffCounts, cutoff: int, run: str | None = None
) -> tuple[tuple[str, float, float], ...]:
    """(topic, precision, recall) at a cutoff: the joint distribution over topics (Ro 2B)."""
    i = counts.index_of(run)
    at = _at(counts, cutoff)
    pairs = zip(counts.precision[i, :, at], counts.recall[i, :, at], strict=True)
    return tuple((t, float(p), float(r)) for t, (p, r) in zip(counts.topics, pairs, strict=True))


def operating_curves(counts: CutoffCounts, *, mean: Mean = "macro") -> dict[str, Roc]:
    """Relative operating characteristic: recall against fallout over all cutoffs.

    Items that were not retrieved are all at one place behind the others. The area is the mean of
    the topics' areas (macro), or that of the curve of the counts of all topics (micro).
    """
    if counts.collection_size is None:
        raise UsageError("fallout needs to know how many items there are (by collection_size=)")
    others = counts.collection_size - counts.relevant
    if (others <= 0).any():
        raise UsageError(f"a collection of {counts.collection_size} items is all relevant")
    by_run = {}
    for i, run in enumerate(counts.runs):
        false = counts.retrieved[i] - counts.hits[i]
        if mean == "micro":
            x, y = false.sum(axis=0) / others.sum(), _ratio(counts, i)
            x, y = _with_ends(x), _with_ends(y)
            area = float(_areas(x[None], y[None])[0])
        else:
            xs, ys = _with_ends(false / others[:, None]), _with_ends(counts.recall[i])
            area = float(_areas(xs, ys).mean())
            x, y = xs.mean(axis=0), ys.mean(axis=0)
        points = _points(x, y)
        by_run[run] = Roc(points, _equal_error(points), area)
    return by_run


def detection_curves(counts: CutoffCounts) -> tuple[Curve, ...]:
    """Receiver operating characteristic in counts: detections against false alarms (Ch 2).

    Both are means over topics.
    """
    return tuple(
        Curve(
            run,
            _points(
                (counts.retrieved[i] - counts.hits[i]).mean(axis=0), counts.hits[i].mean(axis=0)
            ),
        )
        for i, run in enumerate(counts.runs)
    )


@dataclass(frozen=True, slots=True)
class GeneralityPoint:
    """A topic in the generality graph: its share of the collection, precision and recall."""

    topic: str
    generality: float
    precision: float
    recall: float


def generality_points(
    counts: CutoffCounts, run: str | None = None, *, scope: float = 1.0
) -> tuple[GeneralityPoint, ...]:
    """Precision and recall of every topic against its generality (Huijsmans and Sebe).

    The scope is normalised: `scope` times the number of relevant items is looked at, so that
    precision and recall are equal at scope 1.
    """
    if counts.collection_size is None:
        raise UsageError("generality needs to know how many items there are (by collection_size=)")
    if scope <= 0:
        raise UsageError(f"scope={scope!r}: expected a number above 0")
    i = counts.index_of(run)
    cutoffs = np.array(counts.cutoffs)
    points = []
    for t, topic in enumerate(counts.topics):
        relevant = counts.relevant[t]
        looked_at = max(1, round(scope * relevant))
        at = min(int(np.searchsorted(cutoffs, looked_at)), len(cutoffs) - 1)
        hits = float(counts.hits[i, t, at])
        share = float(relevant) / counts.collection_size
        points.append(GeneralityPoint(topic, share, hits / looked_at, hits / float(relevant)))
    return tuple(points)


def above_score(runs: Any, min_score: float | str) -> list[Any]:
    """Runs cut to retrieved sets: items whose score is at least `min_score` (Ro 2C).

    A number is an absolute score; "80%" is relative: that far up from the lowest to the highest
    score of each topic.
    """
    relative = isinstance(min_score, str) and min_score.strip().endswith("%")
    try:
        bound = float(str(min_score).strip().removesuffix("%")) / (100 if relative else 1)
    except ValueError:
        raise UsageError(
            f"min_score={min_score!r}: expected a number, or a share as '80%'"
        ) from None
    cut_runs = []
    for name, source in name_runs(runs):
        run = coerce_run(source, name)
        lists = {}
        for topic, items in run.to_dict().items():
            low, high = min(items.values()), max(items.values())
            threshold = low + bound * (high - low) if relative else bound
            lists[topic] = {item: s for item, s in items.items() if s >= threshold}
        cut_runs.append(type(run).from_dict(lists).named(name))
    return cut_runs


def _at(counts: CutoffCounts, cutoff: int) -> int:
    if cutoff not in counts.cutoffs:
        deepest = counts.cutoffs[-1]
        if cutoff < deepest:
            raise UsageError(f"nothing was counted at cutoff {cutoff}")
        return len(counts.cutoffs) - 1
    return counts.cutoffs.index(cutoff)


def _averages(counts: CutoffCounts, i: int, mean: Mean) -> tuple[Floats, Floats]:
    if mean == "micro":
        retrieved = np.maximum(counts.retrieved[i].sum(axis=0), 1)
        return counts.hits[i].sum(axis=0) / retrieved, _ratio(counts, i)
    if mean != "macro":
        raise UsageError(f"mean={mean!r}: expected 'macro' or 'micro'")
    hits = counts.hits[i]
    precision = hits / np.maximum(counts.retrieved[i], 1)
    return precision.mean(axis=0), (hits / counts.relevant[:, None]).mean(axis=0)


def _ratio(counts: CutoffCounts, i: int) -> Floats:
    shares: Floats = counts.hits[i].sum(axis=0) / counts.relevant.sum()
    return shares


def _points(x: Any, y: Any) -> tuple[tuple[float, float], ...]:
    return tuple(
        zip(np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist(), strict=True)
    )


def _with_ends(values: Floats) -> Floats:
    """A curve from 0 at cutoff 0 to 1 where everything has been retrieved."""
    shape = (*values.shape[:-1], 1)
    return np.concatenate([np.zeros(shape), values, np.ones(shape)], axis=-1)


def _areas(x: Floats, y: Floats) -> Floats:
    areas: Floats = (np.diff(x) * (y[:, 1:] + y[:, :-1])).sum(axis=1) / 2
    return areas


def _equal_error(points: Sequence[tuple[float, float]]) -> float:
    from cranfield.evaluation.curves import roc_of_points

    return roc_of_points(points).eer
