"""`make flake` tells what was ever red, and how often."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Red in the first run and green in every other.
UNSTEADY = """
from pathlib import Path


def test_unsteady():
    seen = Path(__file__).with_name("seen")
    was_there = seen.exists()
    seen.touch()
    assert was_there


def test_steady():
    pass
"""


@pytest.mark.slow
def test_what_is_red_once_is_told(tmp_path):
    (tmp_path / "test_unsteady.py").write_text(UNSTEADY)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "flake", "2", "1", str(tmp_path), "-n", "0"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    lines = done.stdout.splitlines()
    assert "green 1 of 2 under load 1" in lines, done.stdout + done.stderr
    assert lines[-1].startswith("red 1 of 2: ")
    assert lines[-1].endswith("test_unsteady.py::test_unsteady")
    assert done.returncode == 1
