"""Layouts of files that other programs expect under a common ending.

The ending of a name says what a file is; several of them hold more than one shape. What is read in
a shape can be written in it too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from cranfield.data import Run, Table
from cranfield.errors import InputError, UsageError
from cranfield.io.atomic import csv_text
from cranfield.io.delimited import number_role, refuse_empty_topics
from cranfield.io.files import inner_suffix
from cranfield.io.ids import SEPARATED, TREC

# What each shape is, and the endings that can have it: of judgements and runs, and of labels.
SHAPES = {
    "beir": "judgements or a run as .tsv under BEIR's header",
    "marco": "without a header: topic 0 item grade, or topic item rank (.tsv, .csv)",
    "lists": "{topic: [ids]} as .json, or labels as item,labels (.csv, .tsv)",
    "semicolons": "a .csv with ; between its cells",
    "long": "labels as item,concept,value (.csv)",
}
ABOUT_SHAPE = "; ".join(f"{name}: {about}" for name, about in SHAPES.items())
_OF_TABLES = {
    "beir": (".tsv",),
    "marco": (".tsv", ".csv"),
    "lists": (".json",),
    "semicolons": (".csv",),
}
_OF_LABELS = {"lists": (".csv", ".tsv"), "semicolons": (".csv",), "long": (".csv",)}
SEPARATED_BY = {".csv": ",", ".tsv": "\t"}
_BLOCK = 1 << 12


def check_shape(shape: str, target: str | Path, *, labels: bool) -> None:
    """A UsageError for a shape that no file of this name has."""
    if shape not in SHAPES:
        raise UsageError(f"shape={shape!r} is not one of {', '.join(SHAPES)}")
    endings = (_OF_LABELS if labels else _OF_TABLES).get(shape, ())
    if inner_suffix(target) not in endings:
        content = "labels" if labels else "judgements and runs"
        needed = f"goes with {' and '.join(endings)} files" if endings else f"is not for {content}"
        raise UsageError(f"shape={shape!r} {needed}: {SHAPES[shape]}")


def shape_blocks(table: Table, name: str, shape: str) -> Iterator[bytes]:
    """Judgements or a run as a file of that name and shape, block by block."""
    source_name, suffix = f"<{shape}>", inner_suffix(name)
    if getattr(table, "strata", None) is not None:
        raise InputError.single(source_name, "only TREC's format holds strata of judgements")
    if shape == "lists":
        return _list_blocks(table)
    refuse_empty_topics(table, source_name)
    SEPARATED.check(source_name, "topic", table.topics)
    SEPARATED.check_items(source_name, table)
    if shape == "marco":
        # Without a header nothing quotes: a blank would be one more column for its readers.
        TREC.check(source_name, "topic", table.topics, first=True)
        TREC.check_items(source_name, table)
    return _rows(table, shape, ";" if shape == "semicolons" else SEPARATED_BY[suffix])


def _rows(table: Table, shape: str, separator: str) -> Iterator[bytes]:
    number = number_role(type(table))
    header = {"beir": ["query-id", "corpus-id", "score"], "semicolons": ["topic", "item", number]}
    rows: list[list[str]] = [header[shape]] if shape in header else []
    if shape == "marco" and isinstance(table, Run):
        table_rows: Iterator[list[str]] = (
            [topic, item, str(place)]
            for topic in table.topics
            for place, item in enumerate(table.ranking(topic), 1)
        )
    else:
        before = ["0"] if shape == "marco" else []
        table_rows = ([topic, *before, item, _text(value)] for topic, item, value in table.rows())
    for row in table_rows:
        rows.append(row)
        if len(rows) >= _BLOCK:
            yield csv_text(rows, separator).encode()
            rows = []
    yield csv_text(rows, separator).encode()


def _text(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _list_blocks(table: Table) -> Iterator[bytes]:
    """The items of a run, best first, or those that are relevant."""
    if isinstance(table, Run):
        lists = ((topic, table.ranking(topic)) for topic in table.topics)
    else:
        graded = table.to_dict()
        lists = (
            (topic, [item for item, grade in items.items() if grade > 0])
            for topic, items in graded.items()
        )
    for n, (topic, items) in enumerate(lists):
        before = ",\n" if n else "{\n"
        pair = json.dumps({topic: items}, ensure_ascii=False)[1:-1]
        yield f"{before}{pair}".encode()
    yield b"\n}\n"


def lost_details(table: Table, shape: str | None) -> tuple[str, ...]:
    """Describe what is lost when a table is written in a shape."""
    if shape == "lists" and not isinstance(table, Run):
        return (
            "lists name the relevant items: grades, and items judged as not relevant, are lost",
        )
    if isinstance(table, Run) and shape in ("lists", "marco"):
        return ("ranks are written: scores are lost, and equal ones are put in an order",)
    return ()


def is_folder_name(target: str | Path) -> bool:
    """Whether a folder is meant: it is there, or its name ends with a slash."""
    return str(target).endswith("/") or Path(target).is_dir()
