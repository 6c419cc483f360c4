"""Work on threads: in order, with errors in their place, and without any thread at all."""

from __future__ import annotations

import threading
import time

import pytest

from cranfield.work.threads import map_in_threads


def slow_square(number: int) -> int:
    time.sleep(0.002 * (number % 3))
    if number == 13:
        raise ValueError("unlucky")
    return number * number


@pytest.mark.parametrize("jobs", [1, 2, 64])
def test_results_come_in_order(jobs: int) -> None:
    assert list(map_in_threads(slow_square, range(12), jobs)) == [n * n for n in range(12)]


def test_an_error_stands_in_its_place() -> None:
    results = map_in_threads(slow_square, range(20), 4)
    assert [next(results) for _ in range(13)] == [n * n for n in range(13)]
    with pytest.raises(ValueError, match="unlucky"):
        next(results)


@pytest.mark.parametrize("first", [0, 2])
def test_threads_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    real, begun = threading.Thread.start, []

    def start(thread: threading.Thread) -> None:
        begun.append(thread)
        if len(begun) > first:
            raise RuntimeError("can't start new thread")
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    assert list(map_in_threads(slow_square, range(10), 8)) == [n * n for n in range(10)]
    assert len(begun) == first + 1
