"""Separated text through the compiled reader, which takes plain rows and refuses all others.

What it refuses (quotes within cells, rows of another length, numbers that are none, bytes that are
no text) is read again in Python, where everything that can be wrong has its words.
"""

from __future__ import annotations

import csv
from collections.abc import Callable

from cranfield import _core
from cranfield.errors import InputError
from cranfield.io.files import (
    BYTE_ORDER_MARK,
    FileForm,
    Input,
    decoded,
    describe,
    is_file,
    read_text,
    text_blocks,
)


class PlainRows:
    """A text input of which the first line is known: its rows in columns, or all of it as text.

    `first` is that line without its end, or None where it is not plain.
    """

    def __init__(self, path: FileForm) -> None:
        self._given = Input.of(path)
        self._blocks = text_blocks(self._given)
        # What cannot be read again is kept, in case that its text is needed.
        self._kept: list[bytes] | None = None if self._given.can_be_read_again else []
        start = self._next_block()
        self._start = start.removeprefix(BYTE_ORDER_MARK)
        self._after_first = self._start.find(b"\n") + 1
        self.first = _plain_line(self._start[: self._after_first])

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
        size = _size(self._given)
        try:
            reader = _core.SeparatedReader(separator, cells, comments, size)
            block, told = self._start[self._after_first :] if headed else self._start, 0
            while True:
                if not reader.feed(block):
                    return None
                told += len(block)
                if progress is not None and size:
                    progress(min(1.0, told / size))
                if not (block := self._next_block()):
                    return reader if reader.finish() and reader.rows else None
        except MemoryError:
            raise InputError.single(
                describe(self._given), "does not fit into the memory of this machine"
            ) from None

    def first_with_text(self) -> str:
        """The first line that is not blank."""
        return self.first if self.first is not None else self.text().lstrip().split("\n", 1)[0]

    def text(self) -> str:
        """The whole input, decoded."""
        if self._kept is None:
            self._blocks.close()
            return read_text(self._given)
        while self._next_block():
            pass
        return decoded(self._kept, self._given)

    def _next_block(self) -> bytes:
        block = next(self._blocks, b"")
        if self._kept is not None and block:
            self._kept.append(block)
        return block


def _plain_line(line: bytes) -> str | None:
    """A line with its end as text, if it has an end, is UTF-8 and has no others within."""
    text = line.removesuffix(b"\n").removesuffix(b"\r")
    if not text.strip() or b"\r" in text or b"\0" in text:
        return None
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _size(given: Input) -> int:
    """How many bytes of text there are, or 0 where that is not known before they are unpacked."""
    if given.packing:
        return 0
    if isinstance(given.stream, bytes):
        return len(given.stream)
    return given.path.stat().st_size if given.path is not None and is_file(given.path) else 0


def first_row(rows: PlainRows, delimiter: str, *, strict: bool = False) -> list[str] | None:
    """The cells of the first line, or None where a cell goes on beyond it."""
    if rows.first is None:
        return None
    try:
        found = list(csv.reader([rows.first + "\n", "\n"], delimiter=delimiter, strict=strict))
    except csv.Error:
        return None
    # A cell within open quotes takes the line after it along.
    return found[0] if len(found) == 2 else None
