"""The tables of the benchmarks belong to parts of the bench, whose rows stand by themselves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("README.md", "docs/benchmarks.md", "docs/how-to/many-runs.md")


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # loading takes it away for its commands
    before = set(sys.modules)
    import harness
    import run

    yield run, harness
    for name in set(sys.modules) - before:
        if str(ROOT / "benchmarks") in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_every_table_is_made_by_a_part(bench):
    run, _ = bench
    parts = {*run.PARTS, *run.LONG}
    shown = {
        place: set(re.findall(r"<!-- bench:(\w+) -->", (ROOT / place).read_text()))
        for place in PLACES
    }
    assert set().union(*shown.values()) <= parts
    assert set(run.PARTS) <= shown["docs/benchmarks.md"]
    assert all(name in ("files", "cold", "growth") or _file(name).exists() for name in parts)


def _file(part: str) -> Path:
    return ROOT / "benchmarks" / f"{part}.py"


def test_a_peer_that_fails_or_hangs_ends_nothing_else(bench, monkeypatch, capsys):
    _, harness = bench
    monkeypatch.setattr(harness, "MOST_SECONDS", 0.5)
    commands = {
        "good": ["true"],
        "bad": [sys.executable, "-c", "raise SystemExit('out of order')"],
        "endless": ["sleep", "30"],
    }
    found = harness.in_turns(commands, 2)
    assert list(found) == ["good"]
    assert len(found["good"]) == 2
    told = capsys.readouterr().err
    assert "bad failed: out of order" in told
    assert "endless failed: more than 0.5 s" in told


def test_help_says_what_is_long():
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "--long" in done.stdout
