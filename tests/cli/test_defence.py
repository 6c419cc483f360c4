"""The last lines of defence: outputs, signals, limits, terminals, faults of our own."""

from __future__ import annotations

import os
import pickle
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import cranfield as cf
from cranfield import cli
from cranfield.cli import main
from cranfield.cli._messages import run_guarded
from cranfield.errors import CancelledError, CycleError, InputError, MissingExtraError, visible
from cranfield.io.files import Caps, set_default_caps, write_atomic

COMMAND = [sys.executable, "-m", "cranfield"]
LINUX = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("t 0 a 1\n")
    (tmp_path / "r.run").write_text("t Q0 a 1 2 x\n")
    return tmp_path


def ran(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *args], capture_output=True, text=True, errors="replace", **options
    )


@LINUX
@pytest.mark.parametrize("args", [["eval", "q", "r.run"], ["--help"], ["eval", "--help"]])
def test_full_output(folder: Path, args: list[str]) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$@" > /dev/full', "-", *COMMAND, *args],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_pipe_that_does_not_wait_gets_everything(folder: Path) -> None:
    lines = [f"t{t} Q0 a 1 2 x\n" for t in range(4000)]
    (folder / "many.run").write_text("".join(lines))
    (folder / "many.q").write_text("".join(f"t{t} 0 a 1\n" for t in range(4000)))
    given, piped = ["trec_eval", "-q", "-m", "map", "many.q"], folder / "many.run"
    expected = ran(*given, str(piped)).stdout
    ends = os.pipe(), os.pipe()
    for end in (ends[0][1], ends[1][0]):
        os.set_blocking(end, False)
    process = subprocess.Popen([*COMMAND, *given, "-"], stdout=ends[0][1], stdin=ends[1][0])
    os.close(ends[0][1])
    os.close(ends[1][0])
    time.sleep(1)  # in which it finds no input, and then no room for its output
    with os.fdopen(ends[1][1], "w") as run:
        run.writelines(lines)
    time.sleep(0.5)
    with os.fdopen(ends[0][0]) as out:
        assert out.read() == expected
    assert process.wait(60) == 0


