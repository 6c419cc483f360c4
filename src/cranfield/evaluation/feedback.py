"""Relevance feedback: queries that are changed by what was seen to be relevant (Rocchio).

The new query is the old one, moved towards the mean of the relevant items among those that were
seen and away from the mean of the others. Items that were seen must not count as found by the new
query. A residual collection leaves them out of both rankings and of the judgements; frozen ranks
keep them where they stood, so that the whole collection can be evaluated. Where judgements are
missing, pseudo feedback takes the first items for relevant.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.errors import UsageError, check_counts, plural
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.features import Distance
from cranfield.features.item_vectors import ItemTable, read_items
from cranfield.features.search import DEFAULT_K, QueryVectors, Search, gather_queries, search
from cranfield.io.coerce import JudgementsForm, coerce_judgements
from cranfield.io.files import FileForm
from cranfield.measures import Measure
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.stats.intervals import mean_intervals
from cranfield.validation import validate_params

Floats: TypeAlias = NDArray[np.float64]
Counted: TypeAlias = Literal["residual", "frozen", "whole"]
COUNTED: tuple[Counted, ...] = ("residual", "frozen", "whole")
BEFORE, AFTER = "before", "after"
DEFAULT_DEPTH, DEFAULT_WEIGHTS = 10, (1.0, 0.75, 0.15)
# Puts frozen items above all similarities, which end at 1.
_ABOVE = 2.0


@dataclass(frozen=True)
class FeedbackGain:
    """What feedback brought under a measure: means before and after, and the mean difference over
    topics with its interval."""

    measure: str
    before: float
    after: float
    gain: float
    low: float
    high: float
    confidence: float
    topics: int


@dataclass(frozen=True, repr=False, eq=False)
class Feedback(Answer):
    """Rankings before and after feedback, and their scores where there are judgements.

    `judgements` are those that belong to the rankings: of the residual collection where that is
    what counts.
    """

    command: ClassVar[str] = "runs feedback"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:feedback_document"
    weights: tuple[float, float, float]
    depth: int
    pseudo: bool
    counted: Counted
    distance: Distance
    before: Run
    run: Run
    judgements: Judgements | None = None
    gains: tuple[FeedbackGain, ...] = ()

    def payload(self, **_: object) -> dict[str, Any]:
        """The weights, what counts, and what feedback brought."""
        fields: dict[str, Any] = {
            "weights": dict(zip(("alpha", "beta", "gamma"), self.weights, strict=True)),
            "depth": self.depth,
            "pseudo": self.pseudo,
            "counted": self.counted,
            "distance": str(self.distance),
            "topics": len(self.run.topics),
        }
        if self.judgements is not None:
            fields["measures"] = [asdict(gain) for gain in self.gains]
        return fields

    def headline(self) -> str:
        kind = "pseudo feedback" if self.pseudo else "feedback"
        return f"{kind} on the first {plural(self.depth, 'item')}, {self.counted} collection"


@validate_params
@with_progress
def apply_feedback(
    collection: FileForm | ItemTable,
    judgements: JudgementsForm | None = None,
    queries: FileForm | ItemTable | None = None,
    measures: str = "AP",
    *,
    weights: tuple[float, float, float] = DEFAULT_WEIGHTS,
    depth: int = DEFAULT_DEPTH,
    pseudo: bool = False,
    counted: Counted | None = None,
    rel: float = 1.0,
    distance: str | Distance | None = None,
    k: int = DEFAULT_K,
    items: str | None = None,
    name: str = "feedback",
    confidence: float = 0.95,
    rng: int = 0,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Feedback:
    """Search, look at the first `depth` items of each topic, and search with better queries.

    A query q becomes alpha q + beta mean(R) - gamma mean(S), divided by the sum of the weights in
    use so that its size stays that of an item: R are the items seen that `judgements` grade with
    `rel` or more, S the others that were seen, and `weights` are alpha, beta and gamma. With
    `pseudo` all items seen are taken for R, and judgements serve to evaluate only. Where no
    vector of the collection has negative numbers, neither has the query: they become 0.

    `counted` says what is evaluated: "residual", the collection without the items seen (unless
    pseudo), "frozen", those items on the ranks they had, or "whole", the new ranking as it is
    (the default with `pseudo`). The other arguments are those of `search`.
    """
    check_counts(depth=depth, k=k, jobs=jobs)
    if judgements is None and not pseudo:
        raise UsageError("feedback needs judgements=, or pseudo=True, which takes none")
    if len(weights) != 3 or not all(np.isfinite(weights)) or min(weights) < 0:
        raise UsageError(f"weights={weights!r}: expected three numbers from 0 on")
    table = collection if isinstance(collection, ItemTable) else read_items(collection, items)
    judged = None if judgements is None else coerce_judgements(judgements)
    first_queries = _judged_queries(gather_queries(queries, table), judged)
    rule: Counted = counted or ("whole" if pseudo else "residual")
    tracker = Progress.of(progress)
    searching: dict[str, Any] = {"distance": distance, "k": k + depth, "jobs": jobs}
    first = _as_evaluated(
        search(table, first_queries, progress=tracker.part(0.0, 0.4), **searching)
    )
    seen = first.found[:, :depth]
    relevant = _relevant_seen(first, depth, judged, rel, pseudo)
    better = replace(
        first_queries,
        vectors=move_queries(first_queries.vectors, table.vectors, seen, relevant, weights),
    )
    second = search(table, better, progress=tracker.part(0.4, 0.8), **searching)
    before, after = (
        _arrange_run(answer, first, depth, rule, k, is_new=answer is second)
        for answer in (first, second)
    )
    feedback = Feedback(
        weights, depth, pseudo, rule, first.distance, before, after.named(name), notes=first.notes
    )
    if judged is None:
        return feedback
    remaining = _remaining_judgements(judged, first, depth, rule, rel)
    scores = evaluate(
        remaining,
        {BEFORE: before, AFTER: after},
        measures,
        collection_size=len(table.items),
        jobs=jobs,
    )
    gains = tuple(_mean_gain(scores, m, confidence, rng) for m in scores.measures)
    lost = len(judged.of_topics(first.topics).topics) - len(remaining.topics)
    note = f"{plural(lost, 'topic')} without a relevant item to find are left out"
    return replace(
        feedback,
        judgements=remaining,
        gains=gains,
        notes=(*feedback.notes, *scores.notes, *([note] if lost else [])),
    )


def move_queries(
    queries: NDArray[Any],
    vectors: NDArray[Any],
    seen: NDArray[np.int64],
    relevant: NDArray[np.bool_],
    weights: tuple[float, float, float],
) -> Floats:
    """Rocchio's formula for each query: row q of `seen` has the numbers of the items that were
    looked at, -1 for none, and `relevant` says which of them are relevant.

    >>> items = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> move_queries(items[:1], items, np.array([[0, 1]]), np.array([[False, True]]), (2, 2, 1))
    array([[0.33333333, 0.66666667]])
    """
    alpha, beta, gamma = weights
    without_negatives = bool(vectors.size) and vectors.min() >= 0
    moved = np.empty(queries.shape)
    for row, query in enumerate(queries.astype(np.float64)):
        good = vectors[seen[row, relevant[row]]].astype(np.float64)
        others = vectors[seen[row, ~relevant[row] & (seen[row] >= 0)]].astype(np.float64)
        total, used = alpha * query, alpha
        if len(good):
            total, used = total + beta * good.mean(axis=0), used + beta
        if len(others):
            total, used = total - gamma * others.mean(axis=0), used - gamma
        if without_negatives:
            total = np.maximum(total, 0.0)
        moved[row] = total / used if used > 0 else total
    return moved


def _as_evaluated(answer: Search) -> Search:
    """Rankings in the order in which they are evaluated: of equal scores, the larger id first."""
    by_id = sorted(range(len(answer.items)), key=lambda row: answer.items[row].encode())
    places = np.empty(len(by_id) + 1, dtype=np.int64)
    places[by_id] = np.arange(len(by_id))
    places[-1] = -1  # no item
    order = np.lexsort((-places[answer.found], -answer.scores, answer.found < 0), axis=1)
    return replace(
        answer,
        found=np.take_along_axis(answer.found, order, axis=1),
        scores=np.take_along_axis(answer.scores, order, axis=1),
    )


def _judged_queries(queries: QueryVectors, judged: Judgements | None) -> QueryVectors:
    """The queries of judged topics, all of them where nothing is judged."""
    if judged is None:
        return queries
    topics = set(judged.topics)
    rows = [row for row, topic in enumerate(queries.topics) if topic in topics]
    if not rows:
        raise UsageError("no query is of a judged topic: the names of topics must be the same")
    return QueryVectors(
        tuple(queries.topics[row] for row in rows),
        queries.vectors[rows],
        queries.own[rows],
        queries.notes,
    )


def _relevant_seen(
    first: Search, depth: int, judged: Judgements | None, rel: float, pseudo: bool
) -> NDArray[np.bool_]:
    """Which of the first items of each topic are taken for relevant."""
    seen = first.found[:, :depth]
    if pseudo or judged is None:
        return seen >= 0
    grades = judged.to_dict()
    return np.array(
        [
            [row >= 0 and grades[topic].get(first.items[row], -1) >= rel for row in rows]
            for topic, rows in zip(first.topics, seen.tolist(), strict=True)
        ],
        dtype=bool,
    ).reshape(seen.shape)


def _arrange_run(
    answer: Search, first: Search, depth: int, rule: Counted, k: int, *, is_new: bool
) -> Run:
    """The ranking of a search as it counts: without the items seen, or with them on top."""
    topics, names, scores = list[str](), list[str](), list[float]()
    for t, topic in enumerate(answer.topics):
        pairs = [
            (row, score)
            for row, score in zip(answer.found[t].tolist(), answer.scores[t].tolist(), strict=True)
            if row >= 0
        ]
        if rule == "residual" or (rule == "frozen" and is_new):
            seen = first.found[t, :depth].tolist()
            pairs = [(row, score) for row, score in pairs if row not in seen]
            if rule == "frozen":
                frozen = zip(seen, first.scores[t, :depth].tolist(), strict=True)
                pairs = [(row, _ABOVE + score) for row, score in frozen if row >= 0] + pairs
        for row, score in pairs[:k]:
            topics.append(topic)
            names.append(answer.items[row])
            scores.append(score)
    return Run.from_rows(topics, names, scores).named(AFTER if is_new else BEFORE)


def _remaining_judgements(
    judged: Judgements, first: Search, depth: int, rule: Counted, rel: float
) -> Judgements:
    """The judgements of topics that were searched, without the items seen of a residual
    collection, and without topics that have no relevant item left."""
    remaining = judged.of_topics(first.topics)
    if rule == "residual":
        seen = {
            topic: {first.items[row] for row in rows if row >= 0}
            for topic, rows in zip(first.topics, first.found[:, :depth].tolist(), strict=True)
        }
        rows = [n for n, (topic, item, _) in enumerate(remaining.rows()) if item not in seen[topic]]
        remaining = remaining.of_rows(np.array(rows, dtype=np.int64))
    with_relevant = [
        topic
        for topic, grades in remaining.to_dict().items()
        if max(grades.values(), default=0) >= rel
    ]
    if not with_relevant:
        raise UsageError(
            f"no relevant item is left to find behind the first {plural(depth, 'item')}: look at "
            "fewer, or count the whole collection"
        )
    return remaining.of_topics(with_relevant)


def _mean_gain(scores: Scores, measure: Measure, confidence: float, rng: int) -> FeedbackGain:
    """The means of both runs, and of the differences over topics, after minus before."""
    places = [scores.index_of(run) for run in (BEFORE, AFTER)]
    before, after = (np.asarray(scores.values[measure][place]) for place in places)
    differences = after - before
    present = differences[~np.isnan(differences)]
    gain = mean_intervals(present[None, :], confidence=confidence, rng=rng)[0]
    overall = [float(scores.overall[measure][place]) for place in places]
    return FeedbackGain(
        measure=str(measure),
        before=overall[0],
        after=overall[1],
        gain=gain.value,
        low=gain.low,
        high=gain.high,
        confidence=confidence,
        topics=gain.n,
    )
