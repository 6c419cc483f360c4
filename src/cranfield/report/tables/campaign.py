"""Tables of collections and campaigns: checks, results, submissions, surveys and responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cranfield.campaign.responses import CLASSES, FormResponses, Tally
from cranfield.campaign.surveys.votes import CONFIDENCE, Choices, Preferences
from cranfield.campaign.views import View
from cranfield.report.charts.annotation import collected_figures
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.agreement import log_table
from cranfield.report.tables.lab import study_document

if TYPE_CHECKING:
    from cranfield.campaign.collections import CollectionCheck, CollectionDraft, PublishedSite
    from cranfield.campaign.results.results_data import ResultPart, ResultTable
    from cranfield.campaign.submissions import Problem, SubmissionCheck
    from cranfield.campaign.surveys.ratings import Association
    from cranfield.campaign.surveys.survey import Respondents, SurveyRows, WrittenSurvey


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
    if answer.requirements:
        tables.append(_requirements(answer))
    return Document(answer.to_dict, tables, answer.notes)


def _requirements(answer: CollectionCheck) -> Table:
    columns = [
        Column("number", 0, heading=""),
        Column("requirement", numeric=False),
        Column("state", numeric=False),
        Column("figure", numeric=False),
    ]
    rows: list[list[Cell]] = [
        [r.number, r.requirement, r.state, r.figure] for r in answer.requirements
    ]
    notes = ["differences: in standard deviations; a test at 5 % finds such ones in 80 %"]
    return Table(columns, rows, "Requirements on test collections (No 3.2.1)", notes)


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
    numbers = ("human", "deviation", "people", "significance", "seconds")
    columns = [
        Column(name, 0 if name == "people" else 4, numeric=name in numbers)
        for name in answer.columns
    ]
    table = Table(columns, [list(row) for row in answer.rows], answer.survey)
    tables = [table, *respondent_tables(answer.respondents)]
    return Document(answer.to_dict, tables, answer.notes, table)


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
    return Document(answer.to_dict, tables, answer.notes, pairs)


def choices_document(answer: Choices) -> Document:
    """The votes of every question and option, and the options in pairs."""
    tables = [_choices(answer), _question_table(answer), _duels(answer)]
    if answer.own_orders:
        tables.append(_own_orders(answer))
    return study_document(answer, tables + respondent_tables(answer.respondents))


def _own_orders(answer: Choices) -> Table:
    """The orders that people gave, beside those of the measures."""
    columns = [
        Column("measure", numeric=False),
        Column("tau", 4),
        Column("low", 4),
        Column("high", 4),
        Column("people", 0),
        Column("orders", 0),
    ]
    rows: list[list[Cell]] = [
        [o.measure, o.tau, *o.interval, o.people, o.orders] for o in answer.own_orders
    ]
    return Table(columns, rows, "Own orders (Kendall's tau)")


def preferences_document(answer: Preferences) -> Document:
    """How often each measure sides with most people."""
    tables = [_agreements(answer), _question_table(answer)]
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


def _question_table(answer: Choices | Preferences) -> Table:
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


# Names shown of many, the first ones.
RESPONSES_SHOWN = 20


def responses_document(answer: FormResponses, **_: object) -> Document:
    """The figures for people; files of rows hold the log."""
    tables = [_batch_table(answer), _tally_table(answer.people, "annotator")]
    if answer.rejected:
        tables += [_tally_table([i for i in answer.items if i.rejected], "item"), _refusals(answer)]
    if answer.remarks:
        tables.append(_remark_table(answer))
    if answer.influence:
        tables.append(_influence_table(answer))
    figures = partial(collected_figures, answer)
    return Document(answer.to_dict, tables, answer.notes, log_table(answer.log), figures=figures)


def _influence_table(answer: FormResponses) -> Table:
    columns = [
        Column("concept", numeric=False),
        Column("shown", 0, heading="answers, shown"),
        Column("hidden", 0, heading="hidden"),
        Column("followed_shown", 3, heading="followed, shown"),
        Column("followed_hidden", 3, heading="hidden"),
        Column("difference", 3),
        Column("low", 3, heading="from"),
        Column("high", 3, heading="to"),
    ]
    rows: list[list[Cell]] = [
        [
            i.concept,
            i.shown,
            i.hidden,
            i.followed_shown,
            i.followed_hidden,
            i.difference,
            *i.interval,
        ]
        for i in answer.influence
    ]
    note = "followed: the answer is what was suggested; the interval is for other items"
    return Table(columns, rows, "Influence of suggestions", (note,))


def _batch_table(answer: FormResponses) -> Table:
    columns = [
        Column("batch", numeric=False),
        Column("forms", 0),
        Column("rejected", 0),
        Column("percent", 2, heading="%"),
        Column("annotators", 0),
        Column("items", 0),
        Column("seconds", 1, heading="seconds per form"),
        Column("seconds_rejected", 1, heading="of rejected"),
        Column("hours", 2),
    ]
    rows: list[list[Cell]] = [
        [
            b.batch,
            b.forms,
            b.rejected,
            100 * b.share,
            b.annotators,
            b.items,
            b.seconds,
            b.seconds_rejected,
            b.hours,
        ]
        for b in answer.batches
    ]
    in_several = sum(p.batches > 1 for p in answer.people)
    notes = [f"{in_several} worked on several batches"] if len(answer.batches) > 1 else []
    if answer.twice:
        notes.append(f"{len(answer.twice)} items were judged twice by the same annotator")
    return Table(columns, rows, "Batches", notes)


def _tally_table(tallies: Sequence[Tally], unit: str) -> Table:
    columns = [Column(unit, numeric=False), Column("forms", 0, bar=True), Column("rejected", 0)]
    ordered = (
        tallies if unit == "annotator" else sorted(tallies, key=lambda t: (-t.rejected, t.name))
    )
    rows: list[list[Cell]] = [[t.name, t.forms, t.rejected] for t in ordered]
    title = "Items per annotator" if unit == "annotator" else "Rejections per item"
    return Table(columns, rows, title).first(RESPONSES_SHOWN)


def _refusals(answer: FormResponses) -> Table:
    columns = [Column("reason", numeric=False), Column("forms", 0)]
    rows: list[list[Cell]] = [[reason, count] for reason, count in answer.reasons.items()]
    return Table(columns, rows, "Why forms were rejected").first(RESPONSES_SHOWN)


def _remark_table(answer: FormResponses) -> Table:
    columns = [Column(n, numeric=False) for n in ("about", "comment", "annotator", "item")]
    rows: list[list[Cell]] = [
        [r.about, r.text, r.annotator, r.item]
        for name in CLASSES
        for r in answer.remarks
        if r.about == name
    ]
    return Table(columns, rows, "Comments").first(RESPONSES_SHOWN)


def written_survey_document(answer: WrittenSurvey) -> Document:
    """A row per file, with what it is for."""
    columns = [Column("file", numeric=False), Column("what", numeric=False)]
    rows = [list(row) for row in zip(answer.files, answer.purposes, strict=True)]
    return Document(answer.to_dict, [Table(columns, rows)], answer.notes)
