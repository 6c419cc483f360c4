"""The nearest items of each query: brute force by blocks, in the compiled core.

Blocks are compared in single precision; the items found are then compared again in double, and
where rounding may have hidden a nearer one all items are, so that scores and their order do not
depend on blocks, threads or machines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.answers import Answer
from cranfield.data import Run
from cranfield.errors import InputError, UsageError, check_counts, plural
from cranfield.features import DISTANCES
from cranfield.features._spec import Distance
from cranfield.features.distances import PreparedDistance
from cranfield.features.first_look import FirstLook, from_all
from cranfield.features.item_vectors import ItemTable, query_pictures, query_topics, read_items
from cranfield.io import is_tabular
from cranfield.io.compression import compress_blocks
from cranfield.io.convert import encode_table
from cranfield.io.files import FileForm, inner_suffix
from cranfield.io.ids import TREC, as_one_word
from cranfield.notes import Progress, with_progress
from cranfield.validation import LONGEST_TEXT, validate_params

DEFAULT_K = 1000
_QUERIES, _TOGETHER = 2048, 256
# Items beyond the last asked for: rounding may put one that belongs there behind it.
_MARGIN = 32


@dataclass(frozen=True, repr=False, eq=False)
class Search(Answer):
    """The nearest items of each topic: row t of `found` has their numbers in `items`, nearest
    first, -1 where there are no more; `scores` are similarities in [0, 1]."""

    command: ClassVar[str] = "search"
    name: str
    distance: Distance
    topics: tuple[str, ...]
    items: tuple[str, ...]
    found: NDArray[np.int64]
    scores: NDArray[np.float64]
    kept_query: bool

    @property
    def tag(self) -> str:
        """The name in the last column of the run: what was compared, and by which distance."""
        return as_one_word(f"{self.name}-{self.distance}")

    def payload(self, **_: Any) -> dict[str, Any]:
        """The rankings."""
        return {
            "run": self.name,
            "tag": self.tag,
            "distance": str(self.distance),
            "kept_query": self.kept_query,
            "topics": [
                {
                    "topic": topic,
                    "items": [
                        {"item": self.items[i], "score": score}
                        for i, score in zip(row, scores, strict=True)
                        if i >= 0
                    ],
                }
                for topic, row, scores in zip(
                    self.topics, self.found.tolist(), self.scores.tolist(), strict=True
                )
            ],
        }

    def headline(self) -> str:
        return (
            f"{self.tag}: {plural(len(self.topics), 'topic')} in {plural(len(self.items), 'item')}"
        )

    def to_bytes(self, target: str = "-") -> bytes:
        """The run in TREC's format, or as a file of that name holds it."""
        if is_tabular(target):
            return encode_table(self.run(), target)
        TREC.check(self.name, "topic", self.topics, first=True)
        TREC.check(self.name, "item", self.items)
        text = _core.run_text(
            list(self.topics), list(self.items), self.found, self.scores, self.tag
        )
        return b"".join(compress_blocks([text], Path(target).suffix.lower()))

    def run(self) -> Run:
        """The rankings as a run."""
        rows, columns = np.nonzero(self.found >= 0)
        items = self.found[rows, columns]
        names = np.array(self.items, dtype=np.str_)
        topics = np.array(self.topics, dtype=np.str_)
        return Run.from_rows(topics[rows], names[items], self.scores[rows, columns]).named(
            self.name
        )


@dataclass(frozen=True)
class _Queries:
    """What is asked: topics, a vector each, and the row of the item that is the query itself."""

    topics: tuple[str, ...]
    vectors: NDArray[Any]
    own: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    def between(self, first: int, last: int) -> _Queries:
        """Some of them."""
        rows = slice(first, last)
        return replace(
            self, topics=self.topics[rows], vectors=self.vectors[rows], own=self.own[rows]
        )


@validate_params
@with_progress
def search(
    collection: FileForm | ItemTable,
    queries: FileForm | ItemTable | None = None,
    *,
    distance: str | Distance | None = None,
    k: int = DEFAULT_K,
    keep_query: bool = False,
    items: str | Path | None = None,
    part: tuple[int, int] | None = None,
    executor: str | Executor = "threads",
    jobs: int | None = None,
    progress: Progress | Callable[[float], None] | None = None,
) -> Search:
    """The `k` nearest items of each query, as a run.

    `collection` are vectors: a file (.npz as `describe_pictures` writes it, .npy with the ids
    in `items`, Parquet) or an ItemTable. `queries` are a folder of pictures, a file of vectors, or
    CSV topic,item with items of the collection; without them every item asks for the others. The
    item that has the query's own id is left out unless `keep_query`. The distance is the
    descriptor's, or L2. `part` are the first and the last (not included) of the queries to answer;
    with an `executor` all are shared out over its workers, which read the files themselves.
    """
    check_counts(k=k, jobs=jobs)
    table = collection if isinstance(collection, ItemTable) else read_items(collection, items)
    if not table.items:
        raise InputError.single(table.name, "has no items to search")
    query_set = _queries_of(queries, table)
    if query_set.vectors.shape[1] != table.length:
        raise UsageError(
            f"the queries have {query_set.vectors.shape[1]} numbers each, "
            f"the items of {table.name} {table.length}"
        )
    if executor != "threads":
        from cranfield.features.search_elsewhere import search_elsewhere

        options = {"distance": distance, "k": k, "keep_query": keep_query, "items": items}
        return search_elsewhere(
            collection,
            queries,
            executor=executor,
            total=len(query_set.topics),
            options=options,
            jobs=jobs,
            progress=progress,
        )
    if part is not None:
        if len(part) != 2:
            raise UsageError(f"part={part!r} is not the first and the last of the queries")
        query_set = query_set.between(*part)
    metric = _distance_of(distance, table)
    prepared = PreparedDistance(metric, table.vectors, table.descriptor)
    prepared.check(query_set.vectors)
    nearest, distances = _nearest(
        prepared,
        table.vectors,
        query_set,
        k,
        keep_query,
        jobs or os.cpu_count() or 1,
        Progress.of(progress),
    )
    scores = np.where(nearest >= 0, prepared.similarity(distances), 0.0)
    return Search(
        table.name,
        metric,
        query_set.topics,
        table.items,
        nearest,
        scores,
        keep_query,
        notes=(*table.notes, *query_set.notes),
    )


