"""Tables of rankings of systems against rankings of people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cranfield.evaluation.displacement import DisplacementScores
from cranfield.report.document import Cell, Column, Document, Table


def document(scores: DisplacementScores, *, per: Sequence[str] = (), **_: Any) -> Document:
    """Means over subjects, what they are made of, tests between runs, and more if asked for."""
    tables = [_overview(scores)]
    parts = _parts(scores)
    if parts is not None:
        tables.append(parts)
    if scores.pairs:
        tables.append(_pairs(scores))
    machine = tables[0]
    if "subject" in per:
        machine = _listing(scores, scores.subject_rows(), ("run", "subject"), "Per subject")
        tables.append(machine)
    if "topic" in per:
        keys = ("run", "subject", "topic")
        machine = _listing(scores, scores.topic_rows(), keys, "Per subject and topic")
        tables.append(machine)
    return Document(scores.to_dict(per=per), tables, scores.notes, machine)


def _overview(scores: DisplacementScores) -> Table:
    columns = [Column("run", numeric=False)]
    for m in scores.measures:
        columns.append(Column(str(m), best="max" if m.higher_is_better else "min"))
        columns.append(Column(f"sd of {m}", heading="sd"))
    columns += [Column("subjects"), Column("topics")]
    rows: list[list[Cell]] = []
    for r, run in enumerate(scores.runs):
        row: list[Cell] = [run]
        for m in scores.measures:
            row += [float(scores.mean(m)[r]), _number(scores.spread(m)[r])]
        rows.append([*row, len(scores.subjects), len(scores.topics)])
    return Table(columns, rows, notes=["sd: between subjects"])


def _parts(scores: DisplacementScores) -> Table | None:
    """What the displacement is made of, under each supposition."""
    sums = [(m, parts) for m in scores.measures if (parts := scores.parts(m)) is not None]
    if not sums:
        return None
    columns = [Column("run", numeric=False), Column("listed"), Column("not retrieved")]
    columns += [Column(f"{m} {what}") for m, _ in sums for what in ("retrieved", "other items")]
    rows: list[list[Cell]] = [
        [run, scores.listed, scores.absent[r], *(x for _, parts in sums for x in parts[r])]
        for r, run in enumerate(scores.runs)
    ]
    note = "listed: items of all lists; the two parts of each sum: of items retrieved, and not"
    return Table(columns, rows, "What the displacement is made of", [note])


def _pairs(scores: DisplacementScores) -> Table:
    columns = [Column(name, numeric=False) for name in ("measure", "a", "b")]
    columns += [Column("difference"), Column("p", below=True)]
    rows: list[list[Cell]] = [
        [p.measure, p.a, p.b, p.difference, _number(p.p)] for p in scores.pairs
    ]
    note = "paired randomisation test over subjects"
    return Table(columns, rows, "Differences between runs", [note])


def _listing(
    scores: DisplacementScores,
    rows: Iterable[dict[str, Any]],
    keys: Sequence[str],
    title: str,
) -> Table:
    columns = [Column(k, numeric=False) for k in keys]
    columns += [Column(str(m)) for m in scores.measures]
    return Table(columns, [list(row.values()) for row in rows], title)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
