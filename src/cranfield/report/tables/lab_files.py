"""Tables of the files that a study or a survey has written."""

from __future__ import annotations

from cranfield.campaign.surveys.questionnaire import WrittenQuestionnaire
from cranfield.campaign.surveys.survey import WrittenSurvey
from cranfield.lab.runs import SimulatedRuns
from cranfield.report.document import Column, Document, Table


def simulated_runs_document(answer: SimulatedRuns) -> Document:
    """A row per run."""
    table = Table([Column("run", numeric=False)], [[file] for file in answer.files])
    return Document(answer.to_dict(), [table], answer.notes)


def questionnaire_document(answer: WrittenQuestionnaire | WrittenSurvey) -> Document:
    """A row per file, with what it is for."""
    columns = [Column("file", numeric=False), Column("what", numeric=False)]
    rows = [list(row) for row in zip(answer.files, answer.purposes, strict=True)]
    return Document(answer.to_dict(), [Table(columns, rows)], answer.notes)
