"""What a person sees while work is done: a line of progress, and Ctrl-C that stops it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cranfield.notes import Progress, time_left

SHOW_PROGRESS_AFTER = 1.0


@contextmanager
def show_progress(label: str, *, quiet: bool) -> Iterator[Progress]:
    """A progress line on a terminal around work that tells how far it is, from a second on."""
    progress = Progress()
    stop = threading.Event()
    thread = threading.Thread(target=_show, args=(label, progress, stop), daemon=True)
    is_shown = not quiet and sys.stderr.isatty()
    if is_shown:
        try:
            thread.start()
        except RuntimeError:  # no thread to be had, and none is needed
            is_shown = False
    try:
        yield progress
    finally:
        if is_shown:
            stop.set()
            thread.join()


def _show(label: str, progress: Progress, stop: threading.Event) -> None:
    started = time.monotonic()
    if stop.wait(SHOW_PROGRESS_AFTER):
        return
    while not stop.wait(0.2):
        share = min(max(progress.done, 0.0), 1.0)
        remaining = time_left(time.monotonic() - started, share)
        line = f"\r{label} [{'#' * int(30 * share):<30}] {share:4.0%}"
        sys.stderr.write(line + (f", {remaining} left    " if remaining else " "))
        sys.stderr.flush()
    sys.stderr.write("\r" + " " * (len(label) + 60) + "\r")
    sys.stderr.flush()
