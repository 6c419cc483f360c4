"""Pools: which items to judge, what a pool without one of its runs would have meant for that
run, and which items to judge next.

Thesis 3.2.3. The union of the first items of every run is judged; a collection can be used
again when a run that did not help to make the pool is not treated worse for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.errors import UsageError
from cranfield.lab.material import Material, floats, numbers, remembered
from cranfield.stats._resample import Floats
from cranfield.work.executors import Answer, Plan, run_pieces

if TYPE_CHECKING:
    from cranfield.report.document import Table


@dataclass(frozen=True, slots=True)
class PooledItem:
    """An item of the pool: how many runs have it within the depth, and its best rank.

    `weight` says how much its judgement can move the runs apart: the sum over all pairs of
    runs of the difference of its reciprocal ranks. An item that all runs rank alike has 0.
    """

    topic: str
    item: str
    runs: int
    best_rank: int
    weight: float
    judged: bool


@dataclass(frozen=True, eq=False)
class Pool:
    """The pool of some runs to a depth, by topic, then by best rank."""

    depth: int
    runs: tuple[str, ...]
    items: tuple[PooledItem, ...]

    def next_to_judge(self, count: int) -> tuple[PooledItem, ...]:
        """The unjudged items whose judgement can move the runs apart the most."""
        open_items = [i for i in self.items if not i.judged]
        return tuple(sorted(open_items, key=lambda i: (-i.weight, i.topic, i.item))[:count])

    def table(self, items: Sequence[PooledItem] | None = None) -> Table:
        from cranfield.report.document import Cell, Column, Table

        shown = self.items if items is None else items
        columns = [
            Column("topic", numeric=False),
            Column("item", numeric=False),
            Column("runs", 0),
            Column("best_rank", 0),
            Column("weight"),
            Column("judged", 0),
        ]
        rows: list[list[Cell]] = [
            [i.topic, i.item, i.runs, i.best_rank, i.weight, int(i.judged)] for i in shown
        ]
        return Table(columns, rows, f"Pool of {len(self.runs)} runs to depth {self.depth}")

    def summary_table(self) -> Table:
        """Per topic: how many items, how many of them judged."""
        from cranfield.report.document import Cell, Column, Table

        topics = dict.fromkeys(i.topic for i in self.items)
        rows: list[list[Cell]] = []
        for topic in topics:
            own = [i for i in self.items if i.topic == topic]
            rows.append(
                [topic, len(own), sum(i.judged for i in own), sum(i.runs == 1 for i in own)]
            )
        columns = [
            Column("topic", numeric=False),
            Column("items", 0),
            Column("judged", 0),
            Column("by_one_run", 0, heading="by one run only"),
        ]
        total: list[Cell] = ["(all)", *(sum(int(r[k] or 0) for r in rows) for k in (1, 2, 3))]
        return Table(
            columns, [*rows, total], f"Pool of {len(self.runs)} runs to depth {self.depth}"
        )

    def to_dict(self) -> dict[str, Any]:
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
            ],
        }


def make_pool(runs: Sequence[Run], *, depth: int = 100, judged: Judgements | None = None) -> Pool:
    """The first `depth` items of every run for every topic."""
    if depth < 1:
        raise UsageError(f"depth={depth} is not a whole number from 1 on")
    if not runs:
        raise UsageError("a pool needs at least one run")
    known = {} if judged is None else judged.to_dict()
    ranks = _ranks(runs, depth)
    items = []
    for topic, places in ranks.items():
        pooled = []
        for item, found in places.items():
            weights = [1.0 / found[r] if r in found else 0.0 for r in range(len(runs))]
            apart = float(_pairwise(weights))
            pooled.append(
                PooledItem(
                    topic,
                    item,
                    len(found),
                    min(found.values()),
                    apart,
                    item in known.get(topic, {}),
                )
            )
        items += sorted(pooled, key=lambda i: (i.best_rank, i.item))
    return Pool(depth, tuple(r.name for r in runs), tuple(items))


def _ranks(runs: Sequence[Run], depth: int) -> dict[str, dict[str, dict[int, int]]]:
    """{topic: {item: {position of the run: rank}}}"""
    found: dict[str, dict[str, dict[int, int]]] = {}
    for number, run in enumerate(runs):
        for topic, scored in run.to_dict().items():
            order = sorted(scored.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
            places = found.setdefault(topic, {})
            for rank, (item, _) in enumerate(order[:depth], 1):
                places.setdefault(item, {})[number] = rank
    return found


def _pairwise(weights: Sequence[float]) -> Any:
    """The sum of |a - b| over all pairs, from the sorted numbers."""
    ordered = np.sort(np.asarray(weights))
    n = ordered.size
    return (ordered * (2 * np.arange(n) - n + 1)).sum()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run judged by a pool that it did not help to make, under one measure."""

    run: str
    measure: str
    unique: int
    unique_relevant: int
    score: float
    score_without: float
    rank: int
    rank_without: int

    @property
    def change_percent(self) -> float:
        change = (self.score_without - self.score) / self.score if self.score else float("nan")
        return 100 * change


