"""Keeps the content of a pipe on disk, in case it must be read a second time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, BinaryIO, cast

from cranfield.errors import InputError
from cranfield.io.files import Input, describe

_BLOCK = 1 << 20


class SpooledStream(AbstractContextManager["SpooledStream"]):
    """Fills buffers from a stream and keeps the bytes in an unnamed temporary file."""

    def __init__(self, source: Input, read: Callable[[memoryview], int] | None) -> None:
        self._source, self._read = source, read
        self._file: BinaryIO | None = None
        with suppress(OSError):
            self._file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115

    def __call__(self, buffer: memoryview) -> int:
        got = self._read(buffer) if self._read is not None else 0
        if got > 0 and self._file is not None:
            try:
                self._file.write(buffer[:got])
            except OSError:  # disk full: matters only if the input is read again
                self._file.close()
                self._file = None
        return got

    @property
    def error(self) -> BaseException | None:
        """What the stream raised, if anything."""
        return getattr(self._read, "error", None)

    def reopen(self) -> Input:
        """The whole stream, from its start."""
        buffer = memoryview(bytearray(_BLOCK))
        while self._file is not None and self(buffer) > 0:
            pass
        if self.error is not None:
            raise self.error
        if self._file is None:
            raise InputError.single(
                describe(self._source),
                "the lines of its topics do not stand together, and there is no room on disk to "
                "keep what comes through a pipe; give a file",
            )
        self._file.seek(0)
        return Input(describe(self._source), self._file, self._source.caps)

    def __exit__(self, *exc: Any) -> None:
        if self._file is not None:
            self._file.close()
