"""Judgements, runs and labels from one format to another, as the endings of the names say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from cranfield.data import Judgements, Run
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, UsageError
from cranfield.io import is_tabular, read_qrels, read_run
from cranfield.io.compression import compress_blocks
from cranfield.io.export_layouts import check_shape, is_folder_name, lost_details, shape_blocks
from cranfield.io.files import (
    FileForm,
    Input,
    Third,
    describe,
    inner_suffix,
    open_input,
    write_atomic,
)
from cranfield.io.numbers import is_number

KINDS = ("run", "qrels", "labels")
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
) -> tuple[tuple[str, ...], bytes]:
    """Write what a file holds to another, whole or not at all, and give the notes.

    `kind` is "run", "qrels" or "labels" and is found out where a file says it; `long` is for labels
    as CSV item,concept,value, `scores` for those beyond [0, 1], as in `read_labels`, `third` for
    runs, as in `read_run`. `shape` is what else an ending may hold (see `shapes.SHAPES`); labels
    go to a folder with a file per concept where the target's name ends with a slash. Without a
    target nothing is written, and the bytes of TREC's format come with the notes.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"kind={kind!r} is not one of {', '.join(KINDS)}")
    if long and shape not in (None, "long"):
        raise UsageError("long= is a shape of its own")
    kind, shape = kind or guess_kind(source), "long" if long else shape
    if shape is not None:
        check_shape(shape, target or "-", labels=kind == "labels")
    if kind == "labels":
        return _convert_labels(source, target, shape, scores), b""
    if target is not None and str(target).endswith("/"):
        raise UsageError(f"{target}: only labels are written to a folder, a file per concept")
    table = read_run(source, third=third) if kind == "run" else read_qrels(source)
    if target is None:
        return table.notes, encode_table(table, None)
    write_atomic(Path(target), _blocks(table, str(target), shape))
    return (*table.notes, *lost_details(table, shape)), b""


def _convert_labels(
    source: FileForm, target: str | Path | None, shape: str | None, scores: str
) -> tuple[str, ...]:
    from cranfield.io.labels import FORMS, read_labels, write_labels

    if target is None:
        raise UsageError(f"labels are written to a file: {', '.join(FORMS)}, or ImageCLEF text")
    labels = read_labels(source, scores=scores)
    write_labels(labels, target, form=shape)
    if labels.named and inner_suffix(target) not in FORMS and not is_folder_name(target):
        return ("ImageCLEF text has no place for the names of concepts: keep them in a file",)
    return ()


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
