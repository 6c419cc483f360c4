"""`cranfield measures`: the catalogue, or all about one measure."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, add_output_options, show


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield measures",
        description="List all measures, or tell all about one: formula, source, range, "
        "direction, what it needs, an example.",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a measure, such as nDCG or 'nDCG@10'"
    )
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    from cranfield.evaluation.catalogue import describe_measure, list_measures

    answer = list_measures() if args.name is None else describe_measure(args.name)
    show(answer, Output.of(args))
    return 0
