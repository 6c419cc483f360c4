"""Tables of what changes when truth or units change."""

from __future__ import annotations

from typing import Any

from cranfield.lab.cost_map_measures import forms_of
from cranfield.lab.studies.stability import Stability
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import few_runs, study_document
from cranfield.stats.correlation import DISCORDANT

_TITLES = {
    "noise": "Flipped truth",
    "judgements": "Incomplete truth",
    "units": "Fewer units",
}


def stability_document(answer: Stability) -> Document:
    """A table for each part of the study; for machines one long table."""
    return study_document(answer, _parts(answer), _long(answer))


def _percent(share: float) -> str:
    return f"{100 * share:g}%"


def _stages(answer: Stability, change: str) -> Table:
    """Measures down, stages across: tau to the original, and to the previous stage."""
    stages = [s for s in answer.stages if s.change == change]
    shares = list(dict.fromkeys(s.share for s in stages))
    columns = [Column("measure", numeric=False)]
    columns += [Column(f"original_{s:g}", 3, heading=_percent(s)) for s in shares]
    columns += [Column(f"previous_{s:g}", 3, heading=f"{_percent(s)} prev.") for s in shares]
    columns += [Column(f"concordant_{s:g}", 2, heading=f"{_percent(s)} D") for s in shares]
    rows: list[list[Cell]] = []
    for measure in answer.measures:
        stage_at = {s.share: s for s in stages if s.measure == measure}
        rows.append(
            [
                measure,
                *(stage_at[s].original for s in shares),
                *(stage_at[s].previous for s in shares),
                *(stage_at[s].concordant for s in shares),
            ]
        )
    notes = [
        f"Kendall's tau over {len(answer.runs)} runs to the original ranking and to the stage "
        f"before; mean of {answer.repeats} repetitions;",
        "D: share of repetitions in which Kolmogorov-Smirnov's test finds the ranking "
        f"concordant with the original (level {DISCORDANT:g}){few_runs(len(answer.runs))}.",
    ]
    return Table(columns, rows, _TITLES[change], notes)


def _both_ways(answer: Stability, change: str) -> list[Table]:
    """Cost maps in complete measures and alone, one below the other; stages across."""
    forms = forms_of(answer.measures)
    if not forms:
        return []
    stages = [s for s in answer.stages if s.change == change]
    shares = list(dict.fromkeys(s.share for s in stages))
    stage_at = {(s.measure, s.share): s for s in stages}
    columns = [Column("cost map", numeric=False), Column("measure", numeric=False)]
    columns += [Column(f"original_{s:g}", 3, heading=_percent(s)) for s in shares]
    columns += [Column(f"previous_{s:g}", 3, heading=f"{_percent(s)} prev.") for s in shares]
    rows: list[list[Cell]] = [
        [
            label,
            way_of_use,
            *(stage_at[name, s].original for s in shares),
            *(stage_at[name, s].previous for s in shares),
        ]
        for label, *names in forms
        for way_of_use, name in zip(("complete", "alone"), names, strict=True)
    ]
    return [Table(columns, rows, f"{_TITLES[change]}: cost maps in complete measures and alone")]


def _ranges(answer: Stability, change: str) -> Table:
    """Measures down, stages across: the lowest and the highest tau of the repetitions."""
    stages = [s for s in answer.stages if s.change == change]
    shares = list(dict.fromkeys(s.share for s in stages))
    columns = [Column("measure", numeric=False)]
    for s in shares:
        columns += [
            Column(f"low_{s:g}", 3, heading=f"{_percent(s)} low"),
            Column(f"high_{s:g}", 3, heading="high"),
        ]
    range_at = {(s.measure, s.share): s.original_ends for s in stages}
    rows: list[list[Cell]] = [
        [m, *(end for share in shares for end in range_at[m, share])] for m in answer.measures
    ]
    return Table(columns, rows, f"{_TITLES[change]}: range of the repetitions")


def _parts(answer: Stability) -> list[Table]:
    """A table for each part of the study."""
    tables = []
    for change in dict.fromkeys(s.change for s in answer.stages):
        tables.append(_stages(answer, change))
        tables += _both_ways(answer, change)
        if answer.repeats > 1:
            tables.append(_ranges(answer, change))
    return tables + ([_order(answer)] if answer.swaps or answer.powers else [])


def _long(answer: Stability) -> Table:
    """For machines: every change, share and measure in a row of its own."""
    names = (
        "original",
        "original_low",
        "original_high",
        "previous",
        "previous_low",
        "previous_high",
        "concordant",
        "concordant_previous",
    )
    columns = [
        Column("change", numeric=False),
        Column("share"),
        Column("measure", numeric=False),
        *(Column(n) for n in names),
    ]
    rows: list[list[Cell]] = [
        [
            s.change,
            s.share,
            s.measure,
            s.original,
            *s.original_ends,
            s.previous,
            *s.previous_ends,
            s.concordant,
            s.concordant_previous,
        ]
        for s in answer.stages
    ]
    return Table(columns, rows) if rows else _order(answer)


def _order(answer: Stability) -> Table:
    """Swap rate and discriminative power of every measure."""
    swaps = {s.measure: s for s in answer.swaps}
    powers = {p.measure: p for p in answer.powers}
    columns = [Column("measure", numeric=False)]
    if swaps:
        columns += [
            Column("swap_rate", heading="swap rate", best="min"),
            Column("swap_needed", heading="needed for 5%"),
        ]
    if powers:
        columns += [
            Column("power", heading="told apart", best="max"),
            Column("power_needed", heading="needed to tell"),
        ]
    rows = []
    for m in answer.measures:
        row: list[Any] = [m]
        if swaps:
            row += [swaps[m].rate, swaps[m].needed] if m in swaps else [None, None]
        if powers:
            row += [powers[m].share, powers[m].needed] if m in powers else [None, None]
        rows.append(row)
    notes = [
        "swap rate: two halves of the units order a pair of runs oppositely; needed for 5%: "
        "difference from which on no more than that swap;",
        "told apart: share of pairs of runs that a bootstrap test separates; needed to tell: "
        "the difference that is enough for every pair.",
    ]
    return Table(columns, rows, "Order of runs under other units", notes)
