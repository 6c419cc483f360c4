"""Judgement logs: CSV annotator,item,concept,value[,seconds] or annotator,item,category.

With a column `question` before the category a form has several questions of one answer each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data.columns import collect_frame, frame_column, frame_columns, is_frame
from cranfield.data.judgement_log import (
    SOLE_QUESTION,
    Codes,
    JudgementLog,
    Kind,
    answers_by_question,
    cell_keys,
    describe_judgement,
    find_repeats,
    judgement_log,
    number_name,
    order_values,
)
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem, UsageError, suggest
from cranfield.io.fast_csv import ALIASES, CodedTable, number_or_nan
from cranfield.io.files import (
    FileForm,
    Input,
    can_be_read_again,
    describe,
    inner_suffix,
    open_input,
)
from cranfield.notes import with_progress
from cranfield.validation import validate_params

Duplicates: TypeAlias = Literal["error", "first", "last", "all"]

FORMS = "annotator,item,concept,value[,seconds] or annotator,item,[question,]category[,seconds]"
TRUTH_FORMS = "item,concept,value or item,[question,]category"
_HEAD = 1 << 16
WORDS = {"true": "1", "yes": "1", "false": "0", "no": "0"}


@validate_params
@with_progress
def read_judgement_log(
    path: FileForm,
    *,
    values: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    duplicates: Duplicates = "error",
    progress: Callable[[float], None] | None = None,
) -> JudgementLog:
    """A judgement log from a file.

    `values` declares the answers that can be given, low to high; any other is an error.
    `groups` are the exclusive groups of a category log: each is a question of its own, and a
    category outside of them is an error. In a concept log they change nothing. A second
    judgement of the same annotator on the same cell is an error, or the `first` or
    `last` one counts, or `all` of them count.
    What annotation tools and crowd platforms export is read as well (see `cranfield import`); its
    answers are what they are there, and of several forms of a person on an item the first counts.
    """
    source_name = describe(path)
    if (exported := _exported_log(path)) is not None:
        return exported
    table = CodedTable(path, progress)
    columns = table.columns(FORMS, required=("annotator", "item"))
    kind = _kind_of(columns, table, FORMS)
    table.read(columns, needed=("annotator", "item", "concept", "question", "value", "category"))
    answers = "value" if kind == "concept" else "category"
    declared = None if values is None else [_value_name(v, kind) for v in values]
    names, codes = _answers(table, answers, kind, declared)
    seconds = table.numbers("seconds") if "seconds" in columns else None
    table.raise_problems()
    names_questions = kind == "category" and "question" in columns
    concepts, concept = _concept_codes(table, kind, names_questions, table.rows)
    annotators, annotator = table.names("annotator")
    items, item = table.names("item")
    table.raise_problems()
    log = JudgementLog(
        kind,
        annotators,
        items,
        concepts,
        names,
        annotator,
        item,
        concept,
        codes,
        seconds,
        answers_by_question(concept, codes, len(concepts)) if names_questions else None,
        source=source_name,
        names_questions=names_questions,
    )
    if kind == "category" and groups and not names_questions:
        log = _with_group_questions(log, table, groups)
    return _without_repeats(log, table, duplicates)


# A log, a file of one, or a data frame: annotator, item and category (or concept and value), or a
# column of items and one for each annotator.
LogForm: TypeAlias = "JudgementLog | FileForm | Any"


def coerce_log(source: LogForm) -> JudgementLog:
    """A judgement log from a log, a file or a data frame.

    Columns have the names that a file has, or those of crowd-kit: task, worker, label. A frame
    whose first column is `item` or `task` and that names no annotator has a column for each one.

    >>> log = coerce_log(np.array([("a", "x", 1), ("b", "x", 0)],
    ...     dtype=[("worker", "U1"), ("task", "U1"), ("label", int)]))
    >>> log.annotators, log.items, log.values
    (('a', 'b'), ('x',), ('0', '1'))
    """
    if isinstance(source, JudgementLog):
        return source
    if isinstance(source, str | Path | Input):
        return read_judgement_log(source)
    frame = collect_frame(source)
    if not is_frame(frame):
        raise UsageError(
            f"cannot read judgements from {type(source).__name__}; give a log, a path, or a data "
            f"frame with the columns {FORMS}, or task,worker,label"
        )
    columns: dict[str, list[Any]] = {}
    for name in frame_columns(frame):
        role = ALIASES.get(name.strip().lower(), name.strip().lower())
        if role in columns:
            raise InputError.single("<judgements>", f"two columns are named {role!r}")
        columns[role] = _plain_cells(frame_column(frame, name))
    names = list(columns)
    if "annotator" not in columns and len(names) > 2 and names[0] == "item":
        answers = [
            (person, item, cell)
            for person, cells in columns.items()
            if person != "item"
            for item, cell in zip(columns["item"], cells, strict=True)
            if cell is not None
        ]
        roles = ("annotator", "item", "category")
        columns = {role: [answer[i] for answer in answers] for i, role in enumerate(roles)}
    value = "value" if "concept" in columns else "category"
    if value == "category" and "category" not in columns and "value" in columns:
        columns["category"] = columns.pop("value")
    for role in ("annotator", "item", value):
        if role not in columns:
            raise InputError.single(
                "<judgements>",
                f"no column {role!r} among {', '.join(names)} (expected: {FORMS}, or "
                "task,worker,label)",
            )
        if None in columns[role]:
            row = columns[role].index(None)
            raise InputError.single("<judgements>", f"row {row} has no {role}; leave it out")
    seconds = columns.get("seconds")
    return judgement_log(
        [str(name) for name in columns["annotator"]],
        [str(name) for name in columns["item"]],
        columns[value],
        concepts=_texts(columns.get("concept")),
        questions=_texts(columns.get("question")) if "concept" not in columns else None,
        seconds=None if seconds is None else [math.nan if s is None else float(s) for s in seconds],
    )


def _texts(cells: Sequence[Any] | None) -> list[str] | None:
    return None if cells is None else [str(cell) for cell in cells]


def _plain_cells(column: Any) -> list[Any]:
    """The cells of a column as Python has them, None where there is nothing."""
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, frames, NumPy
        if hasattr(column, method):
            cells: list[Any] = getattr(column, method)()
            break
    return [None if _is_nothing(cell) else cell for cell in cells]


def _is_nothing(cell: Any) -> bool:
    """Whether a cell is empty: None, NaN, or what pandas has for either."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float) and math.isnan(cell)


