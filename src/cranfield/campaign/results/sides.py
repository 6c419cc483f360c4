"""Parts of a collection side by side: sets of concepts, or configurations of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cranfield.campaign.results.order import better, place_runs, unit_measure, unit_values
from cranfield.campaign.results.results_data import (
    Cell,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
)
from cranfield.campaign.results.units import best_of_units
from cranfield.errors import NeedsError
from cranfield.measures.base import Measure
from cranfield.stats.cronbach import NEGATIVE_ALPHA, cronbach_alpha


def side_by_side(
    material: ResultsData,
    *,
    sets: Mapping[str, Sequence[str]] | None = None,
    unit: str | None = None,
    measure: str | None = None,
) -> ResultTable:
    """Some concepts beside others (or items, topics); without sets, the configurations of runs.

    For each: how good the best is on average, how good the runs are, who leads, and Cronbach's
    alpha, which tells how far the part would order the runs alike.
    """
    unit = unit or ("concept" if material.task == "labels" else "topic")
    scored_measure = unit_measure(material, unit, measure)
    if sets:
        parts = {n: material.only(**{f"{unit}s": names}) for n, names in sets.items()}
        source = "No 10.7.4, expert and crowd concepts"
    else:
        if len(material.configurations) < 2:
            raise NeedsError("give sets=..., or runs of several configurations")
        parts = {c: material.only(configurations=[c]) for c in material.configurations}
        source = "No 10.7.4, three configurations"
    rows = [_row(name, part, scored_measure) for name, part in parts.items()]
    columns = (
        ResultColumn("part", numeric=False),
        ResultColumn("runs", places=0),
        ResultColumn("units", f"{unit}s", places=0),
        ResultColumn("best", "mean of the best", better=better(scored_measure)),
        ResultColumn("mean", "mean of all runs", better=better(scored_measure)),
        ResultColumn("leader", numeric=False, link="run"),
        ResultColumn("value", scored_measure.mean_label, better=better(scored_measure)),
        ResultColumn("alpha", "Cronbach's alpha", places=3, better="max"),
    )
    title = f"Side by side, by {scored_measure}"
    alphas = [row[-1] for row in rows if isinstance(row[-1], float)]
    notes = (NEGATIVE_ALPHA.format(units=f"{unit}s"),) if min(alphas, default=0) < 0 else ()
    head = ResultPart("parts", title, columns, tuple(rows), notes)
    tables = (head, _runs(material, parts, scored_measure)) if sets else (head,)
    return ResultTable("side-by-side", title, source, tables, {"measure": str(scored_measure)})


def _row(name: str, part: ResultsData, measure: Measure) -> tuple[Cell, ...]:
    values = unit_values(part, measure)[list(part.ranked_runs)]
    best = best_of_units(part, measure)
    leader = next((p for p in place_runs(part, measure).values() if p.place == 1), None)
    defined = values[~np.isnan(values)]
    alpha = math.nan if np.isnan(values).any() else cronbach_alpha(values)
    return (
        name,
        len(values),
        len(best),
        float(np.mean([b.value for b in best])),
        float(defined.mean()),
        "" if leader is None else leader.run,
        None if leader is None else leader.value,
        None if math.isnan(alpha) else alpha,
    )


def _runs(material: ResultsData, parts: Mapping[str, ResultsData], measure: Measure) -> ResultPart:
    """Every run on every part, the best of the first part first."""
    tables = {name: place_runs(part, measure) for name, part in parts.items()}
    first = next(iter(tables.values()))
    rows: list[tuple[Cell, ...]] = []
    for run in first:
        cells: list[Cell] = [run, material.facts(run).team]
        for table in tables.values():
            cells += [table[run].place, table[run].value]
        rows.append(tuple(cells))
    columns = [
        ResultColumn("run", numeric=False, link="run"),
        ResultColumn("team", numeric=False, link="team"),
    ]
    for name in tables:
        columns += [
            ResultColumn(f"{name} place", "place", places=0),
            ResultColumn(name, better=better(measure)),
        ]
    title = f"Runs on each part, by {measure}"
    return ResultPart("runs", title, tuple(columns), tuple(rows))
