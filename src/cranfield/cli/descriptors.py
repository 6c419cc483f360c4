"""`cranfield descriptors`: the catalogue, or all about one descriptor."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, add_output_options, show


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield descriptors",
        description="List all descriptors of pictures and the distances of vectors, or tell all "
        "about one: formula, source, length, distance, what it was checked against.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a descriptor, such as CEDD")
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    from cranfield.features.catalogue import describe_descriptor, list_descriptors

    answer = list_descriptors() if args.name is None else describe_descriptor(args.name)
    show(answer, Output.of(args))
    return 0
