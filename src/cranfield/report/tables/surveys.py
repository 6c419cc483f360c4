"""Tables of surveys: who answered, the rows that came out, the score of an index."""

from __future__ import annotations

from cranfield.campaign.surveys.rated import Association
from cranfield.campaign.surveys.survey import Respondents, SurveyRows
from cranfield.report.document import Cell, Column, Document, Table


def respondent_tables(people: Respondents | None) -> list[Table]:
    """Who answered (Ch Table 3)."""
    if people is None:
        return []
    rows: list[list[Cell]] = [
        ["people", people.people],
        ["questions", people.questions],
        ["mean age", people.age],
        ["deviation of the age", people.age_deviation],
        ["education", people.education],
        ["mean time, minutes", people.minutes],
        ["deviation of the time", people.minutes_deviation],
    ]
    return [Table([Column("survey", numeric=False), Column("value", 4)], rows, "Who answered")]


def survey_rows_document(answer: SurveyRows) -> Document:
    """The rows as another command reads them, then who answered."""
    numbers = ("human", "deviation", "people", "significance")
    columns = [
        Column(name, 0 if name == "people" else 4, numeric=name in numbers)
        for name in answer.columns
    ]
    table = Table(columns, [list(row) for row in answer.rows], answer.survey)
    tables = [table, *respondent_tables(answer.respondents)]
    return Document(answer.to_dict(), tables, answer.notes, table)


def association_document(answer: Association) -> Document:
    """Whether people see the associations of an index."""
    facts: list[list[Cell]] = [
        ["people", answer.people],
        ["pairs", answer.pairs],
        ["near pairs", answer.near],
        ["drawn pairs", answer.drawn],
        ["near above drawn", answer.told],
        ["low", answer.told_interval[0]],
        ["high", answer.told_interval[1]],
        ["spearman", answer.spearman],
        ["p", answer.p],
    ]
    columns = [Column("what", numeric=False), Column("value")]
    notes = ["ratings as parts of the scale; near above drawn: 0.5 where people see nothing of it"]
    pairs = Table(
        [
            *(Column(name, numeric=False) for name in ("item1", "item2", "pair")),
            Column("cosine"),
            Column("rating"),
        ],
        [list(row) for row in answer.rows],
        "Pairs",
    )
    tables = [Table(columns, facts, "Association of neighbours", notes), pairs]
    return Document(answer.to_dict(), tables, answer.notes, pairs)
