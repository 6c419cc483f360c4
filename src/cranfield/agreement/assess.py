"""Coefficients of a whole log: overall, per concept, per annotator, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from cranfield.agreement.coefficients import (
    Coefficient,
    Tallies,
    UnitCounts,
    choose_coefficients,
    unit_counts,
)
from cranfield.agreement.intervals import Key, resampled_intervals
from cranfield.agreement.majority import accuracy_to_majority, vote
from cranfield.data.judgement_log import JudgementLog
from cranfield.notes import Progress

Values = dict[str, float]
Intervals = dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The coefficients of one concept, group or category, with their intervals if asked for."""

    name: str
    units: int
    values: Values
    intervals: Intervals


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
    """An annotator: how much was judged, and how much of it as the majority did."""

    annotator: str
    judgements: int
    accuracy_to_majority: float


@dataclass(frozen=True, slots=True)
class Assessed:
    """Coefficients of a log; `ties` is the number of units without a clear majority."""

    coefficients: tuple[str, ...]
    overall: AgreementRow
    concepts: tuple[AgreementRow, ...]
    annotators: tuple[AnnotatorRow, ...]
    ties: int


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are drawn."""

    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0


def assess(
    log: JudgementLog,
    coefficients: str = "standard",
    *,
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> Assessed:
    """Coefficients of agreement over all units of a log and for each of its concepts.

    In a category log without groups the rows are the categories, each against all others.
    """
    watcher = Progress.of(progress)
    selection = choose_coefficients(coefficients, numeric=log.levels is not None)
    everything = unit_counts(log)
    if log.kind == "category" and log.allowed is None:
        overall, *rows = _category_rows(log, everything, selection, resampling, watcher)
    else:
        steps = len(log.concepts) + 2
        overall = _row("overall", everything, selection, resampling, watcher.part(0.0, 1 / steps))
        rows = []
        for i, name in enumerate(log.concepts):
            part = watcher.part((i + 1) / steps, (i + 2) / steps)
            rows.append(_row(name, unit_counts(log, i), selection, resampling, part))
    votes = vote(log)
    share, judged = accuracy_to_majority(log, votes)
    people = tuple(
        AnnotatorRow(name, int(judged[a]), float(share[a]))
        for a, name in enumerate(log.annotators)
        if judged[a]
    )
    return Assessed(
        tuple(c.name for c in selection), overall, tuple(rows), people, int(votes.tied.sum())
    )


def _row(
    name: str,
    counts: UnitCounts,
    coefficients: Sequence[Coefficient],
    resampling: Resampling | None,
    progress: Progress,
) -> AgreementRow:
    progress(0.0)
    tallies = counts.tallies()
    values = {c.name: c.value(tallies) for c in coefficients}
    intervals = _drawn(counts, {c.name: c.value for c in coefficients}, resampling, progress)
    return AgreementRow(name, int(tallies.units), values, intervals)


def _category_rows(
    log: JudgementLog,
    counts: UnitCounts,
    coefficients: Sequence[Coefficient],
    resampling: Resampling | None,
    progress: Progress,
) -> list[AgreementRow]:
    """All categories together, then each against all others, from the same samples of items."""

    def value(coefficient: Coefficient, category: int, tallies: Tallies) -> float:
        return coefficient.value(tallies if category < 0 else tallies.one_against_rest(category))

    names = ("overall", *log.values)
    functions = {
        (k, c.name): partial(value, c, k) for k in range(-1, len(log.values)) for c in coefficients
    }
    intervals = _drawn(counts, functions, resampling, progress)
    total = counts.tallies()
    return [
        AgreementRow(
            name,
            int(total.units),
            {c.name: functions[k, c.name](total) for c in coefficients},
            {c.name: intervals[k, c.name] for c in coefficients} if intervals else {},
        )
        for k, name in enumerate(names, start=-1)
    ]


def _drawn(
    counts: UnitCounts,
    functions: Mapping[Key, Callable[[Tallies], float]],
    resampling: Resampling | None,
    progress: Progress,
) -> dict[Key, tuple[float, float]]:
    if resampling is None:
        return {}
    return resampled_intervals(
        counts,
        functions,
        resamples=resampling.resamples,
        confidence=resampling.confidence,
        rng=resampling.seed,
        progress=progress,
    )
