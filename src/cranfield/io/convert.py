"""Judgements, runs and labels from one format to another, as the endings of the names say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cranfield.data import Judgements, Run
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, UsageError
from cranfield.io import is_tabular, read_qrels, read_run
from cranfield.io.files import (
    FileForm,
    Input,
    Third,
    describe,
    inner_suffix,
    open_input,
    write_whole,
)
from cranfield.io.packed import packed
from cranfield.io.table_text import trec_blocks

KINDS = ("run", "qrels", "labels")
_HEAD = 1 << 16


def convert(
    source: FileForm,
    target: str | Path | None,
    *,
    kind: str | None = None,
    long: bool = False,
    scores: str = "confidence",
    third: Third | None = None,
) -> tuple[tuple[str, ...], bytes]:
    """Write what a file holds to another, whole or not at all, and give the notes.

    `kind` is "run", "qrels" or "labels" and is found out where a file says it; `long` is for labels
    as CSV item,concept,value, `scores` for those beyond [0, 1], as in `read_labels`, `third` for
    runs, as in `read_run`. Without a target nothing is written, and the bytes of TREC's format come
    with the notes.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"kind={kind!r} is not one of {', '.join(KINDS)}")
    kind = kind or guess_kind(source)
    if kind == "labels":
        return _convert_labels(source, target, long, scores), b""
    table = read_run(source, third=third) if kind == "run" else read_qrels(source)
    if target is None:
        return table.notes, encoded(table, None)
    write_whole(Path(target), _blocks(table, str(target)))
    return table.notes, b""


def _convert_labels(
    source: FileForm, target: str | Path | None, long: bool, scores: str
) -> tuple[str, ...]:
    from cranfield.io.labels import FORMS, read_labels, write_labels

    if target is None:
        raise UsageError(f"labels are written to a file: {', '.join(FORMS)}, or ImageCLEF text")
    suffix = inner_suffix(target)
    if long and suffix != ".csv":
        raise UsageError("long= goes with a .csv file")
    labels = read_labels(source, scores=scores)
    write_labels(labels, target, form="long" if long else None)
    if labels.named and suffix not in FORMS:
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
    """Judgements or a run as the bytes of a file of that name; packed for .gz and .zst."""
    return b"".join(_blocks(table, "-" if target is None else str(target)))


def _blocks(table: Judgements | Run, name: str) -> Iterable[bytes]:
    try:
        blocks = _plain_blocks(table, name)
    except InputError as error:
        raise InputError(describe(name), error.problems, error.count) from None
    return packed(blocks, Path(name).suffix.lower())


def _plain_blocks(table: Judgements | Run, name: str) -> Iterable[bytes]:
    if is_tabular(name):
        from cranfield.io.tabular import written

        return written(table, inner_suffix(name))
    return trec_blocks(table)
