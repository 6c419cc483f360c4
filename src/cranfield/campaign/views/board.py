"""The leaderboard: every run with its interval, spread, group and distance to the baseline."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cranfield.campaign.results.groups import OPEN_ENDS as HEADINGS
from cranfield.campaign.views.answer import Cell, ResultColumn, ResultPart, View, count, text
from cranfield.comparison.answer import Comparison, Pairs, Standing, interval_parts, stars
from cranfield.comparison.doubtful import doubtful_standings
from cranfield.comparison.ranks import shared_ranks
from cranfield.comparison.summary import comparison_verdict
from cranfield.evaluation.scores import Scores
from cranfield.evaluation.summary import score_verdict
from cranfield.measures import Measure
from cranfield.stats.intervals import FEW_UNITS, few_units

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
    if "truth_low" in names:
        unit = scores.unit_of[measure]
        notes.append(f"The lines in a row: {share} intervals by {unit}s, by both, by the truth.")
        notes.append(interval_parts(unit) if comparison is None else comparison.interval_parts())
    elif "ci_low" in names:
        notes.append(f"The line in a row is the {share} interval of the mean, the dot the mean.")
    units = len(scores.units.get(scores.unit_of[measure], ()))
    if "ci_low" in names and units < FEW_UNITS:
        notes.append(few_units(units, scores.unit_of[measure]) + ".")
    if "stars" in names:
        notes.append("*, **, ***: p at most 0.05, 0.01, 0.001 after correction.")
    if comparison is not None:
        notes += comparison.footnotes()[1:]
    return tuple(notes)
