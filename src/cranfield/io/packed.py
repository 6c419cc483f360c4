"""Compressed inputs as streams of their bytes."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from cranfield.errors import InputError, MissingExtraError


@contextmanager
def unpacked_gz(raw: BinaryIO, where: str) -> Iterator[BinaryIO]:
    """The bytes of gzip data, by ISA-L where it is installed: in a third of the time."""
    kind, error = _gzip_reader(raw)
    try:
        with kind(fileobj=raw, mode="rb") as packed:
            yield cast(BinaryIO, packed)
    except error as fault:
        raise InputError.single(where, f"not valid gzip data ({fault})") from None


def _gzip_reader(raw: BinaryIO) -> tuple[Any, Any]:
    """The class that reads gzip data, and what it raises for data that are none."""
    # ISA-L takes a short text for the start of an archive.
    if not (raw.seekable() and _begins_as_gzip(raw)):
        return gzip.GzipFile, gzip.BadGzipFile
    try:
        from isal import igzip, isal_zlib
    except ImportError:
        return gzip.GzipFile, gzip.BadGzipFile
    return igzip.IGzipFile, isal_zlib.error


def _begins_as_gzip(raw: BinaryIO) -> bool:
    place = raw.tell()
    start = raw.read(2)
    raw.seek(place)
    return start == b"\x1f\x8b"


@contextmanager
def unpacked_zst(raw: BinaryIO, where: str) -> Iterator[BinaryIO]:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        raise MissingExtraError("backports.zstd", "dev", "Reading .zst files") from None
    try:
        with zstd.open(raw, "rb") as packed:
            yield cast(BinaryIO, packed)
    except zstd.ZstdError as error:
        raise InputError.single(where, f"not valid zstd data ({error})") from None
