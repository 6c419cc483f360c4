"""Two years of a series compared on what they share: items, and concepts or topics.

The best of many runs is better than the best of few, although no run is. Means of the best values
therefore stand beside those of the expected best of as many runs from either year, and a year is
called better only where runs that are dealt anew to the years seldom differ as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cranfield.campaign.results.results_data import (
    Cell,
    Link,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
    better,
    sign,
    unit_values,
)
from cranfield.campaign.results.units import UnitBest, best_of_units, picture_of
from cranfield.errors import NeedsError, check_counts
from cranfield.measures.base import Measure
from cranfield.stats.anova import one_way
from cranfield.stats.best_of import compare_best
from cranfield.stats.effects import win_tie_loss
from cranfield.stats.paired import t_test

WORST_SHOWN = 5
SIGNIFICANT = 0.05
TESTS = (
    "p: one-way analysis of variance of the best values, which does not know that they are of "
    "the same units; paired p: t-test of their differences, which does; neither knows of how many "
    "runs the values are the best"
)
DEALT = (
    "best of n: the expected best of n runs drawn from each year, n being the runs of the smaller "
    "one; p dealt: how often the years differ as much when the runs of both are dealt to them "
    "anew{teams}; median: of the runs, a mean over the units"
)


@dataclass(frozen=True, slots=True)
class YearPair:
    """An earlier year and this one on what both share.

    `later` is None where this year is compared as it is. `notes` say what is shared and what is
    not; `same_items` is whether both were scored on the same items.
    """

    earlier: ResultsData
    later: ResultsData | None
    notes: tuple[str, ...] = ()
    same_items: bool = False

    def cut(self, material: ResultsData, **parts: Any) -> YearPair:
        """The same pair for some runs and topics of this year; `material` has been cut to them."""
        later = material if self.later is None else self.later.only(**parts)
        return replace(self, later=later)


def compare_years(
    earlier: ResultsData,
    later: ResultsData,
    *,
    names: tuple[str, str] | None = None,
    measures: Sequence[str] | None = None,
    worst: int = WORST_SHOWN,
    notes: Sequence[str] = (),
    same_items: bool = False,
) -> ResultTable:
    """The best that any run reached in each of two years, on the units that both have.

    `names` are what the years are called. Items present in both years come with the worst of
    each year and their value in the other. `notes` say how the scores came to be, `same_items` that
    they are of the same items.
    """
    check_counts(worst=worst)
    called = names or (earlier.year or "earlier", later.year or "later")
    if called[0] == called[1]:
        called = (f"{called[0]} (1)", f"{called[1]} (2)")
    shared = _shared_measures(earlier, later, measures)
    pairs = {m: _paired(earlier, later, m) for m in shared}
    summaries = [
        _summary(m, pairs[m], called) | _dealt(m, pairs[m], earlier, later, called) for m in shared
    ]
    unit = _unit(earlier, shared[0])
    per_unit = [m for m in shared if _unit(earlier, m) == unit]
    parts = [_summary_part(summaries, called, notes, same_items)]
    if unit != "item":
        parts.append(_units_part(unit, per_unit, pairs, called))
    of_items = [m for m in shared if _unit(earlier, m) == "item"]
    parts += [_items_part(m, pairs[m], called, later, worst) for m in of_items]
    title = f"{called[0]} and {called[1]} on what they share"
    facts = {"years": list(called), "measures": {s["measure"]: s for s in summaries}}
    return ResultTable("years", title, "No Tables 10.4, 10.11, Figure 10.5", tuple(parts), facts)


def years_table(
    material: ResultsData,
    *,
    years: Mapping[str, YearPair],
    measures: Sequence[str] | None = None,
    count: int = WORST_SHOWN,
) -> ResultTable:
    """This year beside each of the earlier ones; `count` items are listed per year."""
    this_year = material.year or "this"
    tables = [
        compare_years(
            pair.earlier,
            pair.later or material,
            names=(name, this_year),
            measures=measures,
            worst=count,
            notes=pair.notes,
            same_items=pair.same_items,
        )
        for name, pair in years.items()
    ]
    if len(tables) == 1:
        return tables[0]
    parts = tuple(
        replace(part, name=f"{name} {part.name}")
        for name, table in zip(years, tables, strict=True)
        for part in table.parts
    )
    facts = {name: table.facts for name, table in zip(years, tables, strict=True)}
    title = f"Earlier years and {this_year} on what they share"
    return ResultTable("years", title, tables[0].source, parts, facts)


def _unit(material: ResultsData, measure: Measure) -> str:
    return material.scores.unit_of[measure]


def _shared_measures(
    earlier: ResultsData, later: ResultsData, names: Sequence[str] | None
) -> tuple[Measure, ...]:
    """The measures with values per unit in both years; concepts and topics before items."""
    if names:
        candidates = tuple(later.measure(name) for name in names)
    else:
        candidates = tuple(dict.fromkeys([later.primary, *later.scores.measures]))
    shared = [
        m
        for m in candidates
        if m in earlier.scores.values
        and m in later.scores.values
        and earlier.scores.unit_of[m] == later.scores.unit_of[m] != "whole"
    ]
    if not shared:
        raise NeedsError("the two years share no measure with values per concept, topic or item")
    return tuple(sorted(shared, key=lambda m: later.scores.unit_of[m] == "item"))


def _paired(
    earlier: ResultsData, later: ResultsData, measure: Measure
) -> list[tuple[UnitBest, UnitBest]]:
    """The best of each unit that both years have, in the order of the later year."""
    old = {best.unit: best for best in best_of_units(earlier, measure)}
    new = best_of_units(later, measure)
    pairs = [(old[best.unit], best) for best in new if best.unit in old]
    if not pairs:
        unit = later.scores.unit_of[measure]
        raise NeedsError(f"{measure}: the two years share no {unit}")
    return pairs


def _summary(
    measure: Measure, pairs: Sequence[tuple[UnitBest, UnitBest]], names: tuple[str, str]
) -> dict[str, Any]:
    """Means, wins and tests of a measure over the shared units."""
    old, new = (np.array([pair[i].value for pair in pairs]) for i in (0, 1))
    (counts,) = win_tie_loss(sign(measure) * (new - old))
    summary = {
        "measure": str(measure),
        "shared": len(pairs),
        "means": {names[0]: float(old.mean()), names[1]: float(new.mean())},
        "wins": {names[0]: counts.losses, names[1]: counts.wins},
        "ties": counts.ties,
        "anova_f": None,
        "anova_p": None,
        "paired_p": None,
        "measure_gain": sign(measure),
    }
    if len(pairs) > 1:
        test = one_way([old, new])
        summary |= {"anova_f": test.f, "anova_p": test.p}
        summary["paired_p"] = float(t_test(new - old).p[0])
    return summary


def _dealt(
    measure: Measure,
    pairs: Sequence[tuple[UnitBest, UnitBest]],
    earlier: ResultsData,
    later: ResultsData,
    names: tuple[str, str],
) -> dict[str, Any]:
    """How many runs each year has, their median, and the expected best of as many.

    Where just the best were printed, as one run or with values of some units only, nothing is known
    of how many runs each of them is the best.
    """
    units = [best.unit for best, _ in pairs]
    of_years = [_oriented(material, measure, units) for material in (earlier, later)]
    if any(len(values) < 2 or np.isnan(values).any() for values in of_years):
        return {"runs": None, "medians": None, "best_of": None, "dealt_p": None}
    teams = tuple(
        [material.facts(material.scores.runs[i]).team for i in material.ranked_runs]
        for material in (earlier, later)
    )
    result = compare_best(of_years[0], of_years[1], teams=(teams[0], teams[1]), seed=later.seed)
    medians = [sign(measure) * float(np.median(v, axis=0).mean()) for v in of_years]
    return {
        "runs": dict(zip(names, map(len, of_years), strict=True)),
        "medians": dict(zip(names, medians, strict=True)),
        "best_of": {
            "n": result.n,
            "means": {n: sign(measure) * v for n, v in zip(names, result.means, strict=True)},
            "dealt": "teams" if all(map(all, teams)) else "runs",
            "blocks": result.blocks,
            "least_p": result.least_p,
        },
        "dealt_p": result.p,
    }


def _oriented(material: ResultsData, measure: Measure, units: Sequence[str]) -> Any:
    """The values of the ranked runs on some units, such that more is better."""
    names = material.scores.units[material.scores.unit_of[measure]]
    at = {name: j for j, name in enumerate(names)}
    values = unit_values(material, measure)[list(material.ranked_runs)]
    return sign(measure) * values[:, [at[unit] for unit in units]]


def _summary_part(
    summaries: Sequence[dict[str, Any]],
    names: tuple[str, str],
    shared: Sequence[str],
    same_items: bool,
) -> ResultPart:
    counted = [s for s in summaries if s["runs"] is not None]
    rows: list[tuple[Cell, ...]] = []
    for s in summaries:
        cells: list[Cell] = [s["measure"], s["shared"], *s["means"].values()]
        cells += [*s["wins"].values(), s["ties"], s["anova_f"], s["anova_p"], s["paired_p"]]
        if counted:
            cells += _dealt_cells(s)
        rows.append(tuple(cells))
    columns = [
        ResultColumn("measure", numeric=False),
        ResultColumn("shared", places=0),
        *(ResultColumn(f"mean {name}") for name in names),
        *(ResultColumn(f"wins {name}", places=0) for name in names),
        ResultColumn("ties", places=0),
        ResultColumn("F", places=3),
        ResultColumn("p"),
        ResultColumn("paired p"),
    ]
    if counted:
        columns += [
            *(ResultColumn(f"runs {name}", places=0) for name in names),
            *(ResultColumn(f"median {name}") for name in names),
            ResultColumn("n", "best of n", places=0),
            *(ResultColumn(f"best of n {name}") for name in names),
            ResultColumn("p dealt"),
        ]
    notes = [_verdict(s, names, same_items) for s in summaries] + [*shared, TESTS]
    if counted:
        by_team = counted[0]["best_of"]["dealt"] == "teams"
        notes.append(DEALT.format(teams=", all runs of a team to one year" if by_team else ""))
    title = f"{names[0]} against {names[1]}: means of the best values"
    return ResultPart("summary", title, tuple(columns), tuple(rows), tuple(notes))


def _dealt_cells(summary: dict[str, Any]) -> list[Cell]:
    if summary["runs"] is None:
        return [None] * 8
    best_of = summary["best_of"]
    return [
        *summary["runs"].values(),
        *summary["medians"].values(),
        best_of["n"],
        *best_of["means"].values(),
        summary["dealt_p"],
    ]


def _verdict(summary: dict[str, Any], names: tuple[str, str], same_items: bool) -> str:
    """The comparison of a measure in a sentence."""
    old, new = (summary["means"][name] for name in names)
    text = f"{summary['measure']}: {names[0]} {old:.3f}, {names[1]} {new:.3f}"
    if summary["runs"] is None:
        unknown = "of how many runs these are the best is not known"
        if summary["anova_p"] is None:
            return f"{text}; {unknown}"
        result = "significant" if summary["anova_p"] <= SIGNIFICANT else "not significant"
        return f"{text}; {unknown}; by analysis of variance the difference is {result}"
    best_of, p = summary["best_of"], summary["dealt_p"]
    counts, means = (list(x.values()) for x in (summary["runs"], best_of["means"]))
    text = f"{text}, the best of {counts[0]} and of {counts[1]} runs"
    if counts[0] != counts[1]:
        text += f"; of {best_of['n']} runs each {means[0]:.3f} and {means[1]:.3f} are expected"
    if p > SIGNIFICANT:
        few = ""
        if best_of["least_p"] > SIGNIFICANT:
            few = f", nor could they be with {best_of['blocks']} {best_of['dealt']}"
        return f"{text}; the years cannot be told apart by their runs (p = {p:.3f}){few}"
    gain = 1 if summary["measure_gain"] * (means[1] - means[0]) > 0 else 0
    doubt = "" if same_items else ", or its items are easier"
    return f"{text}; the runs of {names[gain]} are better{doubt} (p = {p:.3f})"


def _units_part(
    unit: str,
    measures: Sequence[Measure],
    pairs: dict[Measure, list[tuple[UnitBest, UnitBest]]],
    names: tuple[str, str],
) -> ResultPart:
    """Both years of every shared unit; `better` names the year that is."""
    units = list(dict.fromkeys(old.unit for m in measures for old, _ in pairs[m]))
    pairs_of = {m: {old.unit: (old, new) for old, new in pairs[m]} for m in measures}
    rows: list[tuple[Cell, ...]] = []
    for name in units:
        cells: list[Cell] = [name]
        for m in measures:
            cells += _year_cells(pairs_of[m].get(name), m, names)
        rows.append(tuple(cells))
    link: Link = "concept" if unit == "concept" else "topic"
    columns = [ResultColumn(unit, numeric=False, link=link)]
    for m in measures:
        columns += [ResultColumn(f"{m} {name}", better="") for name in names]
        columns.append(ResultColumn(f"{m} better", "better", numeric=False))
    title = f"Best per {unit} in {names[0]} and {names[1]}"
    return ResultPart(f"{unit}s", title, tuple(columns), tuple(rows))


def _year_cells(
    pair: tuple[UnitBest, UnitBest] | None, measure: Measure, names: tuple[str, str]
) -> list[Cell]:
    if pair is None:
        return [None, None, ""]
    old, new = (best.value for best in pair)
    gain = sign(measure) * (new - old)
    return [old, new, names[1] if gain > 0 else names[0] if gain < 0 else ""]


def _items_part(
    measure: Measure,
    pairs: Sequence[tuple[UnitBest, UnitBest]],
    names: tuple[str, str],
    material: ResultsData,
    worst: int,
) -> ResultPart:
    """The worst items of each year, and their value in the other."""
    rows: list[tuple[Cell, ...]] = []
    for i, name in enumerate(names):
        goodness = [sign(measure) * pair[i].value for pair in pairs]
        order = [pairs[j] for j in np.argsort(goodness, kind="stable").tolist()]
        rows += [
            (old.unit, name, old.value, new.value, picture_of(material, old.unit))
            for old, new in order[:worst]
        ]
    columns = (
        ResultColumn("item", numeric=False, link="item"),
        ResultColumn("worst in", numeric=False),
        *(ResultColumn(f"{measure} {name}", better=better(measure)) for name in names),
        ResultColumn("picture", numeric=False),
    )
    title = f"Items that both years have, worst by {measure}"
    return ResultPart(f"items {measure}", title, columns, tuple(rows))
