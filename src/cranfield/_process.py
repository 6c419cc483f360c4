"""What a program needs and a library must not do: signals, streams, warnings of others."""

from __future__ import annotations

import io
import logging
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cranfield.errors import visible

INTERRUPTED, TERMINATED = 130, 143
# The exit codes of signals that came: libraries make other errors of them while they are loaded.
stopped_with: list[int] = []
# Bytes of addresses below which NumPy may be loaded, but not used, and that SciPy needs beyond it:
# its OpenBLAS, which is another one, waits without end for memory that it does not get.
LEAST_FOR_ARRAYS, LEAST_FOR_SCIPY = 400 << 20, 160 << 20


def prepare_process() -> None:
    """Make this process one of ours."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    show_logs_plainly()
    signal.signal(signal.SIGTERM, _leave)
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        # OpenBLAS ends the process or waits without end when its threads find no memory.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        sys.meta_path.insert(0, _NoArrays(limit))
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    if sys.stdout is None:
        sys.stdout = _ClosedStream()
    _wait_for_others()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that does not know a character shows another in its place.
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")


class VisibleRecord(logging.LogRecord):
    """What a library logs, which may quote a file: a terminal obeys nothing of it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.exc_info and self.exc_info[0] is not None:
            # A formatter takes the traceback that is here already.
            self.exc_text = visible(logging.Formatter().formatException(self.exc_info))

    def getMessage(self) -> str:
        return visible(super().getMessage())


def show_logs_plainly() -> None:
    """No control character of a log record reaches the terminal, whatever the handler."""
    logging.setLogRecordFactory(VisibleRecord)


def _wait_for_others() -> None:
    """Standard streams that make us wait.

    The program that started us may have left a pipe that does not (Node.js, some build servers):
    Python then drops what does not fit into it, and takes a moment without input for the end.
    """
    for number in range(3):
        with suppress(OSError):  # it is closed
            os.set_blocking(number, True)


class _NoArrays:
    """In the way of NumPy and SciPy where their OpenBLAS would end the process, with a code of its
    own, or never come back."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "numpy" and self._limit < LEAST_FOR_ARRAYS:
            raise MemoryError
        if name == "scipy" and self._limit - _addresses() < LEAST_FOR_SCIPY:
            raise MemoryError


def _addresses() -> int:
    """Bytes of addresses that this process has; none where the system does not tell."""
    try:
        with open("/proc/self/statm") as stream:  # noqa: PTH123
            return int(stream.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _leave(*_: Any) -> None:
    # Raised where the work is, so that it puts away its temporary files.
    stopped_with.append(TERMINATED)
    raise SystemExit(TERMINATED)


def _interrupt(*_: Any) -> None:
    stopped_with.append(INTERRUPTED)
    raise KeyboardInterrupt


class _ClosedStream(io.TextIOBase):
    """Standard output that was closed before we began; what is written to it is lost."""

    @property
    def buffer(self) -> _ClosedStream:
        return self

    def write(self, _: str | bytes) -> int:
        raise OSError(None, "is closed")


def run_interruptible(work: Callable[[], int]) -> int:
    """Work that an interrupt ends where it is; around it there is nothing to be put away."""
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        return work()
    finally:
        signal.signal(signal.SIGINT, before)
