"""The tutorial as a new user types it: every command works and prints what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

from cranfield.cli.demo import SAMPLE
from cranfield.io import read_qrels

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()


def steps() -> list[tuple[str, str]]:
    """Pairs of a command and the output that the page shows after it (nothing: not shown)."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


def test_every_command_prints_what_the_page_shows(tmp_path):
    cranfield = f'cranfield() {{ "{sys.executable}" -m cranfield "$@"; }}\n'
    assert len(steps()) > 8
    for command, shown in steps():
        done = subprocess.run(
            ["bash", "-c", cranfield + command], capture_output=True, text=True, cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, ""), command
        if shown:
            assert done.stdout == shown, command


def test_the_lines_of_files_are_real():
    assert read_qrels(SAMPLE / "qrels.txt.gz").to_dict()["zero-1"]["d0646"] == 2
    assert "zero-1 0 d0646 2  " in PAGE
