"""Can a pool be used again: what would it have meant for a run not to help to make it?

Thesis 3.2.3. A collection can be used again when a run that did not help to make the pool is not
treated worse for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.campaign.pool import ranks_within
from cranfield.data import Judgements, Run
from cranfield.errors import UsageError, plural
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.lab.study_input import RankedMaterial, StudyInput
from cranfield.notes import Watcher, with_progress
from cranfield.stats._resample import Floats
from cranfield.validation import validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import cache_answers, floats, numbers


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


@dataclass(frozen=True, repr=False, eq=False)
class Reusability(Answer):
    """The leave-one-out effect on every run."""

    command: ClassVar[str] = "lab pool"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:reusability_document"

    depth: int
    runs: tuple[LeftOut, ...]

    def headline(self) -> str:
        count = len({r.run for r in self.runs})
        return f"each of {plural(count, 'run')} left out of the pool of depth {self.depth}"

    def payload(self, **_: object) -> dict[str, Any]:
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

    material: RankedMaterial
    depth: int
    without: int


@dataclass(frozen=True, eq=False)
class _Pooled:
    """Runs, judgements, and for each of these which runs have its item within the depth."""

    runs: list[Run]
    judged: Judgements
    ranks: dict[str, dict[str, dict[int, int]]]
    finders: list[set[int]]


@validate_params
@with_progress
def leave_one_out(
    material: StudyInput,
    *,
    depth: int = 100,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Reusability:
    """Judge every run by the pool of the others alone.

    All is measured on the judgements that the pool of this depth covers; without a run, the
    items that it alone brought into the pool are unjudged for it and for all others.
    """
    if not isinstance(material, RankedMaterial):
        raise UsageError("pools are made of rankings; read annotations by StudyInput.concepts")
    material.need_runs(2)
    plan = plan or Plan()
    material = material.for_plan(plan)
    pieces = {"": _Piece(material, depth, -1)}
    pieces |= {name: _Piece(material, depth, r) for r, name in enumerate(material.run_names)}
    study = {"study": "pool", **material.described(), "depth": depth}
    answers = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    full = floats(answers[""]["scores"])
    rows = []
    for r, run in enumerate(material.run_names):
        without = floats(answers[run]["scores"])
        for j, measure in enumerate(material.measures):
            sign = material.signs[j]
            rows.append(
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
    return Reusability(depth, tuple(rows), notes=tuple(answers[""]["notes"]))


def _run_piece(task: _Piece) -> Plain:
    """The scores of all runs, and what the one left out had found alone."""
    pooled = _pooled(task.material, task.depth)
    alone = {task.without}
    pooled_rows = [bool(f) and f != alone for f in pooled.finders]
    finders = [places for topic in pooled.ranks.values() for places in topic.values()]
    grades = pooled.judged.values
    scores = _score_all(task.material, pooled, np.flatnonzero(pooled_rows))
    columns = [scores.overall[m] for m in scores.measures]
    return {
        "scores": [numbers(row) for row in np.stack(columns, axis=1)],
        "notes": list(scores.notes),
        "unique": sum(set(places) == alone for places in finders),
        "relevant": sum(
            f == alone and bool(g >= 1) for f, g in zip(pooled.finders, grades, strict=True)
        ),
    }


@cache_answers(2)
def _pooled(material: RankedMaterial, depth: int) -> _Pooled:
    judged = material.read_judgements()
    runs = [material.read_run(source, name) for name, source in material.runs]
    ranks = ranks_within(runs, depth)
    finders = [set(ranks.get(topic, {}).get(item, ())) for topic, item, _ in judged.rows()]
    if not any(finders):
        raise UsageError(f"no item of the pool of depth {depth} is judged")
    return _Pooled(runs, judged, ranks, finders)


def _score_all(material: RankedMaterial, pooled: _Pooled, rows: Any) -> Scores:
    judged = pooled.judged.of_rows(rows)
    return evaluate(judged, pooled.runs, material.names, jobs=1, **material.evaluation())


def _rank(signed: Floats, run: int) -> int:
    """The place of a run: 1 and how many are better."""
    return int(1 + (signed > signed[run]).sum())
