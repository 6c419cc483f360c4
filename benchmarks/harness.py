"""Timing of whole commands in processes of their own, and tables of medians and ratios."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data"
MEASURES = "AP nDCG nDCG@10 RR P@10 R@1000 Rprec Bpref"
REPEATS = 3


@dataclass(frozen=True)
class Timing:
    """The median of a command's wall-clock seconds, and its largest memory in MB."""

    name: str
    seconds: float
    megabytes: float


def run_once(command: Sequence[str]) -> tuple[float, float]:
    """Seconds and peak memory (MB) of one process; its output must not be empty."""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = child.stdout.read(), child.stderr.read()  # type: ignore[union-attr]
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if child.returncode != 0 or not output:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode()[-2000:]}")
    return seconds, usage.ru_maxrss / 1024


def compare(commands: dict[str, Sequence[str]], repeats: int = REPEATS) -> list[Timing]:
    """Medians over repeats; the commands take turns, so that a noisy minute hits all of them."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            print(f"  {name} ...", end="\r", file=sys.stderr, flush=True)
            taken[name].append(run_once(command))
    return [
        Timing(name, statistics.median(s for s, _ in runs), max(m for _, m in runs))
        for name, runs in taken.items()
    ]


def table(timings: Sequence[Timing], ours: str = "cranfield") -> str:
    """A Markdown table with the ratio of every peer to ours."""
    base = next(t for t in timings if t.name == ours)
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
