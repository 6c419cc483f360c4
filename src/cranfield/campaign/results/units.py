"""The best of every concept, topic or item over all runs, and who reached it.

Parts of a collection side by side: sets of concepts, or configurations of runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.campaign.results.results_data import (
    Cell,
    Link,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
    better,
    place_runs,
    sign,
    unit_measure,
    unit_values,
)
from cranfield.errors import NeedsError, check_counts
from cranfield.measures.base import Measure
from cranfield.stats.anova import NEGATIVE_ALPHA, cronbach_alpha

SEVERAL = " / "
WORST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class UnitBest:
    """The best value of a unit over the ranked runs, and the runs that have it."""

    unit: str
    value: float
    runs: tuple[str, ...]


def best_of_units(material: ResultsData, measure: Measure) -> list[UnitBest]:
    """The best of every unit that a ranked run has a value for, in the order of the units."""
    values = sign(measure) * unit_values(material, measure)[list(material.ranked_runs)]
    if not values.size:
        raise NeedsError(f"{measure}: no ranked run has values")
    names = material.scores.units[material.scores.unit_of[measure]]
    runs = [material.scores.runs[i] for i in material.ranked_runs]
    defined = ~np.isnan(values)
    filled = np.where(defined, values, -np.inf)
    top = filled.max(axis=0)
    winners = []
    for j in np.flatnonzero(defined.any(axis=0)).tolist():
        holders = np.flatnonzero(filled[:, j] == top[j]).tolist()
        # Zero is zero: no minus sign comes of turning the values.
        value = float(sign(measure) * top[j]) + 0.0
        winners.append(UnitBest(names[j], value, tuple(runs[i] for i in holders)))
    return winners


def best_per_concept(
    material: ResultsData, *, measures: Sequence[str] | None = None
) -> ResultTable:
    """The best value of every concept with its group and configuration, and counts of both."""
    return _best_per_unit(material, "concept", measures, "No Tables 10.4, 10.10")


def best_per_topic(material: ResultsData, *, measures: Sequence[str] | None = None) -> ResultTable:
    """The best value of every topic with its group and configuration, and counts of both."""
    return _best_per_unit(material, "topic", measures, "as No Table 10.10, for topics")


def _best_per_unit(
    material: ResultsData, unit: Link, names: Sequence[str] | None, source: str
) -> ResultTable:
    """Teams and counts are by the first of the measures; of others the best value and its run."""
    measure, *others = _unit_measures(material, unit, names)
    winners = best_of_units(material, measure)
    of_others = [{b.unit: b for b in best_of_units(material, other)} for other in others]
    rows: list[tuple[Cell, ...]] = []
    for best in winners:
        teams, configurations = _teams(material, best), _configurations(material, best)
        cells: list[Cell] = [best.unit, best.value]
        cells += [SEVERAL.join(c) for c in (teams, configurations, best.runs)]
        for by_unit in of_others:
            other = by_unit.get(best.unit)
            cells += [None, ""] if other is None else [other.value, SEVERAL.join(other.runs)]
        rows.append(tuple(cells))
    columns = [
        ResultColumn(unit, numeric=False, link=unit),
        ResultColumn(str(measure), better=better(measure)),
        ResultColumn("team", numeric=False, link="team"),
        ResultColumn("configuration", "conf.", numeric=False),
        ResultColumn("run", numeric=False, link="run"),
    ]
    for other_measure in others:
        columns += [
            ResultColumn(str(other_measure), better=better(other_measure)),
            ResultColumn(f"{other_measure} run", "run", numeric=False, link="run"),
        ]
    notes = (f"{SEVERAL.strip()}: several share the best value",)
    title = f"Best per {unit}, by {measure}"
    every = [winners, *(list(by_unit.values()) for by_unit in of_others)]
    ranges = {
        str(m): [best.value for best in values]
        for m, values in zip((measure, *others), every, strict=True)
    }
    parts = [ResultPart(f"{unit}s", title, tuple(columns), tuple(rows), notes)]
    parts.append(_ranges(ranges, unit))
    by_team = _counted(_teams(material, best) for best in winners)
    by_configuration = _counted(_configurations(material, best) for best in winners)
    parts += [
        _counts(part, heading, counts, link)
        for part, heading, counts, link in (
            ("configurations", "configuration", by_configuration, ""),
            ("teams", "team", by_team, "team"),
        )
        if counts
    ]
    facts = {
        "measure": str(measure),
        "units": len(winners),
        "mean_of_best": float(np.mean([best.value for best in winners])),
        "by_configuration": by_configuration,
        "by_team": by_team,
    }
    return ResultTable(f"best-per-{unit}", title, source, tuple(parts), facts)


def _unit_measures(material: ResultsData, unit: str, names: Sequence[str] | None) -> list[Measure]:
    """The measures asked for, else all that have values per unit, the primary one before."""
    if names:
        return [unit_measure(material, unit, name) for name in names]
    first, scores = unit_measure(material, unit, None), material.scores
    others = [m for m in scores.measures if scores.unit_of[m] == unit and m in scores.values]
    return list(dict.fromkeys([first, *others]))


def _ranges(values: Mapping[str, Sequence[float]], unit: str) -> ResultPart:
    """The mean, the least and the greatest of the best values, a row per measure."""
    rows: list[tuple[Cell, ...]] = [
        (name, len(best), float(np.mean(best)), min(best), max(best))
        for name, best in values.items()
    ]
    columns = (
        ResultColumn("measure", numeric=False),
        ResultColumn("units", f"{unit}s", places=0),
        ResultColumn("mean"),
        ResultColumn("least"),
        ResultColumn("greatest"),
    )
    return ResultPart("mean", f"The best values of all {unit}s", columns, tuple(rows))


def _teams(material: ResultsData, best: UnitBest) -> list[str]:
    team_names = (material.facts(run).team or run for run in best.runs)
    # Printed figures may name several teams of one value in the same way.
    return list(dict.fromkeys(team for names in team_names for team in names.split(SEVERAL)))


def _configurations(material: ResultsData, best: UnitBest) -> list[str]:
    configurations = (material.facts(run).configuration for run in best.runs)
    return list(dict.fromkeys(c for c in configurations if c))


def _counted(names: Iterable[Sequence[str]]) -> dict[str, int]:
    """How many units each name is best in, alone or with others; the most first."""
    return dict(Counter(name for group in names for name in group).most_common())


def _counts(name: str, heading: str, counts: dict[str, int], link: str) -> ResultPart:
    columns = (
        ResultColumn(heading, numeric=False, link="team" if link else ""),
        ResultColumn("best in", places=0),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(counts.items())
    return ResultPart(name, f"Best in how many, by {heading}", columns, rows)


def best_per_item(
    material: ResultsData, *, measure: str | None = None, count: int | None = WORST_SHOWN
) -> ResultTable:
    """The items that even the best run does worst, with their pictures.

    `count` is how many are listed; None lists all.
    """
    check_counts(count=count)
    scored_measure = unit_measure(material, "item", measure)
    winners = best_of_units(material, scored_measure)
    order = sorted(winners, key=lambda best: sign(scored_measure) * best.value)
    names = material.scores.units["item"]
    values = unit_values(material, scored_measure)[list(material.ranked_runs)]
    at = {name: j for j, name in enumerate(names)}
    rows: list[tuple[Cell, ...]] = []
    for best in order[:count]:
        column = values[:, at[best.unit]]
        mean = float(column[~np.isnan(column)].mean())
        run = best.runs[0] if len(best.runs) == 1 else f"{len(best.runs)} runs"
        text = material.texts.items.get(best.unit, "")
        rows.append((best.unit, best.value, mean, run, text, picture_of(material, best.unit)))
    columns = (
        ResultColumn("item", numeric=False, link="item"),
        ResultColumn(str(scored_measure), f"best {scored_measure}", better=""),
        ResultColumn("mean", "mean of runs"),
        ResultColumn("run", numeric=False, link="run"),
        ResultColumn("text", numeric=False),
        ResultColumn("picture", numeric=False),
    )
    best_values = [best.value for best in winners]
    title = f"Items that no run does well, by {scored_measure}"
    facts = {
        "measure": str(scored_measure),
        "units": len(winners),
        "mean_of_best": float(np.mean(best_values)),
        "least": min(best_values),
        "greatest": max(best_values),
    }
    parts = (
        ResultPart("items", title, columns, tuple(rows)),
        _ranges({str(scored_measure): best_values}, "item"),
    )
    return ResultTable("best-per-item", title, "No 10.7.2, Figure 10.5", parts, facts)


def picture_of(material: ResultsData, item: str) -> str:
    """Where the picture of an item is: a file, or a tile of the sheet; nothing without one."""
    path = material.texts.pictures.get(item)
    if path is not None:
        return path.name
    sheet = material.texts.sheet
    if sheet is None or item not in sheet:
        return ""
    x, y = sheet.tile(item)
    return f"{sheet.path.name}#{x},{y},{sheet.width},{sheet.height}"


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
    unit = unit or ("topic" if material.task == "ranked" else "concept")
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
