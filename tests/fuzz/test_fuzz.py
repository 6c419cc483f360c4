"""A small share of the fuzzer: every class of it, with a fixed seed. `make fuzz` tries them all."""

from __future__ import annotations

import pytest

from benchmarks.fuzz.cases import Fuzzer
from benchmarks.fuzz.commands import templates, without_template

# Cases in this process (more than there are templates: each is tried), and as processes.
INSIDE, PROCESSES, PARTS = 280, 20, 4


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Fuzzer:
    return Fuzzer(1, tmp_path_factory.mktemp("fuzz"))


def test_every_option_that_takes_a_file_is_tried() -> None:
    # A new option of this kind belongs into a template, or into NO_FILES where it names no file.
    assert without_template() == []
    assert len(templates()) < INSIDE


def test_sound_collections_are_accepted(fuzzer: Fuzzer) -> None:
    # `make fuzz` tries all templates with sound files.
    for number, template in enumerate(templates()):
        if template.startswith(("report ", "collection ", "check ", "campaign results ")):
            case, outcome, found = fuzzer.judged(fuzzer.whole(number, full=True), process=False)
            assert not found, (number, found, case.args, outcome.err)


@pytest.mark.parametrize("part", range(PARTS))
def test_cases_in_this_process(fuzzer: Fuzzer, part: int) -> None:
    for number in range(10_000 + part, 10_000 + INSIDE, PARTS):
        case, outcome, found = fuzzer.tried(number, process=False)
        assert not found, (number, found, case.args, outcome.err)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_as_processes(fuzzer: Fuzzer, part: int) -> None:
    for number in range(part, PROCESSES, PARTS):
        case, outcome, found = fuzzer.tried(number, process=True)
        assert not found, (number, found, case.args, case.shell, outcome.err)
