"""On which line of a submission an id stands: looked for only when something is wrong.

The readers keep no lines, as good files need none. Here a text file is walked once more, and
leniently: a row that cannot be read is passed over, as its reader has complained already.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cranfield.data.collection import Kind
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError
from cranfield.io.files import Input, inner_suffix, input_lines
from cranfield.io.numbers import numbers

BINARY = (".parquet", ".npz", ".npy", ".json")
SEPARATED = {".csv": ",", ".tsv": "\t"}
LONG = ("item", "concept", "value")
TREC_FIELDS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """What a line names, and its values where it has a row of them."""

    line: int
    ids: dict[str, str]
    values: tuple[float, ...] = field(default=(), repr=False)


def rows_of(source: Input, kind: Kind) -> Iterator[Row]:
    """The lines of a text file with the ids on them; nothing for other files."""
    suffix = inner_suffix(source)
    if suffix in (*BINARY, ".jsonl", ".ndjson") or not source.can_be_read_again:
        return
    try:
        lines = enumerate(input_lines(source), 1)
        yield from (_ranked if kind == "ranked" else _labels)(lines, SEPARATED.get(suffix, ""))
    except (InputError, csv.Error):
        # What stops this walk has stopped the reader before.
        return


def _cells(text: str, delimiter: str) -> list[str]:
    if not delimiter:
        return text.split()
    return [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [])]


def _ranked(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    place: tuple[int, int] | None = None
    for line, text in lines:
        cells = _cells(text, delimiter)
        if not cells or cells[0].startswith("#"):
            continue
        if place is None:
            place = _header(cells)
            if place is not None:
                continue
            place = (0, 2 if len(cells) >= TREC_FIELDS else 1)
        if len(cells) > max(place):
            yield Row(line, {"topic": cells[place[0]], "item": cells[place[1]]})


def _header(cells: Sequence[str]) -> tuple[int, int] | None:
    names = [cell.lower() for cell in cells]
    columns = [
        next((i for i, name in enumerate(names) if name in HEADERS[role]), -1)
        for role in ("topic", "item")
    ]
    return (columns[0], columns[1]) if min(columns) >= 0 else None


def _labels(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    first, is_long = True, False
    for line, text in lines:
        if first and not delimiter and "," in text:
            delimiter = ","
        cells = _cells(text, delimiter)
        if not cells:
            continue
        if first and delimiter:
            is_long = tuple(cell.lower() for cell in cells[:3]) == LONG
            if not is_long:
                yield from (Row(line, {"concept": name}) for name in cells[1:])
        elif is_long and len(cells) >= len(LONG):
            yield Row(line, {"item": cells[0], "concept": cells[1]}, _values(cells[2:3]))
        else:
            yield Row(line, {"item": cells[0]}, _values(cells[1:]))
        first = False


def _values(cells: Sequence[str]) -> tuple[float, ...]:
    try:
        return tuple(numbers(cells))
    except ValueError:
        return ()
