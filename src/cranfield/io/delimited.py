"""Judgements and runs as separated text: with a header, or without one as people share them.

A file without a header is known by its columns. Judgements have topic, item and grade, or TREC's
four; runs have topic, item and a third column, or TREC's six. Whether that third column is a rank
or a score no file says: it is a rank when it counts from 1 to n in every topic.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from cranfield import _core
from cranfield._core import SeparatedReader
from cranfield.data import Judgements, Run, Table
from cranfield.data.columns import HEADERS
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem, plural
from cranfield.io.fast_csv import PlainRows, first_row
from cranfield.io.files import (
    SEPARATED,
    TREC,
    FileForm,
    Third,
    as_one_word,
    describe,
    quoted,
    text_lines,
)
from cranfield.io.files import number as parsed

T = TypeVar("T", bound=Table)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where topic, item and number stand in a row of `width` columns.

    `role` says what the number is; "either" is a rank or a score, which all rows must tell.
    """

    width: int
    topic: int
    item: int
    value: int
    role: str
    expected: str
    headed: bool = True
    comma: bool = False

    def number(self, text: str) -> float:
        """The number in a cell; where `;` separates cells, a comma may stand for the point."""
        return parsed(text.replace(",", ".", 1) if self.comma else text)

    @property
    def cells(self) -> str:
        """What the columns become, as the compiled reader has it."""
        become = {self.topic: "c", self.item: "t", self.value: "n"}
        return "".join(become.get(column, "-") for column in range(self.width))


def _third_column_note(role: str) -> str:
    why = "it counts from 1 in every topic" if role == "rank" else "it is no count from 1"
    statement = f"the third column is taken for a {role}, as {why}"
    return f"{statement} (third=... decides); a header would say it"


def number_role(kind: type[Table]) -> str:
    return "score" if kind is Run else "grade"


def read_separated(
    path: FileForm, kind: type[T], delimiter: str, *, third: Third | None = None
) -> T:
    """CSV or TSV, with a header that names topic, item and grade or score, or without one."""
    source_name, number = describe(path), number_role(kind)
    plain_rows = PlainRows(path)
    table = _plain_table(plain_rows, kind, delimiter, third, source_name)
    if table is not None:
        return table
    text = plain_rows.text()
    if not text.strip():
        raise InputError.single(source_name, f"is empty (expected a header: topic, item, {number})")
    lines = io.StringIO(text, newline="")
    separator = _delimiter(text, delimiter)
    reader = csv.reader(lines, delimiter=separator)
    try:
        first = next((row for row in reader if "".join(row).strip()), [])
        layout = _layout([cell.strip() for cell in first], kind, source_name)
        layout = replace(layout, comma=separator == ";")
        rows = _number_rows(reader) if layout.headed else _number_rows_from(first, reader)
        return _table(rows, layout, kind, source_name, third)
    except csv.Error as error:
        raise InputError.single(
            source_name, f"not valid CSV: {error}; is this a text file?", reader.line_num
        ) from None


