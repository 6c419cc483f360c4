"""Checks of submissions and of collections as tables."""

from __future__ import annotations

from cranfield.campaign.checking import SubmissionCheck
from cranfield.report.document import Cell, Column, Document, Table


def submissions(answer: SubmissionCheck) -> Document:
    """Every problem with its file and line, and a row for each submission."""
    problems: list[list[Cell]] = [[p.file, p.line or None, p.message] for p in answer.problems]
    more = sum(one.problems for one in answer.submissions) - len(problems)
    tables = []
    if problems:
        columns = [
            Column("file", numeric=False),
            Column("line", 0),
            Column("problem", numeric=False),
        ]
        notes = [f"and {more} more problems of the same files"] if more > 0 else []
        tables.append(Table(columns, problems, "Problems", notes))
    columns = [
        Column("submission", numeric=False),
        Column("kind", numeric=False),
        Column("verdict", numeric=False),
        Column("rows", 0),
        Column("units", 0, heading="topics or items"),
        Column("missing", 0),
        Column("problems", 0),
    ]
    rows: list[list[Cell]] = [
        [
            one.file,
            one.kind,
            "good" if one.good else "bad",
            one.lines or None,
            one.units or None,
            one.missing if one.lines else None,
            one.problems,
        ]
        for one in answer.submissions
    ]
    tables.append(Table(columns, rows, answer.headline()))
    return Document(answer.to_dict(), tables, answer.notes)
