"""Detects the format of inputs whose name does not tell it, such as pipes, by their first bytes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cranfield.data.columns import HEADERS
from cranfield.io.compression import detect_packing, read_head
from cranfield.io.files import (
    BYTE_ORDER_MARK,
    FileForm,
    Input,
    can_be_read_again,
    describe,
    inner_suffix,
    open_input,
)

# The endings of judgements and runs that are not in TREC's format.
TABULAR = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_BINARY = {".parquet": b"PAR1", ".npz": b"PK\x03\x04"}
_SEPARATORS = ((".csv", ","), (".tsv", "\t"), (".csv", ";"))
# TREC's runs have six fields a line. Fewer may be one of several forms, which takes a second look.
_LOOKED_AT_TWICE = (3, 4, 5)
_HEAD = 1 << 12
_WITH_GZIP_HEADER = 31


def with_detected_format(path: FileForm) -> FileForm:
    """Return the input with the format that its first bytes show.

    Standard input and pipes can be read only once: unless they begin as a run of TREC, which may
    be scored while it comes, they are read whole. Their start is taken by then, so that only what
    this gives can be read.
    """
    source = Input.of(path)
    if source.packing or source.can_be_read_again or inner_suffix(source) in (*TABULAR, ".npz"):
        return path
    if source.path is not None and _exists(source.path.is_dir):
        return path
    try:
        stream, head = read_head(source.open(), owned=source.path is not None)
    except OSError:
        return path  # opening it later reports the reason
    opened = replace(source, name=describe(source), stream=stream)
    start = _unpack_head(head)
    hidden = not start and detect_packing(head)
    if hidden or detect_format(start) or _count_fields(start) in _LOOKED_AT_TWICE:
        with open_input(opened) as unpacked_stream:
            data = unpacked_stream.read()
        return replace(opened, stream=data, form=detect_format(data))
    return opened


def detect_other_format(path: FileForm) -> Input | None:
    """Return a file that the TREC reader refused as an input of its detected format, or None."""
    if not can_be_read_again(path):
        return None
    with open_input(path) as stream:
        form = detect_format(stream.read(_HEAD))
    return replace(Input.of(path), form=form) if form in TABULAR else None


def detect_format(start: bytes) -> str:
    """Return the file ending for content with this start; '' for TREC and ImageCLEF text."""
    for ending, magic in _BINARY.items():
        if start.startswith(magic):
            return ending
    text = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text[:1] == b"{" or (text[:1] == b"[" and text[1:_HEAD].lstrip()[:1] in (b"{", b"[")):
        end = text.find(b"\n")
        records = end > 0 and text[:end].rstrip()[-1:] == b"}"
        return ".jsonl" if records and text[end : end + _HEAD].lstrip()[:1] == b"{" else ".json"
    header = text[:_HEAD].split(b"\n", 1)[0].decode(errors="replace").lower()
    for ending, separator in _SEPARATORS:
        names = {cell.strip().strip('"') for cell in header.split(separator)}
        if names & set(HEADERS["topic"]) and names & set(HEADERS["item"]):
            return ending
    return ""


def separator_of(text: str, usual: str = ",") -> str:
    """Return the cell separator of a table: the first of `,`, `;` and tab in its header.

    The name of a first column has none of them, whatever the others have.
    """
    first = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    return min((mark for mark in ",;\t" if mark in first), key=first.index, default=usual)


# What tells boxes: a key of COCO or of Label Studio early in JSON, four sides among the columns.
_BOX_KEYS = (b'"bbox"', b'"categories"', b'"annotations"')
_BOX_COLUMNS = (
    {"x", "y", "width", "height"},
    {"x", "y", "w", "h"},
    {"left", "top", "width", "height"},
    {"xmin", "ymin", "xmax", "ymax"},
    {"x1", "y1", "x2", "y2"},
)
_BOX_HEAD = 1 << 16
_IMAGES = re.compile(rb'\{\s*"(images|info|licenses|categories|annotations)"\s*:')


def _exists(question: Callable[[], bool]) -> bool:
    """The answer of a path; no where it is too long to be the name of anything."""
    try:
        return question()
    except OSError:
        return False


def holds_regions(source: object) -> bool:
    """Whether something is boxes of items: regions, or a file or folder that looks like them."""
    if not isinstance(source, str | Path | Input):
        return hasattr(source, "picture_sizes") and hasattr(source, "boxes")
    path = Input.of(source).path
    if path is not None and _exists(path.is_dir):
        folders = (path, path / "Annotations")
        names = any(next(folder.glob("*.xml"), None) for folder in folders if folder.is_dir())
        return names or (path / "labels").is_dir() or (path / "classes.txt").is_file()
    suffix = inner_suffix(source)
    if suffix not in (".json", ".csv", ".tsv") or not can_be_read_again(source):
        return False
    if path is None or not _exists(path.is_file):
        return False
    with open_input(source) as stream:
        head = stream.read(_BOX_HEAD)
    if suffix == ".json":
        start = head.removeprefix(BYTE_ORDER_MARK).lstrip()
        return bool(_IMAGES.match(start)) or any(key in head for key in _BOX_KEYS)
    header = head.removeprefix(BYTE_ORDER_MARK).split(b"\n", 1)[0].decode(errors="replace").lower()
    columns = {cell.strip().strip('"') for cell in header.split(separator_of(header))}
    return any(sides <= columns for sides in _BOX_COLUMNS)


def _unpack_head(head: bytes) -> bytes:
    """Unpack the start of compressed data, as far as these bytes allow."""
    packing = detect_packing(head)
    if packing != ".gz":
        return b"" if packing else head
    try:
        return zlib.decompressobj(_WITH_GZIP_HEADER).decompress(head, _HEAD)
    except zlib.error:
        return b""


def _count_fields(start: bytes) -> int:
    """Count the fields of the first line that is neither blank nor a comment."""
    lines = start.removeprefix(BYTE_ORDER_MARK).splitlines()
    return next((len(line.split()) for line in lines if line.strip() and line[:1] != b"#"), 0)
