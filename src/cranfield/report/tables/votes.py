"""Tables of what people chose, beside what measures say."""

from __future__ import annotations

from cranfield.campaign.surveys.votes import CONFIDENCE, Choices, Preferences
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import study_document
from cranfield.report.tables.surveys import respondent_tables


def choices_document(answer: Choices) -> Document:
    """The votes of every question and option, and the options in pairs."""
    tables = [_choices(answer), _questions(answer), _duels(answer)]
    return study_document(answer, tables + respondent_tables(answer.respondents))


def preferences_document(answer: Preferences) -> Document:
    """How often each measure sides with most people."""
    tables = [_agreements(answer), _questions(answer)]
    if answer.wrong:
        tables.append(_scores_and_votes(answer))
    if answer.expectations:
        tables.append(_expectations(answer))
    return study_document(answer, tables + respondent_tables(answer.respondents))


def _scores_and_votes(answer: Preferences) -> Table:
    """Scores beside votes (thesis, Table 9.5)."""
    columns = [Column("question", numeric=False), Column("wrong", 0, heading="# wrong")]
    columns += [Column(f"{m}, {s}", 3) for m in answer.scores for s in answer.systems]
    columns += [Column(f"votes {option}", 0) for option in answer.options]
    rows: list[list[Cell]] = [
        [
            row.question,
            answer.wrong[k],
            *(value for pairs in answer.scores.values() for value in pairs[k]),
            *(int(v) for v in row.votes),
        ]
        for k, row in enumerate(answer.rows)
    ]
    return Table(columns, rows, "Scores beside votes")


def _expectations(answer: Preferences) -> Table:
    """What people wrote, by class (thesis, Table 9.6)."""
    columns = [Column("class", numeric=False), Column("text", numeric=False)]
    rows: list[list[Cell]] = [[name, text] for text, name in sorted(answer.expectations, key=_last)]
    return Table(columns, rows, "Expectations")


def _last(pair: tuple[str, str]) -> str:
    return pair[1]


def _questions(answer: Choices | Preferences) -> Table:
    """A row per question with its votes and what most people chose."""
    columns = [
        Column("question", numeric=False),
        *(Column(option, 0) for option in answer.options),
        Column("choice", numeric=False),
    ]
    rows: list[list[Cell]] = [
        [row.question, *(int(v) for v in row.votes), ", ".join(row.choice)] for row in answer.rows
    ]
    notes = ["choice: what most people chose; several when they have as many votes"]
    return Table(columns, rows, "Votes per question", notes)


def _choices(answer: Choices) -> Table:
    columns = [
        Column("option", numeric=False),
        Column("votes", 0, best="max"),
        Column("percent", 2, heading="%"),
        Column("low", 2),
        Column("high", 2),
        Column("first", 0, heading="first in"),
        Column("tied", 0, heading="of these tied"),
    ]
    rows: list[list[Cell]] = [
        [c.option, c.votes, 100 * c.share, *(100 * e for e in c.interval), c.first, c.tied]
        for c in answer.choices
    ]
    notes = [f"{answer.questions} questions; low, high: {CONFIDENCE:.0%} interval of the share"]
    return Table(columns, rows, "What people chose", notes)


def _duels(answer: Choices) -> Table:
    columns = [
        Column("a", numeric=False),
        Column("b", numeric=False),
        Column("a_wins", 0),
        Column("b_wins", 0),
        Column("ties", 0),
        Column("p", below=True),
    ]
    rows: list[list[Cell]] = [[d.a, d.b, d.a_wins, d.b_wins, d.ties, d.p] for d in answer.duels]
    return Table(columns, rows, "Questions won, with the sign test")


def _agreements(answer: Preferences) -> Table:
    columns = [
        Column("measure", numeric=False),
        Column("questions", 0),
        Column("decided", 0),
        Column("agreed", 0),
        Column("low", 2),
        Column("high", 2),
        Column("p", below=True),
        Column("vote_share", 3, heading="votes on its side"),
    ]
    rows: list[list[Cell]] = [
        [a.measure, a.questions, a.decided, a.agreed, *a.interval, a.p, a.vote_share]
        for a in answer.agreements
    ]
    notes = [f"low, high: {CONFIDENCE:.0%} interval of agreed / decided; p: sign test"]
    if answer.less_is_better:
        notes.append(f"less is better for {', '.join(answer.less_is_better)}")
    return Table(columns, rows, "Agreement with the majority of people", notes)
