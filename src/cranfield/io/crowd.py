"""Forms of crowd platforms: a CSV with a row per assignment and wide `Answer.*` columns.

Columns: WorkerId, AssignmentId, HITId, Input.* (what was shown), Answer.* (what was said), and if
there are any BatchId, AcceptTime, SubmitTime, WorkTimeInSeconds, AssignmentStatus and
RequesterFeedback.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from cranfield.data.judgement_log import FilledForm, number_name
from cranfield.errors import InputError, Problem
from cranfield.io.files import FileForm, describe, open_text, read_json_text, run_name

ANSWER, INPUT = "Answer.", "Input."
TRUE = frozenset({"true", "1", "on", "yes", "selected"})
FALSE = frozenset({"false", "0", "off", "no", "", "{}"})
COMMENTS = frozenset({"comment", "comments", "feedback", "remark", "remarks"})
# What separates the answers of one column.
BETWEEN = re.compile(r"\s*[|;]\s*")
ITEMS = ("item", "image", "image_url", "id", "photo", "document")
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "EST": -5, "EDT": -4, "CET": 1, "CEST": 2}
_PICTURE = re.compile(r"\.(jpe?g|png|gif|webp|bmp|tiff?)$", re.IGNORECASE)


def is_crowd_csv(path: FileForm) -> bool:
    """Whether a file begins as the results of a crowd platform do."""
    with open_text(path) as stream:
        first = stream.readline()
    return "WorkerId" in first and ANSWER in first


def read_crowd_csv(
    path: FileForm, *, concepts: Sequence[str] | None = None, categories: bool = True
) -> tuple[FilledForm, ...]:
    """Read the results of a crowd platform, a form for each row.

    Parameters
    ----------
    path
        The platform's CSV.
    concepts
        The names that answers may have: other names are errors, and each form has a value for
        all of them. Without, the names that occur are the concepts.
    categories
        Whether a question with one answer in every row is one of several exclusive categories.
        It is not where `concepts` are named: those are present or absent, each on its own.

    Returns
    -------
    tuple of FilledForm
        A column whose cells are true or false is a concept. A column of names is a question with
        one answer, or holds the concepts that were chosen where a cell has several with | between
        them. Columns such as `Answer.place.Indoor` and `Answer.place.Outdoor`, of which each row
        that was not rejected has exactly one, are the buttons of one question.
    """
    source_name = describe(path)
    with open_text(path) as stream:
        reader = csv.DictReader(stream)
        header = list(reader.fieldnames or ())
        rows = [
            (reader.line_num, {k: (v or "").strip() for k, v in row.items() if k}) for row in reader
        ]
    lacking = [n for n in ("WorkerId",) if n not in header]
    answers = [n for n in header if n.startswith(ANSWER)]
    item_column = _item_column(header)
    if lacking or not answers or item_column is None:
        raise InputError.single(
            source_name, "expected the columns WorkerId, HITId or Input.*, and Answer.*", 1
        )
    if not rows:
        raise InputError.single(source_name, "has no rows below its header")
    table = _Answers(answers, [row for _, row in rows], concepts, categories)
    problems: list[Problem] = []
    forms = []
    for line, row in rows:
        if not row["WorkerId"] or not row[item_column]:
            problems.append(Problem(line, f"WorkerId or {item_column} is empty"))
            continue
        unknown = table.unknown_names(row)
        problems += [Problem(line, f"{name!r} is not a concept") for name in unknown]
        forms.append(_crowd_form(row, item_name(row[item_column]), table, run_name(path)))
    if problems:
        raise InputError(source_name, problems)
    return tuple(forms)


def _item_column(header: Iterable[str]) -> str | None:
    inputs = [n for n in header if n.startswith(INPUT)]
    item_inputs = [
        n for item_header in ITEMS for n in inputs if n.removeprefix(INPUT).lower() == item_header
    ]
    return next(iter([*item_inputs, *inputs, *(n for n in header if n == "HITId")]), None)


def item_name(text: str) -> str:
    """Return the item id of a task: the name of a picture without its folder and ending.

    >>> item_name("https://pictures.example/set/im42.jpg"), item_name("im42")
    ('im42', 'im42')
    """
    if "/" not in text and not _PICTURE.search(text):
        return text
    return _PICTURE.sub("", PurePosixPath(urlsplit(text).path).name) or text


class _Answers:
    """The meaning of each answer column: concept flag, choice of concepts, question or comment."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Mapping[str, str]],
        concepts: Sequence[str] | None,
        categories: bool,
    ) -> None:
        names = {column: _answer_name(column) for column in columns}
        self.comments = [c for c, n in names.items() if n.lower() in COMMENTS]
        cells = {c: {row[c] for row in rows} for c in columns if c not in self.comments}
        flags = {
            c: names[c] for c, texts in cells.items() if {v.lower() for v in texts} <= TRUE | FALSE
        }
        choices = [c for c in cells if c not in flags]
        # The columns of each question with one answer: its cell, or a button for each answer.
        self.questions: dict[str, list[str]] = {}
        if categories and concepts is None:
            self.questions = _buttons(flags, rows) | {
                _question_name(c): [c]
                for c in choices
                if all(len(_split(cell)) <= 1 for cell in cells[c])
            }
        answered = {c for members in self.questions.values() for c in members}
        self._flags = {c: name for c, name in flags.items() if c not in answered}
        self._choices = [c for c in choices if c not in answered]
        chosen_names = [v for c in self._choices for cell in sorted(cells[c]) for v in _split(cell)]
        self.concepts = (
            tuple(concepts)
            if concepts
            else tuple(dict.fromkeys([*self._flags.values(), *chosen_names]))
        )

    def _selected(self, row: Mapping[str, str]) -> list[str]:
        flags = [name for column, name in self._flags.items() if row[column].lower() in TRUE]
        return flags + [name for column in self._choices for name in _split(row[column])]

    def values(self, row: Mapping[str, str]) -> dict[str, str]:
        """0 or 1 for each concept."""
        selected = set(self._selected(row))
        return {concept: str(int(concept in selected)) for concept in self.concepts}

    def unknown_names(self, row: Mapping[str, str]) -> list[str]:
        """The answers of a row that are not concepts."""
        concepts = set(self.concepts)
        return [name for name in self._selected(row) if name not in concepts]

    def categories(self, row: Mapping[str, str]) -> dict[str, str]:
        """The answer to each question that has one; a question without an answer is left out."""
        answers = {}
        for question, columns in self.questions.items():
            if len(columns) == 1:
                parts = _split(row[columns[0]])
            else:
                parts = [_answer_name(c) for c in columns if row[c].lower() in TRUE]
            if parts:
                answers[question] = parts[0]
        return answers


