"""Judgements, runs and labels from one format to another, as the endings of the names say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cranfield.data import Judgements, Run
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, UsageError
from cranfield.io import is_tabular, read_qrels, read_run
from cranfield.io.files import (
    COMPRESSED,
    FileForm,
    Input,
    describe,
    inner_suffix,
    open_input,
    write_whole,
)
from cranfield.io.packed import packed_gz
from cranfield.io.table_text import trec_blocks

KINDS = ("run", "qrels", "labels")
_HEAD = 1 << 16


def convert(
    source: FileForm, target: str | Path | None, *, kind: str | None = None, long: bool = False
) -> tuple[tuple[str, ...], bytes]:
    """Write what a file holds to another, whole or not at all, and give the notes.

    `kind` is "run", "qrels" or "labels" and is found out where a file says it; `long` is for labels
    as CSV item,concept,value. Without a target nothing is written, and the bytes of TREC's format
    come with the notes.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"kind={kind!r} is not one of {', '.join(KINDS)}")
    kind = kind or guess_kind(source)
    if kind == "labels":
        return _convert_labels(source, target, long), b""
    table = read_run(source) if kind == "run" else read_qrels(source)
    if target is None:
        return table.notes, encoded(table, None)
    write_whole(Path(target), _blocks(table, str(target)))
    return table.notes, b""


def _convert_labels(source: FileForm, target: str | Path | None, long: bool) -> tuple[str, ...]:
    from cranfield.io.labels import read_labels, write_labels

    suffix = "" if target is None else Path(target).suffix.lower()
    if target is None or suffix in COMPRESSED or suffix in (".json", ".parquet", ".tsv"):
        raise UsageError("labels are written to a .csv, .npz or ImageCLEF text file, not packed")
    if long and suffix != ".csv":
        raise UsageError("long= goes with a .csv file")
    labels = read_labels(source)
    write_labels(labels, target, form="long" if long else None)
    if labels.named and suffix not in (".csv", ".npz"):
        return ("ImageCLEF text has no place for the names of concepts: keep them in a file",)
    return ()


def guess_kind(path: FileForm) -> str:
    """What a file holds, from its header or the number of fields of its first line."""
    suffix = inner_suffix(path)
    if suffix == ".npz":
        return "labels"
    if not Input.of(path).can_be_read_again or suffix in (".parquet", ".json"):
        kinds = ", ".join(f"kind= {kind}" for kind in KINDS)
        raise UsageError(f"say what {describe(path)} holds: {kinds}")
    with open_input(path) as stream:
        head = stream.read(_HEAD).decode("utf-8-sig", errors="replace")
    for line in head.splitlines():
        if line.strip() and not line.startswith("#"):
            return _kind_of_line(path, line)
    raise InputError.single(describe(path), "is empty")


def _kind_of_line(path: FileForm, line: str) -> str:
    if is_tabular(path):
        header = line.lower()
        if not any(name in header for name in HEADERS["topic"]):
            return "labels"
        return "run" if "score" in header else "qrels"
    fields = len(line.split())
    if fields in (4, 6):
        return "run" if fields == 6 else "qrels"
    raise InputError.single(
        describe(path),
        f"{fields} fields in the first line: neither 4 (judgements) nor 6 "
        "(a run); say kind= run or kind= qrels to see what is wrong, or kind= labels",
    )


def encoded(table: Judgements | Run, target: str | Path | None) -> bytes:
    """Judgements or a run as the bytes of a file of that name; packed for .gz."""
    return b"".join(_blocks(table, "-" if target is None else str(target)))


def _blocks(table: Judgements | Run, name: str) -> Iterable[bytes]:
    packing = Path(name).suffix.lower()
    if packing == ".zst":
        raise UsageError("writing .zst is not supported: use .gz, or pack the file afterwards")
    try:
        blocks = _plain_blocks(table, name)
    except InputError as error:
        raise InputError(describe(name), error.problems, error.count) from None
    return packed_gz(blocks) if packing == ".gz" else blocks


def _plain_blocks(table: Judgements | Run, name: str) -> Iterable[bytes]:
    if is_tabular(name):
        from cranfield.io.tabular import written

        return written(table, inner_suffix(name))
    return trec_blocks(table)
