"""Work on as many threads as there are to be had."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")

# What reading a file and naming a sample load when they first need it.
_LOADED_LATE = ("importlib.readers", "numpy.ma", "isal.igzip", "isal.isal_zlib")


def load_before_threads(modules: Iterable[str] = ()) -> None:
    """Load what threads would load late, and these modules, so that all find them complete.

    The parts of a package import each other, and a thread that comes while another loads them can
    see them half loaded.
    """
    for name in (*_LOADED_LATE, *modules):
        with suppress(ModuleNotFoundError):  # an extra that is not installed
            importlib.import_module(name)


def map_in_threads(
    work: Callable[[Given], Result], items: Iterable[Given], jobs: int
) -> Iterator[Result]:
    """The results of work in the order of the items, on up to `jobs` threads, this one among them.

    Where no more threads can be started, those that are there do the work. An error comes out in
    the place of its item.

    >>> list(map_in_threads(str.upper, ["a", "b"], 4))
    ['A', 'B']
    """
    todo = list(items)
    futures: list[Future[Result]] = [Future() for _ in todo]
    turn, unwanted = count(), threading.Event()

    def take_one() -> bool:
        at = next(turn)
        if at >= len(todo) or unwanted.is_set():
            return False
        try:
            futures[at].set_result(work(todo[at]))
        except BaseException as error:
            futures[at].set_exception(error)
            if not isinstance(error, Exception):
                raise
        return True

    def take_all() -> None:
        while take_one():
            pass

    threads = _start_threads(take_all, min(jobs, len(todo)) - 1)
    try:
        for future in futures:
            while not future.done() and take_one():
                pass
            yield future.result()
    finally:
        unwanted.set()
        for thread in threads:
            thread.join()


def _start_threads(target: Callable[[], None], count_of_threads: int) -> list[threading.Thread]:
    threads: list[threading.Thread] = []
    for _ in range(count_of_threads):
        thread = threading.Thread(target=target, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no memory, or no more of them allowed
            break
        threads.append(thread)
    return threads
