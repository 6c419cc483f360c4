"""A command ends as Python does: what others wanted done at the end is done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BEFORE = "import sys; sys.argv = ['cranfield', *sys.argv[1:]]; from cranfield.__main__ import start"


def ended(program: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"{BEFORE}\n{program}", *args],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_what_was_registered_is_done() -> None:
    done = ended("import atexit; atexit.register(print, 'last'); start()", "--version")
    assert done.stdout.splitlines()[-1] == "last"
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_come_to_their_end() -> None:
    program = (
        "import threading\n"
        "def late():\n    threading.main_thread().join(); sys.stdout.write('late\\n')\n"
        "threading.Thread(target=late).start(); start()"
    )
    done = ended(program, "--version")
    assert done.stdout.splitlines()[-1] == "late"


def test_temporary_folders_go(tmp_path: Path) -> None:
    program = f"import tempfile; kept = tempfile.TemporaryDirectory(dir={str(tmp_path)!r}); start()"
    assert ended(program, "--version").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_the_code_of_a_command_stays() -> None:
    done = ended("sys.exit(start())", "eval", "absent", "absent")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "no such file" in done.stderr


def test_whoever_watches_has_the_last_word() -> None:
    program = "sys.setprofile(lambda *_: None); code = start(); sys.setprofile(None); print(code)"
    assert ended(program, "--version").stdout.splitlines()[-1] == "0"
