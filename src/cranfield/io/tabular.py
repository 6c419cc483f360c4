"""Judgements and runs as JSON, CSV, TSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from cranfield._lazy import np
from cranfield.data import Judgements, Run, Table
from cranfield.data.columns import HEADERS
from cranfield.errors import (
    PROBLEMS_SHOWN,
    InputError,
    MissingExtraError,
    Problem,
    plural,
)
from cranfield.io.files import FileForm, describe, read_json_text, read_text
from cranfield.io.ids import SEPARATED
from cranfield.io.numbers import number as parsed

T = TypeVar("T", bound=Table)


def read_json(path: FileForm, kind: type[T]) -> T:
    """{topic: {item: number}} in JSON."""
    where = describe(path)
    notes: list[str] = []
    try:
        content = json.loads(
            read_json_text(path), object_pairs_hook=lambda p: _object(p, where, kind, notes)
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
    if not isinstance(content, dict):
        raise InputError.single(where, "expected a JSON object {topic: {item: number}}")
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


def _object(
    pairs: list[tuple[str, Any]], where: str, kind: type[Table], notes: list[str]
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key not in result:
            result[key] = value
        elif kind is Judgements and result[key] == value and not isinstance(value, dict):
            notes.append(_repeated(f"{where}: {key!r} occurs twice in one object"))
        else:
            raise InputError.single(where, f"{key!r} occurs twice in one object; keep one of them")
    return result


def _repeated(what: str, line: int = 0) -> str:
    before = f" on line {line}" if line else ""
    return f"{what}, with the same grade{before}; the repetition is ignored"


def _repeat(kind: type[Table], key: tuple[str, str], line: int, same: bool) -> str:
    """What is wrong with a row that names an item again; nothing for an equal judgement."""
    if kind is Judgements and same:
        return ""
    if kind is Judgements:
        return f"item {key[1]!r} has another grade for topic {key[0]!r} on line {line}; keep one"
    return (
        f"item {key[1]!r} is listed twice for topic {key[0]!r}, first on line {line}; "
        "keep one of them"
    )


def read_separated(path: FileForm, kind: type[T], delimiter: str) -> T:
    """CSV or TSV with a header that names topic, item and grade or score."""
    where, number = describe(path), _number_role(kind)
    text = read_text(path)
    if not text.strip():
        raise InputError.single(where, f"is empty (expected a header: topic, item, {number})")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    problems: list[Problem] = []
    notes: list[str] = []
    count = 0
    topics: list[str] = []
    items: list[str] = []
    values: list[float] = []
    places: dict[tuple[str, str], tuple[int, float]] = {}
    try:
        header = [h.strip() for h in next(reader, [])]
        at = [_find(header, role, where, number) for role in ("topic", "item", number)]
        for row in reader:
            if not row:
                continue
            fault, value = _check_row(row, header, at, number)
            if not fault:
                key = (row[at[0]], row[at[1]])
                line, earlier = places.setdefault(key, (reader.line_num, value))
                if line != reader.line_num:
                    fault = _repeat(kind, key, line, earlier == value)
                    if not fault:
                        place = f"{where}:{reader.line_num}"
                        notes.append(_repeated(f"{place}: item {key[1]!r} is judged twice", line))
                        continue
            if fault:
                count += 1
                if len(problems) < PROBLEMS_SHOWN:
                    problems.append(Problem(reader.line_num, fault))
                continue
            topics.append(row[at[0]])
            items.append(row[at[1]])
            values.append(value)
    except csv.Error as error:
        raise InputError.single(
            where, f"not valid CSV: {error}; is this a text file?", reader.line_num
        ) from None
    if problems:
        raise InputError(where, problems, count)
    if not values:
        raise InputError.single(where, f"is empty: no rows with topic, item and {number}")
    return kind.from_rows(topics, items, values).noted(notes)


def _number_role(kind: type[Table]) -> str:
    return "score" if kind is Run else "grade"


def _find(header: list[str], role: str, where: str, number: str) -> int:
    lowered = [h.lower() for h in header]
    for name in HEADERS[role]:
        if lowered.count(name) > 1:
            raise InputError.single(where, f"two columns are named {name!r}; keep one of them", 1)
        if name in lowered:
            return lowered.index(name)
    raise InputError.single(
        where, f"no column {role!r} in the header {header} (expected: topic, item, {number})", 1
    )


def _check_row(row: list[str], header: list[str], at: list[int], number: str) -> tuple[str, float]:
    if len(row) != len(header):
        found = ",".join(row)
        shown = repr(found if len(found) <= 60 else found[:60] + "...")
        expected = f"the header has {len(header)}: {', '.join(header)}"
        return f"{plural(len(row), 'field')} in {shown} ({expected})", 0.0
    text = row[at[2]]
    try:
        value = parsed(text)
    except ValueError:
        return f"{number} {text!r} is not a number", 0.0
    if math.isnan(value) or (math.isinf(value) and number != "score"):
        why = "; no item can be ranked by it" if number == "score" else ""
        return f"{number} {text!r} is not a finite number{why}", 0.0
    if not row[at[0]] or not row[at[1]]:
        return "the topic or the item is empty", 0.0
    if any("\0" in field for field in row):
        return f"binary data in {row[at[1]]!r}; is this a text file?", 0.0
    return "", value


def read_parquet(path: FileForm, kind: type[T]) -> T:
    """Parquet with columns for topic, item and grade or score."""
    from cranfield.io.arrays import read_arrow_table

    frame = read_arrow_table(path)
    if frame.num_rows == 0:
        raise InputError.single(describe(path), "is empty: the table has no rows")
    try:
        return kind.from_frame(frame)
    except InputError as error:
        raise InputError(describe(path), error.problems, error.count) from None


READERS: dict[str, Callable[[FileForm, type[Any]], Any]] = {
    ".json": read_json,
    ".csv": lambda path, kind: read_separated(path, kind, ","),
    ".tsv": lambda path, kind: read_separated(path, kind, "\t"),
    ".parquet": read_parquet,
}


def to_bytes(table: Table, suffix: str) -> bytes:
    """Judgements or a run in the format of a file name's ending."""
    number = _number_role(type(table))
    if isinstance(table, Judgements) and table.strata is not None:
        raise InputError.single(f"<{suffix} file>", "only TREC's format holds strata of judgements")
    if suffix == ".json":
        return _json_text(table).encode() + b"\n"
    where = f"<{suffix} file>"
    if without := [t for t, i, j in _spans(table) if i == j]:
        raise InputError.single(
            where, f"topic {without[0]!r} has no items, which only .json can hold"
        )
    rows = [
        (t, i, int(v) if v.is_integer() and number == "grade" else v) for t, i, v in table.rows()
    ]
    if suffix == ".parquet":
        return _parquet_bytes(rows, number)
    SEPARATED.check(where, "topic", table.topics)
    SEPARATED.check(where, "item", (item for _, item, _ in rows))
    out = io.StringIO()
    writer = csv.writer(out, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n")
    writer.writerow(["topic", "item", number])
    writer.writerows(rows)
    return out.getvalue().encode()


def _spans(table: Table) -> Iterator[tuple[str, int, int]]:
    """Each topic with its first row and the one after its last."""
    bounds = table.offsets.tolist()
    return zip(table.topics, bounds[:-1], bounds[1:], strict=True)


def _json_text(table: Table) -> str:
    """JSON to the letter: an infinite score is a number that no double can hold."""
    text = json.dumps(table.to_dict(), ensure_ascii=False, indent=0)
    if np.isinf(table.values).any():
        text = re.sub(r": (-?)Infinity(?=,?$)", r": \g<1>1e999", text, flags=re.MULTILINE)
    return text


def _parquet_bytes(rows: list[tuple[str, str, float]], number: str) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "dataframe", "Writing Parquet files") from None
    columns = list(zip(*rows, strict=True))
    sink = pa.BufferOutputStream()
    values = pa.array(columns[2], pa.float64())
    pq.write_table(pa.table({"topic": columns[0], "item": columns[1], number: values}), sink)
    return bytes(sink.getvalue())
