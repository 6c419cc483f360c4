"""Checks of submissions and of collections as tables."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.campaign.checking import SubmissionCheck
from cranfield.campaign.collections import CollectionCheck, CollectionDraft
from cranfield.campaign.submissions import Problem
from cranfield.report.document import Cell, Column, Document, Table


def submissions(answer: SubmissionCheck) -> Document:
    """Every problem with its file and line, and a row for each submission."""
    tables = _problems(answer.problems, sum(one.problems for one in answer.submissions))
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


def collection(answer: CollectionCheck) -> Document:
    """Every problem with its file and line, and what the collection has."""
    columns = [Column("has", numeric=False), Column("figure", numeric=False)]
    rows: list[list[Cell]] = [[fact.what, fact.figure] for fact in answer.facts]
    tables = [*_problems(answer.problems, answer.count), Table(columns, rows, answer.headline())]
    return Document(answer.to_dict(), tables, answer.notes)


def draft(answer: CollectionDraft) -> Document:
    """The files as they were taken, and those of which nothing is known."""
    columns = [Column("file", numeric=False), Column("taken as", numeric=False)]
    rows: list[list[Cell]] = [[file, key] for file, key in answer.found]
    rows += [[file, "-"] for file in answer.unknown]
    return Document(answer.to_dict(), [Table(columns, rows, answer.headline())], answer.notes)


def _problems(problems: Sequence[Problem], count: int) -> list[Table]:
    """A table of problems, if there are any."""
    if not problems:
        return []
    columns = [Column("file", numeric=False), Column("line", 0), Column("problem", numeric=False)]
    rows: list[list[Cell]] = [[p.file, p.line or None, p.message] for p in problems]
    more = count - len(rows)
    notes = [f"and {more} more problems of the same files"] if more > 0 else []
    return [Table(columns, rows, "Problems", notes)]
