"""Layouts of files that other programs expect under a common ending.

The ending of a name says what a file is; several of them hold more than one shape. What is read in
a shape can be written in it too.

Judgements, runs, labels and regions between formats, as the endings of the names say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from cranfield.data import Judgements, Run, Table
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, UsageError
from cranfield.io import is_tabular, read_qrels, read_run
from cranfield.io.compression import compress_blocks
from cranfield.io.delimited import number_role, refuse_empty_topics
from cranfield.io.files import (
    SEPARATED,
    TREC,
    FileForm,
    Input,
    Third,
    csv_text,
    describe,
    inner_suffix,
    is_number,
    open_input,
    write_atomic,
)
from cranfield.options import Unlisted

# What each shape is, and the endings that can have it: of judgements and runs, and of labels.
SHAPES = {
    "beir": "judgements or a run as .tsv under BEIR's header",
    "marco": "without a header: topic 0 item grade, or topic item rank (.tsv, .csv)",
    "lists": "{topic: [ids]} as .json, or labels as item,labels (.csv, .tsv)",
    "semicolons": "a .csv with ; between its cells",
    "long": "labels as item,concept,value (.csv)",
    "yolo": "boxes as a folder of text files (a name that ends with /)",
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


KINDS = ("run", "qrels", "labels", "regions")
_HEAD = 1 << 16
_LABELS = ("labels", "tags", "concepts")


def convert(
    source: FileForm,
    target: str | Path | None,
    *,
    kind: str | None = None,
    long: bool = False,
    scores: str = "confidence",
    third: Third | None = None,
    shape: str | None = None,
    unlisted: Unlisted | None = None,
) -> tuple[tuple[str, ...], bytes]:
    """Write what a file holds to another, whole or not at all, and give the notes.

    `kind` is "run", "qrels", "labels" or "regions" and is found out where a file says it, but for
    regions; `long` is for labels as CSV item,concept,value, `scores` for those beyond [0, 1], as in
    `read_labels`, `third` for runs, as in `read_run`. `unlisted` says what cells of labels are that
    a long file does not list although it lists others as absent. `shape` is what else an ending may
    hold (see `shapes.SHAPES`); labels go to a folder with a file per concept where the target's
    name ends with a slash. Without a target nothing is written, and the bytes of TREC's format come
    with the notes.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"kind={kind!r} is not one of {', '.join(KINDS)}")
    if long and shape not in (None, "long"):
        raise UsageError("long= is a shape of its own")
    kind, shape = kind or guess_kind(source), "long" if long else shape
    if kind == "regions":
        return _convert_regions(source, target, shape), b""
    if shape is not None:
        check_shape(shape, target or "-", labels=kind == "labels")
    if kind == "labels":
        return _convert_labels(source, target, shape, scores, unlisted), b""
    if target is not None and str(target).endswith("/"):
        raise UsageError(f"{target}: only labels are written to a folder, a file per concept")
    table = read_run(source, third=third) if kind == "run" else read_qrels(source)
    if target is None:
        return table.notes, encode_table(table, None)
    write_atomic(Path(target), _blocks(table, str(target), shape))
    return (*table.notes, *lost_details(table, shape)), b""


def _convert_labels(
    source: FileForm,
    target: str | Path | None,
    shape: str | None,
    scores: str,
    unlisted: Unlisted | None,
) -> tuple[str, ...]:
    from cranfield.io.labels import (
        FORMS,
        MOST_LISTED,
        read_labels,
        resolve_unlisted,
        write_labels,
    )

    if target is None:
        raise UsageError(f"labels are written to a file: {', '.join(FORMS)}, or ImageCLEF text")
    labels = read_labels(source, scores=scores, unjudged=True)
    notes: tuple[str, ...] = ()
    if unlisted is None and labels.listed <= MOST_LISTED:
        notes = (
            f"{labels.where}: lists {labels.listed:.0%} of its cells, and some of them as absent; "
            "the others are written as absent (unlisted='unjudged' writes them as not judged)",
        )
    else:
        labels = resolve_unlisted(labels, unlisted)
    write_labels(labels, target, form=shape)
    if labels.named and inner_suffix(target) not in FORMS and not is_folder_name(target):
        names_lost = "ImageCLEF text has no place for the names of concepts: keep them in a file"
        return (*notes, names_lost)
    return notes