@pytest.mark.slow
def test_an_interrupted_site_says_so(folder: Path) -> None:
    pytest.importorskip("uvicorn")
    command = [*COMMAND, "serve", "site", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as said:
        address = next(line for line in said if line.startswith("serving site at ")).split()[-1]
        # Whoever asks now waits until the site is ready.
        with urlopen(f"{address}healthz", timeout=60) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def test_closed_streams(folder: Path) -> None:
    def closed(how: str) -> subprocess.CompletedProcess[str]:
        script = f'"$@" {how}'
        command = ["bash", "-c", script, "-", *COMMAND, "eval", "q", "r.run"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    done = closed(">&-")
    assert (done.returncode, done.stderr) == (2, "standard output: is closed\n")
    assert closed("-o out.csv --format csv >&-").returncode == 0
    assert closed("2>&-").returncode == 0
    assert closed("| true").returncode == 0
    done = subprocess.run(
        ["bash", "-c", '"$@" <&-', "-", *COMMAND, "eval", "q", "-"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (2, "<stdin>: is closed\n")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_terminals_that_know_few_characters(folder: Path, encoding: str) -> None:
    (folder / "日本.run").write_text("t Q0 a 1 2 x\n")
    env = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = ran("eval", "q", "日本.run", "-m", "AP", env=env)
    assert done.returncode == 0, done.stderr
    assert "1.0000" in done.stdout


def test_file_names_that_are_not_utf8(folder: Path) -> None:
    name = os.fsdecode(b"r\xff.run")
    (folder / name).write_text("t Q0 a 1 2 x\n")
    for form in ("table", "json", "csv", "html"):
        done = ran("eval", "q", name, "--format", form, "-o", "out")
        assert done.returncode == 0, done.stderr
    (folder / name).write_text("t Q0\n")
    done = ran("eval", "q", name)
    assert done.returncode == 2
    assert "r?.run:1: too few fields" in done.stderr


def test_control_characters_are_shown(folder: Path) -> None:
    name = "r\x1b[31m\x07.run"
    (folder / name).write_text("nonsense\n")
    done = ran("eval", "q", name)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert r"r\x1b[31m\x07.run:1" in done.stderr
    assert visible("a\tb\nc\x9b1m\u202e") == "a\tb\nc\\x9b1m\\u202e"


def test_a_fault_of_our_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import cranfield.cli.compare as command

    def broken(_: Any) -> int:
        raise ZeroDivisionError("not your fault")

    monkeypatch.setattr(command, "main", broken)
    assert main(["compare", "q", "r.run"]) == 3
    err = capsys.readouterr().err
    assert "a fault of Cranfield itself (ZeroDivisionError: not your fault)" in err
    assert "report it" in err
    assert len(err.splitlines()) == 1

    def greedy(_: Any) -> int:
        raise MemoryError

    monkeypatch.setattr(command, "main", greedy)
    assert main(["compare", "q", "r.run"]) == 2
    assert "not enough memory" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.001, 0.01, 0.05, 0.2, 0.5])
def test_interrupts_end_quietly(folder: Path, after: float) -> None:
    os.mkfifo(folder / "pipe")
    code = """
import sys, threading
from cranfield.__main__ import start
print("begun", flush=True)
sys.argv = ["cranfield", "eval", "q", "pipe"]
sys.exit(start())
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.slow
def test_sigterm_leaves_no_temporary_file(folder: Path) -> None:
    code = """
import sys, os, time
import cranfield.io.files as written
slow = os.fsync
os.fsync = lambda handle: (print("writing", flush=True), time.sleep(30))
sys.argv = ["cranfield", "eval", "q", "r.run", "-o", "out"]
from cranfield.__main__ import start
sys.exit(start())
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    before = {p.name for p in folder.iterdir()}
    assert any(name.startswith(".cranfield-") for name in before)
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 143
    assert {p.name for p in folder.iterdir()} == {"q", "r.run"}


def test_written_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(_kind(fd)), real(fd))[1])
    name = "n" * 250
    write_atomic(folder / name, b"data")
    assert (folder / name).read_bytes() == b"data"
    assert synced == ["file", "folder"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((folder / name).stat().st_mode) == 0o666 & ~mask
    with pytest.raises(InputError, match="File name too long"):
        write_atomic(folder / ("n" * 300), b"data")
    with pytest.raises(InputError, match="no file can have such a name"):
        write_atomic(Path("a\0b"), b"data")


def _kind(fd: int) -> str:
    return "folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file"


@pytest.mark.parametrize(
    "error",
    [
        InputError.single("a.run", "is broken", 3),
        CycleError(["a", "b", "a"]),
        MissingExtraError("pyarrow", "dataframe", "Reading Parquet"),
        cf.UsageError("no"),
        cf.MeasureError("no"),
        cf.NeedsError("no"),
    ],
)
def test_errors_travel(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert getattr(again, "problems", None) == getattr(error, "problems", None)


def test_errors_come_out_of_a_process_pool(folder: Path) -> None:
    (folder / "b.run").write_text("x")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        failed = pool.submit(cf.read_run, str(folder / "b.run")).exception()
    assert isinstance(failed, InputError)
    assert "b.run:1: too few fields" in str(failed)


@pytest.mark.parametrize(
    "args",
    [
        ["--jobs", "99999999999"],
        ["--jobs", "9" * 5000],
        ["-m", "P@" + "9" * 400],
        ["-m", "P@1e400"],
        ["-m", "nDCG@9007199254740993"],
        ["-m", "RBP(p=1e400)"],
        ["--max-items", "9" * 400],
        ["--collection-size", "9" * 400],
        ["--jobs", "٣"],
    ],
    ids=lambda args: " ".join(args)[:30],
)
def test_numbers_that_are_too_large(
    folder: Path, args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "q", "r.run", *args]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "fault of Cranfield" not in err


@pytest.mark.slow
def test_threads_that_cannot_be_started(folder: Path) -> None:
    script = 'ulimit -v 900000; "$@"'
    for jobs in ("64", "4000"):
        command = ["bash", "-c", script, "-", *COMMAND, "eval", "q", "r.run", "--jobs", jobs]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr


def test_limits_from_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        monkeypatch.setenv("CRANFIELD_MAX_BYTES", "5")
        assert main(["eval", "q", "r.run"]) == 2
        assert "q: holds more than 5 bytes, the most that is read" in capsys.readouterr().err
        monkeypatch.setenv("CRANFIELD_MAX_BYTES", "x")
        assert main(["eval", "q", "r.run"]) == 2
        assert "CRANFIELD_MAX_BYTES: 'x' is not a whole number" in capsys.readouterr().err
    finally:
        set_default_caps(Caps())


def test_unknown_commands_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evla"]) == 2
    assert "no command 'evla'. Did you mean 'eval'?" in capsys.readouterr().err
    assert cli.main(["--help"]) == 0


def test_refusals_of_the_api_are_our_own() -> None:
    with pytest.raises(cf.CranfieldError, match=r"chances=0\.5 is not an array"):
        cf.poisson_binomial(0.5)  # type: ignore[arg-type]
    with pytest.raises(cf.CranfieldError, match="scores and grades must be numbers"):
        cf.evaluate((["t"], ["a"], [[1, 2]]), {"t": {"a": 1.0}})
    with pytest.raises(cf.CranfieldError, match="rows differ in length"):
        cf.evaluate_labels([[1, 0], [1]], [[[1, 0], [1]]], "F.example")


def test_correlations_of_numbers_near_the_largest() -> None:
    x, y = [1.0, 0.2, 0.7, 0.1], [0.9, 0.3, 0.6, 0.05]
    usual = cf.stats.pearson(x, y).value
    for scale in (1e300, 1.7e308):
        large = cf.stats.pearson([v * scale for v in x], [v * scale for v in y]).value
        assert large == pytest.approx(usual, rel=1e-12)


def test_curves_over_too_many_ranks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["chart", "behaviour", "--collection-size", "100000000", "-m", "AP", "-o", "x.svg"]
    assert main(command) == 2
    assert "at most 5,000 can be drawn" in capsys.readouterr().err


LOGGING = """
import logging
from cranfield._process import prepare_process
prepare_process()
if {own}:
    logging.basicConfig(format="%(name)s: %(message)s")
log = logging.getLogger("another.library")
log.warning("%s does not look like an address", "http://x/\\x1b[31m\\x07\\x9b")
try:
    raise ValueError("line 3: \\x1b]0;title\\x07")
except ValueError:
    log.exception("\\x1b[2J")
"""


@pytest.mark.parametrize("own", [False, True])
def test_loggers_of_libraries_do_not_reach_the_terminal(own: bool) -> None:
    """Also through a handler that a library has made itself, and in tracebacks."""
    command = [sys.executable, "-c", LOGGING.format(own=own)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "http://x/\\x1b[31m\\x07\\x9b does not look like an address" in done.stderr
    assert "\\x1b[2J" in done.stderr
    assert "ValueError: line 3: \\x1b]0;title\\x07" in done.stderr
    assert visible(done.stderr) == done.stderr


def test_an_address_with_control_characters_in_an_ontology(folder: Path) -> None:
    pytest.importorskip("rdflib")
    path = folder / "o.ttl"
    path.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://x/\x1b[31m a> a skos:Concept ; skos:prefLabel "a\x1b[2J" .\n'
    )
    done = ran("ontology", "check", str(path))
    assert "\x1b" not in done.stdout + done.stderr


def test_work_that_a_signal_ended_is_no_bad_input(monkeypatch, capsys) -> None:
    # The compiled core says that it was cancelled before Python runs the handler of the signal.
    def work() -> int:
        raise CancelledError

    assert run_guarded(work) == 2
    monkeypatch.setattr("cranfield.cli._messages.stopped_with", [130])
    assert run_guarded(work) == 130
    assert capsys.readouterr().err == "cancelled\nstopped\n"
