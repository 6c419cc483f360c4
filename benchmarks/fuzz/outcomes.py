"""One case: a command line, how it is run, and what must hold of its outcome."""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fuzz.commands import full_name, options_of
from benchmarks.fuzz.written import output_faults
from cranfield.cli import main

SECONDS, MEGABYTES = 20, 1000
# Done, a check failed, bad input or usage; interrupted or told to end.
EXPECTED = {0, 1, 2}
STOPPED = {130, 143, -signal.SIGINT, -signal.SIGTERM}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
SCARCE = "not enough memory"
WARNING = re.compile(r"^\S+:\d+: \w*Warning: ", re.MULTILINE)


@dataclass
class Case:
    """A command line in a folder; `shell` runs it in a process in that way.

    `inputs` are its files; `out` is where it writes first, and `old` what was there before.
    """

    number: int
    kind: str
    command: str
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    args: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    out: Path | None = None
    makes_folder: bool = False
    old: bytes | None = None
    pipes: list[tuple[Path, Path]] = field(default_factory=list)
    shell: str = ""
    stopped_after: float | None = None
    stop_signal: int = signal.SIGINT
    before: set[str] = field(default_factory=set)


@dataclass
class Outcome:
    """What a case came to; memory is that of its process, or what this one grew by."""

    code: int
    err: str
    hung: bool = False
    megabytes: int = 0
    seconds: float = 0.0


class HungError(BaseException):
    """Past every handler of ordinary errors: the case took too long."""


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    def hung(*_: object) -> None:
        raise HungError

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _memory(entry: str) -> int:
    """Kilobytes that /proc tells of this process; 0 where there is no such thing."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(entry):
                return int(line.split()[1])
    return 0


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def run_inside(case: Case) -> Outcome:
    """The case through the entry point, in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    streams, here = (sys.stdout, sys.stderr, sys.stdin), Path.cwd()
    _forget_peak()
    before, started = _memory("VmRSS"), time.monotonic()

    def outcome(code: int, hung: bool = False, more: str = "") -> Outcome:
        grown = (_memory("VmHWM") - before) // 1024
        return Outcome(code, err.getvalue() + more, hung, grown, time.monotonic() - started)

    sys.stdout, sys.stderr = out, err
    sys.stdin = io.TextIOWrapper(io.BytesIO(b""))
    os.chdir(case.folder)
    variables = dict(os.environ)
    os.environ |= case.environment
    try:
        with time_limit():
            return outcome(main(case.args))
    except HungError:
        return outcome(-1, hung=True)
    except BaseException as error:
        return outcome(-1, more=f"Traceback: {type(error).__name__}: {error}")
    finally:
        sys.stdout, sys.stderr, sys.stdin = streams
        os.chdir(here)
        os.environ.clear()
        os.environ |= variables


def run_process(case: Case) -> Outcome:
    """The case as a process, perhaps under limits, with odd outputs or stopped by a signal."""
    command = [sys.executable, "-m", "cranfield", *case.args]
    if case.shell:
        command = ["bash", "-c", case.shell, "-", *command]
    writers = [_writer(pipe, source) for pipe, source in case.pipes]
    started = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            cwd=case.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | case.environment,
            preexec_fn=_bounded,
            start_new_session=True,
        )
        if case.stopped_after is not None:
            time.sleep(case.stopped_after)
            # Not by the process: that would take note of its end, and so of its memory.
            os.kill(process.pid, case.stop_signal)
        code, hung, kilobytes = _ended(process, started + SECONDS)
        for writer in writers:
            writer.kill()
            writer.wait()
        errors.seek(0)
        said = errors.read(1 << 20).decode(errors="replace")
    return Outcome(code, said, hung, kilobytes // 1024, time.monotonic() - started)


def _writer(pipe: Path, source: Path) -> subprocess.Popen[bytes]:
    """Something that fills a pipe once, with a file or with nothing."""
    content = source if source.is_file() else os.devnull
    return subprocess.Popen(
        ["bash", "-c", 'exec cat "$0" > "$1"', str(content), str(pipe)], stderr=subprocess.DEVNULL
    )


def _ended(process: subprocess.Popen[bytes], until: float) -> tuple[int, bool, int]:
    """The exit code, whether it hung, and the largest memory of it or what it started (kB)."""
    hung, pause = False, 0.002
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > until and not hung:
            hung = True
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, hung, usage.ru_maxrss


def _bounded() -> None:
    # Far beyond what is allowed, so that a case cannot take the machine with it.
    size = 3000 << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def faults(case: Case, outcome: Outcome) -> list[str]:
    """What is wrong with an outcome; nothing when all promises hold."""
    found = []
    allowed = EXPECTED | (STOPPED if case.stopped_after is not None else set())
    if case.kind == "whole":
        submits = full_name(" ".join(case.args)).startswith("site submit ")
        allowed = {2} if submits else {0, 1}  # no site answers
        if "no form counts" in outcome.err:  # sound answers to a form with other rules
            allowed = {2}
    if outcome.hung:
        found.append(f"hang over {SECONDS} s")
    elif outcome.code not in allowed:
        signalled = outcome.code < 0 or outcome.code > 128
        found.append("signal" if signalled else f"exit {outcome.code}")
    if "Traceback" in outcome.err and not _python_was_starting(case, outcome):
        found.append("traceback")
    if WARNING.search(outcome.err):
        found.append("raw warning")
    if any(ord(c) < 32 and c not in "\n\t\r" for c in outcome.err):
        found.append("control characters")
    if outcome.code == 2 and not outcome.err.strip() and not case.shell:
        found.append("refused without a word")
    unlimited = not case.shell and case.stopped_after is None
    if outcome.megabytes > MEGABYTES or (unlimited and SCARCE in outcome.err):
        found.append(f"over {MEGABYTES} MB")
    found += [f"no option {name}" for name in _unknown_options(case, outcome.err)]
    left = {p.name for p in case.folder.iterdir()} - case.before
    if any(name.startswith(".cranfield-") for name in left):
        found.append("temporary file left")
    return found + output_faults(case, outcome)


def _unknown_options(case: Case, err: str) -> list[str]:
    """Options that a message advises and the command does not have."""
    known = options_of(" ".join(case.args[:3]))
    said = OPTION.findall(err) if known and case.kind != "option" else []
    given = " ".join([*case.args, *(p.name for p in case.folder.iterdir())])
    return [name for name in dict.fromkeys(said) if name not in known and name not in given]


def _python_was_starting(case: Case, outcome: Outcome) -> bool:
    """Whether an interrupt came before the first line of ours was run."""
    early = case.stopped_after is not None and "KeyboardInterrupt" in outcome.err
    # Where the sources are used in place, Python itself loads a finder with our name in it.
    return early and not re.search(r'File "[^"]*/cranfield/[^"]*\.py"', outcome.err)