@dataclass(frozen=True, eq=False)
class Reusability:
    """The leave-one-out effect on every run."""

    depth: int
    runs: tuple[LeftOut, ...]

    def table(self) -> Table:
        from cranfield.report.document import Cell, Column, Table

        columns = [
            Column("run", numeric=False),
            Column("measure", numeric=False),
            Column("unique", 0, heading="own items"),
            Column("unique_relevant", 0, heading="relevant"),
            Column("score"),
            Column("score_without", heading="without"),
            Column("change_percent", 2, heading="change %"),
            Column("rank", 0),
            Column("rank_without", 0, heading="rank without"),
        ]
        rows: list[list[Cell]] = [
            [
                r.run,
                r.measure,
                r.unique,
                r.unique_relevant,
                r.score,
                r.score_without,
                r.change_percent,
                r.rank,
                r.rank_without,
            ]
            for r in self.runs
        ]
        notes = [
            "score: judged by the pool of all runs; own items: what this run alone has in it;",
            "without: judged by the pool of all other runs, so that its own items are unjudged",
        ]
        return Table(
            columns, rows, f"Leaving each run out of the pool of depth {self.depth}", notes
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "study": "pool",
            "depth": self.depth,
            "runs": [
                {
                    "run": r.run,
                    "measure": r.measure,
                    "unique": r.unique,
                    "unique_relevant": r.unique_relevant,
                    "score": r.score,
                    "score_without": r.score_without,
                    "change_percent": r.change_percent,
                    "rank": r.rank,
                    "rank_without": r.rank_without,
                }
                for r in self.runs
            ],
        }


@dataclass(frozen=True, slots=True)
class _Piece:
    """The pool without one of the runs, by its position; with all of them for -1."""

    material: Material
    depth: int
    without: int


@dataclass(frozen=True, eq=False)
class _Pooled:
    """Runs, judgements, and for each of these which runs have its item within the depth."""

    runs: list[Run]
    judged: Judgements
    ranks: dict[str, dict[str, dict[int, int]]]
    finders: list[set[int]]


def leave_one_out(material: Material, *, depth: int = 100, plan: Plan | None = None) -> Reusability:
    """Judge every run by the pool of the others alone.

    All is measured on the judgements that the pool of this depth covers; without a run, the
    items that it alone brought into the pool are unjudged for it and for all others.
    """
    if material.kind == "labels":
        raise UsageError("pools are made of rankings; read annotations by Material.concepts")
    material.need_runs(2)
    plan = plan or Plan()
    material = material.for_plan(plan)
    pieces = {"": _Piece(material, depth, -1)}
    pieces |= {name: _Piece(material, depth, r) for r, name in enumerate(material.run_names)}
    study = {"study": "pool", **material.described(), "depth": depth}
    answers = run_pieces(_run_piece, pieces, plan, study=study)
    full = floats(answers[""]["scores"])
    found = []
    for r, run in enumerate(material.run_names):
        without = floats(answers[run]["scores"])
        for j, measure in enumerate(material.measures):
            sign = material.signs[j]
            found.append(
                LeftOut(
                    run,
                    str(measure),
                    answers[run]["unique"],
                    answers[run]["relevant"],
                    float(full[r, j]),
                    float(without[r, j]),
                    _rank(sign * full[:, j], r),
                    _rank(sign * without[:, j], r),
                )
            )
    return Reusability(depth, tuple(found))


def _run_piece(piece: _Piece) -> Answer:
    """The scores of all runs, and what the one left out had found alone."""
    pooled = _pooled(piece.material, piece.depth)
    alone = {piece.without}
    kept = [bool(f) and f != alone for f in pooled.finders]
    own = [places for topic in pooled.ranks.values() for places in topic.values()]
    grades = pooled.judged.values
    return {
        "scores": _score_all(piece.material, pooled, np.flatnonzero(kept)),
        "unique": sum(set(places) == alone for places in own),
        "relevant": sum(
            f == alone and bool(g >= 1) for f, g in zip(pooled.finders, grades, strict=True)
        ),
    }


@remembered(2)
def _pooled(material: Material, depth: int) -> _Pooled:
    judged = material.read_truth()
    if not isinstance(judged, Judgements):
        raise UsageError("pools need judgements")
    runs = [material.read_run(source, name) for name, source in material.runs]
    ranks = _ranks(runs, depth)
    finders = [set(ranks.get(topic, {}).get(item, ())) for topic, item, _ in judged.rows()]
    if not any(finders):
        raise UsageError(f"no item of the pool of depth {depth} is judged")
    return _Pooled(runs, judged, ranks, finders)


def _score_all(material: Material, pooled: _Pooled, rows: Any) -> list[list[float | None]]:
    from cranfield.evaluation.ranked import evaluate

    judged = pooled.judged.of_rows(rows)
    scores = evaluate(judged, pooled.runs, material.names, jobs=1, **material.evaluation())
    return [numbers(row) for row in np.stack([scores.overall[m] for m in scores.measures], axis=1)]


def _rank(signed: Floats, run: int) -> int:
    """The place of a run: 1 and how many are better."""
    return int(1 + (signed > signed[run]).sum())
