"""Checks of submissions and of collections as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cranfield.campaign.collections import CollectionCheck, CollectionDraft, PublishedSite
from cranfield.campaign.results.results_data import ResultPart, ResultTable
from cranfield.campaign.submissions import Problem, SubmissionCheck
from cranfield.campaign.views import View
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.studies import study_document


def submissions_document(answer: SubmissionCheck) -> Document:
    """Every problem with its file and line, and a row for each submission."""
    tables = _problems(
        answer.problems, sum(submission.problems for submission in answer.submissions)
    )
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
            submission.file,
            submission.kind,
            "good" if submission.good else "bad",
            submission.lines or None,
            submission.units or None,
            submission.missing if submission.lines else None,
            submission.problems,
        ]
        for submission in answer.submissions
    ]
    tables.append(Table(columns, rows, answer.headline()))
    return Document(answer.to_dict, tables, answer.notes)


def collection_check_document(answer: CollectionCheck) -> Document:
    """Every problem with its file and line, and what the collection has."""
    columns = [Column("has", numeric=False), Column("figure", numeric=False)]
    rows: list[list[Cell]] = [[fact.what, fact.figure] for fact in answer.facts]
    tables = [*_problems(answer.problems, answer.count), Table(columns, rows, answer.headline())]
    return Document(answer.to_dict, tables, answer.notes)


def draft_document(answer: CollectionDraft) -> Document:
    """The files as they were taken, and those of which nothing is known."""
    columns = [Column("file", numeric=False), Column("taken as", numeric=False)]
    rows: list[list[Cell]] = [[file, key] for file, key in answer.found]
    rows += [[file, "-"] for file in answer.unknown]
    return Document(answer.to_dict, [Table(columns, rows, answer.headline())], answer.notes)


def _problems(problems: Sequence[Problem], count: int) -> list[Table]:
    """A table of problems, if there are any."""
    if not problems:
        return []
    columns = [Column("file", numeric=False), Column("line", 0), Column("problem", numeric=False)]
    rows: list[list[Cell]] = [[p.file, p.line or None, p.message] for p in problems]
    hidden = count - len(rows)
    notes = [f"and {hidden} more problems of the same files"] if hidden > 0 else []
    return [Table(columns, rows, "Problems", notes)]


def published_document(answer: PublishedSite, **_: object) -> Document:
    """A row of counts below the verdicts of all tasks."""
    names = ("pages", "pictures", "files", "bytes")
    row = [str(answer.folder), *(getattr(answer, name) for name in names)]
    columns = [Column("folder", numeric=False), *(Column(name) for name in names)]
    verdicts = [line for lines in answer.verdicts.values() for line in lines]
    sealed = "the truth is released" if answer.released else "the truth is sealed"
    table = Table(columns, [row], notes=[f"{sealed}; open index.html in a browser"])
    return Document(answer.to_dict, [table], answer.notes, lead=verdicts)


def results_document(answer: ResultTable) -> Document:
    """A table for each part, below the verdict of a page."""
    document = study_document(answer, [table_of(part) for part in answer.parts])
    return replace(document, lead=answer.verdict) if isinstance(answer, View) else document


def table_of(part: ResultPart) -> Table:
    """A part as a table."""
    columns = [
        Column(c.name, c.places, best=c.better, numeric=c.numeric, heading=c.heading)
        for c in part.columns
    ]
    return Table(columns, part.rows, part.title, part.notes)


def rehearsal_document(answer: Any) -> Document:
    """The checks, then what was measured. (The answer is the server's, a room above this one.)"""
    checks: list[list[Cell]] = [
        [c.name, "holds" if c.holds else "does not hold", c.figure] for c in answer.checks
    ]
    columns = [Column(name, numeric=False) for name in ("check", "result", "figure")]
    figures: list[list[Cell]] = [[k.replace("_", " "), str(v)] for k, v in answer.figures.items()]
    measured = [Column(name, numeric=False) for name in ("measured", "value")]
    tables = [
        Table(columns, checks, f"Rehearsal with seed {answer.seed}"),
        Table(measured, figures),
    ]
    return Document(answer.to_dict, tables, answer.notes)
