"""Tables of scores: the leaderboard, and values per topic, item or concept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cranfield._records import replace
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure
from cranfield.report.document import Cell, Column, Document, Table

UNITS = {"topic": "topics", "item": "items", "concept": "concepts"}


def document(scores: Scores, *, per: Sequence[str] = (), ranks: bool = False, **_: Any) -> Document:
    """The leaderboard, how far ties can move it, and the values of the units in `per`.

    With `ranks` every measure has the rank of each run beside its value.
    """
    tables = [leaderboard(scores) if scores.task == "ranked" else _with_density(scores)]
    if ranks:
        tables = [rank_table(scores)]
    if scores.tie_range:
        tables.append(tie_table(scores))
    if scores.doubt is not None:
        from cranfield.report.tables.doubt import doubt_tables

        tables += doubt_tables(scores)
    more = [per_unit(scores, unit) for unit in per]
    shown = [table for unit in per for table in unit_tables(scores, unit)]
    payload = scores.to_dict(per=per)
    machine = more[0] if more else None
    return Document(
        payload, [*tables, *shown], scores.notes, machine, lead=payload.get("verdict", ())
    )


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
    """The means of all runs, best first, the best of each column marked, and their topics."""
    unit = f"{scores.main_unit}s"
    columns = [Column("run", numeric=False), *score_columns(scores), Column(unit)]
    means = scores.mean()
    rows: list[list[Cell]] = [
        [scores.runs[i], *means[scores.runs[i]].values(), scores.evaluated[i]]
        for i in scores.best_first()
    ]
    return Table(columns, rows, notes=_left_out_notes(scores))


def rank_table(scores: Scores) -> Table:
    """The mean of every run under every measure with its rank; runs that tie share one."""
    from cranfield.comparison.ranks import shared_ranks

    columns = [Column("run", numeric=False)]
    cells: list[list[Cell]] = [[run] for run in scores.runs]
    for column, m in zip(score_columns(scores), scores.measures, strict=True):
        columns += [column, Column(f"{m}_rank", 0, heading="rank")]
        values = (float(v) for v in scores.overall[m])
        for row, value, rank in zip(cells, values, shared_ranks(scores, m), strict=True):
            row += [value, rank]
    cells = [cells[i] for i in scores.best_first()]
    return Table(columns, cells, notes=_left_out_notes(scores))


def _left_out_notes(scores: Scores) -> list[str]:
    """How many topics (items, concepts) the means leave out; measures that agree share a line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for m in scores.measures:
        left = zip(scores.runs, scores.left_out(m), strict=True)
        if counts := ", ".join(f"{run} {n}" for run, n in left if n):
            what = UNITS.get(scores.unit_of[m], "units")
            groups.setdefault((what, counts), []).append(str(m))
    return [
        f"{names[0]} is undefined for some {what}, which its mean leaves out: {counts}"
        if len(names) == 1
        else f"{', '.join(names)} are undefined for some {what}, which their means leave out: "
        f"{counts}"
        for (what, counts), names in groups.items()
    ]


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


def unit_tables(scores: Scores, unit: str) -> list[Table]:
    """What `per_unit` has as people read it: topics (items, concepts) by runs, or by measures.

    A run alone has a column for each measure; several have a table for each.
    """
    chosen = [m for m in scores.measures if scores.unit_of[m] == unit]
    long = per_unit(scores, unit)
    units = list(dict.fromkeys(row[1] for row in long.rows))
    if len(scores.runs) == 1:
        columns = [Column(unit, numeric=False), *long.columns[2:]]
        return [Table(columns, [row[1:] for row in long.rows], long.title)]
    tables = []
    for j, m in enumerate(chosen, 2):
        cells = {(row[0], row[1]): row[j] for row in long.rows}
        columns = [Column(unit, numeric=False)]
        columns += [Column(run, digits=_digits(m)) for run in scores.runs]
        rows = [[name, *(cells.get((run, name)) for run in scores.runs)] for name in units]
        tables.append(Table(columns, rows, f"{m} per {unit}"))
    return tables


def tie_table(scores: Scores) -> Table:
    """The least and the greatest value that the orders within ties can give."""
    shown = score_columns(scores)
    rows: list[list[Cell]] = []
    for i in scores.best_first():
        row: list[Cell] = [scores.runs[i]]
        for m, column in zip(scores.measures, shown, strict=True):
            ends = scores.tie_range.get(m)
            row.append(f"{column.show(ends[i][0])} to {column.show(ends[i][1])}" if ends else None)
        rows.append(row)
    columns = [Column("run", numeric=False)]
    columns += [Column(c.name, heading=c.label) for c in shown]
    return Table(columns, rows, "How far the order within ties can move each value")


def _with_density(scores: Scores) -> Table:
    """The leaderboard with the label cardinality and density of every run and of the truth."""
    board = leaderboard(scores)
    true = scores.facts.get("truth")
    if true is None or not scores.run_facts:
        return board
    asked = {str(m) for m in scores.measures}
    density = {
        "label_cardinality": Column("LabelCardinality", digits=2, heading="labels/item"),
        "label_density": Column("LabelDensity", digits=3, heading="density"),
    }
    # Those asked for as measures have a column already.
    keys = [key for key, column in density.items() if column.name not in asked]
    rows: list[list[Cell]] = [
        [*row, *(scores.run_facts[i][k] for k in keys)]
        for row, i in zip(board.rows, scores.best_first(), strict=True)
    ]
    own = {column.name: true[key] for key, column in density.items()}
    values: list[Cell] = [own.get(str(m)) for m in scores.measures]
    rows.append(["(truth)", *values, true["items"], *(true[k] for k in keys)])
    # The row of the truth does not compete: a run alone is not the best of anything.
    alone = len(scores.runs) == 1
    columns = [
        *(replace(c, best="") if alone else c for c in board.columns),
        *(density[key] for key in keys),
    ]
    return Table(columns, rows, board.title, board.notes)
