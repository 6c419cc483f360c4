"""The page about security: each promise names tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/explanation/security.md"
SERVER = ROOT / "tests/server"
_ROW = re.compile(r"\| (.+) \| (.+) \|")


def rows():
    """Each promise of the table with what is said to hold it."""
    table = PAGE.read_text(encoding="utf-8").partition("## Held by")[2]
    found = [match.groups() for match in map(_ROW.fullmatch, table.splitlines()) if match]
    return found[1:]


def named(cell):
    """The files of tests that a cell names, each with parts of names of tests."""
    file = ""
    for quoted in re.findall(r"`([^`]+)`", cell):
        name, _, part = quoted.partition(": ")
        if name.endswith(".py"):
            file = name
            yield file, part
        elif "/" not in quoted and " " not in quoted:
            yield file, quoted


def test_every_promise_has_a_row():
    assert len(rows()) > 30


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_the_tests_that_hold_a_promise_are_there(row):
    tests = list(named(row[1]))
    assert tests, row
    for file, part in tests:
        names = re.findall(r"^def (test_\w+)", (SERVER / file).read_text(encoding="utf-8"), re.M)
        assert any(part in name for name in names), f"{file} has no test with {part!r} in its name"
