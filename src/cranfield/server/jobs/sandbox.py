"""The child process of a job: it alone opens the truth, within limits and without a network.

A nursery that has imported what all jobs need forks a child for each of them, so nothing of one
run is left for the next, and a job costs its work, not a start of Python.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import resource
import socket
import sys
import tempfile
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from cranfield.data.collection import Collection
    from cranfield.evaluation.scores import Scores

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


def fork_children(*modules: str) -> None:
    """Forks a child for every line of standard input, and tells how it ended by a line.

    What all jobs need is imported once, here, where no truth and no run is ever opened.
    """
    for module in modules:
        import_module(module)
    context = multiprocessing.get_context("fork")
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = context.Process(target=run_job, args=(json.loads(line), reading, writing))
        child.start()
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            reply = stream.read()
        child.join()
        words = {"code": child.exitcode, "said": reply.decode(errors="replace")}
        child.close()
        try:
            sys.stdout.write(json.dumps(words) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # the server is gone, and with it the reader
            # Nothing is left to be flushed at the end, where it would fail once more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)


def run_job(job_input: dict[str, Any], reading: int, writing: int) -> NoReturn:
    """Do one job, say one line of JSON, and end."""
    os.close(reading)
    code = 1
    try:
        job_input["is_alone"] = confine(job_input["limits"])
        result = JOB_KINDS[job_input["kind"]](job_input)
        code = 0
    except MemoryError:
        result = {"error": "it needs more memory than a scoring job may use"}
    except BaseException as error:
        result = {"error": _sentence(error)}
    with os.fdopen(writing, "wb") as stream:
        stream.write(json.dumps(result, ensure_ascii=False).encode(errors="replace"))
    sys.exit(code)


def confine(limits: dict[str, int]) -> bool:
    """Limits on memory, time and the size of files; no new connection can be made.

    Whether the process has a network of its own with nothing in it, which its children have, too.
    """
    is_alone = False
    if sys.platform != "darwin":  # which has no limit of addresses that holds
        resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"]))
    resource.setrlimit(resource.RLIMIT_CPU, (limits["seconds"], limits["seconds"] + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_bytes"], limits["file_bytes"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["OMP_NUM_THREADS"] = "1"
    # Where the system grants it, the child has a network of its own with nothing in it.
    system = ctypes.CDLL(None, use_errno=True)
    if hasattr(system, "unshare"):
        is_alone = not system.unshare(CLONE_NEWNET) or not system.unshare(
            CLONE_NEWUSER | CLONE_NEWNET
        )
    socket.socket = _NoSocket  # type: ignore[misc]
    return is_alone


class _NoSocket(socket.socket):
    """Takes the place of sockets: there are none in a job."""

    def __init__(self, *_: object, **__: object) -> None:
        raise OSError("a scoring job opens no connection")


def _sentence(error: BaseException) -> str:
    from cranfield.errors import CranfieldError

    if isinstance(error, CranfieldError):
        return str(error).splitlines()[0][:500]
    return f"{type(error).__name__}: {error}"[:500]


def score(job_input: dict[str, Any]) -> dict[str, Any]:
    """Score one run against the truth and save its scores, and its curve for the pages.

    Where there is silver its scores lie beside them, and curves are of gold and else of silver.
    """
    if job_input["scorer"]:
        from cranfield.server.jobs.own_scoring import score_by_program

        return score_by_program(job_input)
    from cranfield.campaign.estimated import under_silver
    from cranfield.campaign.results_bundle import gather_results
    from cranfield.comparison.joined import combine_scores
    from cranfield.io.files import write_atomic

    with tempfile.TemporaryDirectory(dir=job_input["work"]) as folder:
        collection = prepare_collection(job_input, Path(folder))
        options: dict[str, Any] = {"released": True, "compare": False, "jobs": 1}
        results = gather_results(collection, job_input["task"], **options)
        curve = results.curve
        if job_input["silver"]:
            silver = gather_results(
                under_silver(collection, job_input["task"], job_input["silver"]),
                job_input["task"],
                **options,
            )
            silver.material.scores.save(sibling_path(job_input["out"], "silver"))
            if curve is not None and silver.curve is not None:
                curve = combine_scores(curve, silver.curve)
        if curve is not None:
            curve.save(sibling_path(job_input["out"], "curve"))
        if results.mistakes is not None:
            text = json.dumps(results.mistakes.to_plain())
            write_atomic(sibling_path(job_input["out"], "mistakes"), text.encode())
        results.material.scores.save(job_input["out"])
    return {"done": 1}


def sibling_path(path: str, part: str) -> Path:
    """Where the curve, the mistakes or the silver of a run lie, beside its scores."""
    return Path(path).with_suffix(f".{part}.json")


def prepare_collection(job_input: dict[str, Any], folder: Path) -> Collection:
    """The public collection with the truth, and the one run as its user named it."""
    from cranfield.data.collection import RunFacts
    from cranfield.io.collection import read_collection

    collection = read_collection(job_input["public"])
    name = job_input["run"]["name"]
    path = folder / f"{name}{job_input['run']['ending']}"
    path.symlink_to(job_input["run"]["path"])
    threshold = write_threshold(job_input["run"]["threshold"], folder / "threshold.csv")
    truth = truth_part(job_input, folder)
    facts = {name: RunFacts(name, threshold=threshold)}
    measures = tuple(job_input["measures"])
    if job_input["task"] == "ranked":
        return replace(
            collection,
            judgements=truth,
            runs=(path,),
            measures=measures,
            run_facts=facts,
        )
    if job_input["task"] == "regions":
        return replace(
            collection, boxes=truth, box_runs=(path,), box_measures=measures, run_facts=facts
        )
    return replace(
        collection,
        truth=truth,
        label_runs=(path,),
        label_measures=measures,
        run_facts=facts,
    )


def truth_part(job_input: dict[str, Any], folder: Path) -> Path:
    """The truth of a job, or the part of it that a live board or the final tables are made from."""
    from cranfield.campaign.live_board import write_part
    from cranfield.io.collection import read_collection

    truth, part = Path(job_input["truth"]), job_input["part"]
    if part is None:
        return truth
    target = folder / "part"
    target.mkdir()
    public = read_collection(job_input["public"])
    return write_part(
        truth, job_input["task"], target, **part, splits=public.splits, unlisted=public.unlisted
    )


def live(job_input: dict[str, Any]) -> dict[str, Any]:
    """What the live board of a task shows."""
    from cranfield.campaign.live_board import live_rows
    from cranfield.io.collection import read_collection

    scores = _concat_scores(job_input["parts"])
    if scores is None:
        raise FileNotFoundError("scores of a run are gone")
    primary = read_collection(job_input["public"]).part(job_input["task"]).primary
    measure = primary if primary in map(str, scores.measures) else str(scores.measures[0])
    return {"done": 1, "board": live_rows(scores, measure, job_input["entries"])}


def write_threshold(text: str, file: Path) -> str:
    """What the facts of a run say of its threshold; one per concept goes to a file."""
    from cranfield.server.thresholds import threshold_lines

    lines = threshold_lines(text)
    if not lines:
        return text
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


def aggregate(job_input: dict[str, Any]) -> dict[str, Any]:
    """Put the scores of all runs together, compare them, and save both."""
    from cranfield.campaign.estimated import estimates

    out = Path(job_input["out"])
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    scores = _concat_scores(job_input["parts"])
    if scores is None:
        raise FileNotFoundError("scores of a run are gone")
    curve, silver = (
        _concat_scores([sibling_path(part, name) for part in job_input["parts"]])
        for name in ("curve", "silver")
    )
    if curve is not None:
        curve.save(out / "curve.json")
    _join_mistakes(
        [sibling_path(path, "mistakes") for path in job_input["parts"]], out / "mistakes.json"
    )
    comparison = None
    if silver is not None:
        scores, comparison = estimates(scores, silver, rng=job_input["seed"])
    elif len(scores.runs) > 1 and any(scores.is_mean(m) for m in scores.measures):
        comparison = scores.compare(rng=job_input["seed"])
    scores.save(out / "scores.json")
    if comparison is not None:
        comparison.save(out / "comparison.json")
    rows = [] if comparison is None else [_standing(row) for row in comparison.standings]
    return {"done": len(scores.runs), "standings": rows, "means": _means(scores)}


def _concat_scores(paths: list[Any]) -> Scores | None:
    """Saved scores of several runs as one; None where some are not there."""
    from cranfield.answers import load
    from cranfield.evaluation.scores import Scores

    if not all(Path(path).exists() for path in paths):
        return None
    parts = [load(path) for path in paths]
    return Scores.concat(part for part in parts if isinstance(part, Scores))


def _join_mistakes(paths: list[Path], out: Path) -> None:
    from cranfield.evaluation.explanations import Mistakes
    from cranfield.io.files import write_atomic

    if paths and all(path.exists() for path in paths):
        mistakes = Mistakes.joined([json.loads(path.read_bytes()) for path in paths])
        write_atomic(out, json.dumps(mistakes.to_plain()).encode())


def _standing(row: Any) -> dict[str, Any]:
    return {
        "run": row.run,
        "measure": row.measure,
        "low": row.ci[0],
        "high": row.ci[1],
        "place": row.place,
        "rank": row.rank,
        "rank_first": row.rank_spread[0],
        "rank_last": row.rank_spread[1],
        "group_letters": row.group,
    }


def _means(scores: Any) -> list[dict[str, Any]]:
    """A row per run and measure; a value that does not exist is None."""
    left_out = {m: scores.left_out(m) for m in scores.measures}
    means = scores.mean()
    return [
        {
            "run": name,
            "measure": str(m),
            "mean": None if means[name][str(m)] != means[name][str(m)] else means[name][str(m)],
            "n": len(scores.units.get(scores.unit_of[m], ())),
            "left_out": left_out[m][i],
        }
        for i, name in enumerate(scores.runs)
        for m in scores.measures
    ]


def publish(job_input: dict[str, Any]) -> dict[str, Any]:
    """Copy the truth to where the pages of released results find it."""
    from cranfield.io.files import write_atomic

    out = Path(job_input["out"])
    out.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=job_input["work"]) as folder:
        write_atomic(out, truth_part(job_input, Path(folder)).read_bytes())
    return {"done": 1}


def export(job_input: dict[str, Any]) -> dict[str, Any]:
    """Write the export of a campaign."""
    from cranfield.server.export_writer import write_export

    return write_export(job_input)


JOB_KINDS = {
    "export": export,
    "score": score,
    "aggregate": aggregate,
    "publish": publish,
    "live": live,
}

if __name__ == "__main__":
    fork_children(
        "cranfield.campaign.results_bundle",
        "cranfield.comparison.compare",
        "cranfield.evaluation.labels",
        "cranfield.evaluation.ranked",
        "cranfield.evaluation.regions",
        "cranfield.io.collection",
    )
