"""Tables of what an index could reach, and what runs lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cranfield.evaluation.index_quality import BEST, OPTIMAL, IndexQuality
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.scores import leaderboard, per_unit


def document(answer: IndexQuality, *, per: Sequence[str] = (), **_: Any) -> Document:
    """The scores of queries that know the answer and of runs, and what the runs lose."""
    scores = answer.scores
    board = leaderboard(scores)
    said = [f"{OPTIMAL}: Rocchio's, best for the difference of mean cosines, not for a measure"]
    if answer.reference == BEST:
        said.append(f"{BEST}: found by descent on a loss of the ranking")
    tables = [replace(board, notes=[*board.notes, *said])]
    if answer.others:
        rows: list[list[Cell]] = []
        for run in answer.others:
            lost = [answer.lost(run, m) for m in scores.measures]
            rows.append([run, *(f"{value:.4f} ({share:.0%})" for value, share in lost)])
        columns = [Column("run", numeric=False)]
        columns += [Column(str(m), heading=m.mean_label) for m in scores.measures]
        title = f"Lost in the query (and as a share of what the {answer.reference} reaches)"
        tables.append(Table(columns, rows, title))
    more = [per_unit(scores, unit) for unit in per]
    return Document(
        answer.to_dict(per=per), [*tables, *more], answer.notes, more[0] if more else None
    )
