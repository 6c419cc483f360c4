"""`cranfield lab`: studies of the measures themselves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cranfield._version import __version__
from cranfield.cli._common import Parser, add_output_options, add_seed_option, emit, positive
from cranfield.cli._lab_common import (
    add_runs,
    add_study,
    add_work,
    answer,
    carried_out,
    material_of,
    shares,
    whole_numbers,
)
from cranfield.cli._lab_votes import votes_parser
from cranfield.cli._label_inputs import read_maps
from cranfield.errors import UsageError
from cranfield.report.document import Document, Table

GENERALITY = "AP NMRR NAR MNRO"


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield lab",
        description="Evaluate the measures themselves: which of them agree, stay stable, and "
        "tell real systems from random ones.",
    )
    studies = parser.add_subparsers(
        dest="study", required=True, metavar="STUDY", parser_class=Parser
    )
    _correlate_parser(studies)
    _stability_parser(studies)
    _random_parser(studies)
    _generality_parser(studies)
    _curves_parser(studies)
    _requirements_parser(studies)
    votes_parser(studies)
    _pool_parser(studies)
    _simulate_parser(studies)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    code: int = args.act(args)
    return code


# The studies.


def _correlate_parser(studies: Any) -> None:
    parser = add_study(studies, "correlate", "which measures rank runs alike", _correlate)
    add_runs(parser)
    parser.add_argument(
        "--resamples",
        type=positive,
        default=1000,
        metavar="N",
        help="bootstrap samples of the units for the interval of tau (default: 1000)",
    )
    add_work(parser)


def _correlate(args: argparse.Namespace) -> int:
    from cranfield.lab.correlate import correlate

    material = material_of(args)
    result = carried_out(
        args, lambda plan: correlate(material, resamples=args.resamples, rng=args.seed, plan=plan)
    )
    return answer(args, result, [result.table(), *result.tree_tables()])


def _stability_parser(studies: Any) -> None:
    from cranfield.lab.stability import DROPPED, NOISE, PARTS

    parser = add_study(
        studies,
        "stability",
        "how much truth and topics may change before the ranking does",
        _stability,
    )
    add_runs(parser)
    parser.add_argument(
        "--parts",
        metavar="NAMES",
        default=",".join(PARTS),
        help=f"some of {', '.join(PARTS)} (default: all)",
    )
    parser.add_argument(
        "--noise",
        type=shares,
        default=NOISE,
        metavar="PERCENTS",
        help="shares of the truth to flip (default: 1,2,5,10)",
    )
    parser.add_argument(
        "--dropped",
        type=shares,
        default=DROPPED,
        metavar="PERCENTS",
        help="shares of judgements and of topics to take away (default: 10,30,50,70,90)",
    )
    parser.add_argument(
        "--repeats", type=positive, default=5, metavar="N", help="repetitions (default: 5)"
    )
    parser.add_argument(
        "--trials",
        type=positive,
        default=100,
        metavar="N",
        help="splits into halves for the swap rate (default: 100)",
    )
    parser.add_argument(
        "--resamples",
        type=positive,
        default=1000,
        metavar="N",
        help="bootstrap samples for discriminative power (default: 1000)",
    )
    parser.add_argument(
        "--level",
        type=float,
        default=0.05,
        metavar="A",
        help="level of the test behind discriminative power (default: 0.05)",
    )
    add_work(parser)


def _stability(args: argparse.Namespace) -> int:
    from cranfield.lab.stability import stability

    material = material_of(args)
    result = carried_out(
        args,
        lambda plan: stability(
            material,
            parts=tuple(args.parts.split(",")),
            noise=args.noise,
            dropped=args.dropped,
            repeats=args.repeats,
            trials=args.trials,
            resamples=args.resamples,
            level=args.level,
            rng=args.seed,
            plan=plan,
        ),
    )
    return answer(args, result, result.tables(), result.long_table())


def _random_parser(studies: Any) -> None:
    from cranfield.lab.random_runs import DENSITIES

    parser = add_study(
        studies, "random", "random and over-eager runs beside the real ones", _random
    )
    add_runs(parser)
    parser.add_argument(
        "--densities",
        type=shares,
        default=DENSITIES,
        metavar="PERCENTS",
        help="label densities of random and over-annotating runs (default: 10,30,50,70,90)",
    )
    parser.add_argument(
        "--count", type=positive, default=5, metavar="N", help="random rankings (default: 5)"
    )
    parser.add_argument(
        "--no-over", action="store_true", help="no runs with chance labels added to real ones"
    )
    parser.add_argument("--all-runs", action="store_true", help="also a table of every run")
    add_work(parser)


def _random(args: argparse.Namespace) -> int:
    from cranfield.lab.random_runs import random_study

    material = material_of(args)
    result = carried_out(
        args,
        lambda plan: random_study(
            material,
            densities=args.densities,
            count=args.count,
            over=not args.no_over,
            rng=args.seed,
            plan=plan,
        ),
    )
    return answer(args, result, [result.table(), *([result.runs_table()] if args.all_runs else [])])


def _generality_parser(studies: Any) -> None:
    from cranfield.lab.generality import SHARES

    parser = add_study(studies, "generality", "the same topics in growing collections", _generality)
    add_runs(parser, as_rankings=True, measures=GENERALITY, none="; none with --simulate")
    parser.add_argument(
        "--shares",
        type=shares,
        default=SHARES,
        metavar="PERCENTS",
        help="shares of the collection (default: a third, two thirds, all of it)",
    )
    parser.add_argument(
        "--simulate",
        type=whole_numbers,
        metavar="SIZES",
        help="instead of runs, simulated ones in collections such as 1000,10000,100000",
    )
    add_work(parser)


def _generality(args: argparse.Namespace) -> int:
    from cranfield.lab.generality import generality, simulate

    if args.simulate is not None:
        if args.paths or args.truth:
            raise UsageError("--simulate takes no files: its runs are made up")
        result = carried_out(
            args,
            lambda plan: simulate(args.measures, sizes=args.simulate, rng=args.seed, plan=plan),
        )
        return answer(args, result, [result.table()])
    material = material_of(args, as_rankings=True)
    result = carried_out(
        args,
        lambda plan: generality(
            material,
            collection_size=args.collection_size,
            shares=args.shares,
            rng=args.seed,
            plan=plan,
        ),
    )
    return answer(args, result, [result.table()])


def _curves_parser(studies: Any) -> None:
    parser = add_study(
        studies, "curves", "values of measures for relevant items at every rank", _curves
    )
    parser.add_argument(
        "-m",
        "--measures",
        metavar="NAMES",
        default="AP NMRR MNRO",
        help="measures of rankings, or of annotation by confidences (default: AP NMRR MNRO)",
    )
    parser.add_argument(
        "--size",
        type=positive,
        default=20,
        metavar="N",
        help="items in the collection (default: 20)",
    )
    parser.add_argument(
        "--relevant", type=int, default=1, choices=(1, 2), help="relevant items (default: 1)"
    )
    parser.add_argument(
        "--ranks", type=whole_numbers, metavar="RANKS", help="only these ranks, such as 1,10,100"
    )
    parser.add_argument(
        "--gmt", type=positive, metavar="N", help="largest number of relevant items, for NMRR"
    )
    add_work(parser, seed=False)


def _curves(args: argparse.Namespace) -> int:
    from cranfield.lab.curves import curves

    result = carried_out(
        args,
        lambda plan: curves(
            args.measures,
            size=args.size,
            relevant=args.relevant,
            ranks=args.ranks,
            gmt=args.gmt,
            plan=plan,
        ),
    )
    return answer(args, result, [result.table()])


def _requirements_parser(studies: Any) -> None:
    parser = add_study(
        studies,
        "requirements",
        "which requirements on a metric hold, with counter-examples",
        _requirements,
    )
    parser.add_argument("measures", metavar="NAMES", help="measures of rankings or of annotation")
    parser.add_argument("--ontology", metavar="NAME|FILE", help="for measures with a hierarchy")
    parser.add_argument(
        "--costmap",
        metavar="[NAME=]FILE",
        action="append",
        default=[],
        help="for measures with costs, such as SRP and OS(cost='NAME'); repeatable",
    )
    add_work(parser, seed=False)


def _requirements(args: argparse.Namespace) -> int:
    from cranfield.lab.requirements import requirements

    maps = read_maps(args) or None
    result = carried_out(
        args,
        lambda plan: requirements(args.measures, ontology=args.ontology, costmap=maps, plan=plan),
    )
    return answer(args, result, [result.table()])


def _pool_parser(studies: Any) -> None:
    parser = add_study(studies, "pool", "what a pool without a run would mean for it", _pool)
    add_runs(parser, as_rankings=True)
    parser.add_argument(
        "--depth", type=positive, default=100, metavar="K", help="depth of the pool (default: 100)"
    )
    add_work(parser, seed=False)


def _pool(args: argparse.Namespace) -> int:
    from cranfield.lab.pool import leave_one_out

    material = material_of(args, as_rankings=True)
    result = carried_out(args, lambda plan: leave_one_out(material, depth=args.depth, plan=plan))
    return answer(args, result, [result.table()])


def _simulate_parser(studies: Any) -> None:
    parser = add_study(
        studies, "simulate", "make up runs of graded quality from a truth", _simulate
    )
    parser.add_argument("source", metavar="QRELS", help="judgements, or a truth with --labels")
    parser.add_argument("folder", metavar="DIR", help="where the runs go")
    parser.add_argument("--labels", action="store_true", help="annotations instead of rankings")
    parser.add_argument(
        "--count", type=positive, default=24, metavar="N", help="how many runs (default: 24)"
    )
    add_seed_option(parser)
    add_output_options(parser)


def _simulate(args: argparse.Namespace) -> int:
    from cranfield.io import read_qrels
    from cranfield.io.files import write_whole
    from cranfield.io.labels import read_labels, write_labels
    from cranfield.io.trec import write_table
    from cranfield.lab.simulate import graded_labels, graded_rankings
    from cranfield.report.document import Column

    target, options = Path(args.folder), {"count": args.count, "rng": args.seed}
    files = []
    if args.labels:
        for matrix in graded_labels(read_labels(args.source), **options):
            files.append(str(_inside(target, f"{matrix.name}.csv")))
            write_labels(matrix, files[-1])
    else:
        for run in graded_rankings(read_qrels(args.source), **options):
            files.append(str(_inside(target, f"{run.name}.run")))
            write_whole(Path(files[-1]), "".join(write_table(run)).encode())
    table = Table([Column("run", numeric=False)], [[file] for file in files])
    payload = {"cranfield": __version__, "command": "lab simulate", "files": files}
    emit(Document(payload, [table]), args)
    return 0


def _inside(folder: Path, name: str) -> Path:
    """A file of a folder, which is made only now that there is something to put into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made: {error.strerror}") from None
    return folder / name
