"""The page from pictures to runs: every command works and prints what is shown."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cranfield.features import DESCRIPTORS

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "images.md").read_text()


def steps() -> list[tuple[str, str]]:
    """Pairs of a command and the output that the page shows after it (nothing: not shown)."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the page speaks to bash")
def test_every_command_prints_what_the_page_shows(tmp_path):
    pytest.importorskip("bm25s", reason="the extra text is not installed")
    # One process for all commands, which each print a line that ends their part.
    script = [f'cranfield() {{ "{sys.executable}" -m cranfield "$@"; }}', "set -eo pipefail"]
    for command, _ in steps():
        script += [command, "echo '=== end ==='"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        # bash puts the files of a pattern into the order of the language.
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        timeout=800,
    )
    assert (done.returncode, done.stderr) == (0, "")
    printed = done.stdout.split("=== end ===\n")
    assert len(printed) == len(steps()) + 1
    for (command, shown), found in zip(steps(), printed, strict=False):
        if shown:
            assert found == shown, command


def test_the_table_of_versions_names_descriptors():
    rows = re.findall(r"^\| (\w+) \| 0\.\d+ \| ([\w.]+) \| 0\.\d+ \|$", PAGE, flags=re.MULTILINE)
    assert len(rows) == 7
    assert all(name in DESCRIPTORS for row in rows for name in row)
