"""Curves of rankings: precision at levels of recall, and measures along the ranks.

What rankings have found at every cutoff, and the curves and points made from that.

Rocchio, section 2 (B: estimates over topics, C: retrieved sets, D: precision against recall);
Chatzichristofis et al., section 2: the counts A_k to D_k, retrieval effectiveness, receiver and
relative operating characteristic, precision and recall against generality.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Judgements, Run
from cranfield.errors import UsageError, suggest
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import coerce_judgements, coerce_run, name_runs
from cranfield.measures import Measure, measure, parse_measures
from cranfield.stats.intervals import wilson_intervals

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


# In percent of the way from the lowest to the highest score of a topic.
THRESHOLDS = range(0, 101, 5)


def threshold_curves(
    judgements: Any,
    runs: Any,
    *,
    confidence: float = 0.95,
    jobs: int | None = None,
    **options: Any,
) -> tuple[tuple[Curve, ...], tuple[Curve, ...]]:
    """The means of precision and of recall of retrieved sets against the threshold (Ro 2C).

    Retrieved is what scores at least so far up from the lowest to the highest score of the topic;
    `options` are those of `evaluate`.
    """
    judged = coerce_judgements(judgements)
    sources = {name: coerce_run(source, name) for name, source in name_runs(runs)}
    levels = [
        evaluate(judged, sources, "SetP SetR", min_score=f"{t}%", jobs=jobs, **options)
        for t in THRESHOLDS
    ]
    precision, recall = (
        tuple(
            _threshold_curve(levels, name, row, quantity, confidence)
            for row, name in enumerate(sources)
        )
        for quantity in levels[0].measures
    )
    return precision, recall


def _threshold_curve(
    levels: Sequence[Scores], name: str, row: int, quantity: Measure, confidence: float
) -> Curve:
    """A run's mean at each threshold, with its interval where there are several topics."""
    values = np.array([scores.values[quantity][row] for scores in levels])
    shares = list(map(float, THRESHOLDS))
    band: tuple[tuple[float, float, float], ...] = ()
    if values.shape[1] > 1:
        box = wilson_intervals(values, (0.0, 1.0), confidence=confidence)
        band = tuple(zip(shares, box.low.tolist(), box.high.tolist(), strict=True))
    return Curve(name, _points(shares, values.mean(axis=1)), band)


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
    return [coerce_run(source, name).above(min_score) for name, source in name_runs(runs)]


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
    return roc_of_points(points).eer


# Cutoffs that are looked at together where a whole ranking is.
BLOCK = 250
_FINE_LEVELS = tuple(k / 20 for k in range(1, 21))
GAIN_DEPTH = 100
GAINS = ("CG", "DCG", "nCG", "nDCG")


def gain_curves(
    judgements: Any,
    runs: Any,
    gain: str = "CG",
    *,
    against: Literal["rank", "recall"] = "rank",
    depth: int | None = None,
    jobs: int = 1,
    **options: Any,
) -> tuple[Curve, ...]:
    """The mean over topics of a gain at every rank, or at every level of recall.

    The gain is CG, DCG, nCG or nDCG, with its parameters if need be: the gain of SHREC is
    "DCG(discount='jk')".

    Against recall the gain is that at the item by which a topic reaches the level; a topic that
    never does keeps what it had at the last rank, and the curve ends with the last level that any
    topic reaches. With one topic the points are its relevant items. `depth` is how many ranks
    are looked at: 100 against rank and all of them against recall unless told otherwise.
    """
    of_gain, parameters = _parts(gain)
    judged = coerce_judgements(judgements)
    if against == "recall":
        curves = []
        for name, source in name_runs(runs):
            run = coerce_run(source, name)
            blocks = _blocks(judged, run, (of_gain, parameters), depth, jobs, options)
            curves.append(Curve(name, _along_recall(blocks)))
        return tuple(curves)
    if against != "rank":
        raise UsageError(f"against={against!r}: expected 'rank' or 'recall'")
    cutoffs = cutoffs_to(depth or GAIN_DEPTH, len(name_runs(runs)) * len(judged.topics))
    measure_names = ["NumRel", "NumRet", *(f"P@{k}" for k in cutoffs)]
    measure_names += [f"{of_gain}@{k}{parameters}" for k in cutoffs]
    scores = evaluate(judged, runs, measure_names, jobs=jobs, **options)
    counts = counts_of(scores, cutoffs)
    topic_columns = [scores.units["topic"].index(t) for t in counts.topics]
    names = [f"{of_gain}@{k}{parameters}" for k in counts.cutoffs]
    values = np.stack([per_topic(scores, name)[:, topic_columns] for name in names], axis=2)
    means = np.nan_to_num(values).mean(axis=1)
    return tuple(
        Curve(run, tuple(zip(map(float, counts.cutoffs), means[i].tolist(), strict=True)))
        for i, run in enumerate(counts.runs)
    )


