"""Streams of bytes that are counted, or that begin with what has been looked at."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from cranfield.errors import InputError

_HEAD = 1 << 12
_BUFFER = 1 << 16
_PIPE = 1 << 20


def fill(stream: BinaryIO, buffer: Any) -> int:
    """Fill a buffer from any stream as far as it goes at once; 0 at its end."""
    if hasattr(stream, "readinto"):
        return stream.readinto(buffer) or 0
    data = stream.read(len(buffer))
    buffer[: len(data)] = data
    return len(data)


class Counted(io.RawIOBase):
    """A stream that tells how many bytes were read so far, for a check that may raise."""

    def __init__(self, inner: BinaryIO, check: Callable[[int], None]) -> None:
        self.inner, self._check, self._count = inner, check, 0

    @classmethod
    def wrap(cls, inner: BinaryIO, check: Callable[[int], None]) -> BinaryIO:
        return io.BufferedReader(cls(inner, check), _BUFFER)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = fill(self.inner, buffer)
        self._count += got
        self._check(self._count)
        return got


COMPRESSED_STARTS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}


def packing_of(start: bytes) -> str:
    """The ending of what is packed and begins so, or nothing."""
    return next((end for end, magic in COMPRESSED_STARTS.items() if start.startswith(magic)), "")


def packing_ahead(stream: Any) -> str:
    """The same of a stream, from which nothing is taken; nothing where it does not let that."""
    return (
        packing_of(stream.peek(len(COMPRESSED_STARTS[".zst"]))) if hasattr(stream, "peek") else ""
    )


def headed(stream: Any, *, owned: bool) -> tuple[BinaryIO, bytes]:
    """A stream that is still all there, and how it begins; one that is owned is closed with it.

    A pipe may bring its first bytes one by one: its first line is waited for.
    """
    head = b""
    while len(head) < _HEAD and b"\n" not in head.lstrip(b"\xef\xbb\xbf\r\n\t "):
        more = stream.read1(_HEAD) if hasattr(stream, "read1") else stream.read(_HEAD)
        if not more:
            break
        head += more
    kind = OwnedStream if owned else io.BufferedReader
    return kind(cast(io.RawIOBase, _Headed(head, stream, owned)), _BUFFER), head


class OwnedStream(io.BufferedReader):
    """A stream that nobody handed over: closed once it has been read."""


def standard_input() -> BinaryIO:
    """Standard input as it is; an InputError when it is closed."""
    if sys.stdin is None:
        raise InputError.single("<stdin>", "is closed")
    _widen(sys.stdin)
    return sys.stdin.buffer


def _widen(stream: Any) -> None:
    """Let a pipe hold more at once, so that its two ends wait less for each other."""
    try:
        import fcntl

        fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
    except (ImportError, AttributeError, OSError, ValueError):
        pass  # no pipe, no such call here, or more than this user may have


class _Headed(io.RawIOBase):
    """A stream after bytes of it that have been looked at."""

    def __init__(self, head: bytes, rest: BinaryIO, owned: bool) -> None:
        self._head, self._rest, self._owned = io.BytesIO(head), rest, owned

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._head.readinto(buffer) or fill(self._rest, buffer)

    def close(self) -> None:
        if self._owned:
            self._rest.close()
        super().close()
