"""Agreement of a whole log: overall, per concept, per annotator, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.agreement.coefficients import Coefficient, choose_coefficients
from cranfield.agreement.intervals import bootstrap_intervals
from cranfield.agreement.majority import accuracy_to_majority, vote
from cranfield.agreement.tallies import Tallies, UnitCounts, unit_counts
from cranfield.data.judgement_log import JudgementLog

Values = dict[str, float]
Intervals = dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Row:
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


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far the annotators of a log agree."""

    coefficients: tuple[str, ...]
    overall: Row
    concepts: tuple[Row, ...]
    annotators: tuple[AnnotatorRow, ...]
    ties: int


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are drawn."""

    resamples: int = 1000
    confidence: float = 0.95
    seed: int | None = 0


def assess_agreement(
    log: JudgementLog,
    coefficients: str = "standard",
    *,
    bootstrap: Bootstrap | None = None,
    progress: Callable[[float], None] | None = None,
) -> Agreement:
    """Coefficients of agreement over all units of a log and for each of its concepts.

    In a category log without groups the rows are the categories, each against all others.
    """
    chosen = choose_coefficients(coefficients, numeric=log.levels is not None)
    names = _row_names(log)
    everything = unit_counts(log)
    whole = everything.tallies()
    overall = _row("overall", everything, whole, chosen, bootstrap, 0)
    rows: list[Row] = []
    for i, name in enumerate(names):
        if progress is not None:
            progress((i + 1) / (len(names) + 2))
        if _by_category(log):
            two = whole.one_against_rest(i)
            folded = everything if bootstrap is None else everything.one_against_rest(i)
            rows.append(_row(name, folded, two, chosen, bootstrap, i + 1))
        else:
            counts = unit_counts(log, i)
            rows.append(_row(name, counts, counts.tallies(), chosen, bootstrap, i + 1))
    votes = vote(log)
    share, judged = accuracy_to_majority(log, votes)
    people = tuple(
        AnnotatorRow(name, int(judged[a]), float(share[a]))
        for a, name in enumerate(log.annotators)
        if judged[a]
    )
    return Agreement(
        tuple(c.name for c in chosen), overall, tuple(rows), people, int(votes.tied.sum())
    )


def _by_category(log: JudgementLog) -> bool:
    return log.kind == "category" and log.allowed is None


def _row_names(log: JudgementLog) -> tuple[str, ...]:
    return log.values if _by_category(log) else log.concepts


def _row(
    name: str,
    counts: UnitCounts,
    tallies: Tallies,
    chosen: Sequence[Coefficient],
    bootstrap: Bootstrap | None,
    stream: int,
) -> Row:
    values = {c.name: c.value(tallies) for c in chosen}
    return Row(name, int(tallies.units), values, _drawn(counts, chosen, bootstrap, stream))


def _drawn(
    counts: UnitCounts, chosen: Sequence[Coefficient], bootstrap: Bootstrap | None, stream: int
) -> Intervals:
    if bootstrap is None:
        return {}
    seed = None if bootstrap.seed is None else [bootstrap.seed, stream]
    return bootstrap_intervals(
        counts, chosen, resamples=bootstrap.resamples, confidence=bootstrap.confidence,
        rng=np.random.default_rng(seed),
    )  # fmt: skip
