"""What the pages of published results say: one answer per page, made of scores in hand."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cranfield.campaign.results.ranking import OPEN_ENDS as HEADINGS
from cranfield.campaign.results.results_data import (
    Cell,
    Link,
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
)
from cranfield.comparison.answer import Comparison, Pairs, Standing, interval_parts, stars
from cranfield.comparison.doubtful import doubtful_standings
from cranfield.comparison.standings import shared_ranks
from cranfield.comparison.summary import comparison_verdict
from cranfield.evaluation.scores import Scores, join_names, score_verdict
from cranfield.measures import Measure
from cranfield.stats.intervals import FEW_UNITS, few_units


@dataclass(frozen=True, repr=False, eq=False)
class View(ResultTable):
    """A page: its parts, what is known of its subject, and the verdict on them."""

    command: ClassVar[str] = "publish"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:results_document"

    verdict: tuple[str, ...] = ()

    def payload(self, **_: object) -> dict[str, Any]:
        """The page as JSON: the verdict first."""
        return {"verdict": list(self.verdict), **super().payload()}


def text(name: str, heading: str = "", link: Link = "") -> ResultColumn:
    """A column of names or words."""
    return ResultColumn(name, heading, numeric=False, link=link)


def count(name: str, heading: str = "") -> ResultColumn:
    """A column of whole numbers."""
    return ResultColumn(name, heading, places=0)


BEST_RUNS = "group"
# What the truth leaves open of an interval, and what it and the choice of topics do together.
OPEN_ENDS = tuple((heading.replace(" ", "_"), heading) for heading in HEADINGS)
NO_FACTS: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Gap:
    """How far a run is from the baseline, and how sure that is."""

    difference: float | None
    p: float | None
    stars: str
    mark: str


def leaderboard(
    scores: Scores,
    comparison: Comparison | None,
    run_facts: Mapping[str, Any] = NO_FACTS,
    *,
    measure: Measure | None = None,
    baseline: str | None = None,
    configuration: str | None = None,
    best: str = "all",
    title: str = "",
) -> View:
    """The runs under a measure, best first.

    Ranks are among all runs that compete, also where only those of one configuration or the
    best one of every team (`best="group"`) are listed. Baselines stand where they belong, but
    have no rank.
    """
    ranked_measure = measure or scores.measures[0]
    outside = {run for run in scores.runs if getattr(run_facts.get(run), "baseline", False)}
    standings = _standings(scores, comparison, ranked_measure)
    ranks = _ranks(comparison, ranked_measure, standings, outside)
    gaps = gaps_to(comparison, str(ranked_measure), baseline)
    rows: list[tuple[Cell, ...]] = []
    seen: set[str] = set()
    for standing in standings:
        facts = run_facts.get(standing.run)
        team = str(getattr(facts, "team", "") or "")
        config = str(getattr(facts, "configuration", "") or "")
        config = config or ("baseline" if standing.run in outside else "")
        if configuration is not None and config != configuration:
            continue
        if best == BEST_RUNS and team:
            if team in seen:
                continue
            seen.add(team)
        rows.append((*ranks[standing.run], *_row(standing, team, config, gaps)))
    best_end = {True: "max", False: "min", None: ""}[ranked_measure.higher_is_better]
    digits = 0 if ranked_measure.averaging == "sum" else 4
    fields: tuple[ResultColumn, ...] = (
        count("place"),
        count("rank"),
        text("spread"),
        text("group"),
        text("team", link="team"),
        text("run", link="run"),
        text("configuration", "conf."),
        ResultColumn("mean", ranked_measure.mean_label, places=digits, better=best_end),
        ResultColumn("ci_low", "low", places=digits),
        ResultColumn("ci_high", "high", places=digits),
        *(ResultColumn(name, heading, places=digits) for name, heading in OPEN_ENDS),
        ResultColumn("difference", f"vs {baseline}", places=digits),
        text("stars", "sig."),
    )
    title = title or _title(configuration, best)
    fields, rows = _without_empty(fields, rows, keep={"run", "mean", "place"})
    notes = _notes(scores, ranked_measure, comparison, fields)
    part = ResultPart("leaderboard", title, fields, tuple(rows), notes, ranked_measure.finite_range)
    return View(
        name="leaderboard",
        title=title,
        source="No Tables 10.3-10.6",
        parts=(part,),
        facts={
            "task": scores.task,
            "measure": str(ranked_measure),
            "mean_name": ranked_measure.mean_label,
            "higher_is_better": ranked_measure.higher_is_better,
            "unit": scores.unit_of[ranked_measure],
            "units": len(scores.units.get(scores.unit_of[ranked_measure], ())),
            "runs": len(scores.runs),
            "baseline": baseline,
            "configuration": configuration,
            "best": best,
        },
        verdict=verdict_of(scores, comparison, ranked_measure),
        notes=scores.notes,
    )


def _title(configuration: str | None, best: str) -> str:
    if configuration is not None:
        return f"Runs with configuration {configuration}"
    return "The best run of every team" if best == BEST_RUNS else "All runs"


def verdict_of(scores: Scores, comparison: Comparison | None, measure: Measure) -> tuple[str, ...]:
    """The sentences of the comparison where the measure was tested, else of the scores."""
    if comparison is not None and str(measure) in comparison.pairs.measures:
        return comparison_verdict(scores, comparison, measure)
    return score_verdict(scores, measure)


def _standings(
    scores: Scores, comparison: Comparison | None, measure: Measure
) -> tuple[Standing, ...]:
    """The runs best first; without tests they have neither group nor spread."""
    if comparison is not None and str(measure) in comparison.pairs.measures:
        return tuple(s for s in comparison.standings if s.measure == str(measure))
    places = shared_ranks(scores, measure)
    boxes = scores.interval() if measure in scores.values else {}
    standings = []
    for run, mean, place in zip(scores.runs, scores.plain_means(measure), places, strict=True):
        box = boxes.get(run, {}).get(str(measure))
        ends = (math.nan, math.nan) if box is None else (box.low, box.high)
        standings.append(
            Standing(str(measure), run, mean, ends, place, (None, None), 0, "", (0, 0))
        )
    if scores.doubt is not None:
        standings = list(doubtful_standings(scores, standings, 0.05))
    return tuple(sorted(standings, key=lambda s: (math.isnan(s.mean), s.place)))


def _ranks(
    comparison: Comparison | None,
    measure: Measure,
    standings: Sequence[Standing],
    outside: Collection[str],
) -> dict[str, tuple[Cell, ...]]:
    """Place, rank, spread and group of every run among those that compete."""
    beaten = _beaten_by(comparison, str(measure), outside)
    places = [s.place for s in standings if s.run in outside]
    rank_cells: dict[str, tuple[Cell, ...]] = {}
    for s in standings:
        if s.run in outside or math.isnan(s.mean):
            rank_cells[s.run] = (None, None, "", "")
            continue
        better = sum(place < s.place for place in places)
        if s.rank == 0:  # nothing was tested
            rank_cells[s.run] = (s.place - better, None, "", "")
            continue
        low, high = s.rank_spread
        above, below = beaten.get(s.run, (0, 0))
        # What baselines took of the order is given back: those above, and those not below.
        low, high = low - above, high - (len(outside) - below)
        rank_cells[s.run] = (s.place - better, s.rank - above, _span(low, high), s.group)
    return rank_cells


def _beaten_by(
    comparison: Comparison | None, measure: str, outside: Collection[str]
) -> dict[str, tuple[int, int]]:
    """How many of the runs outside are significantly better, and worse, than each other run."""
    if comparison is None or not outside or measure not in comparison.pairs.measures:
        return {}
    counts: dict[str, tuple[int, int]] = {}
    columns = _pairs_with(comparison, measure, outside).lists()
    for a, b, mark in zip(columns["a"], columns["b"], columns["mark"], strict=True):
        for run, opponent, better in ((a, b, "down"), (b, a, "up")):
            if opponent in outside and mark:
                above, below = counts.get(run, (0, 0))
                counts[run] = (above + 1, below) if mark == better else (above, below + 1)
    return counts


def _pairs_with(comparison: Comparison, measure: str, runs: Collection[str]) -> Pairs:
    """The pairs under a measure in which one of some runs is; few of very many."""
    pairs = comparison.pairs
    involved = np.zeros(len(pairs), dtype=bool)
    for at in map(comparison.runs.index, runs):
        involved |= (pairs.columns["a"] == at) | (pairs.columns["b"] == at)
    involved &= pairs.columns["measure"] == pairs.measures.index(measure)
    return pairs.chosen(np.flatnonzero(involved))


def gaps_to(comparison: Comparison | None, measure: str, baseline: str | None) -> dict[str, Gap]:
    """The difference of every run to the baseline, where the two were compared."""
    if comparison is None or baseline is None or measure not in comparison.pairs.measures:
        return {}
    gaps: dict[str, Gap] = {}
    turned = {"up": "down", "down": "up", "": ""}
    columns = _pairs_with(comparison, measure, [baseline]).lists()
    names = ("a", "b", "difference", "p_corrected", "mark")
    for a, b, gap, p, mark in zip(*(columns[n] for n in names), strict=True):
        run, sign = (a, 1.0) if b == baseline else (b, -1.0)
        sure = None if math.isnan(p) else p
        direction = mark if sign > 0 else turned[mark]
        gaps[run] = Gap(_number(sign * gap), sure, stars(p) if mark else "", direction)
    return gaps


def _row(
    standing: Standing, team: str, configuration: str, gaps: Mapping[str, Gap]
) -> tuple[Cell, ...]:
    gap = gaps.get(standing.run)
    return (
        team,
        standing.run,
        configuration,
        _number(standing.mean),
        *map(_number, (*standing.ci, *standing.open_ends)),
        None if gap is None else gap.difference,
        "" if gap is None else gap.stars,
    )


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _without_empty(
    fields: tuple[ResultColumn, ...], rows: list[tuple[Cell, ...]], keep: Collection[str]
) -> tuple[tuple[ResultColumn, ...], list[tuple[Cell, ...]]]:
    """Columns that say nothing in any row are left out."""
    filled = [
        f.name in keep or any(row[j] not in (None, "") for row in rows)
        for j, f in enumerate(fields)
    ]
    columns = tuple(f for f, t in zip(fields, filled, strict=True) if t)
    return columns, [tuple(v for v, t in zip(row, filled, strict=True) if t) for row in rows]


def _notes(
    scores: Scores,
    measure: Measure,
    comparison: Comparison | None,
    fields: Sequence[ResultColumn],
) -> tuple[str, ...]:
    """What the columns mean, in place."""
    names = {f.name for f in fields}
    share = f"{100 * (1 - comparison.alpha):g} %" if comparison is not None else "95 %"
    notes = ["place: the order of the means; a baseline has none."]
    if "rank" in names:
        notes.append("rank: 1 + the number of runs that are significantly better.")
        notes.append("spread: the places that the tests leave open.")
    if "group" in names:
        notes.append("group: two runs share no letter exactly when they differ significantly.")
    # Intervals are over what was sampled, whatever the measure averages over.
    sampled = scores.sampled(measure) if measure in scores.values else None
    unit = scores.unit_of[measure] if sampled is None else sampled[0]
    if "truth_low" in names:
        notes.append(f"The lines in a row: {share} intervals by {unit}s, by both, by the truth.")
        notes.append(interval_parts(unit) if comparison is None else comparison.interval_parts())
    elif "ci_low" in names:
        notes.append(f"The line in a row is the {share} interval of the mean, the dot the mean.")
    units = len(scores.units.get(unit, ()))
    if "ci_low" in names and units < FEW_UNITS:
        notes.append(few_units(units, unit) + ".")
    if "stars" in names:
        notes.append("*, **, ***: p at most 0.05, 0.01, 0.001 after correction.")
    if comparison is not None:
        notes += comparison.footnotes()[1:]
    return tuple(notes)


# How many runs the page without a choice compares, the best ones.
MOST_RUNS = 20


def pairs_view(comparison: Comparison, measure: Measure, runs: Sequence[str], unit: str) -> View:
    """The pairs of some runs under a measure, the largest differences first.

    Runs are ahead by the values of single units, whatever was drawn to test their mean.
    """
    name = str(measure)
    pairs = comparison.pairs.where(name).among(set(runs))
    lists = pairs.lists()
    order = sorted(range(len(pairs)), key=lambda k: -abs(lists["difference"][k]))
    rows: list[tuple[Cell, ...]] = []
    for k in order:
        low, high = lists["ci"][k]
        rows.append(
            (
                lists["a"][k],
                lists["b"][k],
                _number(lists["difference"][k]),
                _number(low),
                _number(high),
                _number(lists["p_corrected"][k]),
                lists["stars"][k],
                lists["wins"][k],
                lists["ties"][k],
                lists["losses"][k],
            )
        )
    columns = (
        text("a", link="run"),
        text("b", link="run"),
        ResultColumn("difference", "a - b"),
        ResultColumn("ci_low", "low"),
        ResultColumn("ci_high", "high"),
        ResultColumn("p_corrected", "p corrected"),
        text("stars", "sig."),
        count("wins", "a better"),
        count("ties", "level"),
        count("losses", "b better"),
    )
    differ = sum(bool(mark) for mark in lists["mark"])
    notes = (*comparison.footnotes(), f"a better, level, b better: counts of {unit}s")
    title = f"Pairs by {measure.mean_label}"
    return View(
        "compare",
        title,
        "",
        (ResultPart("pairs", title, columns, tuple(rows), notes),),
        facts={"measure": name, "runs": list(runs)},
        verdict=(
            f"{differ} of {len(pairs)} pairs of {len(runs)} runs differ significantly "
            f"by {measure.mean_label}.",
        )
        if len(pairs)
        else (),
    )


RANKS = ("place", "rank", "spread", "group")
DISTANCE = ("difference", "stars")


class Values:
    """The values of material as plain lists, put together once for all pages."""

    def __init__(self, material: ResultsData) -> None:
        self.material, self.scores = material, material.scores
        measures = [m for m in self.scores.measures if m in self.scores.values]
        self.by_unit: dict[str, list[Measure]] = {}
        for m in measures:
            if self.scores.unit_of[m] != "whole":
                self.by_unit.setdefault(self.scores.unit_of[m], []).append(m)
        self._rows: dict[Measure, list[list[float]]] = {}
        self._best: dict[Measure, list[float]] = {}
        self.at = {run: i for i, run in enumerate(self.scores.runs)}
        self.place = {
            unit: {name: j for j, name in enumerate(names)}
            for unit, names in self.scores.units.items()
        }

    def rows(self, measure: Measure) -> list[list[float]]:
        """A list of values per run."""
        if measure not in self._rows:
            self._rows[measure] = self.scores.plain_values(measure)
        return self._rows[measure]

    def best(self, measure: Measure) -> list[float]:
        """The best value of any run per unit."""
        if measure not in self._best:
            from cranfield.evaluation.scores import best_values

            self._best[measure] = best_values(self.scores, measure)
        return self._best[measure]

    def main(self, unit: str) -> Measure | None:
        """The measure by which a unit is sorted: the primary one, if it speaks of the unit."""
        measures = self.by_unit.get(unit, [])
        primary = self.material.primary
        return primary if primary in measures else measures[0] if measures else None


def run_view(
    values: Values, run: str, boards: Mapping[Measure, ResultPart], units: Sequence[str]
) -> View:
    """A run: its means with ranks and distances, then its topics, concepts or items."""
    material = values.material
    facts = material.facts(run)
    parts = [_means(material, run, boards)]
    parts += [_units_of_run(values, run, unit) for unit in units if unit in values.by_unit]
    return View(
        name="run",
        title=run,
        source="",
        parts=tuple(parts),
        facts={
            "run": run,
            "team": facts.team,
            "tag": facts.tag,
            "configuration": facts.configuration,
            "description": facts.description,
            "features": facts.features,
            "classifier": facts.classifier,
            "threshold": facts.threshold,
            "baseline": facts.baseline,
        },
        verdict=tuple(_run_verdict(values, run, boards)),
    )


def _means(material: ResultsData, run: str, boards: Mapping[Measure, ResultPart]) -> ResultPart:
    """A row per measure, as the leaderboards have it."""
    names = ("mean", "ci_low", "ci_high", *(name for name, _ in OPEN_ENDS), *RANKS, *DISTANCE)
    rows: list[tuple[Cell, ...]] = []
    for measure, board in boards.items():
        record = _record(board, run)
        rows.append((measure.mean_label, *(record.get(name) for name in names)))
    columns = (
        text("measure"),
        ResultColumn("mean", "value"),
        ResultColumn("ci_low", "low"),
        ResultColumn("ci_high", "high"),
        *(ResultColumn(name, heading) for name, heading in OPEN_ENDS),
        count("place"),
        count("rank"),
        text("spread"),
        text("group"),
        ResultColumn("difference", f"vs {material.baseline}" if material.baseline else ""),
        text("stars", "sig."),
    )
    total = len(material.ranked_runs)
    note = f"place and rank: among {total} runs that compete"
    return _with_content(ResultPart("measures", "All measures", columns, tuple(rows), (note,)))


def _record(board: ResultPart, run: str) -> dict[str, Cell]:
    names = [c.name for c in board.columns]
    at = names.index("run")
    row = next(row for row in board.rows if row[at] == run)
    return dict(zip(names, row, strict=True))


def _with_content(part: ResultPart) -> ResultPart:
    """The part without columns that say nothing in any row."""
    columns = [
        j
        for j, c in enumerate(part.columns)
        if any(row[j] not in (None, "") for row in part.rows) or j == 0
    ]
    rows = tuple(tuple(row[j] for j in columns) for row in part.rows)
    return ResultPart(
        part.name, part.title, tuple(part.columns[j] for j in columns), rows, part.notes
    )


def _units_of_run(values: Values, run: str, unit: str) -> ResultPart:
    """Every topic (concept, item) of a run, where it loses most against the best first."""
    measures = values.by_unit[unit]
    main = values.main(unit) or measures[0]
    at = values.at[run]
    sign = -1.0 if main.higher_is_better is False else 1.0
    best = values.best(main)
    run_values = values.rows(main)[at]
    names = values.scores.units[unit]

    def lost(j: int) -> tuple[bool, float, int]:
        gap = sign * (run_values[j] - best[j])
        return math.isnan(gap), gap, j

    order = sorted(range(len(names)), key=lost)
    rows = tuple(
        (names[j], *(_cell(values.rows(m)[at][j]) for m in measures), _cell(best[j])) for j in order
    )
    link: Link = unit  # type: ignore[assignment]
    columns = (
        text(unit, link=link),
        *(_column(m) for m in measures),
        ResultColumn("best_of_runs", f"best {main}"),
    )
    note = f"first the {unit}s on which the run is furthest from the best one, by {main}"
    return ResultPart(f"{unit}s", f"All {unit}s", columns, rows, (note,))


def _run_verdict(values: Values, run: str, boards: Mapping[Measure, ResultPart]) -> list[str]:
    material = values.material
    record = _record(boards[material.primary], run)
    label, mean = material.primary.mean_label, record.get("mean")
    if mean is None:
        return [f"{run} has no value under {label}."]
    if record.get("place") is None:
        return [f"{run} has {label} {mean:.4f}; it is a baseline and not ranked."]
    total = len(material.ranked_runs)
    sentences = [f"Place {record['place']} of {total} by {label}, {mean:.4f}."]
    spread = str(record.get("spread") or "")
    if "-" in spread:
        low, _, high = spread.partition("-")
        sentences.append(f"The tests leave places {low} to {high} open.")
    elif spread:
        sentences.append("The tests leave no other place open.")
    return sentences


def unit_view(values: Values, unit: Link, name: str, *, about: Mapping[str, Any]) -> View:
    """A topic, concept or item: every run on it, best first."""
    material = values.material
    measures, main = values.by_unit.get(unit, []), values.main(unit)
    j = values.place.get(unit, {}).get(name)
    rows: list[tuple[Cell, ...]] = []
    verdict: tuple[str, ...] = ()
    if main is not None and j is not None:
        sign = -1.0 if main.higher_is_better is False else 1.0
        column = [row[j] for row in values.rows(main)]
        order = sorted(
            range(len(column)), key=lambda i: (math.isnan(column[i]), -sign * column[i], i)
        )
        for i in order:
            run = values.scores.runs[i]
            facts = material.facts(run)
            cells = [_cell(values.rows(m)[i][j]) for m in measures]
            rows.append((run, facts.team, facts.configuration, *cells))
        verdict = _unit_verdict(values, main, [values.scores.runs[i] for i in order], column, order)
    columns = (
        text("run", link="run"),
        text("team", link="team"),
        text("configuration", "conf."),
        *(_column(m, best=True) for m in measures),
    )
    part = _with_content(ResultPart("runs", f"Runs on {unit} {name}", columns, tuple(rows)))
    return View(unit, name, "", (part,), facts={unit: name, **about}, verdict=verdict)


def _unit_verdict(
    values: Values,
    measure: Measure,
    runs: Sequence[str],
    column: Sequence[float],
    order: Sequence[int],
) -> tuple[str, ...]:
    """Who is best on the unit, and how hard it is among all."""
    defined = [column[i] for i in order if not math.isnan(column[i])]
    if not defined or measure.higher_is_better is None:
        return ()
    unit = values.scores.unit_of[measure]
    leaders = [run for run, i in zip(runs, order, strict=True) if column[i] == defined[0]]
    holders = f"all {len(runs)} runs" if len(leaders) == len(runs) > 1 else join_names(leaders)
    sentences = [f"The best {measure} here is {defined[0]:.4f}, of {holders}."]
    best = [v for v in values.best(measure) if not math.isnan(v)]
    sign = -1.0 if measure.higher_is_better is False else 1.0
    harder = sum(sign * v < sign * defined[0] for v in best)
    if len(best) > 1:
        some = f"{harder} of the other {len(best) - 1} {unit}s {'is' if harder == 1 else 'are'}"
        sentences.append(f"By the best value {some if harder else f'no other {unit} is'} harder.")
    return tuple(sentences)


def team_view(material: ResultsData, acronym: str, boards: Mapping[Measure, ResultPart]) -> View:
    """A team: its runs under all measures, best first by the primary one."""
    team = material.team(acronym)
    board = boards[material.primary]
    at = [c.name for c in board.columns].index("run")
    runs = [str(row[at]) for row in board.rows if material.facts(str(row[at])).team == acronym]
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        record = _record(board, run)
        means = [_record(boards[m], run).get("mean") for m in boards]
        facts = material.facts(run)
        ranks = [record.get(name) for name in RANKS]
        rows.append((run, facts.configuration, *ranks, *means, facts.description))
    columns = (
        text("run", link="run"),
        text("configuration", "conf."),
        count("place"),
        count("rank"),
        text("spread"),
        text("group"),
        *(_column(m, mean=True, best=True) for m in boards),
        text("description"),
    )
    label = material.primary.mean_label
    notes = (f"place, rank, spread and group: by {label}",) if rows else ()
    part = _with_content(ResultPart("runs", "Runs", columns, tuple(rows), notes))
    return View(
        "team",
        team.name or acronym,
        "",
        (part,),
        facts={
            "team": acronym,
            "name": team.name,
            "country": team.country,
            "reference": team.reference,
        },
    )


def _cell(value: float) -> float | None:
    return None if math.isnan(value) else value


def _column(measure: Measure, *, mean: bool = False, best: bool = False) -> ResultColumn:
    end = {True: "max", False: "min", None: ""}[measure.higher_is_better] if best else ""
    places = 0 if measure.averaging == "sum" else 4
    heading = measure.mean_label if mean else str(measure)
    return ResultColumn(str(measure), heading, places=places, better=end)
