"""Judgements and runs as JSON, CSV, TSV and Parquet."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from cranfield import _core
from cranfield._lazy import np
from cranfield.data import Judgements, Run, Table
from cranfield.data.columns import HEADERS
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem
from cranfield.io.coerce import list_as_mapping
from cranfield.io.delimited import (
    json_blocks,
    number_role,
    read_separated,
    refuse_empty_topics,
    repetition_note,
    separated_blocks,
)
from cranfield.io.files import (
    FileForm,
    Input,
    decode_blocks,
    describe,
    input_lines,
    read_json_bytes,
)

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