def _buttons(flags: Mapping[str, str], rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Flag columns `Answer.question.answer` of which every counted row has exactly one."""
    members: dict[str, list[str]] = {}
    for column in flags:
        question, _, answer = column.removeprefix(ANSWER).rpartition(".")
        if question and answer:
            members.setdefault(question, []).append(column)
    counted = [row for row in rows if not _is_rejected(row)]
    return {
        question: columns
        for question, columns in members.items()
        if len(columns) > 1
        and counted
        and all(sum(row[c].lower() in TRUE for c in columns) == 1 for row in counted)
    }


def _question_name(column: str) -> str:
    """Of Answer.place and Answer.place.label the question, place."""
    name = column.removeprefix(ANSWER)
    return name.removesuffix(".label") or name


def _answer_name(column: str) -> str:
    """Of Answer.place.Indoor and Answer.Indoor the last part."""
    return column.removeprefix(ANSWER).rsplit(".", 1)[-1]


def _split(cell: str) -> list[str]:
    return [part for part in BETWEEN.split(cell) if part and part.lower() not in FALSE]


def _is_rejected(row: Mapping[str, str]) -> bool:
    return row.get("AssignmentStatus", "").lower() == "rejected"


def _crowd_form(row: Mapping[str, str], item: str, table: _Answers, file: str) -> FilledForm:
    rejected = ""
    if _is_rejected(row):
        rejected = row.get("RequesterFeedback", "") or "rejected on the platform"
    return FilledForm(
        row["WorkerId"],
        item,
        table.values(row),
        row.get("BatchId") or row.get("HITTypeId") or file,
        rejected,
        _number(row.get("WorkTimeInSeconds", "")),
        parse_time(row.get("AcceptTime", "")),
        parse_time(row.get("SubmitTime", "")),
        " ".join(row[c] for c in table.comments if row[c] and row[c] != "{}"),
        categories=table.categories(row),
    )


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and value >= 0 else math.nan


def parse_time(text: str) -> float:
    """Parse a time into seconds since 1970; NaN if the text is not a time.

    >>> parse_time("Thu Jan 01 01:00:00 GMT 1970"), parse_time("1970-01-01T02:00:00+01:00")
    (3600.0, 3600.0)
    """
    zone = re.fullmatch(r"(\w{3} \w{3} \d{1,2} [\d:]{8}) (\w+) (\d{4})", text)
    try:
        if zone:
            moment = datetime.strptime(f"{zone[1]} {zone[3]}", "%a %b %d %H:%M:%S %Y")
            shift = timezone(timedelta(hours=ZONES.get(zone[2], 0)))
            return moment.replace(tzinfo=shift).timestamp()
        moment = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


SKIPPED = "skipped by the annotator"
# The values of results that a judgement can hold.
READ_RESULTS = frozenset({"choices", "taxonomy", "rating", "number", "text"})


def read_label_studio(
    path: FileForm, *, concepts: Sequence[str] | None = None, categories: bool = True
) -> tuple[FilledForm, ...]:
    """Read Label Studio's JSON export, a form for each annotation of each task.

    Parameters
    ----------
    path
        The export.
    concepts
        The names that answers may have; other names are errors.
    categories
        Whether a question in which no annotation has more than one choice is a question with
        exclusive categories. It is not where `concepts` are named.

    Returns
    -------
    tuple of FilledForm
        Choices of several, and the last part of taxonomies, select concepts; ratings and numbers
        are values of the control that asked for them; texts are comments.
    """
    source_name = describe(path)
    try:
        tasks = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(source_name, f"is not JSON ({error})") from None
    if not is_label_studio(tasks):
        raise InputError.single(source_name, "is not a list of tasks with annotations")
    task_annotations = [(task, annotation) for task in tasks for annotation in task["annotations"]]
    try:
        answers = [_read_answers(annotation) for _, annotation in task_annotations]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError.single(
            source_name, f"has an annotation of an unknown shape ({error})"
        ) from None
    questions = _single_choices(answers) if categories and concepts is None else set()
    selected_names = dict.fromkeys(name for a in answers for name in a.concept_names(questions))
    unknown = [n for n in selected_names if concepts is not None and n not in concepts]
    if unknown:
        raise InputError.single(source_name, f"{unknown[0]!r} is not a concept")
    vocabulary = tuple(selected_names) if concepts is None else tuple(concepts)
    return tuple(
        _label_studio_form(task, annotation, answer, questions, vocabulary, source_name)
        for (task, annotation), answer in zip(task_annotations, answers, strict=True)
    )


def is_label_studio(tasks: Any) -> bool:
    """Whether JSON looks like an export."""
    return (
        isinstance(tasks, list)
        and bool(tasks)
        and all(isinstance(t, dict) and isinstance(t.get("annotations"), list) for t in tasks)
    )


def unread_results(tasks: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A note on the results of an export that mark regions or spans, which no log can hold."""
    types: Counter[str] = Counter()
    for task in tasks:
        for annotation in task["annotations"]:
            for result in annotation.get("result", []):
                if not READ_RESULTS & set(result.get("value", {})):
                    types[str(result.get("type", "unknown"))] += 1
    if not types:
        return ()
    counts = ", ".join(f"{count} {name}" for name, count in types.most_common())
    return (f"not read, for they mark regions or spans: {counts} (boxes: see `eval regions`)",)


@dataclass(frozen=True, slots=True)
class _StudioAnswers:
    """What one annotation answers: choices, numbers and texts by control, and taxonomies."""

    choices: Mapping[str, Sequence[str]]
    taxonomies: Sequence[str]
    numbers: Mapping[str, str]
    texts: Mapping[str, str]

    def concept_names(self, questions: Set[str]) -> list[str]:
        """The names that were chosen, but for the answers to questions of one answer."""
        several = [n for c, names in self.choices.items() if c not in questions for n in names]
        return [*several, *self.taxonomies]


def _single_choices(answers: Sequence[_StudioAnswers]) -> set[str]:
    """The controls that offer at least two choices, of which no annotation has more than one."""
    offered: dict[str, set[str]] = {}
    several = set()
    for answer in answers:
        for control, names in answer.choices.items():
            offered.setdefault(control, set()).update(names)
            if len(names) > 1:
                several.add(control)
    # One choice that is taken or not is a concept that is there or not.
    return {c for c, names in offered.items() if c and c not in several and len(names) > 1}


def _read_answers(annotation: Mapping[str, Any]) -> _StudioAnswers:
    choices: dict[str, list[str]] = {}
    taxonomies: list[str] = []
    numbers: dict[str, str] = {}
    texts: dict[str, str] = {}
    for result in annotation.get("result", []):
        value, control = result.get("value", {}), str(result.get("from_name", ""))
        if value.get("choices"):
            choices.setdefault(control, []).extend(str(name) for name in value["choices"])
        taxonomies += [str(path[-1]) for path in value.get("taxonomy", [])]
        for key in ("rating", "number"):
            if key in value:
                numbers[control] = number_name(value[key])
        text = value.get("text", [])
        if text:
            texts[control] = " ".join(text) if isinstance(text, list) else str(text)
    return _StudioAnswers(choices, taxonomies, numbers, texts)


def _label_studio_form(
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    answers: _StudioAnswers,
    questions: Set[str],
    concepts: Sequence[str],
    source_name: str,
) -> FilledForm:
    names = answers.concept_names(questions)
    finish_time = parse_time(str(annotation.get("created_at", "")))
    seconds = annotation.get("lead_time")
    timed = isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0
    return FilledForm(
        annotator_name(annotation),
        task_item(task, source_name),
        {**{c: str(int(c in names)) for c in concepts}, **answers.numbers},
        str(task.get("project", "") or source_name),
        SKIPPED if annotation.get("was_cancelled") else "",
        float(seconds) if timed and seconds is not None else math.nan,
        math.nan,
        finish_time,
        " ".join(answers.texts.values()),
        answers.texts,
        {c: names[0] for c, names in answers.choices.items() if c in questions and names},
    )


def annotator_name(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by", "")
    if isinstance(by, Mapping):
        return str(by.get("email") or by.get("id") or "unknown")
    return str(by) if by != "" else "unknown"


def task_item(task: Mapping[str, Any], source_name: str) -> str:
    data = task.get("data")
    fields = data if isinstance(data, Mapping) else {}
    for text in _shown_texts(fields):
        return item_name(text)
    if "id" not in task:
        raise InputError.single(source_name, "has a task without data and id")
    return str(task["id"])


def _shown_texts(data: Mapping[str, Any]) -> Iterator[str]:
    """What the task shows, the columns that usually name an item first."""
    for name in (*ITEMS, *data):
        if isinstance(data.get(name), str) and data[name]:
            yield data[name]
