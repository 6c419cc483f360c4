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
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    path: FileForm, *, concepts: Sequence[str] | None = None
) -> tuple[FilledForm, ...]:
    """A form for each row.

    A column whose cells are true or false is a concept; a column of names holds the concepts that
    were chosen, several with | between them. With `concepts` other names are errors, and each
    form has a value for all of them; without, those that occur are the concepts.
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
    table = _Answers(answers, [row for _, row in rows], concepts)
    problems: list[Problem] = []
    forms = []
    for line, row in rows:
        if not row["WorkerId"] or not row[item_column]:
            problems.append(Problem(line, f"WorkerId or {item_column} is empty"))
            continue
        values, unknown = table.values(row)
        problems += [Problem(line, f"{name!r} is not a concept") for name in unknown]
        forms.append(_crowd_form(row, item_name(row[item_column]), values, table, run_name(path)))
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
    """The meaning of each answer column: concept flag, choice or comment."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Mapping[str, str]],
        concepts: Sequence[str] | None,
    ) -> None:
        names = {column: _answer_name(column) for column in columns}
        self.comments = [c for c, n in names.items() if n.lower() in COMMENTS]
        cells = {c: {row[c] for row in rows} for c in columns if c not in self.comments}
        self._flags = {
            c: names[c] for c, texts in cells.items() if {v.lower() for v in texts} <= TRUE | FALSE
        }
        self._choices = [c for c in cells if c not in self._flags]
        self._known = None if concepts is None else tuple(concepts)
        selected_names = [
            v for c in self._choices for cell in sorted(cells[c]) for v in _split(cell)
        ]
        self.concepts = self._known or tuple(
            dict.fromkeys([*self._flags.values(), *selected_names])
        )

    def values(self, row: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """0 or 1 for each concept, and names that are no concepts."""
        selected_names = [n for c, n in self._flags.items() if row[c].lower() in TRUE]
        selected_names += [v for c in self._choices for v in _split(row[c])]
        concept_set = set(self.concepts)
        return (
            {c: str(int(c in selected_names)) for c in self.concepts},
            [name for name in selected_names if name not in concept_set],
        )


def _answer_name(column: str) -> str:
    """Of Answer.place.Indoor and Answer.Indoor the last part."""
    return column.removeprefix(ANSWER).rsplit(".", 1)[-1]


def _split(cell: str) -> list[str]:
    return [part for part in BETWEEN.split(cell) if part and part.lower() not in FALSE]


def _crowd_form(
    row: Mapping[str, str], item: str, values: Mapping[str, str], table: _Answers, file: str
) -> FilledForm:
    rejected = ""
    if row.get("AssignmentStatus", "").lower() == "rejected":
        rejected = row.get("RequesterFeedback", "") or "rejected on the platform"
    return FilledForm(
        row["WorkerId"],
        item,
        values,
        row.get("BatchId") or row.get("HITTypeId") or file,
        rejected,
        _number(row.get("WorkTimeInSeconds", "")),
        parse_time(row.get("AcceptTime", "")),
        parse_time(row.get("SubmitTime", "")),
        " ".join(row[c] for c in table.comments if row[c] and row[c] != "{}"),
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


def read_label_studio(
    path: FileForm, *, concepts: Sequence[str] | None = None
) -> tuple[FilledForm, ...]:
    """A form for each annotation of each task.

    Choices and the last part of taxonomies select concepts, ratings and numbers are values of
    the control that asked for them, texts are comments. With `concepts` other names are errors.
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
    selected_names = dict.fromkeys(name for names, _, _ in answers for name in names)
    unknown = [n for n in selected_names if concepts is not None and n not in concepts]
    if unknown:
        raise InputError.single(source_name, f"{unknown[0]!r} is not a concept")
    vocabulary = tuple(selected_names) if concepts is None else tuple(concepts)
    return tuple(
        _label_studio_form(task, annotation, names, numbers, words, vocabulary, source_name)
        for (task, annotation), (names, numbers, words) in zip(
            task_annotations, answers, strict=True
        )
    )


def is_label_studio(tasks: Any) -> bool:
    """Whether JSON looks like an export."""
    return (
        isinstance(tasks, list)
        and bool(tasks)
        and all(isinstance(t, dict) and isinstance(t.get("annotations"), list) for t in tasks)
    )


def _read_answers(
    annotation: Mapping[str, Any],
) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """The concepts that were chosen, numbers by control, and words by control."""
    names: list[str] = []
    numbers: dict[str, str] = {}
    words: dict[str, str] = {}
    for result in annotation.get("result", []):
        value, control = result.get("value", {}), str(result.get("from_name", ""))
        names += [str(name) for name in value.get("choices", [])]
        names += [str(path[-1]) for path in value.get("taxonomy", [])]
        for key in ("rating", "number"):
            if key in value:
                numbers[control] = number_name(value[key])
        text = value.get("text", [])
        if text:
            words[control] = " ".join(text) if isinstance(text, list) else str(text)
    return names, numbers, words


def _label_studio_form(
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    names: Sequence[str],
    numbers: Mapping[str, str],
    words: Mapping[str, str],
    concepts: Sequence[str],
    source_name: str,
) -> FilledForm:
    finish_time = parse_time(str(annotation.get("created_at", "")))
    seconds = annotation.get("lead_time")
    timed = isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0
    return FilledForm(
        _annotator_name(annotation),
        _item(task, source_name),
        {**{c: str(int(c in names)) for c in concepts}, **numbers},
        str(task.get("project", "") or source_name),
        SKIPPED if annotation.get("was_cancelled") else "",
        float(seconds) if timed and seconds is not None else math.nan,
        math.nan,
        finish_time,
        " ".join(words.values()),
        words,
    )


def _annotator_name(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by", "")
    if isinstance(by, Mapping):
        return str(by.get("email") or by.get("id") or "unknown")
    return str(by) if by != "" else "unknown"


def _item(task: Mapping[str, Any], source_name: str) -> str:
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
