"""Judgements and runs as text, block by block: TREC's format, CSV, TSV and JSON.

What a format cannot hold is refused before the first block: an InputError names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cranfield import _core
from cranfield.data import Judgements, Run, Table
from cranfield.errors import InputError
from cranfield.io.ids import SEPARATED, TREC, one_word, quoted

_BLOCK = 1 << 20


def trec_blocks(table: Table, where: str = "<TREC file>") -> Iterator[bytes]:
    """TREC's format as it is read back: a run best first, ties by item with the larger first."""
    refuse_empty_topics(table, where)
    TREC.check(where, "topic", table.topics, first=True)
    TREC.check_items(where, table)
    if isinstance(table, Run):
        return _blocks(_one_of_each(table), "run", tag=one_word(table.tag or table.name))
    return _blocks(table, "judgements", strata=getattr(table, "strata", None))


def separated_blocks(table: Table, suffix: str, number: str, where: str) -> Iterator[bytes]:
    """CSV or TSV of topic, item and the number, under its name."""
    SEPARATED.check(where, "topic", table.topics)
    SEPARATED.check_items(where, table)
    separator = "," if suffix == ".csv" else "\t"
    header = f"{separator.join(('topic', 'item', number))}\n".encode()
    return _blocks(table, suffix[1:], header=header)


def json_blocks(table: Table) -> Iterator[bytes]:
    """{topic: {item: number}}; to the letter, as an infinite score is a number no double holds."""
    return _blocks(_one_of_each(table), "json")


def refuse_empty_topics(table: Table, where: str) -> None:
    """An InputError for a topic without items."""
    bounds = memoryview(table.buffers[0])
    for topic, start, end in zip(table.topics, bounds[:-1], bounds[1:], strict=True):
        if start == end:
            raise InputError.single(
                where, f"topic {quoted(topic)} has no items, which only .json can hold"
            )


def _one_of_each(table: Table) -> Table:
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