def read_plain(path: FileForm, kind: type[T], *, third: Third | None = None) -> T:
    """Three columns (or TREC's) that blanks or tabs separate, without a header."""
    source_name = describe(path)
    plain_rows = PlainRows(path)
    table = _blank_separated_table(plain_rows, kind, third, source_name)
    if table is not None:
        return table
    rows = [
        (number, line.split())
        for number, line in enumerate(text_lines(plain_rows.text()), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    layout = _headerless_layout(rows[0][1], kind, source_name)
    return _table(iter(rows), layout, kind, source_name, third)


def _plain_table(
    plain_rows: PlainRows, kind: type[T], usual: str, third: Third | None, source_name: str
) -> T | None:
    """Read a file with the compiled reader; None if a row is not plain."""
    delimiter = _delimiter(plain_rows.first or "", usual)
    first = first_row(plain_rows, delimiter)
    if not first:
        return None
    try:
        layout = _layout([cell.strip() for cell in first], kind, source_name)
    except InputError:  # said again when the whole text is known to be one
        return None
    reader = plain_rows.columns(delimiter, layout.cells, headed=layout.headed)
    return _table_of_columns(reader, layout, kind, third)


def _blank_separated_table(
    plain_rows: PlainRows, kind: type[T], third: Third | None, source_name: str
) -> T | None:
    if plain_rows.first is None or plain_rows.first.lstrip().startswith("#"):
        return None
    try:
        layout = _headerless_layout(plain_rows.first.split(), kind, source_name)
    except InputError:
        return None
    reader = plain_rows.columns(" ", layout.cells, headed=False, comments=True)
    return _table_of_columns(reader, layout, kind, third)


def _table_of_columns(
    reader: SeparatedReader | None, layout: Layout, kind: type[T], third: Third | None
) -> T | None:
    if reader is None:
        return None
    role = layout.role if layout.role != "either" else third or "either"
    result = reader.table(layout.topic, layout.item, role, number_role(kind) == "grade")
    if result is None:
        return None
    (topics, *buffers, _), ranks = result
    notes = [_third_column_note("rank" if ranks else "score")] if role == "either" else []
    # The reader has checked that no item occurs twice in a topic.
    return kind(tuple(topics), *buffers).known_unique().noted(notes)


def is_plain_run(first: Sequence[str]) -> bool:
    """Whether a row could be that of a run, or of judgements, of three columns."""
    return len(first) == 3 and first[1] not in ("Q0", "0") and _is_number(first[2])


def _delimiter(text: str, usual: str) -> str:
    """Return the separator: that of the file ending, unless the first line has only another."""
    first = text.lstrip().split("\n", 1)[0]
    # In 1;a;0,5 the comma is a decimal one.
    if usual in first and not (usual == "," and first.count(";") > first.count(",")):
        return usual
    return next((candidate for candidate in (";", "\t", ",") if candidate in first), usual)


def _number_rows(reader: Any) -> Iterator[tuple[int, list[str]]]:
    for row in reader:
        if row:
            yield reader.line_num, row


def _number_rows_from(first: list[str], reader: Any) -> Iterator[tuple[int, list[str]]]:
    yield reader.line_num, first
    yield from _number_rows(reader)


def _layout(first: list[str], kind: type[Table], source_name: str) -> Layout:
    lower_names = [name.lower() for name in first]
    headed = any(name in HEADERS[role] for name in lower_names for role in ("topic", "item"))
    if first and not headed and _is_number(first[-1] if len(first) != 6 else first[4]):
        return _headerless_layout(first, kind, source_name)
    number = number_role(kind)
    topic, item = (_find_column(first, role, source_name, number) for role in ("topic", "item"))
    role = number
    if (
        kind is Run
        and not any(name in HEADERS["score"] for name in lower_names)
        and "rank" in lower_names
    ):
        role, value = "rank", lower_names.index("rank")
    else:
        value = _find_column(first, number, source_name, number)
    expected = f"the header has {len(first)}: {', '.join(first)}"
    return Layout(len(first), topic, item, value, role, expected)


# Columns by kind and number of them: what they hold, and where topic, item and number stand.
_HEADLESS: dict[tuple[str, int], tuple[str, int, int, int, str]] = {
    ("grade", 3): ("topic, item, grade", 0, 1, 2, "grade"),
    ("grade", 4): ("topic, iteration, item, grade", 0, 2, 3, "grade"),
    ("score", 3): ("topic, item, rank or score", 0, 1, 2, "either"),
    ("score", 4): ("topic, item, rank, score", 0, 1, 3, "score"),
    ("score", 6): ("topic, Q0, item, rank, score, name", 0, 2, 4, "score"),
}


def _headerless_layout(first: Sequence[str], kind: type[Table], source_name: str) -> Layout:
    number = number_role(kind)
    columns = _HEADLESS.get((number, len(first)))
    if columns is None:
        shapes = "; or ".join(shape[0] for (k, _), shape in _HEADLESS.items() if k == number)
        raise InputError.single(
            source_name, f"{plural(len(first), 'column')} without a header (expected: {shapes})", 1
        )
    description, topic, item, value, role = columns
    expected = f"expected: {description}"
    return Layout(len(first), topic, item, value, role, expected, headed=False)


def _is_number(text: str) -> bool:
    try:
        parsed(text.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _table(
    rows: Iterator[tuple[int, list[str]]],
    layout: Layout,
    kind: type[T],
    source_name: str,
    third: Third | None,
) -> T:
    number = number_role(kind)
    problems: list[Problem] = []
    notes: list[str] = []
    count = 0
    topics: list[str] = []
    items: list[str] = []
    values: list[float] = []
    places: dict[tuple[str, str], tuple[int, float]] = {}
    for at, row in rows:
        fault, value = _check_row(row, layout, number)
        if not fault:
            key = (row[layout.topic], row[layout.item])
            line, earlier = places.setdefault(key, (at, value))
            if line != at:
                fault = _repetition_fault(kind, key, line, earlier == value)
                if not fault:
                    place = f"{source_name}:{at}"
                    notes.append(repetition_note(f"{place}: item {key[1]!r} is judged twice", line))
                    continue
        if fault:
            count += 1
            if len(problems) < PROBLEMS_SHOWN:
                problems.append(Problem(at, fault))
            continue
        topics.append(row[layout.topic])
        items.append(row[layout.item])
        values.append(value)
    if problems:
        raise InputError(source_name, problems, count)
    if not values:
        raise InputError.single(source_name, f"is empty: no rows with topic, item and {number}")
    role = layout.role
    if role == "either":
        role = third or ("rank" if _are_ranks(topics, values) else "score")
        if third is None:
            notes.append(_third_column_note(role))
    if role == "rank":
        values = [-value for value in values]
    return kind.from_rows(topics, items, values).noted(notes)


def _are_ranks(topics: Sequence[str], values: Sequence[float]) -> bool:
    """Whether the numbers of every topic are 1 to n."""
    by_topic: dict[str, set[float]] = {}
    counts: dict[str, int] = {}
    for topic, value in zip(topics, values, strict=True):
        by_topic.setdefault(topic, set()).add(value)
        counts[topic] = counts.get(topic, 0) + 1
    return all(seen == set(range(1, counts[topic] + 1)) for topic, seen in by_topic.items())


def _find_column(header: list[str], role: str, source_name: str, number: str) -> int:
    lower_names = [h.lower() for h in header]
    for name in HEADERS[role]:
        if lower_names.count(name) > 1:
            raise InputError.single(
                source_name, f"two columns are named {name!r}; keep one of them", 1
            )
        if name in lower_names:
            return lower_names.index(name)
    raise InputError.single(
        source_name,
        f"no column {role!r} in the header {header} (expected: topic, item, {number})",
        1,
    )


def _check_row(row: list[str], layout: Layout, number: str) -> tuple[str, float]:
    if len(row) != layout.width:
        row_text = ",".join(row)
        excerpt = repr(row_text if len(row_text) <= 60 else row_text[:60] + "...")
        return f"{plural(len(row), 'field')} in {excerpt} ({layout.expected})", 0.0
    at = (layout.topic, layout.item, layout.value)
    text = row[at[2]]
    try:
        value = layout.number(text)
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


def repetition_note(message: str, line: int = 0) -> str:
    before = f" on line {line}" if line else ""
    return f"{message}, with the same grade{before}; the repetition is ignored"


def _repetition_fault(kind: type[Table], key: tuple[str, str], line: int, same: bool) -> str:
    """Describe the fault of a row that repeats an item; '' for an equal judgement."""
    if kind is Judgements and same:
        return ""
    if kind is Judgements:
        return f"item {key[1]!r} has another grade for topic {key[0]!r} on line {line}; keep one"
    return (
        f"item {key[1]!r} is listed twice for topic {key[0]!r}, first on line {line}; "
        "keep one of them"
    )


_BLOCK = 1 << 20


def trec_blocks(table: Table, source_name: str = "<TREC file>") -> Iterator[bytes]:
    """TREC's format as it is read back: a run best first, ties by item with the larger first."""
    refuse_empty_topics(table, source_name)
    TREC.check(source_name, "topic", table.topics, first=True)
    TREC.check_items(source_name, table)
    if isinstance(table, Run):
        return _blocks(_without_repeats(table), "run", tag=as_one_word(table.tag or table.name))
    return _blocks(table, "judgements", strata=getattr(table, "strata", None))


def separated_blocks(table: Table, suffix: str, number: str, source_name: str) -> Iterator[bytes]:
    """CSV or TSV of topic, item and the number, under its name."""
    SEPARATED.check(source_name, "topic", table.topics)
    SEPARATED.check_items(source_name, table)
    separator = "," if suffix == ".csv" else "\t"
    header = f"{separator.join(('topic', 'item', number))}\n".encode()
    return _blocks(table, suffix[1:], header=header)


def json_blocks(table: Table) -> Iterator[bytes]:
    """{topic: {item: number}}; to the letter, as an infinite score is a number no double holds."""
    return _blocks(_without_repeats(table), "json")


def refuse_empty_topics(table: Table, source_name: str) -> None:
    """An InputError for a topic without items."""
    bounds = memoryview(table.buffers[0])
    for topic, start, end in zip(table.topics, bounds[:-1], bounds[1:], strict=True):
        if start == end:
            raise InputError.single(
                source_name, f"topic {quoted(topic)} has no items, which only .json can hold"
            )


def _without_repeats(table: Table) -> Table:
    """The table with the last of the rows that an item has in a topic."""
    if getattr(table, "unique", False) or not _core.has_repeats(list(table.topics), *table.buffers):
        return table
    return type(table).from_dict(table.to_dict())


def _blocks(
    table: Table, form: str, *, header: bytes = b"", tag: str = "", strata: Any = None
) -> Iterator[bytes]:
    grades = isinstance(table, Judgements)
    writer = _core.TableBlocks(list(table.topics), *table.buffers, form, grades, tag, strata)
    if header:
        yield header
    while block := writer.next(_BLOCK):
        yield block
