"""A task's own program in the sandboxed child: a run and the truth become values by topic or item.

The program gets the truth, the run and the public folder as arguments and writes CSV: `topic` (or
`item`) and a column for each of its measures. It inherits the limits of the child, a network with
nothing in it, an empty folder to work in, and no environment. It is the first process of a
namespace of its own: whatever it starts ends with it, in whatever session, and all of it ends with
the child.
"""

from __future__ import annotations

import csv
import ctypes
import io
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from cranfield._lazy import np
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.data.collection import Collection
    from cranfield.evaluation.scores import Scores
    from cranfield.measures import Measure

MOST_OUTPUT, LONGEST_ERROR, LAST_BYTES = 16 << 20, 300, 4096
SPARE_SECONDS = 5
# Of Linux: a namespace of processes, and the signal that a process gets when its parent ends.
CLONE_NEWPID, PR_SET_PDEATHSIG = 0x20000000, 1
NO_NAMESPACE = 125
UNITS = {"ranked": "topic", "labels": "item"}
Table = dict[str, dict[str, float]]


def score_by_program(job_input: dict[str, Any]) -> dict[str, Any]:
    """Score one run by the program of its task, and by measures of the library beside it."""
    from cranfield.campaign.results_bundle import gather_results
    from cranfield.measures.own import own_measures
    from cranfield.server.jobs import sandbox

    if not job_input["is_alone"]:
        raise UsageError(
            "the system grants no network namespace, without which no program of a task is run"
        )
    kind, unit = job_input["task"], UNITS[job_input["task"]]
    own = own_measures(job_input["measures"])
    others = [name for name in job_input["measures"] if name not in map(str, own)]
    with tempfile.TemporaryDirectory(dir=job_input["work"]) as folder:
        collection = sandbox.prepare_collection(job_input | {"measures": others}, Path(folder))
        truth, run = _files(collection, kind)
        command = [truth, run, Path(job_input["public"])]
        table = _run(Path(job_input["scorer"]), command, Path(folder), job_input["limits"], unit)
        scores = None
        if others:
            options: dict[str, Any] = {"released": True, "compare": False, "jobs": 1}
            scores = gather_results(collection, kind, **options).material.scores
        own_scores = _scores(table, own, kind, job_input["run"]["name"], scores)
        own_scores.save(job_input["out"])
    return {"done": 1}


def _files(collection: Collection, kind: str) -> tuple[Path, Path]:
    part = collection.part("ranked" if kind == "ranked" else "labels")
    if part.truth is None:
        raise UsageError("there is no truth to score by")
    return part.truth, part.runs[0]


def _run(
    program: Path, arguments: list[Path], folder: Path, limits: dict[str, int], unit: str
) -> Table:
    """What the program writes, by topic or item."""
    work = folder / "scorer"
    work.mkdir()
    starter = [sys.executable, "-I"] if program.suffix == ".py" else ["/bin/sh"]
    command = [*starter, str(program), *map(str, arguments)]
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(work), "TMPDIR": str(work)}
    # Read by what was opened, not by name: the program may put something else there.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        streams = out.fileno(), errors.fileno()
        fork = multiprocessing.get_context("fork")
        keeper = fork.Process(target=_keep, args=(command, work, environment, streams))
        keeper.start()
        # The child itself ends without a word when all its time is over.
        keeper.join(max(1, limits["seconds"] - SPARE_SECONDS))
        is_late = keeper.is_alive()
        keeper.kill()
        keeper.join()
        if is_late:
            raise UsageError(f"the scorer took longer than {limits['seconds']} s")
        if keeper.exitcode == NO_NAMESPACE:
            raise UsageError(
                "the system grants no namespace of processes, without which no program of a task "
                "is run"
            )
        if keeper.exitcode:
            last = _last_line(errors)
            raise UsageError(f"the scorer ended with {keeper.exitcode}: {last[:LONGEST_ERROR]}")
        if os.fstat(out.fileno()).st_size > MOST_OUTPUT:
            raise UsageError(f"the scorer wrote more than {MOST_OUTPUT >> 20} MB")
        out.seek(0)
        return _read_table(out, unit)


def _keep(
    command: list[str], work: Path, environment: dict[str, str], streams: tuple[int, int]
) -> NoReturn:
    """Start the program as the first process of a namespace, and end as it does.

    When the first process of a namespace ends, so do all others in it.
    """
    _die_with_parent()
    system = ctypes.CDLL(None, use_errno=True)
    if system.unshare(CLONE_NEWPID):
        os._exit(NO_NAMESPACE)
    process = subprocess.Popen(
        command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=streams[0],
        stderr=streams[1],
        start_new_session=True,
        preexec_fn=_die_with_parent,
    )
    code = process.wait()
    os._exit(code if code >= 0 else 128 - code)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _last_line(stream: IO[bytes]) -> str:
    """The last line of a stream, of which the end is read."""
    stream.seek(max(0, os.fstat(stream.fileno()).st_size - LAST_BYTES))
    lines = stream.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _read_table(content: IO[bytes], unit: str) -> Table:
    with io.TextIOWrapper(content, encoding="utf-8", errors="replace", newline="") as stream:
        reader = csv.DictReader(stream)
        if unit not in (reader.fieldnames or ()):
            raise UsageError(f"the scorer writes CSV with a column {unit!r}")
        table: Table = {}
        for row in reader:
            try:
                table[row[unit]] = {
                    name: float(text) if text and text.strip() else math.nan
                    for name, text in row.items()
                    if name not in (unit, None)
                }
            except (TypeError, ValueError):
                raise UsageError(
                    f"the scorer wrote something that is no number for {row[unit]!r}"
                ) from None
    if not table:
        raise UsageError("the scorer wrote no values")
    return table


def _scores(
    table: Table, own: tuple[Measure, ...], kind: str, run: str, others: Scores | None
) -> Scores:
    """Scores of the run under the task's own measures, with those of the library."""
    from cranfield.evaluation.scores import Scores

    unit = UNITS[kind]
    units = others.units[unit] if others is not None else tuple(sorted(table))
    values, overall = {}, {}
    for measure in own:
        column = measure.mean_label
        row = np.array([[table.get(name, {}).get(column, math.nan) for name in units]])
        low, high = measure.range
        if np.isnan(row).all():
            raise UsageError(f"the scorer wrote no column {column!r} for the truth's {unit}s")
        if (row < low).any() or (row > high).any():
            raise UsageError(f"the scorer wrote {column} outside of [{low:g}, {high:g}]")
        values[measure], overall[measure] = row, np.array([np.nanmean(row)])
    if others is None:
        return Scores(
            task="ranked" if kind == "ranked" else "labels",
            runs=(run,),
            measures=own,
            units={unit: units},
            unit_of=dict.fromkeys(own, unit),
            values=values,
            overall=overall,
            missing=(0,),
            evaluated=(len(units),),
        )
    return replace(
        others,
        measures=(*own, *others.measures),
        unit_of=dict.fromkeys(own, unit) | dict(others.unit_of),
        values=values | {m: others.values[m] for m in others.values},
        overall=overall | {m: others.overall[m] for m in others.measures},
    )
