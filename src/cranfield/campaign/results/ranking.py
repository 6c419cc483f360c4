"""Runs in order: the best of each group and configuration, and changes between two measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cranfield.campaign.results.results_data import (
    Cell,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
    RunPlacing,
    better,
    place_runs,
    sign,
)
from cranfield.errors import NeedsError, check_counts
from cranfield.measures.base import Measure
from cranfield.stats.correlation import kendall

PLAIN = "place: by the means alone, among all ranked runs; equal means share a place"
TESTED = "rank: 1 + the number of ranked runs that are significantly better"
UNRANKED = "rows without a place are baselines"
# Where the truth is not sure: what it leaves open, and it and the choice of topics together.
OPEN_ENDS = ("truth low", "truth high", "both low", "both high")
DESCRIBED = ("features", "classifier")


def best_per_group(material: ResultsData, *, measures: Sequence[str] | None = None) -> ResultTable:
    """The best run of every group under each measure, chosen anew for each.

    Groups are sorted by the first measure; baselines stand where their value puts them.
    """
    part = _best(material, _chosen(material, measures), "groups", "Best run per group")
    return ResultTable("best-per-group", part.title, "No Tables 10.3, 10.5, 10.6", (part,))


def per_configuration(
    material: ResultsData, *, measures: Sequence[str] | None = None
) -> ResultTable:
    """The best run of every group within each configuration, placed among the runs of it."""
    if not material.configurations:
        raise NeedsError("no run says its configuration")
    parts = []
    for configuration in material.configurations:
        within = material.only(configurations=[configuration])
        title = f"Best run per group in configuration {configuration}"
        part = _best(within, _chosen(within, measures), configuration, title)
        remarks = (
            note.replace("ranked runs", "ranked runs of the configuration") for note in part.notes
        )
        parts.append(replace(part, notes=tuple(remarks)))
    title = "Best run per group within each configuration"
    return ResultTable("per-configuration", title, "No Tables 10.7-10.9", tuple(parts))


def all_runs(material: ResultsData, *, measures: Sequence[str] | None = None) -> ResultTable:
    """Every run with its facts, its places under each measure, and what tests leave open."""
    selection = _chosen(material, measures)
    tables = [place_runs(material, m) for m in selection]
    rows = [_run_row(material, run, selection, tables) for run in tables[0]]
    columns = [
        ResultColumn("run", numeric=False, link="run"),
        ResultColumn("team", numeric=False, link="team"),
        ResultColumn("configuration", "conf.", numeric=False),
    ]
    for m in selection:
        columns += _measure_columns(m, bool(material.ranks))
        if material.standings:
            ends = ("low", "high", *(OPEN_ENDS if material.is_unsure else ()))
            columns += [ResultColumn(f"{m} {end}", end) for end in ends]
            columns.append(ResultColumn(f"{m} group", "group", numeric=False))
    notes = _notes(material)
    if material.standings:
        notes += ("low, high: interval of the mean; runs without a common letter differ",)
    if material.is_unsure and material.comparison is not None:
        notes += (material.comparison.interval_parts(),)
    part = ResultPart("runs", "All runs", tuple(columns), tuple(rows), notes)
    return ResultTable("runs", part.title, "No 10.7", (part,))


def _run_row(
    material: ResultsData,
    run: str,
    measures: Sequence[Measure],
    tables: Sequence[dict[str, RunPlacing]],
) -> tuple[Cell, ...]:
    facts = material.facts(run)
    cells: list[Cell] = [run, facts.team, facts.configuration]
    for measure, table in zip(measures, tables, strict=True):
        cells += _placed_cells(table[run], bool(material.ranks))
        if material.standings:
            standing = material.standings.get((str(measure), run))
            ends: tuple[float | None, ...] = (None, None) if standing is None else standing.ci
            if material.is_unsure:
                ends += (None,) * len(OPEN_ENDS) if standing is None else standing.open_ends
            letters = "" if standing is None or facts.baseline else standing.group
            cells += [*ends, letters]
    return tuple(cells)


def _chosen(material: ResultsData, names: Sequence[str] | None) -> tuple[Measure, ...]:
    """The measures asked for; else all, the primary one first."""
    if names:
        return tuple(material.measure(name) for name in names)
    others = (m for m in material.scores.measures if m != material.primary)
    return (material.primary, *others)


def _best(material: ResultsData, measures: Sequence[Measure], name: str, title: str) -> ResultPart:
    tables = [place_runs(material, m) for m in measures]
    members: dict[str, list[str]] = {}
    for run in tables[0]:  # the best first, under the first measure
        facts = material.facts(run)
        members.setdefault(run if facts.baseline else facts.team or run, []).append(run)
    described = [d for d in DESCRIBED if any(getattr(material.facts(r), d) for r in tables[0])]
    rows = [_row(material, group, runs, tables, described) for group, runs in members.items()]
    columns = [
        ResultColumn("group", numeric=False, link="team"),
        ResultColumn("runs", "#", places=0),
        *(ResultColumn(d, numeric=False) for d in described),
    ]
    for m in measures:
        columns += [
            *_measure_columns(m, bool(material.ranks)),
            ResultColumn(f"{m} run", "run", numeric=False, link="run"),
            ResultColumn(f"{m} configuration", "conf.", numeric=False),
        ]
    return ResultPart(name, title, tuple(columns), tuple(rows), _notes(material))


def _row(
    material: ResultsData,
    group: str,
    runs: Sequence[str],
    tables: Sequence[dict[str, RunPlacing]],
    described: Sequence[str],
) -> tuple[Cell, ...]:
    # What is said of a group is said of its best run under the first measure.
    facts = material.facts(runs[0])
    cells: list[Cell] = [group, None if facts.baseline else len(runs)]
    cells += [getattr(facts, name) for name in described]
    group_runs = set(runs)
    for table in tables:
        # The tables are sorted: the first of the group's runs is its best.
        best = next(placing for run, placing in table.items() if run in group_runs)
        cells += _placed_cells(best, bool(material.ranks))
        cells += [best.run, material.facts(best.run).configuration]
    return tuple(cells)


def _placed_cells(placing: RunPlacing, with_rank: bool) -> list[Cell]:
    return [placing.place, *([placing.rank] if with_rank else []), placing.value]


def _measure_columns(measure: Measure, with_rank: bool) -> list[ResultColumn]:
    columns = [ResultColumn(f"{measure} place", "place", places=0)]
    if with_rank:
        columns.append(ResultColumn(f"{measure} rank", "rank", places=0))
    columns.append(ResultColumn(str(measure), measure.mean_label, better=better(measure)))
    return columns


def _notes(material: ResultsData) -> tuple[str, ...]:
    notes = [PLAIN]
    if material.ranks:
        notes.append(TESTED)
    if len(material.ranked_runs) < len(material.scores.runs):
        notes.append(UNRANKED)
    return tuple(notes)


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
    rows = [_change_row(material, *pair) for pair in pairs]
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


def _change_row(material: ResultsData, first: RunPlacing, second: RunPlacing) -> tuple[Cell, ...]:
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
