"""Judgement logs: CSV annotator,item,concept,value[,seconds] or annotator,item,category."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import (
    SOLE_QUESTION,
    Codes,
    JudgementLog,
    Kind,
    cell_keys,
    describe_judgement,
    find_repeats,
    number_name,
    order_values,
)
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem, suggest
from cranfield.io.fast_csv import CodedTable, number_or_nan
from cranfield.io.files import FileForm, describe
from cranfield.notes import with_progress
from cranfield.validation import validate_params

Duplicates: TypeAlias = Literal["error", "first", "last", "all"]

FORMS = "annotator,item,concept,value[,seconds] or annotator,item,category[,seconds]"
TRUTH_FORMS = "item,concept,value or item,category"
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
    """
    source_name = describe(path)
    table = CodedTable(path, progress)
    columns = table.columns(FORMS, required=("annotator", "item"))
    kind = _kind_of(columns, table, FORMS)
    table.read(columns, needed=("annotator", "item", "concept", "value", "category"))
    answers = "value" if kind == "concept" else "category"
    declared = None if values is None else [_value_name(v, kind) for v in values]
    names, codes = _answers(table, answers, kind, declared)
    seconds = table.numbers("seconds") if "seconds" in columns else None
    table.raise_problems()
    concepts, concept = (
        table.names("concept")
        if kind == "concept"
        else ((SOLE_QUESTION,), np.zeros(table.rows, dtype=np.int32))
    )
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
        source=source_name,
    )
    if kind == "category" and groups:
        log = _with_group_questions(log, table, groups)
    return _without_repeats(log, table, duplicates)


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
    concepts, concept = (
        table.names("concept")
        if log.kind == "concept"
        else ((SOLE_QUESTION,), np.zeros(item.size, dtype=np.int32))
    )
    table.raise_problems()
    gold = np.full((len(log.items), len(log.concepts)), -1, dtype=np.int32)
    # Truth often covers more items than were judged: what the log does not ask is left aside.
    row_of = {name: i for i, name in enumerate(log.items)}
    column_of = {name: i for i, name in enumerate(log.concepts)}
    rows = np.array([row_of.get(name, -1) for name in items], dtype=np.int64)[item]
    if log.allowed is None:
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
