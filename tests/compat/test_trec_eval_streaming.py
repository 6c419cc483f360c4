"""`cranfield trec_eval` scores a run while it reads it, and prints the same as of a whole one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOPICS, ITEMS = 40, 30


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Judgements; a run that misses a topic and has another and further fields, also scattered."""
    lines = [
        f"t{t} Q0 i{i * 7 % ITEMS} 0 {(i * 13 % 17) / 4} {'last' if t == TOPICS else 'tag'} more\n"
        for t in range(1, TOPICS + 1)
        for i in range(ITEMS)
    ]
    judged = [f"t{t} 0 i{i} {i % 3}\n" for t in range(TOPICS) for i in range(0, ITEMS, 4)]
    (tmp_path / "qrels").write_text("".join(judged))
    (tmp_path / "run").write_text("".join(lines))
    # The last line stays the last: it names the run.
    scattered = [*lines[:-1:2], *lines[1:-1:2], lines[-1]]
    (tmp_path / "scattered").write_text("".join(scattered))
    return tmp_path


def printed(folder: Path, run: str, *, piped: bool = False) -> str:
    command = [sys.executable, "-m", "cranfield", "trec_eval", "-q", "-c", "-m", "all_trec"]
    command += [str(folder / "qrels"), "-" if piped else str(folder / run)]
    given = (folder / run).read_bytes() if piped else None
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=True)
    return done.stdout.decode()


def test_scattered_and_piped_runs_print_the_same(files: Path) -> None:
    expected = printed(files, "run")
    assert "runid                 \tall\tlast\n" in expected
    assert "map                   \tt0\t0.0000\n" in expected
    assert printed(files, "scattered") == expected
    assert printed(files, "run", piped=True) == expected
    assert printed(files, "scattered", piped=True) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    topic = "".join(f"T Q0 document-number-{i} 0 {1000 - i}.5 tag\n" for i in range(1000))
    with (tmp_path / "run").open("w") as run:
        for t in range(400):
            run.write(topic.replace("T ", f"t{t} "))
    (tmp_path / "qrels").write_text("".join(f"t{t} 0 document-number-3 1\n" for t in range(400)))
    code = "import sys; from cranfield.cli import main; main(sys.argv[1:])\n"
    code += "print(open('/proc/self/status').read(), file=sys.stderr)"
    command = [sys.executable, "-c", code, "trec_eval"]
    command += [str(tmp_path / "qrels"), str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True, text=True)
    peak = next(line for line in done.stderr.splitlines() if line.startswith("VmHWM"))
    # The columns of 400,000 rows would take 25 MB beyond what the process starts with.
    assert int(peak.split()[1]) / 1024 < 55