def _exported_log(path: FileForm) -> JudgementLog | None:
    """The judgements of a file that another program has exported; None for a log of our own."""
    if not can_be_read_again(path) or not _may_be_export(path):
        return None
    from cranfield.io.exports import (
        load_content,
        read_export_log,
        recognise_export,
        unknown_export,
    )

    content = load_content(path)
    name = recognise_export(content)
    if name:
        return replace(read_export_log(content, name), source=content.name)
    if content.document is not None:
        raise unknown_export(content)
    return None


def _may_be_export(path: FileForm) -> bool:
    """Whether a file does not begin with the header of a log."""
    if inner_suffix(path) in (".xlsx", ".xls", ".ods"):
        return True
    with open_input(path) as stream:
        first_line = stream.read(_HEAD).lstrip().split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    heads = [name.strip(' "').lower() for name in re.split("[,;\t]", first_line)]
    names = {ALIASES.get(name, name) for name in heads}
    return not {"annotator", "item"} <= names or "annotation_id" in names


def read_gold(path: FileForm, log: JudgementLog) -> NDArray[np.int32]:
    """Known answers as an array items x concepts of value codes, -1 where unknown.

    The file has the columns item,concept,value or item,category, as the log has them.
    """
    source_name = describe(path)
    table = CodedTable(path)
    columns = table.columns(TRUTH_FORMS, required=("item",), rename={"truth": "category"})
    if _kind_of(columns, table, TRUTH_FORMS) != log.kind:
        raise table.header_error(f"does not fit the log: expected the columns of a {log.kind} log")
    table.read(columns)
    answers = "value" if log.kind == "concept" else "category"
    _, codes = _answers(table, answers, log.kind, log.values)
    items, item = table.names("item")
    names_questions = log.kind == "category" and "question" in columns
    if names_questions != log.names_questions:
        raise table.header_error(
            "does not fit the log: "
            + ("the log names no questions" if names_questions else "expected a column question")
        )
    concepts, concept = _concept_codes(table, log.kind, names_questions, item.size)
    table.raise_problems()
    gold = np.full((len(log.items), len(log.concepts)), -1, dtype=np.int32)
    # Truth often covers more items than were judged: what the log does not ask is left aside.
    row_of = {name: i for i, name in enumerate(log.items)}
    column_of = {name: i for i, name in enumerate(log.concepts)}
    rows = np.array([row_of.get(name, -1) for name in items], dtype=np.int64)[item]
    if log.allowed is None or log.names_questions:
        cols = np.array([column_of.get(name, -1) for name in concepts], dtype=np.int64)[concept]
    else:
        question = {v: c for c, allowed in enumerate(log.allowed) for v in allowed}
        cols = np.array([question.get(int(v), -1) for v in codes], dtype=np.int64)
    fits = (rows >= 0) & (cols >= 0)
    if not fits.any():
        raise InputError.single(source_name, f"holds no item and concept of {log.source}")
    gold[rows[fits], cols[fits]] = codes[fits]
    return gold


def read_annotator_groups(path: FileForm, log: JudgementLog) -> dict[str, tuple[str, ...]]:
    """Groups of annotators (experts, crowd) from CSV annotator,group."""
    table = CodedTable(path)
    columns = table.columns("annotator,group", required=("annotator", "group"))
    table.read(columns)
    annotators, annotator = table.names("annotator")
    groups, group = table.names("group")
    for name in annotators:
        if name not in log.annotators:
            line = int(table.lines[int(np.argmax(annotator == annotators.index(name)))])
            table.add(
                line, f"no annotator {name!r} in {log.source}.{suggest(name, log.annotators)}"
            )
    seen: dict[int, int] = {}
    for row, (a, g) in enumerate(zip(annotator.tolist(), group.tolist(), strict=True)):
        if seen.setdefault(a, g) != g:
            table.add(int(table.lines[row]), f"annotator {annotators[a]!r} is in two groups")
    table.raise_problems()
    return {
        name: tuple(annotators[a] for a, of in seen.items() if of == g)
        for g, name in enumerate(groups)
    }


