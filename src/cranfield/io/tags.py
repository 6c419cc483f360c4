"""Tag corpora, read item by item: which tags, concepts and texts each item has.

CSV and TSV come in three forms, told apart by the header: `item,tags[,text]` with the tags of an
item separated by bars, semicolons or blanks; `item,tag` or `item,concept,value`, one row for each,
the rows of an item one after the other; and one column per concept, with 0 and 1. Any other file
is text without a header: an item and one number per concept, whose names must be given.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from cranfield.data.counts import TaggedItem, term_of
from cranfield.errors import InputError
from cranfield.io.files import describe, inner_suffix, input_lines

_PRESENT_FROM = 0.5


def read_tags(path: str | Path, *, concepts: Sequence[str] = ()) -> Iterator[TaggedItem]:
    """The items of a tag corpus, one after the other; the file is never held whole.

    `concepts` names the columns of a file that has no names.
    """
    where = describe(path)
    suffix = inner_suffix(path)
    if suffix in (".csv", ".tsv") or str(path) == "-":
        yield from _from_csv(input_lines(path), where, "\t" if suffix == ".tsv" else ",")
    else:
        yield from _from_text(input_lines(path), where, [term_of(name) for name in concepts])


def _from_csv(lines: Iterator[str], where: str, delimiter: str) -> Iterator[TaggedItem]:
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        header = [cell.strip() for cell in next(reader, [])]
        if len(header) < 2 or header[0] != "item":
            raise InputError.single(
                where,
                "not a tag corpus (expected a header item,tags or item,tags,text or item,tag "
                "or item,concept,value or item and one column per concept)",
                1,
            )
        rows = _checked(reader, where, len(header))
        if header in (["item", "tags"], ["item", "tags", "text"]):
            yield from (_packed(row) for _, row in rows)
        elif header in (["item", "tag"], ["item", "concept", "value"]):
            yield from _long(rows, where)
        else:
            names = [term_of(name) for name in header[1:]]
            yield from (_wide(line, row, names, where) for line, row in rows)
    except csv.Error as error:
        raise InputError.single(where, str(error), reader.line_num) from None


def _from_text(lines: Iterator[str], where: str, names: list[str]) -> Iterator[TaggedItem]:
    for line, row in enumerate(lines, 1):
        cells = row.split()
        if not cells:
            continue
        if len(cells) != len(names) + 1:
            raise InputError.single(
                where,
                f"an item and {len(cells) - 1} numbers, but {len(names)} concepts "
                "(name the columns of a file without a header with --concepts)",
                line,
            )
        yield _wide(line, cells, names, where)


Rows = Iterator[tuple[int, list[str]]]


def _checked(reader: Iterator[list[str]], where: str, width: int) -> Rows:
    for row in reader:
        line: int = reader.line_num  # type: ignore[attr-defined]
        if not row:
            continue
        if len(row) != width:
            raise InputError.single(where, f"{len(row)} columns, expected {width}", line)
        yield line, row


def _packed(row: list[str]) -> TaggedItem:
    tags = row[1]
    separator = "|" if "|" in tags else ";" if ";" in tags else None
    held = frozenset(term_of(tag) for tag in tags.split(separator) if tag.strip())
    return TaggedItem(row[0], held, row[2] if len(row) > 2 else "")


def _long(rows: Rows, where: str) -> Iterator[TaggedItem]:
    seen: set[str] = set()
    for item, group in groupby(rows, key=lambda entry: entry[1][0]):
        tags = set()
        for line, row in group:
            if item in seen:
                raise InputError.single(
                    where, f"item {item!r} comes back; its rows must follow each other", line
                )
            if len(row) == 2 or _present(row[2], line, where):
                tags.add(term_of(row[1]))
        seen.add(item)
        yield TaggedItem(item, frozenset(tags))


def _wide(line: int, row: list[str], names: list[str], where: str) -> TaggedItem:
    held = [name for name, cell in zip(names, row[1:], strict=True) if _present(cell, line, where)]
    return TaggedItem(row[0], frozenset(held))


def _present(cell: str, line: int, where: str) -> bool:
    try:
        return float(cell) >= _PRESENT_FROM
    except ValueError:
        raise InputError.single(where, f"value {cell!r} is not a number", line) from None
