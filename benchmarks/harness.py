"""Timing of whole commands in processes of their own, and tables of medians and ratios.

A command that fails, or takes longer than its time, ends its own row and nothing else.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data"
MEASURES = "AP nDCG nDCG@10 RR P@10 R@1000 Rprec Bpref"
REPEATS = 3
# Seconds after which a command is given up, and from which one run of it must do.
MOST_SECONDS, SLOW = 120.0, 4.0
# Modules are compiled beforehand, as they are wherever the package is installed.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


class CommandError(Exception):
    """A command that did not end well; the message says how."""


@dataclass(frozen=True)
class Usage:
    """What one run of a command took: CPU seconds of all threads, the clock, the largest memory."""

    cpu: float
    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Timing:
    """The median of a command's wall-clock seconds, and its largest memory in MB."""

    name: str
    seconds: float
    megabytes: float


def used(command: Sequence[str]) -> Usage:
    """What one run of a command takes; CommandError says why there is no figure."""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    watch = threading.Timer(MOST_SECONDS, child.kill)
    watch.start()
    try:
        with child.stderr as stream:  # type: ignore[union-attr]
            errors = stream.read()
        _, status, usage = os.wait4(child.pid, 0)
    finally:
        watch.cancel()
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        late = seconds >= MOST_SECONDS
        said = errors.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise CommandError(f"more than {MOST_SECONDS:g} s" if late else said[0][:200])
    return Usage(usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024)


def run_once(command: Sequence[str]) -> tuple[float, float]:
    """Seconds and peak memory (MB) of one process."""
    taken = used(command)
    return taken.seconds, taken.megabytes


def in_turns(commands: Mapping[str, Sequence[str]], repeats: int) -> dict[str, list[Usage]]:
    """What repeats of each command take: one after the other, so that noise hits all of them.

    A slow command runs once; one that fails is told on standard error, and has no figures.
    """
    taken: dict[str, list[Usage]] = {name: [] for name in commands}
    failed: set[str] = set()
    for _ in range(repeats):
        for name, command in commands.items():
            if name in failed or (taken[name] and taken[name][0].seconds > SLOW):
                continue
            print(f"  {name} ...", end="\r", file=sys.stderr, flush=True)
            try:
                taken[name].append(used(command))
            except CommandError as error:
                failed.add(name)
                print(f"  {name} failed: {error}", file=sys.stderr, flush=True)
    return {name: runs for name, runs in taken.items() if runs and name not in failed}


def compare(commands: Mapping[str, Sequence[str]], repeats: int = REPEATS) -> list[Timing]:
    """Medians over repeats of those commands that did not fail."""
    return [
        Timing(name, statistics.median(r.seconds for r in runs), max(r.megabytes for r in runs))
        for name, runs in in_turns(commands, repeats).items()
    ]


def table(timings: Sequence[Timing], ours: str = "cranfield") -> str:
    """A Markdown table with the ratio of every peer to ours."""
    base = next((t for t in timings if t.name == ours), None)
    if base is None:
        raise CommandError(f"{ours} has no figure to compare with")
    lines = ["| tool | seconds | peak MB | time / ours | memory / ours |", "|---|--:|--:|--:|--:|"]
    lines += [
        f"| {t.name} | {t.seconds:.2f} | {t.megabytes:.0f} | "
        f"{t.seconds / base.seconds:.1f} | {t.megabytes / base.megabytes:.1f} |"
        for t in timings
    ]
    return "\n".join(lines) + "\n"


def importable(package: str, python: str = sys.executable) -> bool:
    """Whether a peer is installed beside us, or beside another Python."""
    asked = subprocess.run([python, "-c", f"import {package}"], capture_output=True)
    return asked.returncode == 0
