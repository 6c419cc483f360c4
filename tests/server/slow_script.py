"""The script of an export, run as it stands; part of `make slow`."""

import os
import subprocess
import sys

from cranfield.server import admin


def test_the_script_of_the_export_makes_every_table_again(released, tmp_path):
    admin.export_campaign(released.settings.folder, "tiny", tmp_path / "out")
    program = tmp_path / "bin" / "cranfield"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cranfield "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / "out" / "reproduce.sh"],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all tables are the same" in done.stdout
