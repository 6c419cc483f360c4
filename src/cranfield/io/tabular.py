"""Judgements and runs as JSON, CSV, TSV and Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from cranfield import _core
from cranfield._lazy import np
from cranfield.data import Judgements, Run, Table
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError
from cranfield.io.delimited import (
    json_blocks,
    number_role,
    read_separated,
    refuse_empty_topics,
    repetition_note,
    separated_blocks,
)
from cranfield.io.files import FileForm, Input, decode_blocks, describe, read_json_bytes
from cranfield.io.id_lists import list_as_mapping
from cranfield.io.jsonl import read_records, record_blocks, table_from_records, topic_rows

T = TypeVar("T", bound=Table)


def read_json(path: FileForm, kind: type[T]) -> T:
    """{topic: {item: number}} in JSON."""
    source_name = describe(path)
    data = read_json_bytes(path)
    columns = _core.nested_json(data, number_role(kind) == "grade")
    if columns is not None:
        return kind(tuple(columns[0]), *columns[1:5]).known_unique()
    notes: list[str] = []
    try:
        content = json.loads(
            decode_blocks([data], Input.of(path)),
            object_pairs_hook=lambda p: _check_object(p, source_name, kind, notes),
        )
    except json.JSONDecodeError as error:
        raise InputError.single(
            source_name,
            f"not valid JSON: {error.msg} (expected: {{topic: {{item: number}}}})",
            error.lineno,
        ) from None
    except RecursionError:
        raise InputError.single(
            source_name, "nested too deep: expected {topic: {item: number}}"
        ) from None
    except ValueError as error:  # a whole number of more digits than Python converts
        raise InputError.single(source_name, f"not valid JSON: {error}") from None
    if content == {}:
        raise InputError.single(
            source_name, "is empty: expected a JSON object {topic: {item: number}}"
        )
    if isinstance(content, list) and content and all(isinstance(r, dict) for r in content):
        return table_from_records(content, kind, source_name)
    if not isinstance(content, dict):
        raise InputError.single(source_name, "expected a JSON object {topic: {item: number}}")
    content = {
        topic: list_as_mapping(items, kind, source_name, topic) for topic, items in content.items()
    }
    if all(isinstance(items, dict) or _is_detailed(items) for items in content.values()):
        lists = [t for t, items in content.items() if isinstance(items, list)]
        content |= {t: _values_of_records(t, content[t], kind, source_name) for t in lists}
    for topic, items in content.items():
        if not isinstance(items, dict):
            raise InputError.single(
                source_name, f"topic {topic!r} is not an object {{item: number}}"
            )
        for item, number in items.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise InputError.single(
                    source_name, f"{number!r} of item {item!r}, topic {topic!r}, is not a number"
                )
    try:
        return kind.from_dict(content).noted(notes)
    except InputError as error:
        raise InputError(source_name, error.problems, error.count) from None


def _is_detailed(items: Any) -> bool:
    """Whether this is a list of records, or of pairs of item and number."""
    return isinstance(items, list) and all(
        isinstance(item, dict) or (isinstance(item, list) and len(item) == 2) for item in items
    )


def _values_of_records(
    topic: str, items: list[Any], kind: type[Table], source_name: str
) -> dict[str, float]:
    value_by_item: dict[str, float] = {}
    try:
        for _, item, value in topic_rows(topic, items, number_role(kind)):
            if item in value_by_item:
                raise ValueError(f"item {item!r} is listed twice; keep one of them")
            value_by_item[item] = value
    except ValueError as error:
        raise InputError.single(source_name, f"topic {topic!r}: {error}") from None
    return value_by_item


def _check_object(
    pairs: list[tuple[str, Any]], source_name: str, kind: type[Table], notes: list[str]
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key not in result:
            result[key] = value
        elif kind is Judgements and result[key] == value and not isinstance(value, dict):
            notes.append(repetition_note(f"{source_name}: {key!r} occurs twice in one object"))
        else:
            raise InputError.single(
                source_name, f"{key!r} occurs twice in one object; keep one of them"
            )
    return result


def read_parquet(path: FileForm, kind: type[T]) -> T:
    """Parquet with columns for topic, item and grade or score."""
    from cranfield.io.arrays import read_arrow_table

    frame = read_arrow_table(path, columns=lambda names: _needed_columns(names, kind))
    if frame.num_rows == 0:
        raise InputError.single(describe(path), "is empty: the table has no rows")
    try:
        return kind.from_frame(frame)
    except InputError as error:
        raise InputError(describe(path), error.problems, error.count) from None


def _needed_columns(names: list[str], kind: type[Table]) -> list[str] | None:
    """The columns that a table is made of; None for all, to say what is missing or double."""
    lower_names = [name.lower() for name in names]
    roles = [HEADERS["topic"], HEADERS["item"], HEADERS[number_role(kind)]]
    if kind is Run and not any(name in HEADERS["score"] for name in lower_names):
        roles[2] = HEADERS["rank"]
    needed_columns = [
        n for n, low in zip(names, lower_names, strict=True) if any(low in r for r in roles)
    ]
    every_role = all(any(low in role for low in lower_names) for role in roles)
    return needed_columns if every_role and len(set(lower_names)) == len(names) else None


READERS: dict[str, Callable[[FileForm, type[Any]], Any]] = {
    ".json": read_json,
    ".csv": lambda path, kind: read_separated(path, kind, ","),
    ".jsonl": read_records,
    ".ndjson": read_records,
    ".tsv": lambda path, kind: read_separated(path, kind, "\t"),
    ".parquet": read_parquet,
}


def table_blocks(table: Table, suffix: str) -> Iterable[bytes]:
    """Judgements or a run in the format of a file name's ending, block by block."""
    number, source_name = number_role(type(table)), f"<{suffix} file>"
    if isinstance(table, Judgements) and table.strata is not None:
        raise InputError.single(source_name, "only TREC's format holds strata of judgements")
    if suffix == ".json":
        return json_blocks(table)
    refuse_empty_topics(table, source_name)
    if suffix == ".parquet":
        return [_parquet_bytes(table, number)]
    if suffix in (".jsonl", ".ndjson"):
        return record_blocks(table, number)
    return separated_blocks(table, suffix, number, source_name)


def _parquet_bytes(table: Table, number: str) -> bytes:
    from cranfield.io.arrays import arrow_bytes, import_arrow

    pa = import_arrow("Writing Parquet files")
    topics = np.repeat(np.arange(len(table.topics)), np.diff(table.offsets))
    items = pa.LargeStringArray.from_buffers(
        len(table), pa.py_buffer(table.item_offsets), pa.py_buffer(table.item_bytes)
    )
    columns = {
        "topic": pa.array(table.topics, pa.string()).take(pa.array(topics)),
        "item": items.cast(pa.string()),
        number: pa.array(table.values),
    }
    return arrow_bytes(columns)
