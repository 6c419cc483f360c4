"""The best of every concept, topic or item over all runs, and who reached it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cranfield.campaign.results.order import better, sign, unit_measure, unit_values
from cranfield.campaign.results.results_data import (
    Cell,
    Link,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
)
from cranfield.errors import NeedsError, check_counts
from cranfield.measures.base import Measure

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


def best_per_concept(material: ResultsData, *, measure: str | None = None) -> ResultTable:
    """The best value of every concept with its group and configuration, and counts of both."""
    return _best_per_unit(material, "concept", measure, "No Tables 10.4, 10.10")


def best_per_topic(material: ResultsData, *, measure: str | None = None) -> ResultTable:
    """The best value of every topic with its group and configuration, and counts of both."""
    return _best_per_unit(material, "topic", measure, "as No Table 10.10, for topics")


def _best_per_unit(material: ResultsData, unit: Link, name: str | None, source: str) -> ResultTable:
    measure = unit_measure(material, unit, name)
    winners = best_of_units(material, measure)
    rows: list[tuple[Cell, ...]] = []
    for best in winners:
        teams, configurations = _teams(material, best), _configurations(material, best)
        cells = SEVERAL.join(teams), SEVERAL.join(configurations), SEVERAL.join(best.runs)
        rows.append((best.unit, best.value, *cells))
    columns = (
        ResultColumn(unit, numeric=False, link=unit),
        ResultColumn(str(measure), better=better(measure)),
        ResultColumn("team", numeric=False, link="team"),
        ResultColumn("configuration", "conf.", numeric=False),
        ResultColumn("run", numeric=False, link="run"),
    )
    notes = (f"{SEVERAL.strip()}: several share the best value",)
    title = f"Best per {unit}, by {measure}"
    parts = [ResultPart(f"{unit}s", title, columns, tuple(rows), notes)]
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
    part = ResultPart("items", title, columns, tuple(rows))
    return ResultTable("best-per-item", title, "No 10.7.2, Figure 10.5", (part,), facts)


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
