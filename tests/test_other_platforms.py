"""What is not on every platform: the library, the command and the report work without it."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cranfield import _system

ROOT = Path(__file__).parents[1]
# As on Windows: no such modules, functions or signals.
HIDE = """
import os, signal, sys

HIDDEN = {"fcntl", "resource", "pwd", "grp", "termios"}

class Absent:
    def find_spec(self, name, *_):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in HIDDEN:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for name in ("fork", "sched_getaffinity", "O_CLOEXEC", "set_blocking", "killpg", "getuid"):
    delattr(os, name)
for name in ("SIGALRM", "setitimer", "ITIMER_REAL", "SIGHUP", "SIGKILL", "pthread_sigmask"):
    delattr(signal, name)
"""


def run_hidden(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDE + textwrap.dedent(code)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    (folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n2 0 d 1\n")
    (folder / "one.run").write_text("1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n2 Q0 c 1 1.0 x\n")
    (folder / "two.run").write_text("1 Q0 b 1 2.0 y\n1 Q0 a 2 1.0 y\n2 Q0 d 1 1.0 y\n")
    return folder


def test_the_library_without_posix(collection: Path) -> None:
    done = run_hidden(
        """
        import cranfield as cf
        scores = cf.evaluate("qrels.txt", ["one.run", "two.run"], "AP RR")
        print(scores.mean()["one"]["AP"], scores.mean()["two"]["RR"])
        scores.compare(rng=1)
        """,
        collection,
    )
    # Topic 2 has two relevant items, of which each run returns one: (1 + 1/2) / 2, (1/2 + 1) / 2.
    assert (done.returncode, done.stdout) == (0, "0.75 0.75\n"), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["eval", "qrels.txt", "one.run", "two.run", "-m", "AP"],
        ["compare", "qrels.txt", "one.run", "two.run", "-m", "AP"],
        ["eval", "qrels.txt", "one.run", "--format", "html", "-o", "page.html"],
    ],
    ids=["eval", "compare", "page"],
)
def test_the_command_without_posix(words: list[str], collection: Path) -> None:
    code = f"sys.argv = ['cranfield', *{words!r}]\nfrom cranfield.__main__ import start\n"
    done = run_hidden(code + "sys.exit(start())", collection)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_the_site_says_what_it_lacks(collection: Path) -> None:
    code = "sys.argv = ['cranfield', 'site', 'serve', '.']\nfrom cranfield.__main__ import start\n"
    done = run_hidden(code + "sys.exit(start())", collection)
    assert done.returncode == 2, done.stderr
    assert "os.fork" in done.stderr
    assert "WSL" in done.stderr


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, math.inf),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4.0),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
        ({}, math.inf),
    ],
)
def test_the_quota_of_a_container(files: dict[str, str], limit: float, tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert _system._container_quota(tmp_path) == limit


def test_usable_processors_follow_affinity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_system, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 7})
    assert _system.usable_cpus() == 3
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "cpu.max").write_text("150000 100000")
    monkeypatch.setattr(_system, "_CGROUP", tmp_path / "other")
    assert _system.usable_cpus() == 2


NUMBERS = """
#include <cstdio>
#include <iostream>
#include <string>
#include "readers/numbers.hpp"
int main() {
    for (std::string text; std::getline(std::cin, text);) {
        double value = 0;
        if (cranfield::parse_number(text, value)) std::printf("%a\\n", value);
        else std::puts("-");
    }
}
"""
TEXTS = """1
-1
+1
+-1
-+1
++1
0.1
.5
5.
1e5
1E-5
1e400
-1e400
1e-400
4.9e-324
2.2250738585072011e-308
0.30000000000000004
123456789012345678901234567890
inf
-Infinity
nan
NaN
0x10
0X1p3
1,5
 1
e5
1e
1e+
--1

one
1_000
""".splitlines()
TEXTS.append("1 ")


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_numbers_are_read_alike_without_from_chars(tmp_path: Path) -> None:
    source, program = tmp_path / "numbers.cpp", tmp_path / "numbers"
    source.write_text(NUMBERS)
    words = ["c++", "-std=c++20", "-O0", "-DCRANFIELD_PORTABLE", f"-I{ROOT / 'src/core'}"]
    reader = ROOT / "src/core/readers/numbers.cpp"
    subprocess.run([*words, str(source), str(reader), "-o", str(program)], check=True, timeout=300)
    # A comma would be the point of German numbers.
    lines = subprocess.run(
        [program],
        input="\n".join(TEXTS) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=os.environ | {"LC_ALL": "de_DE.UTF-8"},
    ).stdout.splitlines()
    assert len(lines) == len(TEXTS)
    for text, line in zip(TEXTS, lines, strict=True):
        assert read_by_python(text) == (None if line == "-" else as_float(line)), text


def as_float(text: str) -> str:
    return repr(float(text) if "n" in text else float.fromhex(text)).lstrip("-" * ("nan" in text))


def read_by_python(text: str) -> str | None:
    """What Python makes of it, which takes blanks and underscores as well."""
    if text != text.strip() or "_" in text:
        return None
    try:
        return repr(float(text))
    except ValueError:
        return None
