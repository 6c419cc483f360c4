"""Commands beside those who do part of their work: rows of figures, and whether aims are reached.

CPU seconds of all threads together decide, not the clock: the commands take turns, so that a loaded
machine hits all of them alike, and threads are paid for. What ends at once is held to the clock, of
which starting a process is a part.
"""

from __future__ import annotations

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
    return "\n".join(lines) + "\n"


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
    aims, reached = list[str](), True
    first = next((name for name in job.peers if name in taken), None)
    if job.aim is not None and first is not None:
        base, mine = (o.seconds if job.clock else o.cpu for o in (taken[first], ours))
        by = " by the clock" if job.clock else ""
        aims.append(f"{mine / base:.2f} of at most {job.aim:g} x {first}{by}")
        reached = mine <= job.aim * base
    if job.megabytes is not None:
        aims.append(f"at most {job.megabytes:g} MB")
        reached = reached and ours.megabytes <= job.megabytes
    if job.path is not None:
        size = job.path.stat().st_size / 1e6
        aims.append(f"a file of {size:.1f} MB" + (f", at most {job.page:g}" if job.page else ""))
        reached = reached and (job.page is None or size <= job.page)
    held = job.aim is not None or job.megabytes is not None or job.page is not None
    return "; ".join(aims) + ((": reached" if reached else ": missed") if held else ""), reached
