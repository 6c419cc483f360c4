"""Agreement of a whole log: overall, per concept, per annotator, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from cranfield.agreement.coefficients import Coefficient, choose_coefficients
from cranfield.agreement.intervals import Key, bootstrap_intervals
from cranfield.agreement.majority import accuracy_to_majority, vote
from cranfield.agreement.tallies import Tallies, UnitCounts, unit_counts
from cranfield.data.judgement_log import JudgementLog
from cranfield.errors import UsageError

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
    everything = unit_counts(log)
    if log.kind == "category" and log.allowed is None:
        overall, *rows = _category_rows(log, everything, chosen, bootstrap)
    else:
        overall = _row("overall", everything, chosen, bootstrap, 0)
        rows = []
        for i, name in enumerate(log.concepts):
            if progress is not None:
                progress((i + 1) / (len(log.concepts) + 2))
            rows.append(_row(name, unit_counts(log, i), chosen, bootstrap, i + 1))
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


def _row(
    name: str,
    counts: UnitCounts,
    chosen: Sequence[Coefficient],
    bootstrap: Bootstrap | None,
    stream: int,
) -> Row:
    tallies = counts.tallies()
    values = {c.name: c.value(tallies) for c in chosen}
    intervals = _drawn(counts, {c.name: c.value for c in chosen}, bootstrap, stream)
    return Row(name, int(tallies.units), values, intervals)


def _category_rows(
    log: JudgementLog,
    counts: UnitCounts,
    chosen: Sequence[Coefficient],
    bootstrap: Bootstrap | None,
) -> list[Row]:
    """All categories together, then each against all others, from the same samples of items."""

    def value(coefficient: Coefficient, category: int, tallies: Tallies) -> float:
        return coefficient.value(tallies if category < 0 else tallies.one_against_rest(category))

    names = ("overall", *log.values)
    functions = {
        (k, c.name): partial(value, c, k) for k in range(-1, len(log.values)) for c in chosen
    }
    drawn = _drawn(counts, functions, bootstrap, 0)
    whole = counts.tallies()
    return [
        Row(
            name,
            int(whole.units),
            {c.name: functions[k, c.name](whole) for c in chosen},
            {c.name: drawn[k, c.name] for c in chosen} if drawn else {},
        )
        for k, name in enumerate(names, start=-1)
    ]


def _drawn(
    counts: UnitCounts,
    functions: Mapping[Key, Callable[[Tallies], float]],
    bootstrap: Bootstrap | None,
    stream: int,
) -> dict[Key, tuple[float, float]]:
    if bootstrap is None:
        return {}
    if bootstrap.seed is not None and bootstrap.seed < 0:
        raise UsageError(f"seed {bootstrap.seed} is below 0")
    seed = None if bootstrap.seed is None else [bootstrap.seed, stream]
    return bootstrap_intervals(
        counts,
        functions,
        resamples=bootstrap.resamples,
        confidence=bootstrap.confidence,
        rng=np.random.default_rng(seed),
    )
