"""What to judge next, from runs and the ledger of what was drawn and judged before.

A ledger has a row for each cell that was given out: the round, the probability with which it was
drawn, and its judgement. All else follows from it, the runs and the seed, so that anybody can draw
the rounds again and compare the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.campaign.adaptive_judging import (
    WORTH,
    AdaptiveJudging,
    CandidateCells,
    Round,
)
from cranfield.campaign.pool import ranks_within, read_annotation, read_each
from cranfield.data.labels import concept_rankings
from cranfield.errors import InputError, UsageError, plural
from cranfield.io.coerce import JudgementsForm, coerce_judgements, coerce_run, name_runs
from cranfield.io.files import FileForm, Input, csv_rows, describe, open_text
from cranfield.measures import measure as parse_measure
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import DRAWN_METHODS, JudgingMethod
from cranfield.stats._resample import Floats, Ints
from cranfield.validation import Seed, validate_params

LEDGER_HEAD = ("topic", "item", "round", "probability", "relevance")


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A row of the ledger: a cell, the round that it was drawn in and with which probability.

    `probability` is None where it was not drawn by chance, `relevance` where it is not judged yet.
    Cells of round 0 were judged before.
    """

    topic: str
    item: str
    round: int
    probability: float | None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The mean of a run were everything judged, with an interval that holds at every look."""

    run: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairState:
    """What may be said of two runs: `better` has the higher estimate.

    `state` is settled (complete judgements would find the difference significant), equal (they
    would not) or open. `evidence` is the e-value of the order.
    """

    better: str
    worse: str
    difference: float
    low: float
    high: float
    evidence: float
    state: str


@dataclass(frozen=True, repr=False, eq=False)
class NextJudgements(Answer):
    """The cells to judge next, what may be said already, and whether to stop."""

    command: ClassVar[str] = "truth next"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:next_judgements_document"

    measure: str
    method: str
    alpha: float
    round: int
    seed: int
    candidates: int
    judged: int
    cells: tuple[DrawnCell, ...]
    runs: tuple[RunEstimate, ...]
    pairs: tuple[PairState, ...]
    stop: str
    judge_saves: float | None

    def headline(self) -> str:
        settled = sum(p.state != "open" for p in self.pairs)
        what = self.stop or f"{plural(len(self.cells), 'cell')} to judge in round {self.round}"
        if not self.pairs:
            return what
        return (
            f"{what}; {settled} of {plural(len(self.pairs), 'pair')} settled under {self.measure}"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "method": self.method,
            "alpha": self.alpha,
            "round": self.round,
            "seed": self.seed,
            "candidates": self.candidates,
            "judged": self.judged,
            "stop": self.stop,
            "judge_saves": self.judge_saves,
            "cells": [
                {"topic": c.topic, "item": c.item, "round": c.round, "probability": c.probability}
                for c in self.cells
            ],
            "runs": [
                {"run": r.run, "mean": r.mean, "low": r.low, "high": r.high} for r in self.runs
            ],
            "pairs": [
                {
                    "better": p.better,
                    "worse": p.worse,
                    "difference": p.difference,
                    "low": p.low,
                    "high": p.high,
                    "evidence": p.evidence,
                    "state": p.state,
                }
                for p in self.pairs
            ],
        }


def read_ledger(source: FileForm) -> list[DrawnCell]:
    """The rows of a ledger: CSV with the columns topic, item, round, probability, relevance."""
    name = describe(source)
    cells: list[DrawnCell] = []
    with open_text(source) as stream:
        rows = csv_rows(stream, name)
        header = [cell.strip() for cell in next(rows, (0, []))[1]]
        if not set(LEDGER_HEAD) <= set(header):
            message = f"expected a header with {', '.join(LEDGER_HEAD)}"
            raise InputError.single(name, message, 1)
        for line, row in rows:
            values = dict(zip(header, (cell.strip() for cell in row), strict=False))
            try:
                cell = DrawnCell(
                    values["topic"],
                    values["item"],
                    int(values["round"]),
                    float(values["probability"]) if values.get("probability") else None,
                    float(values["relevance"]) if values.get("relevance") else None,
                )
            except (KeyError, ValueError):
                message = "expected a topic, an item, a round, a probability and a relevance"
                raise InputError.single(name, message, line) from None
            if not cell.topic or not cell.item or cell.round < 0:
                raise InputError.single(name, "expected a topic, an item and a round", line)
            if cell.probability is not None and not 0 < cell.probability <= 1:
                message = f"the probability {cell.probability:g} is not above 0 and up to 1"
                raise InputError.single(name, message, line)
            if cell.relevance is not None and not math.isfinite(cell.relevance):
                raise InputError.single(name, "the relevance is not a number", line)
            cells.append(cell)
    return cells


def ledger_rows(cells: Iterable[DrawnCell]) -> list[tuple[str | int, ...]]:
    """The rows of a ledger as CSV has them, the header first."""

    def shown(value: float | None) -> str:
        return "" if value is None else f"{value:.12g}"

    rows = ((c.topic, c.item, c.round, shown(c.probability), shown(c.relevance)) for c in cells)
    return [LEDGER_HEAD, *rows]


def judge_opinions(judge: JudgementsForm) -> dict[str, dict[str, float]]:
    """The relevance that a model judge gives, from 0 to 1: its grades by the highest one."""
    rows = coerce_judgements(judge).to_dict()
    top = max((g for items in rows.values() for g in items.values()), default=1.0)
    return {
        topic: {item: max(grade, 0.0) / max(top, 1.0) for item, grade in items.items()}
        for topic, items in rows.items()
    }


@validate_params
@with_progress
def next_judgements(
    runs: Any,
    measure: str = "P@10",
    *,
    ledger: Sequence[DrawnCell] | FileForm = (),
    count: int = 100,
    depth: int = 100,
    method: JudgingMethod = "sampled",
    judge: JudgementsForm | None = None,
    budget: int | None = None,
    first: int | None = None,
    alpha: float = 0.05,
    labels: bool = False,
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> NextJudgements:
    """The cells of a pool to judge next, and what may be said of the runs already.

    `ledger` has what was drawn and judged before, as a file or as `DrawnCell`; `judge` are the
    judgements of a model. With `budget` judgements in all, judging stops where the rest can settle
    no other pair of runs; with `first` once the order of so many runs is settled. Methods other
    than `sampled` and `even` draw no cell by chance: they come without intervals and claims. With
    `labels` the runs are annotations: a cell is a concept and an item, a topic of the ledger is a
    concept, and the measure holds for the ranking of the items of each concept by confidence.
    """
    for name, value in (("count", count), ("depth", depth), ("budget", budget), ("first", first)):
        if value is not None and value < 1:
            raise UsageError(f"{name}={value} is not a whole number from 1 on")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} is not between 0 and 1")
    watched, notes = Progress.of(progress), Notes()
    named = name_runs(runs)
    reader: Callable[[Any, str], Any] = read_annotation if labels else coerce_run
    read = read_each(named, reader, watched.part(0.0, 0.4))
    rankings = concept_rankings(read) if labels else read
    past = read_ledger(ledger) if isinstance(ledger, str | Path | Input) else _drawn_cells(ledger)
    cells = CandidateCells.of(
        [name for name, _ in named],
        ranks_within(rankings, depth),
        None if judge is None else judge_opinions(judge),
    )
    measure_object = parse_measure(measure)
    judging = AdaptiveJudging(
        cells,
        measure_object,
        method=method,
        alpha=alpha,
        expected=max(1, (budget or 3 * len(cells) // 10) // count),
        seed=rng,
    )
    watched(0.5)
    level = float(measure_object.value_of("rel")) if "rel" in measure_object.params else 1.0
    replay_ledger(judging, past, level, notes)
    watched(0.8)
    return _answer(judging, count, budget, first, notes)


def _drawn_cells(ledger: object) -> list[DrawnCell]:
    cells: list[DrawnCell] = []
    for cell in ledger if isinstance(ledger, Iterable) else [ledger]:
        if not isinstance(cell, DrawnCell):
            raise UsageError(f"ledger has {cell!r:.60} (expected: a file, or DrawnCell)")
        cells.append(cell)
    return cells


def replay_ledger(
    judging: AdaptiveJudging, past: Sequence[DrawnCell], level: float, notes: Notes
) -> None:
    """Judge again what a ledger has, round by round; notes where a probability is another one."""
    rounds: dict[int, list[DrawnCell]] = {}
    for cell in past:
        rounds.setdefault(cell.round, []).append(cell)
    position, seen = judging.cells.position, set[int]()
    for number in sorted(rounds):
        rows = rounds[number]
        open_rows = [c for c in rows if c.relevance is None]
        if open_rows:
            raise UsageError(
                f"round {number} has {plural(len(open_rows), 'cell')} without a judgement, such as "
                f"{open_rows[0].topic} {open_rows[0].item}: judge them first"
            )
        unknown = [c for c in rows if (c.topic, c.item) not in position]
        if unknown:
            raise UsageError(
                f"the pool of these runs has no cell {unknown[0].topic} {unknown[0].item}, which "
                f"round {number} of the ledger has"
            )
        places = np.array([position[c.topic, c.item] for c in rows], dtype=np.int64)
        twice = len(set(places.tolist())) < len(places) or not seen.isdisjoint(places.tolist())
        if twice:
            raise UsageError(f"round {number} of the ledger has a cell that was judged before")
        seen.update(places.tolist())
        relevance = np.array([float(c.relevance or 0.0) >= level for c in rows], dtype=np.float64)
        if number == 0:
            judging.know(places, relevance)
            continue
        chances = np.array([math.nan if c.probability is None else c.probability for c in rows])
        _check_draw(judging, places, chances, len(rows), number, notes)
        judging.record(Round(number, places, chances), relevance)


def _check_draw(
    judging: AdaptiveJudging,
    places: Ints,
    chances: Floats,
    count: int,
    number: int,
    notes: Notes,
) -> None:
    """A note where the runs and the seed draw other cells, or by other probabilities."""
    if judging.method not in DRAWN_METHODS or not np.isfinite(chances).all():
        return
    again = judging.propose(count)
    drawn = dict(zip(again.cells.tolist(), again.probabilities.tolist(), strict=True))
    same = all(
        math.isclose(drawn.get(p, 0.0), c, rel_tol=1e-3)
        for p, c in zip(places.tolist(), chances.tolist(), strict=True)
    )
    if not same:
        notes.add(
            f"round {number}: these runs and this seed draw other cells or probabilities; those of "
            "the ledger count"
        )


def _answer(
    judging: AdaptiveJudging, count: int, budget: int | None, first: int | None, notes: Notes
) -> NextJudgements:
    cells, judged = judging.cells, int(np.count_nonzero(judging.judged))
    left = None if budget is None else budget - judged
    stop, estimates, pairs = "", [], list[PairState]()
    if judging.promises and judging.rounds:
        look = judging.look()
        stop = judging.stop_reason(look, first=first, left=left)
        means, radii = judging.intervals()
        estimates = [
            # No run has less than 0 of a measure that may be promised, or more than 1.
            RunEstimate(run, float(m), max(0.0, float(m - h)), min(1.0, float(m + h)))
            for run, m, h in zip(cells.runs, means, radii, strict=True)
        ]
        for n, (a, b) in enumerate(look.pairs.tolist()):
            difference = float(look.difference[n])
            better, worse = (a, b) if difference >= 0 else (b, a)
            radius = float(look.radius[n])
            state = "settled" if look.claimed[n] else "equal" if look.excluded[n] else "open"
            size = abs(difference)
            pairs.append(
                PairState(
                    cells.runs[better],
                    cells.runs[worse],
                    size,
                    size - radius,
                    size + radius,
                    float(look.evidence[n]),
                    state,
                )
            )
    elif judging.is_exact:
        stop = "all that matters for the measure is judged"
    elif left is not None and left <= 0:
        stop = "the budget is spent"
    if not judging.promises:
        notes.add("cells that are not drawn by chance: no intervals, and nothing may be claimed")
    saves = judging.judge_saves
    if saves is not None:
        worth = (
            f"saves {saves:.0%} of the judgements" if saves >= WORTH else "is not worth its calls"
        )
        notes.add(f"the model judge {worth}, as far as the rounds show")
    drawn: tuple[DrawnCell, ...] = ()
    if not stop:
        proposal = judging.propose(count if left is None else max(min(count, left), 1))
        drawn = tuple(
            DrawnCell(
                cells.topics[cells.topic[p]],
                cells.items[p],
                proposal.number,
                float(c) if math.isfinite(c) else None,
            )
            for p, c in zip(proposal.cells.tolist(), proposal.probabilities, strict=True)
        )
    return NextJudgements(
        str(judging.measure),
        judging.method,
        judging.alpha,
        judging.rounds + 1,
        judging.seed,
        len(cells),
        judged,
        drawn,
        tuple(sorted(estimates, key=lambda r: -r.mean)),
        tuple(pairs),
        stop,
        saves,
        notes=notes.lines(),
    )
