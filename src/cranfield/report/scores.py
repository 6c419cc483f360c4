"""Tables of scores: the leaderboard, and values per topic, item or concept."""

from __future__ import annotations

import math

from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure
from cranfield.report.document import Cell, Column, Table

UNITS = {"topic": "topics", "item": "items", "concept": "concepts"}


def score_columns(scores: Scores) -> list[Column]:
    """A column per measure that knows which end of it is good."""
    best = {True: "max", False: "min", None: ""}
    return [
        Column(
            str(m),
            digits=_digits(m),
            best=best[m.higher_is_better],
            heading=m.mean_label,
            bar=i == 0,
        )
        for i, m in enumerate(scores.measures)
    ]


def _digits(measure: Measure) -> int:
    return 0 if measure.averaging == "sum" else 4


def leaderboard(scores: Scores) -> Table:
    """The means of all runs, the best of each column marked, and the topics behind them."""
    unit = "topics" if scores.command == "eval" else "items"
    columns = [Column("run", numeric=False), *score_columns(scores), Column(unit)]
    left = {m: scores.left_out(m) for m in scores.measures}
    rows: list[list[Cell]] = []
    for i, (run, means) in enumerate(scores.mean().items()):
        rows.append([run, *means.values(), scores.evaluated[i]])
    notes = []
    for m in scores.measures:
        if any(left[m]):
            counts = ", ".join(f"{r} {n}" for r, n in zip(scores.runs, left[m], strict=True) if n)
            what = UNITS.get(scores.unit_of[m], "units")
            notes.append(f"{m} is undefined for some {what}, which its mean leaves out: {counts}")
    return Table(columns, rows, notes=notes)


def per_unit(scores: Scores, unit: str) -> Table:
    """The values of each run for each topic (item, concept), then for all of them."""
    chosen = [m for m in scores.measures if scores.unit_of[m] == unit]
    columns = [Column("run", numeric=False), Column(unit, numeric=False)]
    columns += [Column(str(m), digits=_digits(m)) for m in chosen]
    means = scores.mean()
    rows: list[list[Cell]] = [list(row.values()) for row in scores.rows(unit)]
    for run in scores.runs:
        values = [means[run][str(m)] for m in chosen]
        rows.append([run, "all", *(None if math.isnan(v) else v for v in values)])
    return Table(columns, rows, f"Per {unit}")
