"""Judgements and runs as JSON Lines: a record with topic, item and number on every line.

A line may also hold a whole topic: the topic beside its items, or {topic: its items}, where the
items are ids (best first, or relevant), records of their own, or {item: number}.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar

from cranfield.data import Table
from cranfield.data.columns import HEADERS
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem
from cranfield.io.delimited import number_role
from cranfield.io.files import FileForm, describe, input_lines

T = TypeVar("T", bound=Table)
_MANY = (list, dict)
# What the items of a topic are called where a record holds all of them.
_LISTS = (
    *("items", "docs", "documents", "results", "ranking", "ranked", "hits", "retrieved", "run"),
    *("relevant", "qrels", "judgements", "judgments", "ids", "item_ids", "doc_ids", "docids"),
    *HEADERS["item"],
)


def read_records(path: FileForm, kind: type[T]) -> T:
    """Records such as {"query_id": "1", "doc_id": "a", "score": 2.5}."""
    source_name, number = describe(path), number_role(kind)
    rows: list[tuple[str, str, float]] = []
    problems: list[Problem] = []
    count = 0
    for line, text in enumerate(input_lines(path), 1):
        if not text.strip():
            continue
        try:
            rows.extend(_rows(json.loads(text), number))
        except (ValueError, RecursionError) as error:
            count += 1
            if len(problems) < PROBLEMS_SHOWN:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                problems.append(Problem(line, f"{reason} (expected: {_example(number)})"))
    if problems:
        raise InputError(source_name, problems, count)
    if not rows:
        raise InputError.single(source_name, f"is empty (expected lines: {_example(number)})")
    return _table(rows, kind, source_name)


def table_from_records(records: list[Any], kind: type[T], source_name: str) -> T:
    """A list of such records in one JSON file, as data frames write them."""
    number = number_role(kind)
    rows: list[tuple[str, str, float]] = []
    for place, record in enumerate(records, 1):
        try:
            rows.extend(_rows(record, number))
        except ValueError as error:
            raise InputError.single(
                source_name, f"record {place}: {error} (expected: {_example(number)})"
            ) from None
    if not rows:
        raise InputError.single(source_name, f"is empty (expected: [{_example(number)}, ...])")
    return _table(rows, kind, source_name)


def _table(rows: list[tuple[str, str, float]], kind: type[T], source_name: str) -> T:
    topics, items, values = (list(column) for column in zip(*rows, strict=True))
    try:
        return kind.from_rows(topics, items, values)
    except InputError as error:
        raise InputError(source_name, error.problems, error.count) from None


def record_blocks(table: Table, number: str) -> Iterator[bytes]:
    """Rows as the lines that `read_records` reads; an infinite score as JSON can have it."""
    for topic, item, value in table.rows():
        is_whole = number == "grade" and value.is_integer()
        record = {"topic": topic, "item": item, number: int(value) if is_whole else value}
        text = json.dumps(record, ensure_ascii=False)
        yield (text.replace("Infinity}", "1e999}") if math.isinf(value) else text).encode() + b"\n"


def _example(number: str) -> str:
    name = "score" if number == "score" else "relevance"
    return f'{{"query_id": "1", "doc_id": "a", "{name}": 2}}'


def _rows(record: Any, number: str) -> Iterator[tuple[str, str, float]]:
    """The rows of a record: its own, or those of the topics it holds."""
    if not isinstance(record, dict):
        raise ValueError("not a record")
    fields = {str(key).lower(): value for key, value in record.items()}
    inner = next((fields[name] for name in _LISTS if isinstance(fields.get(name), _MANY)), None)
    if inner is not None:
        yield from topic_rows(_id(fields, "topic"), inner, number)
    elif record and all(isinstance(value, _MANY) for value in record.values()):
        for topic, items in record.items():
            yield from topic_rows(topic, items, number)
    else:
        yield _row(fields, _id(fields, "topic"), number)


def topic_rows(topic: str, items: Any, number: str) -> Iterator[tuple[str, str, float]]:
    """The rows of one topic: from {item: number}, ids, records, or pairs of item and number."""
    if isinstance(items, dict):
        items = list(items.items())
    for place, item in enumerate(items, 1):
        unsaid = -place if number == "score" else 1
        if isinstance(item, dict):
            fields = {str(key).lower(): value for key, value in item.items()}
            if not any(name in fields for name in HEADERS["item"]) and "id" in fields:
                fields["item"] = fields["id"]
            if not any(name in fields for name in (*HEADERS[number], "rank")):
                fields[number] = unsaid
            yield _row(fields, topic, number)
        elif isinstance(item, list | tuple) and len(item) == 2:
            yield _row({"item": item[0], number: item[1]}, topic, number)
        else:
            yield _row({"item": item, number: unsaid}, topic, number)


def _row(fields: dict[str, Any], topic: str, number: str) -> tuple[str, str, float]:
    item = _id(fields, "item")
    names = (*HEADERS[number], "rank") if number == "score" else HEADERS[number]
    name = next((n for n in names if n in fields), None)
    if name is None:
        raise ValueError(f"no {number} in the record")
    value = fields[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError(f"{name} {value!r} is not a number")
    return topic, item, float(-value if name == "rank" else value)


def _id(record: dict[str, Any], role: str) -> str:
    name = next((n for n in HEADERS[role] if n in record), None)
    value = None if name is None else record[name]
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"no {role} in the record")
    return str(value)
