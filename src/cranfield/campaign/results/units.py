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
    Material,
    ResultColumn,
    ResultPart,
    ResultTable,
)
from cranfield.errors import NeedsError, check_counts
from cranfield.measures.base import Measure

SEVERAL = " / "
WORST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Best:
    """The best value of a unit over the ranked runs, and the runs that have it."""

    unit: str
    value: float
    runs: tuple[str, ...]


def best_of_units(material: Material, measure: Measure) -> list[Best]:
    """The best of every unit that a ranked run has a value for, in the order of the units."""
    values = sign(measure) * unit_values(material, measure)[list(material.ranked_runs)]
    if not values.size:
        raise NeedsError(f"{measure}: no ranked run has values")
    names = material.scores.units[material.scores.unit_of[measure]]
    runs = [material.scores.runs[i] for i in material.ranked_runs]
    known = ~np.isnan(values)
    filled = np.where(known, values, -np.inf)
    top = filled.max(axis=0)
    found = []
    for j in np.flatnonzero(known.any(axis=0)).tolist():
        holders = np.flatnonzero(filled[:, j] == top[j]).tolist()
        # Zero is zero: no minus sign comes of turning the values.
        value = float(sign(measure) * top[j]) + 0.0
        found.append(Best(names[j], value, tuple(runs[i] for i in holders)))
    return found


def best_per_concept(material: Material, *, measure: str | None = None) -> ResultTable:
    """The best value of every concept with its group and configuration, and counts of both."""
    return _best_per_unit(material, "concept", measure, "No Tables 10.4, 10.10")


def best_per_topic(material: Material, *, measure: str | None = None) -> ResultTable:
    """The best value of every topic with its group and configuration, and counts of both."""
    return _best_per_unit(material, "topic", measure, "as No Table 10.10, for topics")


def _best_per_unit(material: Material, unit: Link, name: str | None, source: str) -> ResultTable:
    measure = unit_measure(material, unit, name)
    found = best_of_units(material, measure)
    rows: list[tuple[Cell, ...]] = []
    for best in found:
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
    by_team = _counted(_teams(material, best) for best in found)
    by_configuration = _counted(_configurations(material, best) for best in found)
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
        "units": len(found),
        "mean_of_best": float(np.mean([best.value for best in found])),
        "by_configuration": by_configuration,
        "by_team": by_team,
    }
    return ResultTable(f"best-per-{unit}", title, source, tuple(parts), facts)


def _teams(material: Material, best: Best) -> list[str]:
    found = (material.facts(run).team or run for run in best.runs)
    # Printed figures may name several teams of one value in the same way.
    return list(dict.fromkeys(team for names in found for team in names.split(SEVERAL)))


def _configurations(material: Material, best: Best) -> list[str]:
    found = (material.facts(run).configuration for run in best.runs)
    return list(dict.fromkeys(c for c in found if c))


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
    material: Material, *, measure: str | None = None, count: int | None = WORST_SHOWN
) -> ResultTable:
    """The items that even the best run does worst, with their pictures.

    `count` is how many are listed; None lists all.
    """
    check_counts(count=count)
    chosen = unit_measure(material, "item", measure)
    found = best_of_units(material, chosen)
    order = sorted(found, key=lambda best: sign(chosen) * best.value)
    names = material.scores.units["item"]
    values = unit_values(material, chosen)[list(material.ranked_runs)]
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
        ResultColumn(str(chosen), f"best {chosen}", better=""),
        ResultColumn("mean", "mean of runs"),
        ResultColumn("run", numeric=False, link="run"),
        ResultColumn("text", numeric=False),
        ResultColumn("picture", numeric=False),
    )
    best_values = [best.value for best in found]
    title = f"Items that no run does well, by {chosen}"
    facts = {
        "measure": str(chosen),
        "units": len(found),
        "mean_of_best": float(np.mean(best_values)),
        "least": min(best_values),
        "greatest": max(best_values),
    }
    part = ResultPart("items", title, columns, tuple(rows))
    return ResultTable("best-per-item", title, "No 10.7.2, Figure 10.5", (part,), facts)


def picture_of(material: Material, item: str) -> str:
    """Where the picture of an item is: a file, or a tile of the sheet; nothing without one."""
    path = material.texts.pictures.get(item)
    if path is not None:
        return path.name
    sheet = material.texts.sheet
    if sheet is None or item not in sheet:
        return ""
    left, top = sheet.tile(item)
    return f"{sheet.path.name}#{left},{top},{sheet.width},{sheet.height}"
