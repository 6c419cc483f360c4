"""Commands beside those who do part of their work: rows of figures, and whether aims are reached.

CPU seconds of all threads together decide, not the clock: the commands take turns, so that a loaded
machine hits all of them alike, and threads are paid for. What ends at once is held to the clock, of
which starting a process is a part.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import REPEATS, in_turns

HEAD = (
    "| job | tool | CPU s | seconds | peak MB | CPU / ours | aim |\n|---|---|--:|--:|--:|--:|---|"
)


@dataclass(frozen=True)
class Job:
    """A command beside those who do part of its work.

    `aim` is the most CPU time it should take (by the clock with `clock`), in times that of the
    first peer; `megabytes` the most memory, and `page` the most megabytes of the file `path`.
    """

    name: str
    ours: Sequence[str]
    peers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    aim: float | None = None
    megabytes: float | None = None
    clock: bool = False
    path: Path | None = None
    page: float | None = None
    repeats: int = REPEATS


@dataclass(frozen=True)
class Figures:
    cpu: float
    seconds: float
    megabytes: float


def rows_of(jobs: Iterable[Job]) -> str:
    """The table of all jobs; which aims were missed is told on standard error."""
    lines, missed = [HEAD], list[str]()
    for job in jobs:
        found, reached = compared(job)
        print(*found, sep="\n", file=sys.stderr, flush=True)
        lines += found
        missed += [] if reached else [job.name]
    print(f"aims missed: {', '.join(missed) or 'none'}", file=sys.stderr)
    cores, load = os.cpu_count(), os.getloadavg()[1]
    return "\n".join(lines) + f"\n\n{cores} cores, on which {load:.1f} programs wanted to run.\n"


def loaded() -> bool:
    """Whether others want so much of this machine that the clock says nothing."""
    return os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)


def compared(job: Job) -> tuple[list[str], bool]:
    """Rows of the table, and whether the aim is reached."""
    taken = {
        name: Figures(
            statistics.median(r.cpu for r in runs),
            min(r.seconds for r in runs),
            max(r.megabytes for r in runs),
        )
        for name, runs in in_turns({"cranfield": job.ours, **job.peers}, job.repeats).items()
    }
    ours = taken.get("cranfield")
    if ours is None:
        return [f"| {job.name} | cranfield | failed | | | | |"], False
    said, reached = _aims(job, ours, taken)
    return [
        f"| {job.name} | {name} | {one.cpu:.2f} | {one.seconds:.2f} | {one.megabytes:.0f} | "
        f"{one.cpu / ours.cpu:.2f} | {said if name == 'cranfield' else ''} |"
        for name, one in taken.items()
    ], reached


def _aims(job: Job, ours: Figures, taken: Mapping[str, Figures]) -> tuple[str, bool]:
    """What is said of the aims, and whether one of those that can be judged is missed."""
    aims, verdicts = list[str](), list[bool]()
    first = next((name for name in job.peers if name in taken), None)
    if job.aim is not None and first is not None:
        base, mine = (o.seconds if job.clock else o.cpu for o in (taken[first], ours))
        by = " by the clock" if job.clock else ""
        if job.clock and loaded():
            by += " (others use the machine: not judged)"
        else:
            verdicts.append(mine <= job.aim * base)
        aims.append(f"{mine / base:.2f} of at most {job.aim:g} x {first}{by}")
    if job.megabytes is not None:
        aims.append(f"at most {job.megabytes:g} MB")
        verdicts.append(ours.megabytes <= job.megabytes)
    if job.path is not None:
        size = job.path.stat().st_size / 1e6
        aims.append(f"a file of {size:.1f} MB" + (f", at most {job.page:g}" if job.page else ""))
        verdicts += [size <= job.page] if job.page is not None else []
    verdict = "" if not verdicts else ": reached" if all(verdicts) else ": missed"
    return "; ".join(aims) + verdict, all(verdicts)
