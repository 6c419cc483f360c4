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


# A stream of standard input and how it begins, for the one who reads it after a look at its start.
_seen: list[tuple[Any, bytes]] = []


def peek_standard() -> bytes:
    """How standard input begins, which is still all there to be read.

    A pipe may bring its first bytes one by one: its first line is waited for.
    """
    stream = _stdin()
    head = _taken_back(stream)
    while len(head) < _HEAD and b"\n" not in head.lstrip(b"\xef\xbb\xbf\r\n\t "):
        more = stream.read1(_HEAD) if hasattr(stream, "read1") else stream.read(_HEAD)
        if not more:
            break
        head += more
    _seen.append((stream, head))
    return head


def _taken_back(stream: Any) -> bytes:
    """What was seen of a stream, which is no longer kept."""
    heads = [head for of, head in _seen if of is stream]
    _seen.clear()
    return heads[0] if heads else b""


def standard_input() -> BinaryIO:
    """Standard input from its first byte on, whether that has been looked at or not."""
    stream = _stdin()
    head = _taken_back(stream)
    if not head:
        return stream
    return io.BufferedReader(cast(io.RawIOBase, _Headed(head, stream)), _BUFFER)


def _stdin() -> BinaryIO:
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

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._head.readinto(buffer) or fill(self._rest, buffer)
