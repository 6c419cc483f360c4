"""What the studies of `cranfield lab` share: options, material, progress and the answer."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cranfield._version import __version__
from cranfield.cli._common import (
    Watch,
    add_jobs_option,
    add_output_options,
    add_seed_option,
    emit,
    positive,
)
from cranfield.cli._label_inputs import add_label_options, read_maps
from cranfield.cli._pieces import add_executor_option
from cranfield.errors import UsageError
from cranfield.report.document import Document, Table

if TYPE_CHECKING:
    from cranfield.lab.material import Material
    from cranfield.work.executors import Plan

RANKED = "AP nDCG@10 RR P@10 Rprec"
LABELS = "F.example F.concept AP.concept HammingLoss"
T = TypeVar("T")


def add_study(studies: Any, name: str, what: str, act: Callable[[Any], int]) -> Any:
    parser = studies.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.set_defaults(act=act)
    return parser


def add_runs(
    parser: argparse.ArgumentParser,
    *,
    as_rankings: bool = False,
    measures: str = RANKED,
    none: str = "",
) -> None:
    """Files, measures and options; `as_rankings` reads annotations as rankings by concept."""
    parser.add_argument(
        "paths",
        nargs="*" if none else "+",
        metavar="FILE",
        help=f"judgements, then runs; with --truth: runs{none}",
    )
    default = measures if as_rankings else f"{measures}; with --truth: {LABELS}"
    parser.add_argument(
        "-m",
        "--measures",
        default=measures if as_rankings else None,
        metavar="NAMES",
        help=f"measures or sets of them (default: {default})",
    )
    parser.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    truth = parser.add_argument(
        "--truth", metavar="FILE", help="the true concepts of items: the runs are annotations"
    )
    if not as_rankings:
        add_label_options(parser)
        return
    truth.help = f"{truth.help}, read as rankings of the items for each concept"
    parser.add_argument("--concepts", metavar="FILE", help="with --truth: names of the concepts")


def add_work(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    group = parser.add_argument_group("how the work is done")
    add_executor_option(group, "the numbers are the same")
    group.add_argument(
        "--folder",
        metavar="DIR",
        help="keep finished pieces here; a study that was stopped goes on when it is given again",
    )
    add_jobs_option(parser)
    if seed:
        add_seed_option(parser)
    add_output_options(parser)


def _source(path: str, read: Callable[[str], Any]) -> Any:
    """A path, for workers to read; standard input, which they cannot, is read here and now."""
    return read(path) if path == "-" else path


def refuse_label_options(args: argparse.Namespace) -> None:
    for option in ("ontology", "rules", "costmap", "agreement", "concepts", "threshold"):
        if getattr(args, option, None):
            raise UsageError(f"--{option} is for annotation; name the truth with --truth")


def material_of(args: argparse.Namespace, *, as_rankings: bool = False) -> Material:
    from cranfield.io import read_qrels, read_run
    from cranfield.io.labels import read_labels
    from cranfield.lab.material import Material

    truth = args.truth
    if truth is None:
        refuse_label_options(args)
        if len(args.paths) < 2:
            raise UsageError(
                f"give judgements and runs: cranfield lab {args.study} QRELS RUN RUN ..."
            )
        return Material.ranked(
            _source(args.paths[0], read_qrels),
            [_source(p, read_run) for p in args.paths[1:]],
            args.measures or RANKED,
            collection_size=args.collection_size,
        )
    if args.collection_size:
        raise UsageError("--collection-size is for ranked runs, not for annotation")
    runs = [_source(p, read_labels) for p in args.paths]
    if as_rankings:
        return Material.concepts(
            _source(truth, read_labels), runs, args.measures, concepts=args.concepts
        )
    if len(args.threshold) > 1 or any("=" in t for t in args.threshold):
        raise UsageError("a study takes one --threshold for all runs")
    maps = read_maps(args)
    return Material.labels(
        _source(truth, read_labels),
        runs,
        args.measures or LABELS,
        ontology=args.ontology,
        rules=args.rules,
        costmap=tuple(maps.items()) or None,
        agreement=args.agreement,
        concepts=args.concepts,
        threshold=args.threshold[0] if args.threshold else None,
    )


def carried_out(args: argparse.Namespace, study: Callable[[Plan], T]) -> T:
    """Run a study, with a progress line and an estimate of the time left."""
    from cranfield.work.executors import Plan

    noted = [0.0]
    plan = Plan(args.executor, args.jobs, args.folder, noted.append)

    def begun() -> float:
        """The first note tells what the folder holds already."""
        return noted[min(1, len(noted) - 1)]

    with Watch(args.study, lambda: noted[-1], quiet=args.quiet, begun=begun):
        return study(plan)


def answer(
    args: argparse.Namespace, result: Any, tables: Sequence[Table], machine: Table | None = None
) -> int:
    from cranfield.lab.figures import figures

    payload = {"cranfield": __version__, "command": f"lab {args.study}"} | result.to_dict()
    emit(Document(payload, tables, (), machine, figures=partial(figures, result)), args)
    return 0


def shares(text: str) -> tuple[float, ...]:
    """An argparse type: percentages such as 1,2,5,10."""
    try:
        found = tuple(float(part) / 100 for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 < s <= 1 for s in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of percentages such as 1,2,5,10")
    return found


def whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None
