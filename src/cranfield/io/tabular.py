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
    repeated,
    separated_blocks,
)
from cranfield.io.files import FileForm, Input, decoded, describe, read_json_bytes
from cranfield.io.jsonl import of_list, of_records, of_topic, read_records, record_blocks

T = TypeVar("T", bound=Table)


def read_json(path: FileForm, kind: type[T]) -> T:
    """{topic: {item: number}} in JSON."""
    where = describe(path)
    data = read_json_bytes(path)
    plain = _core.nested_json(data, number_role(kind) == "grade")
    if plain is not None:
        return kind(tuple(plain[0]), *plain[1:5]).known_unique()
    notes: list[str] = []
    try:
        content = json.loads(
            decoded([data], Input.of(path)),
            object_pairs_hook=lambda p: _object(p, where, kind, notes),
        )
    except json.JSONDecodeError as error:
        raise InputError.single(
            where,
            f"not valid JSON: {error.msg} (expected: {{topic: {{item: number}}}})",
            error.lineno,
        ) from None
    except RecursionError:
        raise InputError.single(
            where, "nested too deep: expected {topic: {item: number}}"
        ) from None
    except ValueError as error:  # a whole number of more digits than Python converts
        raise InputError.single(where, f"not valid JSON: {error}") from None
    if content == {}:
        raise InputError.single(where, "is empty: expected a JSON object {topic: {item: number}}")
    if isinstance(content, list) and content and all(isinstance(r, dict) for r in content):
        return of_records(content, kind, where)
    if not isinstance(content, dict):
        raise InputError.single(where, "expected a JSON object {topic: {item: number}}")
    content = {topic: of_list(items, kind, where, topic) for topic, items in content.items()}
    if all(isinstance(items, dict) or _is_detailed(items) for items in content.values()):
        lists = [t for t, items in content.items() if isinstance(items, list)]
        content |= {t: _of_details(t, content[t], kind, where) for t in lists}
    for topic, items in content.items():
        if not isinstance(items, dict):
            raise InputError.single(where, f"topic {topic!r} is not an object {{item: number}}")
        for item, number in items.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise InputError.single(
                    where, f"{number!r} of item {item!r}, topic {topic!r}, is not a number"
                )
    try:
        return kind.from_dict(content).noted(notes)
    except InputError as error:
        raise InputError(where, error.problems, error.count) from None


def _is_detailed(items: Any) -> bool:
    """Whether this is a list of records, or of pairs of item and number."""
    return isinstance(items, list) and all(
        isinstance(item, dict) or (isinstance(item, list) and len(item) == 2) for item in items
    )


def _of_details(topic: str, items: list[Any], kind: type[Table], where: str) -> dict[str, float]:
    found: dict[str, float] = {}
    try:
        for _, item, value in of_topic(topic, items, number_role(kind)):
            if item in found:
                raise ValueError(f"item {item!r} is listed twice; keep one of them")
            found[item] = value
    except ValueError as error:
        raise InputError.single(where, f"topic {topic!r}: {error}") from None
    return found


def _object(
    pairs: list[tuple[str, Any]], where: str, kind: type[Table], notes: list[str]
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key not in result:
            result[key] = value
        elif kind is Judgements and result[key] == value and not isinstance(value, dict):
            notes.append(repeated(f"{where}: {key!r} occurs twice in one object"))
        else:
            raise InputError.single(where, f"{key!r} occurs twice in one object; keep one of them")
    return result


def read_parquet(path: FileForm, kind: type[T]) -> T:
    """Parquet with columns for topic, item and grade or score."""
    from cranfield.io.arrays import read_arrow_table

    frame = read_arrow_table(path, columns=lambda names: _needed(names, kind))
    if frame.num_rows == 0:
        raise InputError.single(describe(path), "is empty: the table has no rows")
    try:
        return kind.from_frame(frame)
    except InputError as error:
        raise InputError(describe(path), error.problems, error.count) from None


def _needed(names: list[str], kind: type[Table]) -> list[str] | None:
    """The columns that a table is made of; None for all, to say what is missing or double."""
    lowered = [name.lower() for name in names]
    roles = [HEADERS["topic"], HEADERS["item"], HEADERS[number_role(kind)]]
    if kind is Run and not any(name in HEADERS["score"] for name in lowered):
        roles[2] = HEADERS["rank"]
    known = [n for n, low in zip(names, lowered, strict=True) if any(low in r for r in roles)]
    every_role = all(any(low in role for low in lowered) for role in roles)
    return known if every_role and len(set(lowered)) == len(names) else None


READERS: dict[str, Callable[[FileForm, type[Any]], Any]] = {
    ".json": read_json,
    ".csv": lambda path, kind: read_separated(path, kind, ","),
    ".jsonl": read_records,
    ".ndjson": read_records,
    ".tsv": lambda path, kind: read_separated(path, kind, "\t"),
    ".parquet": read_parquet,
}


def written(table: Table, suffix: str) -> Iterable[bytes]:
    """Judgements or a run in the format of a file name's ending, block by block."""
    number, where = number_role(type(table)), f"<{suffix} file>"
    if isinstance(table, Judgements) and table.strata is not None:
        raise InputError.single(where, "only TREC's format holds strata of judgements")
    if suffix == ".json":
        return json_blocks(table)
    refuse_empty_topics(table, where)
    if suffix == ".parquet":
        return [_parquet_bytes(table, number)]
    if suffix in (".jsonl", ".ndjson"):
        return record_blocks(table, number)
    return separated_blocks(table, suffix, number, where)


def _parquet_bytes(table: Table, number: str) -> bytes:
    from cranfield.io.arrays import arrow, arrow_bytes

    pa = arrow("Writing Parquet files")
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