def _convert_regions(
    source: FileForm, target: str | Path | None, shape: str | None
) -> tuple[str, ...]:
    from cranfield.io.regions import REGION_FORMS, read_regions, write_regions

    if target is None:
        raise UsageError(f"regions are written to a file: {', '.join(REGION_FORMS)}, or a folder")
    if shape not in (None, "yolo"):
        raise UsageError(f"shape={shape!r} is not for regions: they have yolo")
    regions = read_regions(source)
    return (*regions.notes, *write_regions(regions, target, yolo=shape == "yolo"))


def guess_kind(path: FileForm) -> str:
    """Guess what a file holds from its header or the number of fields of its first line."""
    suffix = inner_suffix(path)
    if suffix == ".npz" or is_folder_name(str(path)):
        return "labels"
    if not Input.of(path).can_be_read_again or suffix in (".parquet", ".json"):
        raise _unknown_kind_error(path)
    with open_input(path) as stream:
        head = stream.read(_HEAD).decode("utf-8-sig", errors="replace")
    for line in head.splitlines():
        if line.strip() and not line.startswith("#"):
            return _kind_of_line(path, line)
    raise InputError.single(describe(path), "is empty")


def _unknown_kind_error(path: FileForm) -> UsageError:
    kinds = ", ".join(f"kind= {kind}" for kind in KINDS)
    return UsageError(f"say what {describe(path)} holds: {kinds}")


def _kind_of_line(path: FileForm, line: str) -> str:
    if is_tabular(path):
        header = line.lower()
        if any(name in header for name in HEADERS["topic"]):
            return "run" if _has_scores(header) else "qrels"
        if inner_suffix(path) in (".jsonl", ".ndjson") and not any(n in header for n in _LABELS):
            raise _unknown_kind_error(path)
        return _kind_of_row(path, re.split(r"[\t,;]", line.strip()))
    fields = len(line.split())
    if fields in (4, 6):
        return "run" if fields == 6 else "qrels"
    raise InputError.single(
        describe(path),
        f"{fields} fields in the first line: neither 4 (judgements) nor 6 "
        "(a run); say kind= run or kind= qrels to see what is wrong, or kind= labels",
    )


def _has_scores(header: str) -> bool:
    """Whether a header or a record is that of a run; BEIR calls the grades of judgements score."""
    if "corpus-id" in header and "rank" not in header:
        return False
    return "score" in header or "rank" in header


def _kind_of_row(path: FileForm, cells: list[str]) -> str:
    """What a table without the header of a run or of judgements is: labels, unless it has none."""
    numbers = [is_number(cell.strip()) for cell in cells]
    if numbers[-2:] == [False, True] and len(cells) == 4:
        return "qrels"
    if numbers[1:] == [False, True] and cells[0].strip().lower() not in HEADERS["item"]:
        raise _unknown_kind_error(path)
    if len(cells) == 6 and cells[1].strip() == "Q0":
        return "run"
    return "labels"


def encode_table(table: Judgements | Run, target: str | Path | None) -> bytes:
    """Judgements or a run as the bytes of a file of that name; packed for .gz and .zst."""
    return b"".join(_blocks(table, "-" if target is None else str(target)))


def _blocks(table: Judgements | Run, name: str, shape: str | None = None) -> Iterable[bytes]:
    try:
        blocks = shape_blocks(table, name, shape) if shape else _plain_blocks(table, name)
    except InputError as error:
        raise InputError(describe(name), error.problems, error.count) from None
    return compress_blocks(blocks, Path(name).suffix.lower())


def _plain_blocks(table: Judgements | Run, name: str) -> Iterable[bytes]:
    if is_tabular(name):
        from cranfield.io.tabular import table_blocks

        return table_blocks(table, inner_suffix(name))
    from cranfield.io.delimited import trec_blocks

    return trec_blocks(table)
