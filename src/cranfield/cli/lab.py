"""`cranfield lab`: studies of the measures themselves."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cranfield._version import __version__
from cranfield.cli._common import (
    Parser,
    Watch,
    add_jobs_option,
    add_output_options,
    add_seed_option,
    emit,
    positive,
)
from cranfield.cli._label_inputs import add_label_options, read_maps
from cranfield.errors import UsageError
from cranfield.report.document import Document, Table

if TYPE_CHECKING:
    from cranfield.lab.executors import Plan
    from cranfield.lab.material import Material

RANKED = "AP nDCG@10 RR P@10 Rprec"
LABELS = "F.example F.concept AP.concept HammingLoss"
T = TypeVar("T")


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
    _votes_parser(studies)
    _pool_parser(studies)
    _simulate_parser(studies)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    code: int = args.act(args)
    return code


# Options that studies share.


def _add_study(studies: Any, name: str, what: str, act: Callable[[Any], int]) -> Any:
    parser = studies.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.set_defaults(act=act)
    return parser


def _add_runs(parser: argparse.ArgumentParser, *, labels: bool = True) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="file",
        help="judgements, then runs" + ("; with --truth: runs" if labels else ""),
    )  # fmt: skip
    parser.add_argument(
        "-m", "--measures", metavar="NAMES",
        help=f"measures or sets of them (default: {RANKED}"
        + (f"; with --truth: {LABELS})" if labels else ")"),
    )  # fmt: skip
    parser.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    if labels:
        parser.add_argument(
            "--truth", metavar="FILE", help="the true concepts of items: the runs are annotations"
        )
        add_label_options(parser)


def _add_work(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how the work is done")
    group.add_argument(
        "--executor", default="threads", metavar="WHERE",
        help="threads (default), processes, or dask://HOST:PORT; the numbers are the same",
    )  # fmt: skip
    group.add_argument(
        "--folder", metavar="DIR",
        help="keep finished pieces here; a study that was stopped goes on when it is given again",
    )  # fmt: skip
    add_jobs_option(parser)
    add_seed_option(parser)
    add_output_options(parser)


def _source(path: str, read: Callable[[str], Any]) -> Any:
    """A path, for workers to read; standard input, which they cannot, is read here and now."""
    return read(path) if path == "-" else path


def _material(args: argparse.Namespace) -> Material:
    from cranfield.io import read_qrels, read_run
    from cranfield.io.labels import read_labels
    from cranfield.lab.material import Material

    truth = getattr(args, "truth", None)
    if truth is None:
        for option in ("ontology", "rules", "costmap", "agreement", "concepts", "threshold"):
            if getattr(args, option, None):
                raise UsageError(f"--{option} is for annotation; name the truth with --truth")
        if len(args.paths) < 2:
            raise UsageError("give judgements and runs: cranfield lab STUDY QRELS RUN RUN ...")
        return Material.ranked(
            _source(args.paths[0], read_qrels), [_source(p, read_run) for p in args.paths[1:]],
            args.measures or RANKED,
            collection_size=args.collection_size,
        )  # fmt: skip
    if args.collection_size:
        raise UsageError("--collection-size is for ranked runs, not for annotation")
    if len(args.threshold) > 1 or any("=" in t for t in args.threshold):
        raise UsageError("a study takes one --threshold for all runs")
    maps = read_maps(args)
    return Material.labels(
        _source(truth, read_labels), [_source(p, read_labels) for p in args.paths],
        args.measures or LABELS, ontology=args.ontology, rules=args.rules,
        costmap=tuple(maps.items()) or None, agreement=args.agreement, concepts=args.concepts,
        threshold=args.threshold[0] if args.threshold else None,
    )  # fmt: skip


def _carried_out(args: argparse.Namespace, study: Callable[[Plan], T]) -> T:
    """Run a study, with a progress line and an estimate of the time left."""
    from cranfield.lab.executors import Plan

    noted = [0.0]
    plan = Plan(args.executor, args.jobs, args.folder, noted.append)

    def begun() -> float:
        """The first note tells what the folder holds already."""
        return noted[min(1, len(noted) - 1)]

    with Watch(args.study, lambda: noted[-1], quiet=args.quiet, begun=begun):
        return study(plan)


def _answer(args: argparse.Namespace, result: Any, tables: Sequence[Table]) -> int:
    from cranfield.lab.figures import figures

    payload = {"cranfield": __version__, "command": f"lab {args.study}"} | result.to_dict()
    emit(Document(payload, tables, figures=partial(figures, result)), args)
    return 0


def _shares(text: str) -> tuple[float, ...]:
    """An argparse type: percentages such as 1,2,5,10."""
    try:
        shares = tuple(float(part) / 100 for part in text.split(","))
    except ValueError:
        shares = ()
    if not shares or not all(0 < s <= 1 for s in shares):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of percentages such as 1,2,5,10")
    return shares


def _whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None


# The studies.


def _correlate_parser(studies: Any) -> None:
    parser = _add_study(studies, "correlate", "which measures rank runs alike", _correlate)
    _add_runs(parser)
    parser.add_argument(
        "--resamples", type=positive, default=1000, metavar="N",
        help="bootstrap samples of the units for the interval of tau (default: 1000)",
    )  # fmt: skip
    _add_work(parser)


def _correlate(args: argparse.Namespace) -> int:
    from cranfield.lab.correlate import correlate

    material = _material(args)
    result = _carried_out(
        args, lambda plan: correlate(material, resamples=args.resamples, rng=args.seed, plan=plan)
    )
    return _answer(args, result, [result.table(), *result.tree_tables()])


def _stability_parser(studies: Any) -> None:
    from cranfield.lab.stability import PARTS

    parser = _add_study(
        studies, "stability", "how much truth and topics may change before the ranking does",
        _stability,
    )  # fmt: skip
    _add_runs(parser)
    parser.add_argument(
        "--parts", metavar="NAMES", default=",".join(PARTS),
        help=f"some of {', '.join(PARTS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--noise", type=_shares, default=(0.01, 0.02, 0.05, 0.1), metavar="PERCENTS",
        help="shares of the truth to flip (default: 1,2,5,10)",
    )  # fmt: skip
    parser.add_argument(
        "--dropped", type=_shares, default=(0.1, 0.3, 0.5, 0.7, 0.9), metavar="PERCENTS",
        help="shares of judgements and of topics to take away (default: 10,30,50,70,90)",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=positive, default=5, metavar="N", help="repetitions (default: 5)"
    )
    parser.add_argument(
        "--trials", type=positive, default=100, metavar="N",
        help="splits into halves for the swap rate (default: 100)",
    )  # fmt: skip
    parser.add_argument(
        "--resamples", type=positive, default=1000, metavar="N",
        help="bootstrap samples for discriminative power (default: 1000)",
    )  # fmt: skip
    parser.add_argument(
        "--level", type=float, default=0.05, metavar="A",
        help="level of the test behind discriminative power (default: 0.05)",
    )  # fmt: skip
    _add_work(parser)


def _stability(args: argparse.Namespace) -> int:
    from cranfield.lab.stability import stability

    material = _material(args)
    result = _carried_out(
        args,
        lambda plan: stability(
            material, parts=tuple(args.parts.split(",")), noise=args.noise, dropped=args.dropped,
            repeats=args.repeats, trials=args.trials, resamples=args.resamples, level=args.level,
            rng=args.seed, plan=plan,
        ),
    )  # fmt: skip
    return _answer(args, result, result.tables())


def _random_parser(studies: Any) -> None:
    parser = _add_study(
        studies, "random", "random and over-eager runs beside the real ones", _random
    )
    _add_runs(parser)
    parser.add_argument(
        "--densities", type=_shares, default=(0.1, 0.3, 0.5, 0.7, 0.9), metavar="PERCENTS",
        help="label densities of random and over-annotating runs (default: 10,30,50,70,90)",
    )  # fmt: skip
    parser.add_argument(
        "--count", type=positive, default=5, metavar="N", help="random rankings (default: 5)"
    )
    parser.add_argument(
        "--no-over", action="store_true", help="no runs with chance labels added to real ones"
    )
    parser.add_argument("--all-runs", action="store_true", help="also a table of every run")
    _add_work(parser)


def _random(args: argparse.Namespace) -> int:
    from cranfield.lab.random_runs import random_study

    material = _material(args)
    result = _carried_out(
        args,
        lambda plan: random_study(
            material, densities=args.densities, count=args.count, over=not args.no_over,
            rng=args.seed, plan=plan,
        ),
    )  # fmt: skip
    return _answer(
        args, result, [result.table(), *([result.runs_table()] if args.all_runs else [])]
    )


def _generality_parser(studies: Any) -> None:
    parser = _add_study(
        studies, "generality", "the same topics in growing collections", _generality
    )
    parser.add_argument(
        "paths", nargs="*", metavar="file", help="judgements, then runs; none with --simulate"
    )
    parser.add_argument(
        "-m", "--measures", metavar="NAMES", default="AP NMRR NAR MNRO",
        help="measures or sets of them (default: AP NMRR NAR MNRO)",
    )  # fmt: skip
    parser.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    parser.add_argument(
        "--shares", type=_shares, default=(1 / 3, 2 / 3, 1.0), metavar="PERCENTS",
        help="shares of the collection (default: a third, two thirds, all of it)",
    )  # fmt: skip
    parser.add_argument(
        "--simulate", type=_whole_numbers, metavar="SIZES",
        help="instead of runs, simulated ones in collections such as 1000,10000,100000",
    )  # fmt: skip
    _add_work(parser)


def _generality(args: argparse.Namespace) -> int:
    from cranfield.lab.generality import generality, simulate

    if args.simulate is not None:
        if args.paths:
            raise UsageError("--simulate takes no files: its runs are made up")
        result = simulate(args.measures, sizes=args.simulate, rng=args.seed)
        return _answer(args, result, [result.table()])
    if args.collection_size is None:
        raise UsageError("generality needs to know how many items there are: --collection-size")
    material = _material(args)
    result = _carried_out(
        args,
        lambda plan: generality(
            material, collection_size=args.collection_size, shares=args.shares, rng=args.seed,
            plan=plan,
        ),
    )  # fmt: skip
    return _answer(args, result, [result.table()])


def _curves_parser(studies: Any) -> None:
    parser = _add_study(
        studies, "curves", "values of measures for relevant items at every rank", _curves
    )
    parser.add_argument(
        "-m", "--measures", metavar="NAMES", default="AP NMRR MNRO",
        help="measures of rankings (default: AP NMRR MNRO)",
    )  # fmt: skip
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
        "--ranks", type=_whole_numbers, metavar="RANKS", help="only these ranks, such as 1,10,100"
    )
    parser.add_argument(
        "--gmt", type=positive, metavar="N", help="largest number of relevant items, for NMRR"
    )
    add_output_options(parser)


def _curves(args: argparse.Namespace) -> int:
    from cranfield.lab.curves import curves

    result = curves(
        args.measures, size=args.size, relevant=args.relevant, ranks=args.ranks, gmt=args.gmt
    )
    return _answer(args, result, [result.table()])


def _requirements_parser(studies: Any) -> None:
    parser = _add_study(
        studies, "requirements", "which requirements on a metric hold, with counter-examples",
        _requirements,
    )  # fmt: skip
    parser.add_argument("measures", metavar="NAMES", help="measures of rankings or of annotation")
    parser.add_argument("--ontology", metavar="NAME|FILE", help="for measures with a hierarchy")
    add_output_options(parser)


def _requirements(args: argparse.Namespace) -> int:
    from cranfield.lab.requirements import requirements

    result = requirements(args.measures, ontology=args.ontology)
    return _answer(args, result, [result.table()])


def _votes_parser(studies: Any) -> None:
    parser = studies.add_parser("votes", help="what people choose, beside what measures say")
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP", parser_class=Parser)
    count = _add_study(steps, "count", "count the votes of a table", _votes_count)
    count.add_argument(
        "votes", metavar="VOTES.csv",
        help="question,MEASURE,... with votes; or question,votes_a,votes_b,votes_both,M_a,M_b,...",
    )  # fmt: skip
    make = _add_study(steps, "make", "make a blind questionnaire", _votes_make)
    make.add_argument("folder", metavar="DIR", help="where questions.html, .json and key.json go")
    make.add_argument(
        "-m", "--measures", metavar="NAMES", default="AP NMRR MNRO",
        help="the measures to choose between (default: AP NMRR MNRO)",
    )  # fmt: skip
    for name, value, what in (
        ("questions", 10, "questions"), ("lists", 5, "ranked lists in each question"),
        ("relevant", 5, "relevant items in each list"), ("size", 100, "items in the collection"),
    ):  # fmt: skip
        make.add_argument(
            f"--{name}",
            type=positive,
            default=value,
            metavar="N",
            help=f"{what} (default: {value})",
        )
    add_seed_option(make)
    tally = _add_study(steps, "tally", "count the answers to a questionnaire", _votes_tally)
    tally.add_argument("key", metavar="KEY.json", help="the key.json of the questionnaire")
    tally.add_argument("answers", nargs="+", metavar="ANSWERS.json", help="saved answers")
    for one in (count, make, tally):
        add_output_options(one)


def _votes_count(args: argparse.Namespace) -> int:
    from cranfield.lab.votes import Choices, read_votes

    result = read_votes(args.votes)
    more = [result.duel_table()] if isinstance(result, Choices) else []
    return _answer(args, result, [result.table(), *more])


def _votes_tally(args: argparse.Namespace) -> int:
    from cranfield.lab.questionnaire import tally

    result = tally(args.key, args.answers)
    return _answer(args, result, [result.table(), result.duel_table()])


def _votes_make(args: argparse.Namespace) -> int:
    from cranfield.lab.questionnaire import make_questionnaire
    from cranfield.report.document import Column

    made = make_questionnaire(
        args.measures, questions=args.questions, lists=args.lists, relevant=args.relevant,
        size=args.size, rng=args.seed,
    )  # fmt: skip
    files = [str(file) for file in made.write(args.folder)]
    what = ("the questions as data", "the page for people", "the key: keep it to yourself")
    table = Table([Column("file", numeric=False), Column("what", numeric=False)],
                  [list(row) for row in zip(files, what, strict=True)])  # fmt: skip
    payload = {"cranfield": __version__, "command": "lab votes", "files": files}
    emit(Document(payload, [table]), args)
    return 0


def _pool_parser(studies: Any) -> None:
    parser = _add_study(studies, "pool", "what a pool without a run would mean for it", _pool)
    _add_runs(parser, labels=False)
    parser.add_argument(
        "--depth", type=positive, default=100, metavar="K", help="depth of the pool (default: 100)"
    )
    add_output_options(parser)


def _pool(args: argparse.Namespace) -> int:
    from cranfield.lab.pool import leave_one_out

    result = leave_one_out(_material(args), depth=args.depth)
    return _answer(args, result, [result.table()])


def _simulate_parser(studies: Any) -> None:
    parser = _add_study(
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
    from pathlib import Path

    from cranfield.io import read_qrels
    from cranfield.io.files import write_whole
    from cranfield.io.labels import read_labels, write_labels
    from cranfield.io.trec import write_table
    from cranfield.lab.simulate import graded_labels, graded_rankings
    from cranfield.report.document import Column

    target = Path(args.folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{target}: cannot be made: {error.strerror}") from None
    files = []
    if args.labels:
        for matrix in graded_labels(read_labels(args.source), count=args.count, rng=args.seed):
            files.append(str(target / f"{matrix.name}.csv"))
            write_labels(matrix, files[-1])
    else:
        for run in graded_rankings(read_qrels(args.source), count=args.count, rng=args.seed):
            files.append(str(target / f"{run.name}.run"))
            write_whole(Path(files[-1]), "".join(write_table(run)).encode())
    table = Table([Column("run", numeric=False)], [[file] for file in files])
    payload = {"cranfield": __version__, "command": "lab simulate", "files": files}
    emit(Document(payload, [table]), args)
    return 0
