"""Runs against one another: differences, intervals and tests of chosen pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cranfield.campaign.results.results_data import Cell, ResultColumn, ResultPart
from cranfield.campaign.views.answer import View, count, text
from cranfield.comparison.answer import Comparison
from cranfield.measures import Measure

# How many runs the page without a choice compares, the best ones.
MOST_RUNS = 20


def pairs_view(comparison: Comparison, measure: Measure, runs: Sequence[str]) -> View:
    """The pairs of some runs under a measure, the largest differences first."""
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
    unit = next(str(m["unit"]) for m in comparison.measures if m["name"] == name)
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


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
