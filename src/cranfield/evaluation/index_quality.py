"""What an index could reach: rankings by queries that know the answer.

Rocchio's optimal query is the difference between the mean of the unit vectors of the relevant
items and that of the others. It is optimal for his criterion, the difference of the two mean
cosines, and for nothing else: another vector may rank far better. The best vector query is found
by descent on a loss of the ranking itself, and says what the index can do for the measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.data.columns import text
from cranfield.data.item_vectors import Floats, ItemVectors
from cranfield.errors import InputError, Problem, UsageError
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import JudgementsForm, RunsForm, coerce_judgements, coerce_run, name_runs
from cranfield.measures import Measure
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import INDEX_QUALITY
from cranfield.validation import validate_params

# Sharper losses look more at single pairs that stand the wrong way round.
SHARPNESS = (5.0, 50.0, 500.0)
# How far apart scores must be for their order to be nearly sure, in standard deviations of all
# scores: from ranks that move smoothly to those of the ranking.
BLURS = (0.3, 0.1, 0.03)
STEPS_OF_PAIRS, STEPS_OF_PRECISION = 200, 100
# Keeps a query finite whose loss could fall for ever.
RIDGE = 1e-6
# Pairs of one step; beyond it the others nearest to the relevant items are looked at.
MOST_PAIRS = 4_000_000


Loss = Callable[[Floats], tuple[float, Floats]]


def best_query(unit: Floats, relevant: NDArray[np.bool_], start: Floats) -> Floats:
    """A unit vector whose products with the rows of `unit` rank the relevant rows first."""
    first = _normed(start)
    if relevant.all():
        return first
    best = _better(unit, relevant, first, _by_pairs(unit, relevant, first))
    for begin in (best,) if best is first else (best, first):
        best = _better(unit, relevant, best, _by_precision(unit, relevant, begin))
    return best


def _better(
    unit: Floats, relevant: NDArray[np.bool_], best: Floats, queries: Iterator[Floats]
) -> Floats:
    """The best of a query and others, which are looked for only while it can be bettered."""
    best_precision = average_precision(unit @ best, relevant)
    while best_precision < 1.0 and (query := next(queries, None)) is not None:
        reached = average_precision(unit @ query, relevant)
        if reached > best_precision:
            best, best_precision = query, reached
    return best


def _by_pairs(unit: Floats, relevant: NDArray[np.bool_], query: Floats) -> Iterator[Floats]:
    for sharpness in SHARPNESS:
        rest = unit[_looked_at(unit, relevant, query)]
        loss = partial(_pair_loss, good=unit[relevant], rest=rest, sharpness=sharpness)
        query = _descended(loss, query, STEPS_OF_PAIRS)
        yield query


def _by_precision(unit: Floats, relevant: NDArray[np.bool_], query: Floats) -> Iterator[Floats]:
    spread = float(np.std(unit @ query))
    for blur in BLURS if spread > 0 else ():
        rest = unit[_looked_at(unit, relevant, query)]
        loss = partial(_precision_loss, good=unit[relevant], rest=rest, blur=blur * spread)
        query = _descended(loss, query, STEPS_OF_PRECISION)
        yield query


def _descended(loss: Loss, query: Floats, steps: int) -> Floats:
    from scipy.optimize import minimize

    answer = minimize(loss, query, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return _normed(np.asarray(answer.x))


def _looked_at(unit: Floats, relevant: NDArray[np.bool_], query: Floats) -> NDArray[np.int64]:
    """The other rows, at most as many of the highest as make up the pairs of a step."""
    others = np.flatnonzero(~relevant)
    row_limit = max(MOST_PAIRS // max(int(relevant.sum()), 1), 1)
    if others.size <= row_limit:
        return others
    return others[np.argsort(-(unit[others] @ query), kind="stable")[:row_limit]]


def _pair_loss(w: Floats, good: Floats, rest: Floats, sharpness: float) -> tuple[float, Floats]:
    """The mean logistic loss over pairs, and its gradient."""
    a, b = sharpness * (good @ w), sharpness * (rest @ w)
    apart = a[:, None] - b[None, :]
    value = float(np.logaddexp(0.0, -apart).mean())
    weight = 1 / (1 + np.exp(np.clip(apart, -500, 500)))
    scale = sharpness / apart.size
    gradient = scale * (rest.T @ weight.sum(axis=0) - good.T @ weight.sum(axis=1))
    return value + RIDGE * float(w @ w), np.asarray(gradient + 2 * RIDGE * w)


def _precision_loss(w: Floats, good: Floats, rest: Floats, blur: float) -> tuple[float, Floats]:
    """Minus average precision with blurred ranks, and its gradient; w may have any length."""
    from scipy.special import expit

    length = float(np.linalg.norm(w)) or 1.0
    query = w / length
    a, b = good @ query, rest @ query
    before = expit((a[None, :] - a[:, None]) / blur)
    np.fill_diagonal(before, 0.0)
    others = expit((b[None, :] - a[:, None]) / blur)
    hits = 1 + before.sum(axis=1)
    ranks = hits + others.sum(axis=1)
    scale = 1 / (blur * a.size * ranks**2)
    before *= (before - 1) * ((ranks - hits) * scale)[:, None]
    others *= (1 - others) * (hits * scale)[:, None]
    by_good = before.sum(axis=0) - before.sum(axis=1) - others.sum(axis=1)
    gradient = good.T @ by_good + rest.T @ others.sum(axis=0)
    return -float((hits / ranks).mean()), np.asarray(
        (gradient - query * (query @ gradient)) / length
    )


def average_precision(scores: Floats, relevant: NDArray[np.bool_]) -> float:
    """Average precision of a full ranking; of equal scores the relevant come last."""
    order = np.lexsort((relevant, -scores))
    ranks = np.flatnonzero(relevant[order]) + 1
    return float((np.arange(1, ranks.size + 1) / ranks).mean())


def _normed(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


OPTIMAL, BEST = "optimal query", "best vector query"


@dataclass(frozen=True, repr=False, eq=False)
class IndexQuality(Answer):
    """Scores of the queries that know the answer first, then of the runs."""

    command: ClassVar[str] = "index-quality"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:index_quality_document"
    scores: Scores
    size: int

    @property
    def reference(self) -> str:
        """The ranking that runs are held against."""
        return BEST if BEST in self.scores.runs else OPTIMAL

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(run for run in self.scores.runs if run not in (OPTIMAL, BEST))

    def lost(self, run: str, measure: Measure) -> tuple[float, float]:
        """How much worse a run is than the reference, and as a share of what that reaches."""
        best, value = (
            float(self.scores.overall[measure][self.scores.index_of(r)])
            for r in (self.reference, run)
        )
        difference = best - value if measure.higher_is_better is not False else value - best
        return difference, difference / best if best > 0 else math.nan

    def payload(self, *, per: Sequence[str] = (), **_: object) -> dict[str, Any]:
        fields = self.scores.payload(per=per)
        for entry in fields["runs"]:
            if entry["name"] in self.others:
                lost = {str(m): self.lost(entry["name"], m) for m in self.scores.measures}
                entry["lost"] = {name: value for name, (value, _) in lost.items()}
                entry["lost_share"] = {name: share for name, (_, share) in lost.items()}
        return {**fields, "collection_size": self.size}

    def headline(self) -> str:
        first = self.scores.measures[0]
        value = float(self.scores.overall[first][self.scores.index_of(self.reference)])
        return f"{self.reference}: {first.mean_label} {value:.4f} on {self.size} items"


@validate_params
@with_progress
def evaluate_index(
    vectors: ItemVectors,
    judgements: JudgementsForm,
    runs: RunsForm = (),
    measures: str | Measure | Sequence[str | Measure] = INDEX_QUALITY,
    *,
    rel: float = 1.0,
    raw: bool = False,
    best: bool = False,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> IndexQuality:
    """Rank the collection with each topic's optimal query and score it next to runs.

    `rel` is the grade from which items count as relevant when the query is formed. With `raw`
    the means are of the vectors as they are, not of unit length. With `best` there is also the
    query that ranks the relevant items first as well as can be found.
    """
    report_progress, notes = Progress.of(progress), Notes()
    own_runs = [coerce_run(run, name) for name, run in name_runs(runs)] if _any(runs) else []
    for run in own_runs:
        if run.name in (OPTIMAL, BEST):
            raise UsageError(f"a run is named {run.name!r}, as a ranking of this study is")
    judged = coerce_judgements(judgements)
    knowing = _knowing_runs(vectors, judged, rel, raw, best, report_progress.part(0.0, 0.8))
    judged_part = judged.of_topics(knowing[0].topics)
    scores = evaluate(
        judged_part, [*knowing, *own_runs], measures, collection_size=len(vectors.items), jobs=jobs
    )
    without = len(judged.topics) - len(judged_part.topics)
    if without:
        notes.add(f"{without} topics without a relevant item are left out")
    notes.extend(scores.notes)
    report_progress(1.0)
    return IndexQuality(scores, len(vectors.items), notes=notes.lines())


def _any(runs: RunsForm) -> bool:
    return not isinstance(runs, list | tuple | dict) or bool(runs)


def optimal_query(vectors: Floats, relevant: NDArray[np.bool_]) -> Floats:
    """The mean of the relevant rows minus the mean of the others (which may be absent)."""
    query = vectors[relevant].mean(axis=0)
    if not relevant.all():
        query = query - vectors[~relevant].mean(axis=0)
    return np.asarray(query, dtype=np.float64)


def _knowing_runs(
    vectors: ItemVectors,
    judgements: Judgements,
    rel: float,
    raw: bool,
    best: bool,
    progress: Progress,
) -> list[Run]:
    unit = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    base = vectors.vectors if raw else unit
    place = {item: i for i, item in enumerate(vectors.items)}
    topics, unknown = list[str](), list[tuple[str, str]]()
    scores: tuple[list[Floats], list[Floats]] = ([], [])
    every = judgements.to_dict()
    for number, (topic, grades) in enumerate(every.items()):
        progress(number / len(every))
        relevant = [item for item, grade in grades.items() if grade >= rel]
        unknown += [(topic, item) for item in relevant if item not in place]
        if unknown or not relevant:
            continue
        mask = np.zeros(len(place), dtype=bool)
        mask[[place[item] for item in relevant]] = True
        topics.append(topic)
        query = optimal_query(base, mask)
        length = float(np.linalg.norm(query))
        scores[0].append(unit @ (query / length if length > 0 else query))
        if best:
            scores[1].append(unit @ best_query(unit, mask, query))
    if unknown:
        raise InputError(
            vectors.name,
            [Problem(0, f"no vector for item {i!r}, relevant to topic {t!r}") for t, i in unknown],
        )
    if not topics:
        raise UsageError("no topic has a relevant item")
    names = (OPTIMAL, BEST) if best else (OPTIMAL,)
    return [
        _full_run(tuple(topics), vectors.items, values, name)
        for name, values in zip(names, scores, strict=False)
    ]


def _full_run(
    topics: tuple[str, ...], items: Sequence[str], scores: Sequence[Floats], name: str
) -> Run:
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
        name=name,
        unique=True,
    )
