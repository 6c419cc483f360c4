"""Tag corpora, read item by item: which tags, concepts and texts each item has.

CSV and TSV come in three forms, told apart by the header: `item,tags[,text]` with the tags of an
item separated by bars, semicolons or blanks; `item,tag` or `item,concept,value`, one row for each,
the rows of an item one after the other; and one column per concept, with 0 and 1. Any other file
is text without a header: an item and one number per concept, whose names must be given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from cranfield.data.counts import TaggedItem, normalise_term
from cranfield.errors import InputError, first_duplicate
from cranfield.io.files import csv_rows, describe, inner_suffix, input_lines, number

_PRESENT_FROM = 0.5

Rows = Iterator[tuple[int, list[str]]]
Items = Iterator[tuple[int, TaggedItem]]


def read_tags(
    path: str | Path,
    *,
    concepts: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> Iterator[TaggedItem]:
    """The items of a tag corpus, one after the other; the file is never held whole.

    `concepts` names the columns of a file that has no names.
    """
    source_name = describe(path)
    suffix = inner_suffix(path)
    lines = input_lines(path, progress=progress)
    if suffix in (".csv", ".tsv") or str(path) == "-":
        items = _from_csv(lines, source_name, "\t" if suffix == ".tsv" else ",")
    else:
        items = _from_text(lines, source_name, [normalise_term(name) for name in concepts])
    seen: set[str] = set()
    for line, item in items:
        # An item that were counted twice would make its tags look closer than they are.
        if item.item in seen:
            raise InputError.single(
                source_name,
                f"item {item.item!r} comes back; an item has one row, or rows that follow "
                "each other",
                line,
            )
        seen.add(item.item)
        yield item
    if not seen:
        raise InputError.single(source_name, "holds no item")


def _from_csv(lines: Iterator[str], source_name: str, delimiter: str) -> Items:
    rows = csv_rows(lines, source_name, delimiter, long_fields=True)
    header = [cell.strip() for cell in next(rows, (0, []))[1]]
    if len(header) < 2 or header[0] != "item":
        raise InputError.single(
            source_name,
            "not a tag corpus (expected a header item,tags or item,tags,text or item,tag "
            "or item,concept,value or item and one column per concept)",
            1,
        )
    rows = _check_rows(rows, source_name, len(header))
    if header in (["item", "tags"], ["item", "tags", "text"]):
        yield from ((line, _packed_item(row)) for line, row in rows)
    elif header in (["item", "tag"], ["item", "concept", "value"]):
        yield from _long_items(rows, source_name)
    else:
        names = [normalise_term(name) for name in header[1:]]
        twice = first_duplicate(names)
        if twice is not None or not all(names):
            fault = f"column {twice!r} is there twice" if all(names) else "a column has no name"
            raise InputError.single(source_name, f"{fault}, expected one per concept", 1)
        yield from ((line, _wide_item(line, row, names, source_name)) for line, row in rows)


def _from_text(lines: Iterator[str], source_name: str, names: list[str]) -> Items:
    for line, row in enumerate(lines, 1):
        cells = row.split()
        if not cells:
            continue
        if len(cells) != len(names) + 1:
            raise InputError.single(
                source_name,
                f"an item and {len(cells) - 1} numbers, but {len(names)} concepts "
                "(name the columns of a file without a header with columns=)",
                line,
            )
        yield line, _wide_item(line, cells, names, source_name)


def _check_rows(rows: Rows, source_name: str, width: int) -> Rows:
    for line, row in rows:
        if not row:
            continue
        if len(row) != width:
            raise InputError.single(source_name, f"{len(row)} columns, expected {width}", line)
        yield line, row


def _packed_item(row: list[str]) -> TaggedItem:
    tags = row[1]
    separator = "|" if "|" in tags else ";" if ";" in tags else None
    tag_set = frozenset(normalise_term(tag) for tag in tags.split(separator) if tag.strip())
    return TaggedItem(row[0], tag_set, row[2] if len(row) > 2 else "")


def _long_items(rows: Rows, source_name: str) -> Items:
    for item, group in groupby(rows, key=lambda entry: entry[1][0]):
        first, tags = 0, set()
        for line, row in group:
            first = first or line
            if len(row) == 2 or _is_present(row[2], line, source_name):
                tags.add(normalise_term(row[1]))
        yield first, TaggedItem(item, frozenset(tags))


def _wide_item(line: int, row: list[str], names: list[str], source_name: str) -> TaggedItem:
    present_names = [
        name
        for name, cell in zip(names, row[1:], strict=True)
        if _is_present(cell, line, source_name)
    ]
    return TaggedItem(row[0], frozenset(present_names))


def _is_present(cell: str, line: int, source_name: str) -> bool:
    try:
        value = number(cell)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise InputError.single(source_name, f"value {cell!r} is not a number", line)
    if not 0 <= value <= 1:
        raise InputError.single(
            source_name,
            f"value {cell!r} is not in [0, 1], where 1 means that the item has it",
            line,
        )
    return value >= _PRESENT_FROM
