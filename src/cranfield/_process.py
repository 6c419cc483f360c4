"""What a program needs and a library must not do: signals, streams, warnings of others."""

from __future__ import annotations

import _thread
import io
import logging
import mmap
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cranfield._system import address_limit
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
    if hasattr(signal, "SIGALRM"):  # not on Windows
        signal.signal(signal.SIGALRM, _stop_again)
    sys.unraisablehook = _report_unraisable
    limit = address_limit()
    if limit is not None:
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
        with suppress(OSError, AttributeError):  # it is closed; Windows before Python 3.12
            os.set_blocking(number, True)


class _NoArrays:
    """In the way of NumPy and SciPy where their OpenBLAS would end the process, with a code of its
    own, or never come back."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def find_spec(self, name: str, *_: object) -> None:
        if name == "numpy" and self._limit < LEAST_FOR_ARRAYS:
            raise MemoryError
        if name == "scipy" and self._limit - _addresses() < LEAST_FOR_SCIPY:
            raise MemoryError


def _addresses() -> int:
    """Bytes of addresses that this process has; none where the system does not tell."""
    try:
        with open("/proc/self/statm") as stream:  # noqa: PTH123
            return int(stream.read().split()[0]) * mmap.PAGESIZE
    except OSError:
        return 0


def _leave(*_: object) -> None:
    # Raised where the work is, so that it puts away its temporary files.
    stopped_with.append(TERMINATED)
    raise SystemExit(TERMINATED)


def _interrupt(*_: object) -> None:
    stopped_with.append(INTERRUPTED)
    raise KeyboardInterrupt


def _report_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Stop again where a finaliser swallowed the exception of a signal; report any other."""
    if stopped_with and isinstance(unraisable.exc_value, SystemExit | KeyboardInterrupt):
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:  # Windows
            _thread.interrupt_main()
    else:
        sys.__unraisablehook__(unraisable)


def _stop_again(*_: object) -> None:
    if stopped_with and stopped_with[-1] == INTERRUPTED:
        raise KeyboardInterrupt
    raise SystemExit(TERMINATED)


@contextmanager
def cancel_on_signal(cancel: Callable[[], None]) -> Iterator[None]:
    """Call `cancel` as soon as a signal comes, also while this thread is in compiled work.

    Python runs handlers of signals between its own instructions alone: without this, an interrupt
    would wait until the compiled core is done. Cancelled work returns, and the handler runs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread
        return
    if not hasattr(os, "set_blocking"):  # Windows before Python 3.12: the signal waits
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watcher = threading.Thread(target=_wait_for_signal, args=(reading, cancel), daemon=True)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        with suppress(RuntimeError):  # no thread to be had: the signal waits for the work
            watcher.start()
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)  # ends the watcher
        if watcher.ident is not None:
            watcher.join()
        os.close(reading)


def _wait_for_signal(reading: int, cancel: Callable[[], None]) -> None:
    if os.read(reading, 1):
        cancel()


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