def _blocks(
    judged: Judgements,
    run: Run,
    gain: tuple[str, str],
    depth: int | None,
    jobs: int,
    options: Mapping[str, Any],
) -> Iterator[tuple[Any, Any]]:
    """Recall and gain, topics x cutoffs each, of some cutoffs after the other, to the last rank.

    A whole ranking at once would need as many columns as it has items.
    """
    first = 1
    deepest = math.inf if depth is None else depth
    while first <= deepest:
        cutoffs = range(first, 1 + int(min(deepest, first + BLOCK - 1)))
        names = [f"{gain[0]}@{k}{gain[1]}" for k in cutoffs]
        measure_names = ["NumRel", "NumRet", *(f"P@{k}" for k in cutoffs), *names]
        scores = evaluate(judged, {run.name: run}, measure_names, jobs=jobs, **options)
        relevant = np.nan_to_num(per_topic(scores, "NumRel")[0])
        topic_columns = np.flatnonzero(relevant > 0)
        if not len(topic_columns):
            raise UsageError("no topic has a relevant item: there is nothing to find")
        longest = max(1, int(np.nanmax(per_topic(scores, "NumRet"), initial=1)))
        deepest = min(deepest, longest)
        reached = [k for k in cutoffs if k <= deepest]
        precision = np.stack(
            [per_topic(scores, f"P@{k}")[0, topic_columns] for k in reached], axis=1
        )
        gains = np.stack(
            [per_topic(scores, n)[0, topic_columns] for n in names[: len(reached)]], axis=1
        )
        hits = np.rint(np.nan_to_num(precision) * np.array(reached))
        yield hits / relevant[topic_columns, None], np.nan_to_num(gains)
        first += BLOCK


def _parts(gain: str) -> tuple[str, str]:
    """A measure without a cutoff as its name and its parameters."""
    name, bracket, rest = gain.strip().partition("(")
    if name not in GAINS:
        raise UsageError(f"gain={gain!r}: expected one of {', '.join(GAINS)}")
    return name, bracket + rest


def _along_recall(blocks: Iterable[tuple[Any, Any]]) -> tuple[tuple[float, float], ...]:
    """Points (recall, gain) of blocks of topics x cutoffs that follow one another."""
    points: list[tuple[float, float]] = []
    at_levels: Any = None
    last: Any = None
    for recall, gains in blocks:
        if len(recall) == 1:
            before = points[-1][0] if points else 0.0
            new_points = np.flatnonzero(np.diff(recall[0], prepend=before) > 0)
            points += [(float(recall[0, k]), float(gains[0, k])) for k in new_points]
            continue
        if at_levels is None:
            at_levels = np.full((len(_FINE_LEVELS), len(recall)), np.nan)
        for values, level in zip(at_levels, _FINE_LEVELS, strict=True):
            reached = recall >= level - 1e-9
            new_points = np.isnan(values) & reached.any(axis=1)
            values[new_points] = gains[new_points, reached.argmax(axis=1)[new_points]]
        last = gains[:, -1]
    if at_levels is None:
        return tuple(points)
    return tuple(
        (level, float(np.where(np.isnan(values), last, values).mean()))
        for level, values in zip(_FINE_LEVELS, at_levels, strict=True)
        if not np.isnan(values).all()
    )
