"""Compiled work beside the thread that asks for it, which can then be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], T], cancel: Callable[[], None]) -> T:
    """Run compiled work on another thread, so that Ctrl-C reaches this one and stops it."""
    answer: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(work())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no thread to be had
        return work()
    try:
        thread.join()
    except KeyboardInterrupt:
        cancel()
        thread.join()
        raise
    if failure:
        raise failure[0]
    return answer[0]
