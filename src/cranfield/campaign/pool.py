"""Pools: the items that some runs put first, which ones to judge, and which of them next.

Thesis 3.2.3. The union of the first items of every run is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, concept_rankings
from cranfield.errors import InputError, UsageError, plural
from cranfield.io.coerce import coerce_judgements, coerce_labels, coerce_run, name_runs
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class PooledItem:
    """An item of the pool: how many runs have it within the depth, and its best rank.

    `weight` says how much its judgement can move the runs apart: the sum over all pairs of
    runs of the difference of its reciprocal ranks. An item that all runs rank alike has 0.
    Where judgements have probabilities, an item that is not sure counts as unjudged, and its weight
    is that part which its grade leaves open (1 where relevant or not is a toss-up).
    """

    topic: str
    item: str
    runs: int
    best_rank: int
    weight: float
    judged: bool


@dataclass(frozen=True, slots=True)
class PooledTopic:
    """The items of a topic that are in the pool, that are judged, and that one run alone has."""

    topic: str
    items: int
    judged: int
    by_one_run: int


@dataclass(frozen=True, repr=False, eq=False)
class Pool(Answer):
    """The pool of some runs to a depth, by topic, then by best rank."""

    command: ClassVar[str] = "pool"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:pool_document"

    depth: int
    runs: tuple[str, ...]
    items: tuple[PooledItem, ...]

    def next_to_judge(self, count: int) -> tuple[PooledItem, ...]:
        """The unjudged items whose judgement can move the runs apart the most."""
        open_items = [i for i in self.items if not i.judged]
        return tuple(sorted(open_items, key=lambda i: (-i.weight, i.topic, i.item))[:count])

    def topics(self) -> tuple[PooledTopic, ...]:
        """The pool of every topic in numbers, and of all of them in the last row."""
        items_of_topic: dict[str, list[PooledItem]] = {}
        for item in self.items:
            items_of_topic.setdefault(item.topic, []).append(item)
        groups = [*items_of_topic.items(), ("(all)", list(self.items))]
        return tuple(
            PooledTopic(
                t, len(items), sum(i.judged for i in items), sum(i.runs == 1 for i in items)
            )
            for t, items in groups
        )

    def headline(self) -> str:
        size = f"{plural(len(self.items), 'item')} of {plural(len(self.runs), 'run')}"
        return f"{size} to depth {self.depth}"

    def payload(self, *, first: int | None = None, **_: object) -> dict[str, Any]:
        """All items, or the `first` ones to judge next."""
        items = self.items if first is None else self.next_to_judge(first)
        pairs = {(i.topic, i.item) for i in items}
        return {
            "study": "pool",
            "depth": self.depth,
            "runs": list(self.runs),
            "items": [
                {
                    "topic": i.topic,
                    "item": i.item,
                    "runs": i.runs,
                    "best_rank": i.best_rank,
                    "weight": i.weight,
                    "judged": i.judged,
                }
                for i in self.items
                if (i.topic, i.item) in pairs
            ],
        }


def pooled_cells(pool: Pool | str | Path) -> dict[str, tuple[str, ...]]:
    """The concepts to judge for each item, from a pool of annotations or the file of one.

    The file is what `cranfield truth pool --labels` writes: TSV or CSV with the columns topic (the
    concept) and item; cells that it says are judged already are left out.
    """
    cells: dict[str, list[str]] = {}
    for concept, item in _open_cells(pool):
        concepts = cells.setdefault(item, [])
        if concept not in concepts:
            concepts.append(concept)
    if not cells:
        raise UsageError("the pool has no cell that is still to judge")
    return {item: tuple(concepts) for item, concepts in cells.items()}


def _open_cells(pool: Pool | str | Path) -> Iterator[tuple[str, str]]:
    if isinstance(pool, Pool):
        yield from ((entry.topic, entry.item) for entry in pool.items if not entry.judged)
        return
    source = describe(pool)
    with open_text(pool) as stream:
        rows = csv_rows(stream, source, "," if inner_suffix(pool) == ".csv" else "\t")
        header = [cell.strip() for cell in next(rows, (0, []))[1]]
        if not {"topic", "item"} <= set(header):
            message = "expected a header with topic and item, as a pool of annotations has it"
            raise InputError.single(source, message, 1)
        for line, row in rows:
            cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
            if not cells.get("topic") or not cells.get("item"):
                raise InputError.single(source, "expected a concept and an item", line)
            if cells.get("judged", "0") != "1":
                yield cells["topic"], cells["item"]


@validate_params
@with_progress
def make_pool(
    runs: Any,
    *,
    depth: int = 100,
    judged: Any = None,
    labels: bool = False,
    progress: Watcher | None = None,
) -> Pool:
    """The first `depth` items of every run for every topic.

    `runs` and `judged` are files or objects, as `cranfield.evaluate` takes them. With `labels`
    the runs are annotations: there is a pool for each concept, by confidence.
    """
    if depth < 1:
        raise UsageError(f"depth={depth} is not a whole number from 1 on")
    watched = Progress.of(progress)
    named_runs = name_runs(runs)
    read = read_each(named_runs, read_annotation if labels else coerce_run, watched.part(0.0, 0.5))
    rankings = concept_rankings(read) if labels else read
    doubts = {} if judged is None else doubt_of(coerce_judgements(judged))
    pools = ranks_within(rankings, depth)
    items: list[PooledItem] = []
    for number, (topic, places) in enumerate(pools.items(), 1):
        topic_doubts = doubts.get(topic, {})
        pooled = [
            _pooled(topic, i, ranks, len(read), topic_doubts.get(i)) for i, ranks in places.items()
        ]
        items += sorted(pooled, key=lambda i: (i.best_rank, i.item))
        watched(0.5 + 0.5 * number / len(pools))
    return Pool(depth, tuple(name for name, _ in named_runs), tuple(items))


def read_each(
    named_runs: Sequence[tuple[str, Any]], read: Callable[[Any, str], Any], progress: Progress
) -> list[Any]:
    """The runs as objects, read one after the other."""
    results = []
    for number, (name, source) in enumerate(named_runs, 1):
        results.append(read(source, name))
        progress(number / len(named_runs))
    return results


def read_annotation(source: Any, name: str) -> LabelMatrix:
    return replace(coerce_labels(source, name), name=name)


def ranks_within(runs: Sequence[Run], depth: int) -> dict[str, dict[str, dict[int, int]]]:
    """{topic: {item: {position of the run: rank}}}"""
    ranks: dict[str, dict[str, dict[int, int]]] = {}
    for number, run in enumerate(runs):
        for topic, scored in run.to_dict().items():
            order = sorted(scored.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
            places = ranks.setdefault(topic, {})
            for rank, (item, _) in enumerate(order[:depth], 1):
                places.setdefault(item, {})[number] = rank
    return ranks


def doubt_of(judged: Judgements) -> dict[str, dict[str, float]]:
    """How far each judged item is open, from 0 for a sure one to 1 for a toss-up.

    >>> from cranfield.io.coerce import coerce_judgements
    >>> doubt_of(coerce_judgements({"t": {"a": {0: 0.5, 1: 0.5}, "b": {1: 1.0}}}))
    {'t': {'a': 1.0, 'b': 0.0}}
    """
    if judged.chances is None or judged.levels is None:
        return {topic: dict.fromkeys(row, 0.0) for topic, row in judged.to_dict().items()}
    relevant = judged.chances[:, judged.levels > 0].sum(axis=1)
    spread = 2.0 * np.sqrt(np.maximum(relevant * (1.0 - relevant), 0.0))
    doubts: dict[str, dict[str, float]] = {}
    for (topic, item, _), value in zip(judged.rows(), spread.tolist(), strict=True):
        doubts.setdefault(topic, {})[item] = value
    return doubts


def _pooled(
    topic: str, item: str, ranks: Mapping[int, int], runs: int, doubt: float | None
) -> PooledItem:
    """`doubt` is None for an item without any judgement, which leaves all open."""
    weights = [1.0 / ranks[r] if r in ranks else 0.0 for r in range(runs)]
    weight = _apart(weights) * (doubt or 1.0)
    return PooledItem(topic, item, len(ranks), min(ranks.values()), weight, doubt == 0.0)


def _apart(weights: Sequence[float]) -> float:
    """The sum of |a - b| over all pairs, from the sorted numbers."""
    ordered = np.sort(np.asarray(weights))
    n = ordered.size
    return float((ordered * (2 * np.arange(n) - n + 1)).sum())
