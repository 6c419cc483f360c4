"""What an index could reach at best: Rocchio's optimal query for each topic.

The query that separates the relevant items best from all others, under the mean of the cosine,
is the difference of the two means of their unit vectors. Its ranking says what the index can
do for a query that knows the answer; what a run scores less is lost in its query. It is best for
the difference of mean cosines only, so a run may beat it under some measure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Judgements, Run
from cranfield.data.columns import text
from cranfield.errors import InputError, Problem, UsageError
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure

DEFAULT_MEASURES = "AP nDCG@10 P@10 NormRecall NormPrecision"
OPTIMAL = "optimal query"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ItemVectors:
    """Items of a collection and the vector of each, a row per item."""

    items: tuple[str, ...]
    vectors: Floats

    @classmethod
    def of(cls, items: Sequence[str], vectors: Any, where: str = "<vectors>") -> ItemVectors:
        """Checked: one finite vector that is not zero for each of the different items."""
        table = np.asarray(vectors)
        if table.ndim != 2 or table.dtype.kind not in "iufb":
            raise InputError.single(
                where,
                f"expected a table of numbers, a row per item; found shape {table.shape} "
                f"of {table.dtype}",
            )
        if len(items) != len(table):
            raise InputError.single(where, f"{len(table)} vectors for {len(items)} items")
        if len(set(items)) < len(items):
            twice = Counter(items).most_common(1)[0][0]
            raise InputError.single(where, f"item {twice!r} has two vectors")
        table = table.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(table).all(axis=1) | ~table.any(axis=1))
        if bad.size:
            raise InputError(
                where,
                [
                    Problem(0, f"the vector of item {items[i]!r} is zero or not finite")
                    for i in bad.tolist()
                ],
            )
        return cls(tuple(items), table)


@dataclass(frozen=True)
class IndexQuality:
    """Scores of the optimal query's ranking first, then of the runs."""

    scores: Scores
    size: int
    notes: tuple[str, ...] = ()

    def lost(self, run: str, measure: Measure) -> tuple[float, float]:
        """How much worse a run is than the optimal query, and as a share of what that reaches."""
        best, own = (
            float(self.scores.overall[measure][self.scores.index_of(r)]) for r in (OPTIMAL, run)
        )
        difference = best - own if measure.higher_is_better is not False else own - best
        return difference, difference / best if best > 0 else float("nan")


def evaluate_index(
    vectors: ItemVectors,
    judgements: Judgements,
    runs: Sequence[Run] = (),
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    rel: float = 1.0,
    raw: bool = False,
    jobs: int | None = None,
) -> IndexQuality:
    """Rank the collection with each topic's optimal query and score it next to runs.

    `rel` is the grade from which items count as relevant when the query is formed. With `raw`
    the means are of the vectors as they are, not of unit length.
    """
    if any(run.name == OPTIMAL for run in runs):
        raise UsageError(f"a run is named {OPTIMAL!r}, as the ranking of the optimal queries is")
    best = _optimal_run(vectors, judgements, rel, raw)
    own = judgements.of_topics(best.topics)
    scores = evaluate(own, [best, *runs], measures, collection_size=len(vectors.items), jobs=jobs)
    without = len(judgements.topics) - len(own.topics)
    notes = (f"{without} topics without a relevant item are left out",) if without else ()
    return IndexQuality(scores, len(vectors.items), (*notes, *scores.notes))


def optimal_query(vectors: Floats, relevant: NDArray[np.bool_]) -> Floats:
    """The mean of the relevant rows minus the mean of the others (which may be absent)."""
    query = vectors[relevant].mean(axis=0)
    if not relevant.all():
        query = query - vectors[~relevant].mean(axis=0)
    return np.asarray(query, dtype=np.float64)


def _optimal_run(vectors: ItemVectors, judgements: Judgements, rel: float, raw: bool) -> Run:
    unit = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    base = vectors.vectors if raw else unit
    place = {item: i for i, item in enumerate(vectors.items)}
    topics, scores, unknown = [], [], []
    for topic, grades in judgements.to_dict().items():
        relevant = [item for item, grade in grades.items() if grade >= rel]
        unknown += [(topic, item) for item in relevant if item not in place]
        if unknown or not relevant:
            continue
        mask = np.zeros(len(place), dtype=bool)
        mask[[place[item] for item in relevant]] = True
        query = optimal_query(base, mask)
        length = float(np.linalg.norm(query))
        topics.append(topic)
        scores.append(unit @ (query / length if length > 0 else query))
    if unknown:
        raise InputError(
            "<vectors>",
            [Problem(0, f"no vector for item {i!r}, relevant to topic {t!r}") for t, i in unknown],
        )
    if not topics:
        raise UsageError("no topic has a relevant item")
    return _full_run(tuple(topics), vectors.items, scores)


def _full_run(topics: tuple[str, ...], items: Sequence[str], scores: Sequence[Floats]) -> Run:
    """A run in which every topic ranks all items."""
    item_bytes, item_offsets = text(list(items))
    n, width = len(items), len(item_bytes)
    starts = np.arange(len(topics), dtype=np.int64)
    offsets = (starts[:, None] * width + item_offsets[None, :-1]).ravel()
    return Run(
        topics,
        np.append(starts, len(topics)) * n,
        np.tile(item_bytes, len(topics)),
        np.append(offsets, len(topics) * width),
        np.concatenate(scores),
        name=OPTIMAL,
        unique=True,
    )
