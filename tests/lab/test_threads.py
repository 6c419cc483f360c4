"""Work on threads: in order, with errors in their place, and without any thread at all."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cranfield
from cranfield._lazy import cached_property
from cranfield.data.columns import is_masked
from cranfield.work.threads import map_in_threads


def slow_square(number: int) -> int:
    time.sleep(0.002 * (number % 3))  # in whatever order they end
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


@pytest.mark.slow
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


_IMPORTS_BY_THREADS = """
import sys, threading

class Recorder:
    def find_spec(self, name, *_):
        thread = threading.current_thread()
        if thread.name.startswith("ThreadPoolExecutor"):
            print("IMPORTED", name)

sys.meta_path.insert(0, Recorder())
from cranfield.cli import main
sys.exit(main(sys.argv[1:]))
"""

_RUNS = ["runs/bits.run.gz", "runs/pca.run.gz", "runs/pixels.run.gz"]


@pytest.mark.parametrize(
    "command",
    [
        ["requirements", "F.example SRP", "--ontology", "pto-2009"],
        ["correlate", "qrels.txt.gz", *_RUNS],
        ["pool", "qrels.txt.gz", *_RUNS],
    ],
    ids=lambda command: command[0],
)
def test_threads_of_a_study_import_nothing(command: list[str]) -> None:
    digits = Path(cranfield.__file__).parent / "samples" / "digits"
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTS_BY_THREADS, "lab", *command],
        cwd=digits,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("IMPORTED")] == []


def test_masks_that_another_thread_is_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    assert not is_masked(np.array([1.0, 2.0]))
    monkeypatch.undo()
    assert is_masked(masked)


def test_a_property_is_computed_while_another_thread_computes_it() -> None:
    class Waiting:
        def __init__(self, other: Waiting | None) -> None:
            self.other = other

        @cached_property
        def value(self) -> object:
            if self.other is not None:
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(lambda: self.other and self.other.value).result(timeout=60)
            return object()

    outer = Waiting(Waiting(None))
    assert outer.value is outer.value


def test_no_module_takes_the_property_with_a_lock() -> None:
    folder = Path(cranfield.__file__).parent
    users = [
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if any(
            line.startswith("from functools") and "cached_property" in line
            for line in path.read_text(encoding="utf-8").splitlines()
        )
    ]
    assert users == []