def _distance_of(distance: str | Distance | None, table: ItemTable) -> Distance:
    if isinstance(distance, Distance):
        return distance
    name = distance or (table.descriptor.distance if table.descriptor else table.distance) or "L2"
    return DISTANCES.find(name)


def _queries_of(queries: FileForm | ItemTable | None, table: ItemTable) -> _Queries:
    if queries is None:
        rows = np.arange(len(table.items))
        return _Queries(table.items, table.vectors, rows)
    if isinstance(queries, ItemTable):
        query_table = queries
    elif (
        isinstance(queries, str | Path)
        and len(str(queries)) < LONGEST_TEXT
        and Path(queries).is_dir()
    ):
        query_table = query_pictures(str(queries), table)
    elif inner_suffix(queries) in (".csv", ".txt"):
        topics, numbers = query_topics(queries, table)
        own_rows = np.array(numbers, dtype=np.int64)
        return _Queries(tuple(topics), table.vectors[own_rows], own_rows)
    else:
        query_table = read_items(queries)
    place = {item: row for row, item in enumerate(table.items)}
    own_rows = np.array([place.get(item, -1) for item in query_table.items], dtype=np.int64)
    return _Queries(query_table.items, query_table.vectors, own_rows, query_table.notes)


def _nearest(
    prepared: PreparedDistance,
    vectors: NDArray[Any],
    queries: _Queries,
    k: int,
    keep_query: bool,
    jobs: int,
    progress: Progress,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of the nearest items and their distances, -1 and 0 where there are fewer."""
    count, total = min(k, len(vectors)), len(queries.topics)
    nearest = np.full((total, count), -1, dtype=np.int64)
    distances = np.zeros((total, count))
    for start in range(0, total, _QUERIES):
        part = slice(start, min(start + _QUERIES, total))
        step = progress.part(part.start / total, part.stop / total)
        rows, own_items = prepared.rows(queries.vectors[part]), queries.own[part, None]
        look = FirstLook(prepared, rows, vectors, count + 1 + _MARGIN, jobs, step)
        selector = _CandidateSelector(prepared, vectors, count, keep_query, jobs)
        best, exact, beyond = selector.of(rows, own_items, look.items)
        lost = look.lost(exact.max(axis=1, initial=0.0), beyond)
        if len(lost):
            candidates = from_all(prepared, rows[lost], vectors, count + 1, jobs)
            best[lost], exact[lost], _ = selector.of(rows[lost], own_items[lost], candidates)
        nearest[part, : best.shape[1]], distances[part, : best.shape[1]] = best, exact
    progress(1.0)
    return nearest, distances


@dataclass(frozen=True)
class _CandidateSelector:
    """Takes the nearest out of some items of each query."""

    ready: PreparedDistance
    vectors: NDArray[Any]
    count: int
    keep_query: bool
    jobs: int

    def of(
        self, rows: NDArray[np.float64], own_items: NDArray[np.int64], items: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Their numbers and distances, and the distance of the farthest item there was."""
        candidates = items.copy()
        if self.keep_query:
            # Of many that are just as near, the query itself comes first.
            missing = (own_items[:, 0] >= 0) & ~(candidates == own_items).any(axis=1)
            candidates[missing, -1] = own_items[missing, 0]
        else:
            candidates[candidates == own_items] = -1
        exact = _exact(self.ready, rows, self.vectors, candidates, self.jobs)
        keys = (candidates, candidates != own_items, exact, candidates < 0)
        order = np.lexsort(keys, axis=1)[:, : self.count]
        best = np.take_along_axis(candidates, order, axis=1)
        nearest = np.where(best >= 0, np.take_along_axis(exact, order, axis=1), 0.0)
        return best, nearest, np.where(candidates >= 0, exact, 0.0).max(axis=1, initial=0.0)


def _exact(
    prepared: PreparedDistance,
    rows: NDArray[np.float64],
    vectors: NDArray[Any],
    candidates: NDArray[np.int64],
    jobs: int,
) -> NDArray[np.float64]:
    """The distances of candidates in double precision, a few queries at a time."""
    distances = np.zeros(candidates.shape)
    for start in range(0, len(rows), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        needed, places = np.unique(candidates[part], return_inverse=True)
        present = needed >= 0
        items = prepared.rows(vectors[needed[present]])
        # Where -1 is among the needed it is the first of them.
        places = places.reshape(candidates[part].shape) - int(not present.all())
        distances[part] = _core.chosen_distances(
            prepared.distance.kernel,
            rows[part],
            items,
            prepared.groups,
            places.astype(np.int64),
            jobs,
        )
    return distances


def run_names(paths: Sequence[str]) -> list[str]:
    """The name of each run that some files of vectors give; two of one name are an error."""
    from cranfield.io.files import run_name

    names = [run_name(path) for path in paths]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UsageError(f"two files of vectors are named {twice!r}; their runs would be one")
    return names
