"""Judgements and runs as JSON Lines: a record with topic, item and number on every line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar

from cranfield.data import Table
from cranfield.data.columns import HEADERS
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem
from cranfield.io.files import FileForm, describe, input_lines
from cranfield.io.separated import number_role

T = TypeVar("T", bound=Table)


def read_records(path: FileForm, kind: type[T]) -> T:
    """Records such as {"query_id": "1", "doc_id": "a", "score": 2.5}."""
    where, number = describe(path), number_role(kind)
    rows: list[tuple[str, str, float]] = []
    problems: list[Problem] = []
    count = 0
    for line, text in enumerate(input_lines(path), 1):
        if not text.strip():
            continue
        try:
            rows.append(_row(json.loads(text), number))
        except (ValueError, RecursionError) as error:
            count += 1
            if len(problems) < PROBLEMS_SHOWN:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                problems.append(Problem(line, f"{reason} (expected: {_example(number)})"))
    if problems:
        raise InputError(where, problems, count)
    if not rows:
        raise InputError.single(where, f"is empty (expected lines: {_example(number)})")
    topics, items, values = (list(column) for column in zip(*rows, strict=True))
    try:
        return kind.from_rows(topics, items, values)
    except InputError as error:
        raise InputError(where, error.problems, error.count) from None


def record_blocks(table: Table, number: str) -> Iterator[bytes]:
    """Rows as the lines that `read_records` reads; an infinite score as JSON can have it."""
    for topic, item, value in table.rows():
        whole = number == "grade" and value.is_integer()
        record = {"topic": topic, "item": item, number: int(value) if whole else value}
        text = json.dumps(record, ensure_ascii=False)
        yield (text.replace("Infinity}", "1e999}") if math.isinf(value) else text).encode() + b"\n"


def _example(number: str) -> str:
    name = "score" if number == "score" else "relevance"
    return f'{{"query_id": "1", "doc_id": "a", "{name}": 2}}'


def _row(record: Any, number: str) -> tuple[str, str, float]:
    if not isinstance(record, dict):
        raise ValueError("not a record")
    lowered = {str(key).lower(): value for key, value in record.items()}
    topic, item = (_id(lowered, role) for role in ("topic", "item"))
    names = (*HEADERS[number], "rank") if number == "score" else HEADERS[number]
    name = next((n for n in names if n in lowered), None)
    if name is None:
        raise ValueError(f"no {number} in the record")
    value = lowered[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError(f"{name} {value!r} is not a number")
    return topic, item, float(-value if name == "rank" else value)


def _id(record: dict[str, Any], role: str) -> str:
    name = next((n for n in HEADERS[role] if n in record), None)
    value = None if name is None else record[name]
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"no {role} in the record")
    return str(value)
