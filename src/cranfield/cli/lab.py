"""`cranfield lab`: studies of the measures themselves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield import lab
from cranfield.cli._common import (
    Output,
    Parser,
    add_output_options,
    add_seed_option,
    positive,
    show,
    working,
)
from cranfield.cli._lab_common import (
    Files,
    add_number,
    add_runs,
    add_shares,
    add_study,
    add_work,
    plan_of,
    whole_numbers,
)
from cranfield.cli._lab_votes import votes_parser
from cranfield.cli._label_inputs import named_maps
from cranfield.errors import UsageError


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
    args.act(args)
    return 0


# The studies: each asks, reads what was said, and shows what the library answers.


def _correlate_parser(studies: Any) -> None:
    parser = add_study(studies, "correlate", "which measures rank runs alike", _correlate)
    add_runs(parser)
    what = "bootstrap samples of the units for the interval of tau"
    add_number(parser, "--resamples", 1000, what)
    add_work(parser)


def _correlate(args: argparse.Namespace) -> None:
    output, material = Output.of(args), Files.of(args).material("correlate")
    asked = {"resamples": args.resamples, "rng": args.seed, "plan": plan_of(args)}
    with working("correlate", output) as progress:
        answer = lab.correlate(material, **asked, progress=progress)
    show(answer, output)


def _stability_parser(studies: Any) -> None:
    from cranfield.lab.studies.stability import DROPPED, NOISE, PARTS

    what = "how much truth and topics may change before the ranking does"
    parser = add_study(studies, "stability", what, _stability)
    add_runs(parser)
    parser.add_argument(
        "--parts",
        metavar="NAMES",
        default=",".join(PARTS),
        help=f"some of {', '.join(PARTS)} (default: all)",
    )
    add_shares(parser, "--noise", NOISE, "shares of the truth to flip", "1,2,5,10")
    what = "shares of judgements and of topics to take away"
    add_shares(parser, "--dropped", DROPPED, what, "10,30,50,70,90")
    add_number(parser, "--repeats", 5, "repetitions")
    add_number(parser, "--trials", 100, "splits into halves for the swap rate")
    add_number(parser, "--resamples", 1000, "bootstrap samples for discriminative power")
    parser.add_argument(
        "--level",
        type=float,
        default=0.05,
        metavar="A",
        help="level of the test behind discriminative power (default: 0.05)",
    )
    add_work(parser)


def _stability(args: argparse.Namespace) -> None:
    output, material = Output.of(args), Files.of(args).material("stability")
    asked = {
        "parts": tuple(args.parts.split(",")),
        "noise": args.noise,
        "dropped": args.dropped,
        "repeats": args.repeats,
        "trials": args.trials,
        "resamples": args.resamples,
        "level": args.level,
        "rng": args.seed,
        "plan": plan_of(args),
    }
    with working("stability", output) as progress:
        answer = lab.stability(material, **asked, progress=progress)
    show(answer, output)


def _random_parser(studies: Any) -> None:
    from cranfield.lab.studies.random_runs import DENSITIES

    what = "random and over-eager runs beside the real ones"
    parser = add_study(studies, "random", what, _random)
    add_runs(parser)
    what = "label densities of random and over-annotating runs"
    add_shares(parser, "--densities", DENSITIES, what, "10,30,50,70,90")
    add_number(parser, "--count", 5, "random rankings")
    parser.add_argument(
        "--no-over", action="store_true", help="no runs with chance labels added to real ones"
    )
    parser.add_argument("--all-runs", action="store_true", help="also a table of every run")
    add_work(parser)


def _random(args: argparse.Namespace) -> None:
    output, material = Output.of(args), Files.of(args).material("random")
    asked = {
        "densities": args.densities,
        "count": args.count,
        "over": not args.no_over,
        "rng": args.seed,
        "plan": plan_of(args),
    }
    with working("random", output) as progress:
        answer = lab.random_study(material, **asked, progress=progress)
    show(answer, output, all_runs=args.all_runs)


def _generality_parser(studies: Any) -> None:
    from cranfield.lab.studies.generality import MEASURES, SHARES

    parser = add_study(studies, "generality", "the same topics in growing collections", _generality)
    add_runs(parser, as_rankings=True, measures=MEASURES, none="; none with --simulate")
    what = "shares of the collection"
    add_shares(parser, "--shares", SHARES, what, "a third, two thirds, all of it")
    parser.add_argument(
        "--simulate",
        type=whole_numbers,
        metavar="SIZES",
        help="instead of runs, simulated ones in collections such as 1000,10000,100000",
    )
    add_work(parser)


def _generality(args: argparse.Namespace) -> None:
    output, files, sizes = Output.of(args), Files.of(args), args.simulate
    asked = {"rng": args.seed, "plan": plan_of(args)}
    if sizes is not None:
        if files.paths or files.truth:
            raise UsageError("--simulate takes no files: its runs are made up")
        with working("generality", output) as progress:
            asked |= {"sizes": sizes, "progress": progress}
            answer = lab.simulated_generality(args.measures, **asked)
    else:
        material = files.material("generality", as_rankings=True)
        with working("generality", output) as progress:
            asked |= {"shares": args.shares, "progress": progress}
            answer = lab.generality(material, **asked)
    show(answer, output)


def _curves_parser(studies: Any) -> None:
    what = "values of measures for relevant items at every rank"
    parser = add_study(studies, "curves", what, _curves)
    parser.add_argument(
        "-m",
        "--measures",
        metavar="NAMES",
        default="AP NMRR MNRO",
        help="measures of rankings, or of annotation by confidences (default: AP NMRR MNRO)",
    )
    add_number(parser, "--size", 20, "items in the collection")
    parser.add_argument(
        "--relevant", type=int, default=1, choices=(1, 2), help="relevant items (default: 1)"
    )
    parser.add_argument(
        "--ranks", type=whole_numbers, metavar="RANKS", help="only these ranks, such as 1,10,100"
    )
    parser.add_argument(
        "--gmt",
        type=positive,
        metavar="N",
        help="largest number of relevant items, for NMRR (default: so large that its K is 4 NG)",
    )
    add_work(parser, seed=False)


def _curves(args: argparse.Namespace) -> None:
    output = Output.of(args)
    asked = {
        "size": args.size,
        "relevant": args.relevant,
        "ranks": args.ranks,
        "gmt": args.gmt,
        "plan": plan_of(args),
    }
    with working("curves", output) as progress:
        answer = lab.curves(args.measures, **asked, progress=progress)
    show(answer, output)


def _requirements_parser(studies: Any) -> None:
    what = "which requirements on a metric hold, with counter-examples"
    parser = add_study(studies, "requirements", what, _requirements)
    parser.add_argument("measures", metavar="NAMES", help="measures of rankings or of annotation")
    parser.add_argument("--ontology", metavar="NAME|FILE", help="for measures with a hierarchy")
    parser.add_argument("--rules", metavar="FILE", help="TOML with more rules than the ontology's")
    parser.add_argument(
        "--costmap",
        metavar="[NAME=]FILE",
        action="append",
        default=[],
        help="for measures with costs, such as SRP and OS(cost='NAME'); repeatable",
    )
    add_work(parser, seed=False)


def _requirements(args: argparse.Namespace) -> None:
    output, maps = Output.of(args), named_maps(args.costmap) or None
    known = {"ontology": args.ontology, "rules": args.rules, "costmap": maps}
    asked = known | {"plan": plan_of(args)}
    with working("requirements", output) as progress:
        answer = lab.requirements(args.measures, **asked, progress=progress)
    show(answer, output)


def _pool_parser(studies: Any) -> None:
    parser = add_study(studies, "pool", "what a pool without a run would mean for it", _pool)
    add_runs(parser, as_rankings=True)
    add_number(parser, "--depth", 100, "depth of the pool")
    add_work(parser, seed=False)


def _pool(args: argparse.Namespace) -> None:
    output, material = Output.of(args), Files.of(args).material("pool", as_rankings=True)
    asked = {"depth": args.depth, "plan": plan_of(args)}
    with working("pool", output) as progress:
        answer = lab.leave_one_out(material, **asked, progress=progress)
    show(answer, output)


def _simulate_parser(studies: Any) -> None:
    what = "make up runs of graded quality from a truth"
    parser = add_study(studies, "simulate", what, _simulate)
    parser.add_argument("source", metavar="QRELS", help="judgements, or a truth with --labels")
    parser.add_argument("folder", metavar="DIR", help="where the runs go")
    parser.add_argument("--labels", action="store_true", help="annotations instead of rankings")
    add_number(parser, "--count", 24, "how many runs")
    add_seed_option(parser)
    add_output_options(parser)


def _simulate(args: argparse.Namespace) -> None:
    output = Output.of(args)
    asked = {"labels": args.labels, "count": args.count, "rng": args.seed}
    with working("simulate", output) as progress:
        answer = lab.simulate_runs(args.source, args.folder, **asked, progress=progress)
    show(answer, output)
