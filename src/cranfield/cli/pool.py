"""`cranfield pool`: the items to judge."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, add_output_options, positive, show, working


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield pool",
        description="The items to judge: the first ones of every run, each once per topic.",
        epilog="weight says how far the judgement of an item can move the runs apart: 0 for an "
        "item that all of them rank alike.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    parser.add_argument(
        "--depth",
        type=positive,
        default=100,
        metavar="K",
        help="how many items of each run and topic (default: 100)",
    )
    parser.add_argument(
        "--judged",
        metavar="QRELS",
        help="judgements that exist (with --labels: concepts for topics); the pool says which "
        "items have one",
    )
    parser.add_argument(
        "--next",
        type=positive,
        metavar="N",
        help="only the N unjudged items that can move the runs apart the most",
    )
    parser.add_argument(
        "--labels",
        action="store_true",
        help="the runs are annotations: a pool of items for each concept, by confidence",
    )
    add_output_options(parser, form="tsv")
    return parser


def main(argv: Sequence[str]) -> int:
    from cranfield.lab import make_pool

    args = make_parser().parse_args(argv)
    output = Output.of(args)
    asked = {"depth": args.depth, "judged": args.judged, "labels": args.labels}
    with working("pool", output) as progress:
        pool = make_pool(args.runs, **asked, progress=progress)
    show(pool, output, first=args.next)
    return 0
