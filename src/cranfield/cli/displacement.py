"""`cranfield displacement`: rankings of systems against rankings of people."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield.cli._common import (
    Output,
    Parser,
    add_jobs_option,
    add_output_options,
    add_seed_option,
    check_standard_input,
    positive,
    show,
    working,
)
from cranfield.evaluation.displacement import DEFAULT_MEASURES, evaluate_displacement
from cranfield.io import read_run
from cranfield.io.forms import name_runs
from cranfield.io.opinions import read_subject_rankings


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    check_standard_input(args)
    output = Output.of(args)
    per = [unit for unit in ("subject", "topic") if getattr(args, f"per_{unit}")]
    with working("comparing", output) as progress:
        answer = evaluate_displacement(
            read_subject_rankings(args.subjects),
            {name: read_run(path, jobs=args.jobs) for name, path in name_runs(args.runs)},
            args.measures,
            collection_size=args.collection_size,
            hypotheses=args.hypotheses,
            ties=args.ties,
            rng=args.seed,
            progress=progress,
        )
    show(answer, output, per=per)
    return 0


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield displacement",
        description="How far rankings of systems are from ranked lists that people made.",
        epilog="SUBJECTS: subject,topic,item,significance, with significances in [0, 1]; a "
        "list is ordered by significance, equal ones as in the file.",
    )
    parser.add_argument("subjects", metavar="SUBJECTS", help="CSV subject,topic,item,significance")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    parser.add_argument(
        "-m",
        "--measures",
        default=DEFAULT_MEASURES,
        metavar="NAMES",
        help=f"measures of displacement (default: {DEFAULT_MEASURES})",
    )
    parser.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    parser.add_argument(
        "--hypotheses",
        action="store_true",
        help="also the displacement with items that were not retrieved next, in the middle, last",
    )
    parser.add_argument(
        "--ties",
        choices=("file", "average"),
        default="file",
        help="equally significant items of a subject: as in the file, or the mean over their "
        "orders (default: file)",
    )
    parser.add_argument("--per-subject", action="store_true", help="also the mean of each subject")
    parser.add_argument("--per-topic", action="store_true", help="also every subject and topic")
    add_seed_option(parser)
    add_jobs_option(parser)
    add_output_options(parser)
    return parser