def read_weights(path: FileForm, log: JudgementLog) -> NDArray[np.float64]:
    """One weight per annotator of the log, from CSV annotator,weight."""
    source_name = describe(path)
    table = CodedTable(path)
    table.read(table.columns("annotator,weight", required=("annotator", "weight")))
    annotators, annotator = table.names("annotator")
    weights = table.numbers("weight")
    table.raise_problems()
    by_name = {annotators[a]: w for a, w in zip(annotator.tolist(), weights.tolist(), strict=True)}
    missing = [name for name in log.annotators if name not in by_name]
    if missing:
        raise InputError.single(
            source_name,
            f"has no weight for annotator {missing[0]!r} ({len(missing)} without a weight)",
        )
    return np.array([by_name[name] for name in log.annotators])


def _concept_codes(
    table: CodedTable, kind: Kind, names_questions: bool, rows: int
) -> tuple[tuple[str, ...], Codes]:
    """What each judgement answers: its concept, its question, or the only question there is."""
    if kind == "concept":
        return table.names("concept")
    if names_questions:
        return table.names("question")
    return (SOLE_QUESTION,), np.zeros(rows, dtype=np.int32)


def _kind_of(columns: dict[str, int], table: CodedTable, forms: str) -> Kind:
    if "concept" in columns and "value" in columns:
        return "concept"
    if "category" in columns and "concept" not in columns:
        return "category"
    header = ",".join(columns)
    raise table.header_error(f"the header {header!r} is none of {forms}")


def _value_name(text: str, kind: Kind) -> str:
    """The canonical name of an answer, or '' when a value is no number."""
    if kind == "category":
        return text
    value = number_or_nan(WORDS.get(text.lower(), text))
    return number_name(value) if math.isfinite(value) else ""


def _answers(
    table: CodedTable, column: str, kind: Kind, declared: Sequence[str] | None
) -> tuple[tuple[str, ...], Codes]:
    """The answers of a column in their order, and the code of each row's answer."""
    texts, codes = table.texts(column)
    names = [_value_name(text, kind) for text in texts]
    allowed = set(names) if declared is None else set(declared)

    def message(i: int) -> str:
        if not texts[i]:
            return f"the {column} is empty; a missing judgement is a row left out"
        if not names[i]:
            return f"value {texts[i]!r} is not a number (expected 0, 1 or a grade)"
        options = ", ".join(declared or ())
        return f"{column} {texts[i]!r} is not one of {options}.{suggest(texts[i], allowed)}"

    bad = {i for i, name in enumerate(names) if not name or name not in allowed}
    table.refuse(column, bad, message)
    table.raise_problems()
    order, by_text = order_values(names, kind, declared)
    return order, by_text[codes]


def _with_group_questions(
    log: JudgementLog, table: CodedTable, groups: Mapping[str, Sequence[str]]
) -> JudgementLog:
    """A category log with each exclusive group as a question of its own."""
    values = tuple(dict.fromkeys(name for members in groups.values() for name in members))
    place = {name: i for i, name in enumerate(values)}
    question = {name: g for g, members in enumerate(groups.values()) for name in members}
    outside = np.array([name not in place for name in log.values], dtype=bool)
    rows = np.flatnonzero(outside[log.value])
    if rows.size:
        raise InputError(
            log.source,
            [
                Problem(
                    int(table.lines[row]),
                    f"category {name!r} is outside of every group.{suggest(name, values)}",
                )
                for row in rows[:PROBLEMS_SHOWN].tolist()
                for name in [log.values[log.value[row]]]
            ],
            rows.size,
        )
    return replace(
        log,
        concepts=tuple(groups),
        values=values,
        concept=np.array([question[name] for name in log.values], dtype=np.int32)[log.value],
        value=np.array([place[name] for name in log.values], dtype=np.int32)[log.value],
        allowed=tuple(tuple(place[name] for name in members) for members in groups.values()),
    )


def _without_repeats(log: JudgementLog, table: CodedTable, rule: Duplicates) -> JudgementLog:
    is_repeat = find_repeats(log)
    if rule == "all" or not is_repeat.any():
        return log
    if rule == "first":
        return log.where(~is_repeat)
    key = cell_keys(log)
    if rule == "last":
        _, last = np.unique(key[::-1], return_index=True)
        keep = np.zeros(len(log), dtype=bool)
        keep[len(log) - 1 - last] = True
        return log.where(keep)
    problems = []
    for row in np.flatnonzero(is_repeat)[:PROBLEMS_SHOWN].tolist():
        first = table.lines[np.flatnonzero(key == key[row])[0]]
        problems.append(
            Problem(
                int(table.lines[row]),
                f"duplicate judgement: {describe_judgement(log, row)} (first on line {first}); "
                "keep one of them with duplicates='first'",
            )
        )
    raise InputError(log.source, problems, int(is_repeat.sum()))
