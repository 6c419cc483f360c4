"""`--executor` of `eval` and `label`: the same command for one run at a time, elsewhere.

Threads need none of this: there the runs are evaluated side by side as they are.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cranfield.errors import CranfieldWarning, UsageError
from cranfield.io.files import run_name

if TYPE_CHECKING:
    from cranfield.evaluation.scores import Scores
    from cranfield.measures import Measure

THREADS = "threads"


def add_executor_option(parser: argparse._ActionsContainer, more: str) -> None:
    parser.add_argument(
        "--executor",
        default=THREADS,
        metavar="WHERE",
        help=f"threads (default), processes, or dask://HOST:PORT; {more}",
    )


def each_run(
    args: argparse.Namespace,
    work: Callable[[argparse.Namespace], dict[str, Any]],
    note: Callable[[float], None],
) -> list[dict[str, Any]]:
    """What `work` answers for the command with each of its runs alone."""
    from cranfield.work.executors import Plan, run_pieces

    plan = Plan(args.executor, args.jobs)
    if any(value == "-" for value in vars(args).values()) or "-" in args.runs:
        raise UsageError(f"standard input ('-') cannot be read by --executor {args.executor}")
    pieces = {}
    for path in args.runs:
        alone = argparse.Namespace(**vars(args))
        alone.runs, alone.jobs = [path], 1
        others = {run_name(p) for p in args.runs} - {run_name(path)}
        alone.threshold = [
            t for t in getattr(args, "threshold", []) if t.partition("=")[0] not in others
        ]
        pieces[run_name(path)] = alone if plan.is_local else _with_full_paths(alone)
    return list(run_pieces(work, pieces, plan, study={}, progress=note).values())


def _with_full_paths(args: argparse.Namespace) -> argparse.Namespace:
    """For workers that were started in another folder."""
    from cranfield.work.paths import full_path

    return argparse.Namespace(**{name: full_path(value) for name, value in vars(args).items()})


def eval_piece(args: argparse.Namespace) -> dict[str, Any]:
    from cranfield.cli.eval import evaluate_args
    from cranfield.evaluation.ranked import Progress

    scores, ranges = evaluate_args(args, Progress())
    packed = pack(scores, keep=args.per_topic or args.format == "html")
    return {"scores": packed, "ranges": ranges and [pack(r, keep=False) for r in ranges]}


def label_piece(args: argparse.Namespace) -> dict[str, Any]:
    from cranfield.cli._label_inputs import label_scores

    keep = args.per_item or args.per_concept or args.format == "html"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CranfieldWarning)
        scores, left_out = label_scores(args, keep=keep)
    said = [str(w.message) for w in caught if w.category is CranfieldWarning]
    return {"scores": pack(scores, keep=keep), "said": said, "left_out": left_out}


def pack(scores: Scores, *, keep: bool) -> dict[str, Any]:
    """The scores of one run as plain data."""
    from cranfield.work.packing import numbers

    measures = scores.measures
    return {
        "command": scores.task,
        "run": scores.runs[0],
        "measures": [str(m) for m in measures],
        "overall": numbers(float(scores.overall[m][0]) for m in measures),
        "left": [scores.left_out(m)[0] for m in measures],
        "unit_of": [scores.unit_of[m] for m in measures],
        "missing": scores.missing[0],
        "evaluated": scores.evaluated[0],
        "notes": list(scores.notes),
        "facts": dict(scores.facts),
        "run_facts": dict(scores.run_facts[0]) if scores.run_facts else None,
        "units": {k: list(v) for k, v in scores.units.items()} if keep else {},
        "values": [numbers(scores.values[m][0]) for m in measures] if keep else [],
    }


def unpack(
    parts: Sequence[Mapping[str, Any]], parse: Callable[[Sequence[str]], tuple[Measure, ...]]
) -> Scores:
    """One table of scores from the plain data of its runs."""
    import numpy as np

    from cranfield.evaluation.scores import Scores
    from cranfield.work.packing import floats

    first = parts[0]
    measures = parse(first["measures"])
    at = {m: j for j, m in enumerate(measures)}
    values = {
        m: np.stack([floats(p["values"][j]) for p in parts])
        for m, j in at.items()
        if first["values"]
    }
    return Scores(
        task=first["command"],
        runs=tuple(p["run"] for p in parts),
        measures=measures,
        units={k: tuple(v) for k, v in first["units"].items()},
        unit_of={m: first["unit_of"][j] for m, j in at.items()},
        values=values,
        overall={m: floats([p["overall"][j] for p in parts]) for m, j in at.items()},
        missing=tuple(p["missing"] for p in parts),
        evaluated=tuple(p["evaluated"] for p in parts),
        facts=first["facts"],
        notes=tuple(dict.fromkeys(n for p in parts for n in p["notes"])),
        run_facts=tuple(p["run_facts"] for p in parts) if first["run_facts"] else (),
        left={m: tuple(p["left"][j] for p in parts) for m, j in at.items()},
    )
