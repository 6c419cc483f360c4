"""Separated text through the compiled reader, which takes plain rows and refuses all others.

What it refuses (quotes within cells, rows of another length, numbers that are none, bytes that are
no text) is read again in Python, where everything that can be wrong has its words.
"""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

from cranfield import _core
from cranfield._lazy import cached_property, np
from cranfield.errors import PROBLEMS_SHOWN, InputError, Problem
from cranfield.io.files import (
    BYTE_ORDER_MARK,
    FileForm,
    Input,
    csv_rows,
    decode_blocks,
    describe,
    is_file,
    number,
    numbers,
    read_text,
    text_blocks,
)
from cranfield.io.sniff import separator_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cranfield.data.judgement_log import Codes


class PlainRows:
    """A text input of which the first line is known: its rows in columns, or all of it as text.

    `first` is that line without its end, or None where it is not plain.
    """

    def __init__(self, path: FileForm) -> None:
        self._source = Input.of(path)
        self._blocks = text_blocks(self._source)
        # An input that cannot be read again is kept, in case its text is needed.
        self._blocks_read: list[bytes] | None = None if self._source.can_be_read_again else []
        start = self._next_block()
        self._start = start.removeprefix(BYTE_ORDER_MARK)
        self._after_first = self._start.find(b"\n") + 1
        self.first = _decode_plain_line(self._start[: self._after_first])

    def columns(
        self,
        separator: str,
        cells: str,
        *,
        headed: bool = True,
        comments: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> _core.SeparatedReader | None:
        """The rows below the header, or all of them; None when there are none or not all are plain.

        `cells` says what each column becomes, as the core's reader has it.
        """
        if self.first is None or len(cells) < 2:
            return None
        size = _text_size(self._source)
        try:
            reader = _core.SeparatedReader(separator, cells, comments, size)
            block, bytes_read = self._start[self._after_first :] if headed else self._start, 0
            while True:
                if not reader.feed(block):
                    return None
                bytes_read += len(block)
                if progress is not None and size:
                    progress(min(1.0, bytes_read / size))
                if not (block := self._next_block()):
                    return reader if reader.finish() and reader.rows else None
        except MemoryError:
            raise InputError.single(
                describe(self._source), "does not fit into the memory of this machine"
            ) from None

    def first_with_text(self) -> str:
        """The first line that is not blank."""
        return self.first if self.first is not None else self.text().lstrip().split("\n", 1)[0]

    def text(self) -> str:
        """The whole input, decoded."""
        if self._blocks_read is None:
            self._blocks.close()
            return read_text(self._source)
        while self._next_block():
            pass
        return decode_blocks(self._blocks_read, self._source)

    def _next_block(self) -> bytes:
        block = next(self._blocks, b"")
        if self._blocks_read is not None and block:
            self._blocks_read.append(block)
        return block


def _decode_plain_line(line: bytes) -> str | None:
    """Decode a line without its end; None if it is blank, not UTF-8, or holds NUL or a bare CR."""
    text = line.removesuffix(b"\n").removesuffix(b"\r")
    if not text.strip() or b"\r" in text or b"\0" in text:
        return None
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _text_size(source: Input) -> int:
    """How many bytes of text there are, or 0 where that is not known before they are unpacked."""
    if source.packing:
        return 0
    if isinstance(source.stream, bytes):
        return len(source.stream)
    return source.path.stat().st_size if source.path is not None and is_file(source.path) else 0


def first_row(rows: PlainRows, delimiter: str, *, strict: bool = False) -> list[str] | None:
    """The cells of the first line, or None where a cell goes on beyond it."""
    if rows.first is None:
        return None
    try:
        parsed_rows = list(
            csv.reader([rows.first + "\n", "\n"], delimiter=delimiter, strict=strict)
        )
    except csv.Error:
        return None
    # A cell within open quotes takes the line after it along.
    return parsed_rows[0] if len(parsed_rows) == 2 else None


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """The texts of a column in order of first appearance, and which of them each row has."""

    names: list[str]
    codes: NDArray[np.int64]

    def texts(self) -> list[str]:
        """The text of each row."""
        return [self.names[code] for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True)
class PlainColumns:
    """The columns of a file: texts, and at most one column of numbers."""

    texts: dict[str, CodedColumn] = field(default_factory=dict)
    numbers: NDArray[np.float64] | None = None

    def has_repeat(self, *names: str) -> bool:
        """Whether two rows have the same texts in these columns."""
        together = np.zeros(1, dtype=np.int64)
        for name in names:
            column = self.texts[name]
            # Renumbered each time, so that the numbers stay small whatever is put together.
            together = np.unique(together * len(column.names) + column.codes, return_inverse=True)[
                1
            ]
        return int(together.max()) + 1 < together.size


def plain_columns(
    rows: PlainRows, delimiter: str, column_kinds: Mapping[str, str]
) -> PlainColumns | None:
    """The wanted columns ("c" for texts, "n" for at most one of numbers) of a headed file.

    None when the general CSV reader is needed: a row is not plain, or a text is empty or has
    blanks around it.
    """
    header = [cell.strip().lower() for cell in first_row(rows, delimiter) or ()]
    if any(header.count(name) != 1 for name in column_kinds):
        return None
    cells = "".join(column_kinds.get(name, "-") for name in header)
    reader = rows.columns(delimiter, cells)
    if reader is None:
        return None
    texts = {}
    for at, name in enumerate(header):
        if cells[at] == "c":
            names = reader.names(at)
            if any(not text or text != text.strip() for text in names):
                return None
            texts[name] = CodedColumn(names, np.asarray(reader.codes(at), dtype=np.int64))
    return PlainColumns(texts, np.asarray(reader.numbers()) if "n" in cells else None)


# What other tools call the columns.
ALIASES = {
    "worker": "annotator",
    "rater": "annotator",
    "performer": "annotator",
    "judge": "annotator",
    "task": "item",
    "unit": "item",
    "image": "item",
    "document": "item",
    "label": "category",
    "rating": "category",
}
# Columns of numbers, not of names.
NUMBERS = ("seconds", "weight")
BLOCK = 1 << 16


def number_or_nan(text: str) -> float:
    try:
        return number(text)
    except ValueError:
        return math.nan


class CodedTable:
    """A CSV or TSV input with a header, read into coded columns.

    Plain rows go through the compiled reader; anything else is read block by block as text.
    """

    def __init__(self, path: FileForm, progress: Callable[[float], None] | None = None) -> None:
        self.where, self.count, self._problems = describe(path), 0, list[Problem]()
        self._plain, self._progress = PlainRows(path), progress
        self._body, self._blank = "", 0  # lines before the header
        first = self._plain.first
        if first is None:
            first = self._load()
        self._separator = separator_of(first)
        self._header = next(self._rows(first, 1), (0, []))[1]

    def _load(self) -> str:
        """Read the whole input as text and return its first line that is not empty."""
        text = self._plain.text()
        if "\r" in text:
            text = text.replace("\r\n" if "\n" in text else "\r", "\n")
        full = text.lstrip("\n")
        self._blank = len(text) - len(full)
        first, _, self._body = full.partition("\n")
        return first

    def header_error(self, message: str) -> InputError:
        """What is wrong with the header, unless the input is no text: then that is raised."""
        self._load()
        return InputError.single(self.where, message, 1 + self._blank)

    def columns(
        self, forms: str, required: Sequence[str], rename: dict[str, str] | None = None
    ) -> dict[str, int]:
        """The position of each known column, or an error that says what a header should be."""
        aliases = ALIASES | (rename or {})
        heads = [aliases.get(h.strip().lower(), h.strip().lower()) for h in self._header]
        if not any(heads):
            raise self.header_error(f"is empty (expected a header: {forms})")
        if twice := [name for name, times in Counter(heads).items() if times > 1]:
            raise self.header_error(f"the header has two columns {twice[0]!r}")
        for name in required:
            if name not in heads:
                header = ",".join(self._header)
                raise self.header_error(
                    f"the header {header!r:.300} has no column {name!r} (expected: {forms})"
                )
        return {name: i for i, name in enumerate(heads)}

    def read(self, columns: dict[str, int], needed: Sequence[str] | None = None) -> None:
        """Code every column, or those that are needed; rows of a wrong length become problems."""
        if not self._read_plain(columns, columns if needed is None else needed):
            self._load()
            self._read_text(columns)

    def _read_plain(self, columns: dict[str, int], needed: Iterable[str]) -> bool:
        """Whether the compiled reader took all rows."""
        cells = {at: "n" if name in NUMBERS else "c" for name, at in columns.items()}
        read = {*needed, *NUMBERS}
        cells |= {at: "-" for name, at in columns.items() if name not in read}
        letters = "".join(cells[at] for at in range(len(self._header)))
        reader = self._plain.columns(self._separator, letters, progress=self._progress)
        if reader is None:
            return False
        values = np.asarray(reader.numbers()).reshape(reader.rows, letters.count("n"))
        if not ((values >= 0) & (values < np.inf)).all():
            return False
        coded = {name: at for name, at in columns.items() if letters[at] == "c"}
        self.rows = reader.rows
        self._vocabulary = {name: reader.names(at) for name, at in coded.items()}
        self._columns = {name: np.asarray(reader.codes(at)) for name, at in coded.items()}
        for name, at in columns.items():
            if name in NUMBERS:
                self._columns[name] = values[:, letters[:at].count("n")]
        self._blank_lines = np.asarray(reader.blank_lines())
        return True

    @cached_property
    def lines(self) -> NDArray[np.int64]:
        """The line of each row."""
        every = np.arange(2, 2 + self.rows + self._blank_lines.size)
        return np.delete(every, self._blank_lines) if self._blank_lines.size else every

    def _read_text(self, columns: dict[str, int]) -> None:
        # Looking up a new text gives it the next code.
        vocabulary: dict[str, dict[str, int]] = {
            name: defaultdict(count().__next__) for name in columns
        }
        parts: dict[str, list[Any]] = {name: [] for name in columns}
        numbers: list[NDArray[np.int64]] = []
        for first_line, fields, lines in self._text_blocks(len(self._header)):
            numbers.append(lines + first_line)
            for name, at in columns.items():
                column = fields[at :: len(self._header)]
                if name in NUMBERS:
                    parts[name].append(self._parse_numbers(name, column, numbers[-1]))
                    continue
                code_of = vocabulary[name].__getitem__
                parts[name].append(np.fromiter(map(code_of, column), np.int32, len(column)))
        self.lines = np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64)
        self.rows = self.lines.size
        if not self.rows and not self.count:
            raise InputError.single(self.where, "has a header but no rows")
        self._vocabulary = {name: list(codes) for name, codes in vocabulary.items()}
        self._columns = {
            name: np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int32)
            for name, arrays in parts.items()
        }

    def _parse_numbers(
        self, name: str, column: list[str], lines: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """A column of finite numbers from zero on; anything else is a problem."""
        try:
            values = np.array(numbers(column))
        except ValueError:
            values = np.fromiter(map(number_or_nan, column), np.float64, len(column))
        bad = np.flatnonzero(~((values >= 0) & (values < np.inf)))
        self._add(lines[bad], lambda i: f"{name} {column[bad[i]]!r} is not a number from 0 on")
        return values

    def _text_blocks(self, width: int) -> Iterator[tuple[int, list[str], NDArray[np.int64]]]:
        """Blocks of rows as (first line, all fields in a row, line of each row in the block)."""
        if '"' in self._body:
            yield from self._quoted_rows(width)
            return
        lines, below = self._body.split("\n"), self._blank + 2
        for start in range(0, len(lines), BLOCK):
            block = lines[start : start + BLOCK]
            counts = np.fromiter(map(str.count, block, repeat(self._separator)), np.int64)
            good = counts == width - 1
            if width == 1:
                good &= np.fromiter(map(bool, block), bool)
            numbers = np.arange(len(block))
            if not good.all():
                for i in np.flatnonzero(~good):
                    self._check_length(block[i], start + int(i) + below, int(counts[i]) + 1, width)
                block = [block[i] for i in np.flatnonzero(good)]
                numbers = numbers[good]
            if block:
                yield start + below, self._separator.join(block).split(self._separator), numbers
            if self._progress is not None:
                self._progress(min(1.0, (start + BLOCK) / len(lines)))

    def _rows(self, text: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
        """The rows of a text with quotes, each with its line."""
        lines = text.splitlines(keepends=True)
        return csv_rows(lines, self.where, self._separator, first_line=first_line)

    def _quoted_rows(self, width: int) -> Iterator[tuple[int, list[str], NDArray[np.int64]]]:
        fields: list[str] = []
        numbers: list[int] = []
        below = self._blank + 2
        for line, row in self._rows(self._body, below):
            if len(row) == width:
                fields += row
                numbers.append(line - below)
            else:
                self._check_length("".join(row), line, len(row), width)
        if numbers:
            yield below, fields, np.array(numbers, dtype=np.int64)

    def _check_length(self, text: str, line: int, field_count: int, width: int) -> None:
        if text.strip():
            expected = self._separator.join(self._header)
            self.add(line, f"{field_count} fields, expected {width} ({expected})")

    def names(self, column: str) -> tuple[tuple[str, ...], Codes]:
        """A column of names and their codes; an empty name is a problem."""
        texts, codes = self.texts(column)
        stripped = {name: i for i, name in enumerate(dict.fromkeys(texts))}
        if texts != self._vocabulary[column]:
            codes = np.array([stripped[text] for text in texts], dtype=np.int32)[codes]
        if "" in stripped:
            empty = self.lines[codes == stripped[""]]
            self._add(empty, lambda _: f"the {column} is empty")
        return tuple(stripped), codes

    def texts(self, column: str) -> tuple[list[str], Codes]:
        """The distinct texts of a column and their codes."""
        return list(map(str.strip, self._vocabulary[column])), self._columns[column]

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A column of `NUMBERS`."""
        return np.asarray(self._columns[column])

    def refuse(self, column: str, bad: set[int], message: Callable[[int], str]) -> None:
        """Report each row that has one of these texts of a column as a problem."""
        if bad:
            codes = self._columns[column]
            marked = np.zeros(len(self._vocabulary[column]), dtype=bool)
            marked[list(bad)] = True
            rows = np.flatnonzero(marked[codes])
            self._add(self.lines[rows], lambda i: message(int(codes[rows[i]])))

    def _add(self, lines: NDArray[np.int64], message: Callable[[int], str]) -> None:
        """Count problems, and put the first of them into words: message(0), message(1), ..."""
        self.count += int(lines.size)
        self._problems += [
            Problem(int(line), message(i)) for i, line in enumerate(lines[:PROBLEMS_SHOWN])
        ]

    def add(self, line: int, message: str) -> None:
        """One problem."""
        self._add(np.array([line]), lambda _: message)

    def raise_problems(self) -> None:
        """An InputError with the problems met so far, in the order of the file."""
        if self.count:
            raise InputError(self.where, sorted(self._problems, key=lambda p: p.line), self.count)
