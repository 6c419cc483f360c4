"""Nearest items: vectors to a ranked run, exact, in blocks, here or on a cluster.

A first look in single precision narrows the candidates; distances that decide are computed in
double precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield._system import usable_cpus
from cranfield.answers import Answer, decode, encode
from cranfield.data import Run
from cranfield.data.columns import is_matrix
from cranfield.errors import InputError, UsageError, check_counts, plural
from cranfield.features import DISTANCES
from cranfield.features._spec import Distance, Floats
from cranfield.features.distances import PreparedDistance
from cranfield.features.item_vectors import (
    ItemTable,
    ItemVectorsForm,
    item_table,
    query_pictures,
    query_topics,
    read_items,
)
from cranfield.io import is_tabular
from cranfield.io.compression import compress_blocks
from cranfield.io.convert import encode_table
from cranfield.io.files import TREC, as_one_word, inner_suffix
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.validation import LONGEST_TEXT, validate_params
from cranfield.work.executors import Plan, run_pieces
from cranfield.work.serialisation import full_path

Bools = NDArray[np.bool_]
# Distances that inner products give, which are the fastest to compute for many at once.
_OF_PRODUCTS = ("tanimoto", "cosine", "l2")
# Distances that count terms.
_OF_TERMS = ("overlap", "inclusion")
_ITEMS, _TOGETHER = 16384, 64
# So many items tell where a collection lies.
_SAMPLE = 4096
# Half the last place of a number near 1, and the squares that single precision can work with.
_ROUNDING, _SMALLEST, _LARGEST = 2.0**-24, 1e-30, 1e30
# Whole numbers up to here are exact in single precision, and so are their sums.
_EXACT = 2**24


class FirstLook:
    """Row q of `items` has the numbers of the items to look at for query q, and no other is
    nearer than `reach[q]`, but for rounding."""

    def __init__(
        self,
        prepared: PreparedDistance,
        rows: Floats,
        vectors: NDArray[Any],
        count: int,
        jobs: int,
        progress: Progress,
    ) -> None:
        self._ready = prepared
        self._rows, self._middle = rows, _middle(prepared, vectors)
        self._all = count >= len(vectors)
        if self._all:
            self.items = np.tile(np.arange(len(vectors), dtype=np.int64), (len(rows), 1))
            return
        self._whole = _is_whole(prepared, vectors)
        nearest = _core.Nearest(len(rows), count)
        with np.errstate(over="ignore", invalid="ignore"):
            usual = self._add_all(nearest, vectors, jobs, progress)
        self.items = nearest.items().reshape(len(rows), count)
        self.reach = nearest.reach().astype(np.float64) if usual else np.full(len(rows), np.nan)

    def _add_all(
        self, nearest: _core.Nearest, vectors: NDArray[Any], jobs: int, progress: Progress
    ) -> bool:
        """Shows every item; whether all numbers are of a size that single precision has."""
        prepared, kernel = self._ready, self._ready.distance.kernel
        queries = _centred(self._rows, self._middle).astype(np.float32)
        squares = np.einsum("ij,ij->i", queries, queries)
        usual = _are_usual(squares)
        for first in range(0, len(vectors), _ITEMS):
            block = prepared.single_rows(vectors[first : first + _ITEMS], self._middle)
            if kernel in _OF_PRODUCTS:
                sizes = np.einsum("ij,ij->i", block, block)
                usual = usual and _are_usual(sizes)
                products = np.ascontiguousarray(queries @ block.T)
                nearest.add_products(kernel, products, squares, sizes, first, jobs)
            else:
                nearest.add(kernel, queries, block, prepared.groups, first, jobs)
            progress(min(1.0, (first + _ITEMS) / len(vectors)))
        return usual or kernel not in _OF_PRODUCTS

    def lost(self, last: Floats, beyond: Floats) -> NDArray[np.int64]:
        """The queries of which an item may have been lost that is nearer than the last one taken.

        `last` is the distance of that one and `beyond` that of the farthest of `items`; where they
        are the same, it is a tie of many, of which the first are taken.
        """
        if self._all:
            return np.empty(0, dtype=np.int64)
        kernel = self._ready.distance.kernel
        compared = last**2 if kernel == "l2" else last
        sure = beyond - last <= 1e-12 * np.maximum(last, 1e-300)
        with np.errstate(invalid="ignore"):
            if self._whole:
                sure |= compared <= self.reach
            else:
                slack = _slack(kernel, _centred(self._rows, self._middle), last)
                sure |= compared + slack < self.reach
        sure &= np.isfinite(self.reach)
        return np.flatnonzero(~sure)


def from_all(
    prepared: PreparedDistance, rows: Floats, vectors: NDArray[Any], count: int, jobs: int
) -> NDArray[np.int64]:
    """The nearest items of each row by double precision; of equal ones, the first."""
    nearest = np.empty((len(rows), min(count, len(vectors))), dtype=np.int64)
    for start in range(0, len(rows), _TOGETHER):
        queries = rows[start : start + _TOGETHER]
        items = np.empty((len(queries), 0), dtype=np.int64)
        distances = np.empty((len(queries), 0))
        for first in range(0, len(vectors), _ITEMS):
            block = prepared.rows(vectors[first : first + _ITEMS])
            numbers = np.arange(first, first + len(block))
            distances = np.concatenate([distances, prepared.between(queries, block, jobs)], axis=1)
            items = np.concatenate([items, np.tile(numbers, (len(queries), 1))], axis=1)
            order = np.argsort(distances, axis=1, kind="stable")[:, :count]
            distances = np.take_along_axis(distances, order, axis=1)
            items = np.take_along_axis(items, order, axis=1)
        nearest[start : start + _TOGETHER] = items
    return nearest


def _middle(prepared: PreparedDistance, vectors: NDArray[Any]) -> Floats | None:
    """About where the vectors lie. Distances of points do not change when all are moved, but
    inner products keep more of them near 0."""
    if prepared.distance.kernel != "l2":
        return None
    some = vectors[:: max(1, len(vectors) // _SAMPLE)]
    with np.errstate(over="ignore"):
        middle = prepared.rows(some).mean(axis=0).astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(middle), middle, 0.0)


def _centred(rows: Floats, middle: Floats | None) -> Floats:
    return rows if middle is None else np.asarray(rows - middle)


def _is_whole(prepared: PreparedDistance, vectors: NDArray[Any]) -> bool:
    """Whether single precision gives the very distances: sums of small whole numbers."""
    if prepared.distance.kernel in _OF_TERMS:
        return bool(vectors.shape[1] < _EXACT)
    if prepared.distance.kernel != "l1" or not prepared.as_given or vectors.dtype.kind not in "iub":
        return False
    ends = (int(vectors.min()), int(vectors.max())) if vectors.size else (0, 0)
    return bool(2 * max(abs(ends[0]), abs(ends[1])) * vectors.shape[1] < _EXACT)


def _are_usual(squares: NDArray[np.float32]) -> bool:
    return bool(((squares == 0) | ((squares > _SMALLEST) & (squares < _LARGEST))).all())


def _slack(kernel: str, rows: Floats, last: Floats) -> Floats:
    """How far the distance of an item that is as near as `last` may be off in single precision.

    What an item of that distance can measure follows from the query's own size, so that items
    which are far away do not count.
    """
    length = rows.shape[1]
    unit = (8 + np.sqrt(length)) * _ROUNDING
    sums = np.abs(rows).sum(axis=1)
    norms = np.sqrt((rows**2).sum(axis=1))
    if kernel in ("l2", "squared"):
        away = last if kernel == "l2" else np.sqrt(last)
        return np.asarray(unit * (norms**2 + (norms + away) ** 2))
    if kernel in ("l1", "grouped"):
        return np.asarray(unit * (2 * sums + last))
    if kernel in ("chi2", "jsd"):
        return np.asarray(12 * unit * (sums + last))
    factor = {"cosine": 4.0, "tanimoto": 600.0, "relative": float(length)}[kernel]
    return np.full(len(rows), factor * unit)


DEFAULT_K = 1000
_QUERIES, _TOGETHER = 2048, 256
# Items beyond the last asked for: rounding may put one that belongs there behind it.
_MARGIN = 32


@dataclass(frozen=True, repr=False, eq=False)
class Search(Answer):
    """The nearest items of each topic: row t of `found` has their numbers in `items`, nearest
    first, -1 where there are no more; `scores` are similarities in [0, 1]."""

    command: ClassVar[str] = "search"
    table_maker: ClassVar[str] = "cranfield.report.tables.features:search_document"
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

    def payload(self, **_: object) -> dict[str, Any]:
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
        if not len(rows):
            return Run.from_dict({}).named(self.name)
        items = self.found[rows, columns]
        names = np.array(self.items, dtype=np.str_)
        topics = np.array(self.topics, dtype=np.str_)
        return Run.from_rows(topics[rows], names[items], self.scores[rows, columns]).named(
            self.name
        )


@dataclass(frozen=True)
class QueryVectors:
    """Topics, a vector each, and the row of the item that is the query itself, -1 for none."""

    topics: tuple[str, ...]
    vectors: NDArray[Any]
    own: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    def between(self, first: int, last: int) -> QueryVectors:
        """Some of them."""
        rows = slice(first, last)
        return replace(
            self, topics=self.topics[rows], vectors=self.vectors[rows], own=self.own[rows]
        )


@validate_params
@with_progress
def search(
    collection: ItemVectorsForm,
    queries: ItemVectorsForm | QueryVectors | None = None,
    *,
    distance: str | Distance | None = None,
    k: int = DEFAULT_K,
    min_terms: int | None = None,
    keep_query: bool = False,
    items: str | Path | Sequence[str] | None = None,
    part: tuple[int, int] | None = None,
    executor: str | Executor = "threads",
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Search:
    """The `k` nearest items of each query, as a run.

    `collection` are vectors: a file (.npz as `describe_pictures` writes it, .npy with the ids
    in `items`, Parquet), an ItemTable, or an array or tensor with a row for each item (`items` are
    their ids, else positions). `queries` are an array or tensor too (topics are called by their
    positions), a folder of pictures, a file of vectors, or
    CSV topic,item with items of the collection; without them every item asks for the others. The
    item that has the query's own id is left out unless `keep_query`. The distance is the
    descriptor's, or L2. With the distance "overlap", `min_terms` leaves out items that have fewer
    of the query's terms; "inclusion" leaves out items that lack any of them. `part` are the first
    and the last (not included) of the queries to answer; with an `executor` all are shared out
    over its workers, which read the files themselves.
    """
    check_counts(k=k, jobs=jobs, min_terms=min_terms)
    table = item_table(collection, items)
    if not table.items:
        raise InputError.single(table.name, "has no items to search")
    query_set = gather_queries(queries, table)
    if query_set.vectors.shape[1] != table.length:
        raise UsageError(
            f"the queries have {query_set.vectors.shape[1]} numbers each, "
            f"the items of {table.name} {table.length}"
        )
    if executor != "threads":
        options = {
            "distance": distance,
            "k": k,
            "min_terms": min_terms,
            "keep_query": keep_query,
            "items": items,
        }
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
    metric = choose_distance(distance, table)
    if min_terms is not None and not metric.of_terms:
        raise UsageError(f"min_terms= is for the distance overlap, not for {metric}")
    prepared = PreparedDistance(metric, table.vectors, table.descriptor)
    prepared.check(query_set.vectors)
    nearest, distances = _nearest(
        prepared,
        table.vectors,
        query_set,
        k,
        keep_query,
        jobs or usable_cpus(),
        Progress.of(progress),
    )
    terms = prepared.rows(query_set.vectors).sum(axis=1) if metric.of_terms else None
    retrieved = (nearest >= 0) & (distances < metric.retrieves_below)
    if terms is not None and min_terms is not None:
        retrieved &= terms[:, None] - distances >= min_terms
    empty = int(((nearest >= 0).any(axis=1) & ~retrieved.any(axis=1)).sum())
    notes = (f"nothing is retrieved for {plural(empty, 'topic')}",) if empty else ()
    nearest = np.where(retrieved, nearest, -1)
    scores = np.where(retrieved, prepared.similarity(distances, terms), 0.0)
    return Search(
        table.name,
        metric,
        query_set.topics,
        table.items,
        nearest,
        scores,
        keep_query,
        notes=(*table.notes, *query_set.notes, *notes),
    )


def choose_distance(distance: str | Distance | None, table: ItemTable) -> Distance:
    """The distance of that name, or the one that suits the vectors of a table."""
    if isinstance(distance, Distance):
        return distance
    name = distance or (table.descriptor.distance if table.descriptor else table.distance) or "L2"
    return DISTANCES.find(name)


def gather_queries(
    queries: ItemVectorsForm | QueryVectors | None, table: ItemTable
) -> QueryVectors:
    """Queries in any form that `search` takes, as vectors; without any, every item of a table."""
    if isinstance(queries, QueryVectors):
        return queries
    if queries is None:
        rows = np.arange(len(table.items))
        return QueryVectors(table.items, table.vectors, rows)
    if is_matrix(queries):
        # Positions of queries are not those of items: none is the query itself.
        query_table = item_table(queries, None)
        no_row = np.full(len(query_table.items), -1, dtype=np.int64)
        return QueryVectors(query_table.items, query_table.vectors, no_row)
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
        return QueryVectors(tuple(topics), table.vectors[own_rows], own_rows)
    else:
        query_table = read_items(queries)
    place = {item: row for row, item in enumerate(table.items)}
    own_rows = np.array([place.get(item, -1) for item in query_table.items], dtype=np.int64)
    return QueryVectors(query_table.items, query_table.vectors, own_rows, query_table.notes)


def _nearest(
    prepared: PreparedDistance,
    vectors: NDArray[Any],
    queries: QueryVectors,
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


# Queries of one piece: enough to make reading the collection worth it.
_QUERIES = 512
# What a worker is told: the collection, the queries, the options and which of the queries are its.
Piece: TypeAlias = tuple[Any, Any, dict[str, Any], tuple[int, int]]


def search_elsewhere(
    collection: Any,
    queries: Any,
    *,
    executor: str | Executor,
    total: int,
    options: Mapping[str, Any],
    jobs: int | None,
    progress: Watcher | None,
) -> Search:
    """The same answer as `search` gives here, to the last bit."""
    plan = Plan(executor, jobs)
    for source in (collection, queries):
        if source is not None and (not isinstance(source, str | Path) or str(source) == "-"):
            raise UsageError(
                "on an executor the collection and the queries are files, which its workers read"
            )
    sources = (collection, queries) if plan.is_local else full_path([collection, queries])
    pieces = {
        str(start): (*sources, dict(options), (start, min(start + _QUERIES, total)))
        for start in range(0, total, _QUERIES)
    }
    answers = run_pieces(_piece, pieces, plan, study={}, progress=progress)
    parts: list[Search] = [decode(answer["search"]) for answer in answers.values()]
    return replace(
        parts[0],
        topics=tuple(topic for part in parts for topic in part.topics),
        found=np.concatenate([part.found for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
    )


def _piece(task: Piece) -> dict[str, Any]:
    collection, queries, options, part = task
    return {"search": encode(search(collection, queries, **options, part=part, jobs=1))}
