"""Best runs of groups: over all runs, and within each configuration."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.campaign.results.answer import Cell, ResultColumn, ResultPart, ResultTable
from cranfield.campaign.results.material import Material
from cranfield.campaign.results.order import Placed, better, placed
from cranfield.measures._spec import Measure

PLAIN = "place: by the means alone, among all ranked runs; equal means share a place"
TESTED = "rank: 1 + the number of runs that are significantly better"
UNRANKED = "rows without a place are baselines"


def best_per_group(material: Material, *, measures: Sequence[str] | None = None) -> ResultTable:
    """The best run of every group under each measure, chosen anew for each.

    Groups are sorted by the primary measure; baselines stand where their value puts them.
    """
    chosen = _chosen(material, measures)
    part = _best(material, chosen, "groups", "Best run per group")
    return ResultTable("best-per-group", part.title, "No Tables 10.3, 10.5, 10.6", (part,))


def _chosen(material: Material, names: Sequence[str] | None) -> tuple[Measure, ...]:
    """The measures asked for; else all, the primary one first."""
    if names:
        return tuple(material.measure(name) for name in names)
    others = (m for m in material.scores.measures if m != material.primary)
    return (material.primary, *others)


def _best(material: Material, measures: Sequence[Measure], name: str, title: str) -> ResultPart:
    tables = [placed(material, m) for m in measures]
    members: dict[str, list[str]] = {}
    for run in tables[0]:  # the best first, under the first measure
        facts = material.facts(run)
        members.setdefault(run if facts.baseline else facts.team or run, []).append(run)
    with_rank = bool(material.standings)
    rows = [_row(material, group, runs, tables, with_rank) for group, runs in members.items()]
    notes = [PLAIN, *([TESTED] if with_rank else [])]
    if len(material.ranked_runs) < len(material.scores.runs):
        notes.append(UNRANKED)
    return ResultPart(name, title, _columns(measures, with_rank), tuple(rows), tuple(notes))


def _row(
    material: Material,
    group: str,
    runs: Sequence[str],
    tables: Sequence[dict[str, Placed]],
    with_rank: bool,
) -> tuple[Cell, ...]:
    baseline = material.facts(runs[0]).baseline
    cells: list[Cell] = [group, None if baseline else len(runs)]
    for table in tables:
        # The tables are sorted: the first of the group's runs is its best.
        best = next(one for run, one in table.items() if run in set(runs))
        cells += [best.place, *([best.rank] if with_rank else [])]
        cells += [best.value, best.run, material.facts(best.run).configuration]
    return tuple(cells)


def _columns(measures: Sequence[Measure], with_rank: bool) -> tuple[ResultColumn, ...]:
    columns = [
        ResultColumn("group", numeric=False, link="team"),
        ResultColumn("runs", "#", places=0),
    ]
    for m in measures:
        name = str(m)
        columns.append(ResultColumn(f"{name} place", "place", places=0))
        if with_rank:
            columns.append(ResultColumn(f"{name} rank", "rank", places=0))
        columns += [
            ResultColumn(name, m.mean_label, better=better(m)),
            ResultColumn(f"{name} run", "run", numeric=False, link="run"),
            ResultColumn(f"{name} configuration", "conf.", numeric=False),
        ]
    return tuple(columns)
