"""One case: a command line, how it is run, and what must hold of its outcome."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cranfield as cf
from cranfield.cli import main
from cranfield.io.labels import read_labels

SECONDS, MEGABYTES = 20, 1000
# Done, a check failed, bad input or usage; interrupted or told to end.
EXPECTED = {0, 1, 2}
STOPPED = {130, 143, -signal.SIGINT, -signal.SIGTERM}


@dataclass
class Case:
    """A command line in a folder; `shell` runs it in a process in that way."""

    number: int
    kind: str
    args: list[str]
    folder: Path
    out: Path | None = None
    shell: str = ""
    stopped_after: float | None = None
    stop_signal: int = signal.SIGINT
    before: set[str] = field(default_factory=set)


@dataclass
class Outcome:
    """What a case came to."""

    code: int
    err: str
    hung: bool = False
    megabytes: int = 0


class HungError(BaseException):
    """Past every handler of ordinary errors: the case took too long."""


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def hung(*_: object) -> None:
        raise HungError

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_inside(case: Case) -> Outcome:
    """The case through the entry point, in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    streams, here = (sys.stdout, sys.stderr, sys.stdin), Path.cwd()
    sys.stdout, sys.stderr = out, err
    sys.stdin = io.TextIOWrapper(io.BytesIO(b""))
    os.chdir(case.folder)
    try:
        with _time_limit():
            return Outcome(main(case.args), err.getvalue())
    except HungError:
        return Outcome(-1, err.getvalue(), hung=True)
    except BaseException as error:
        return Outcome(-1, f"Traceback: {type(error).__name__}: {error}")
    finally:
        sys.stdout, sys.stderr, sys.stdin = streams
        os.chdir(here)


def run_process(case: Case) -> Outcome:
    """The case as a process, perhaps under limits, with odd outputs or stopped by a signal."""
    command = [sys.executable, "-m", "cranfield", *case.args]
    if case.shell:
        command = ["bash", "-c", case.shell, "-", *command]
    process = subprocess.Popen(
        command,
        cwd=case.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=_bounded,
        start_new_session=True,
    )
    try:
        if case.stopped_after is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=case.stopped_after)
            process.send_signal(case.stop_signal)
        _, err = process.communicate(timeout=SECONDS)
        return Outcome(process.returncode, err.decode(errors="replace"))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, err = process.communicate()
        return Outcome(-1, err.decode(errors="replace"), hung=True)


def _bounded() -> None:
    # More than a gigabyte of memory is a bad outcome: it is told by a refusal to give it.
    size = 3000 << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def faults(case: Case, outcome: Outcome) -> list[str]:
    """What is wrong with an outcome; nothing when all promises hold."""
    found = []
    allowed = EXPECTED | (STOPPED if case.stopped_after is not None else set())
    if outcome.hung:
        found.append(f"hang over {SECONDS} s")
    elif outcome.code not in allowed:
        signalled = outcome.code < 0 or outcome.code > 128
        found.append("signal" if signalled else f"exit {outcome.code}")
    # Python may still be starting when it is interrupted.
    if "Traceback" in outcome.err and case.stopped_after is None:
        found.append("traceback")
    if "Warning:" in outcome.err:
        found.append("raw warning")
    if any(ord(c) < 32 and c not in "\n\t\r" for c in outcome.err):
        found.append("control characters")
    if outcome.code == 2 and not outcome.err.strip() and not case.shell:
        found.append("refused without a word")
    if outcome.megabytes > MEGABYTES:
        found.append(f"over {MEGABYTES} MB")
    left = {p.name for p in case.folder.iterdir()} - case.before
    if any(name.startswith(".cranfield-") for name in left):
        found.append("temporary file left")
    return found + _output_faults(case, outcome)


def _output_faults(case: Case, outcome: Outcome) -> list[str]:
    out = case.out
    if out is None or not os.path.isfile(out):  # noqa: PTH113 - no error for a name too long
        return []
    if outcome.code not in EXPECTED - {2} and case.args[0] != "agreement":
        return ["half a file"] if out.stat().st_size == 0 else []
    if outcome.code == 0 and "json" in case.args and not _is_json(out):
        return ["half a file"]
    if outcome.code == 0 and case.args[0] == "convert":
        return _round_trip_faults(case)
    return []


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True


def _round_trip_faults(case: Case) -> list[str]:
    kind, source, target = case.args[2], case.folder / case.args[3], case.folder / case.args[4]
    try:
        if kind == "labels":
            a, b = read_labels(source), read_labels(target)
            same = a.items == b.items and a.shape[0] == b.shape[0]
        else:
            read = cf.read_run if kind == "run" else cf.read_qrels
            same = read(source).to_dict() == read(target).to_dict()
    except cf.CranfieldError as error:
        return [f"own output is refused ({error})"]
    return [] if same else ["silent change in a round trip"]
