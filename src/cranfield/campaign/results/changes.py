"""Runs that stand elsewhere under another measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.campaign.results.groups import PLAIN
from cranfield.campaign.results.order import RunPlacing, place_runs, sign
from cranfield.campaign.results.results_data import (
    Cell,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
)
from cranfield.errors import NeedsError, check_counts
from cranfield.stats.correlation import kendall


def rank_changes(
    material: ResultsData,
    *,
    measures: Sequence[str] | None = None,
    per_group: bool = False,
    count: int | None = None,
) -> ResultTable:
    """The runs whose place changes most between two measures, the largest change first.

    With `per_group` only the run of each group with the largest change, in the order of the
    first measure, as the thesis has it.
    """
    check_counts(count=count)
    names = list(measures or [str(m) for m in material.scores.measures[:2]])
    if len(names) != 2 or names[0] == names[1]:
        raise NeedsError("a change of rank is between two measures: measures=['EER', 'OS']")
    first, second = (material.measure(name) for name in names)
    tables = place_runs(material, first), place_runs(material, second)
    pairs = [
        (first_place, tables[1][run])
        for run, first_place in tables[0].items()
        if first_place.place is not None and tables[1][run].place is not None
    ]
    rows = [_row(material, *pair) for pair in pairs]
    rows.sort(key=lambda row: -abs(_change(row)))
    if per_group:
        rows = sorted(_one_per_group(rows), key=lambda row: int(row[3] or 0))
    columns = (
        ResultColumn("run", numeric=False, link="run"),
        ResultColumn("team", numeric=False, link="team"),
        ResultColumn("configuration", "conf.", numeric=False),
        ResultColumn(f"{first} place", "place", places=0),
        ResultColumn(str(first), first.mean_label),
        ResultColumn(f"{second} place", "place", places=0),
        ResultColumn(str(second), second.mean_label),
        ResultColumn("change", places=0),
    )
    facts = {
        "measures": [str(first), str(second)],
        "runs": len(pairs),
        "tau": _tau(pairs, sign(first), sign(second)),
    }
    notes = (PLAIN, "change: places gained (+) or lost (-) under the second measure")
    title = f"Change of place from {first} to {second}"
    part = ResultPart("runs", title, columns, tuple(rows[:count]), notes)
    return ResultTable("rank-changes", title, "No Table 7.2", (part,), facts)


def _row(material: ResultsData, first: RunPlacing, second: RunPlacing) -> tuple[Cell, ...]:
    facts = material.facts(first.run)
    change = (first.place or 0) - (second.place or 0)
    return (
        first.run,
        facts.team,
        facts.configuration,
        first.place,
        first.value,
        second.place,
        second.value,
        change,
    )


def _change(row: tuple[Cell, ...]) -> int:
    return int(row[-1] or 0)


def _one_per_group(rows: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    first_rows: dict[Cell, tuple[Cell, ...]] = {}
    for row in rows:
        first_rows.setdefault(row[1] or row[0], row)
    return list(first_rows.values())


def _tau(pairs: Sequence[tuple[RunPlacing, RunPlacing]], *signs: float) -> float | None:
    """Kendall's tau of the two orders, where there is one."""
    if len(pairs) < 2:
        return None
    columns = [np.array([float(pair[i].value or 0) * signs[i] for pair in pairs]) for i in (0, 1)]
    value = float(kendall(*columns).value)
    return None if np.isnan(value) else value
