"""A small share of the fuzzer: every class of it, with a fixed seed. `make fuzz` tries them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz.__main__ import Fuzzer

INSIDE, PROCESSES, PARTS = 280, 20, 4


@pytest.mark.parametrize("part", range(PARTS))
def test_cases_in_this_process(tmp_path: Path, part: int) -> None:
    fuzzer = Fuzzer(1, tmp_path)
    for number in range(10_000 + part, 10_000 + INSIDE, PARTS):
        case, outcome, found = fuzzer.tried(number, process=False)
        assert not found, (number, found, case.args, outcome.err)


@pytest.mark.parametrize("part", range(PARTS))
def test_cases_as_processes(tmp_path: Path, part: int) -> None:
    fuzzer = Fuzzer(1, tmp_path)
    for number in range(part, PROCESSES, PARTS):
        case, outcome, found = fuzzer.tried(number, process=True)
        assert not found, (number, found, case.args, case.shell, outcome.err)
