"""`cranfield pool`: the items to judge."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from cranfield._version import __version__
from cranfield.cli._common import Parser, add_output_options, emit, positive
from cranfield.report.document import Document


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
    args = make_parser().parse_args(argv)
    from cranfield.io import read_qrels, read_run
    from cranfield.io.forms import name_runs
    from cranfield.io.labels import read_labels
    from cranfield.lab.concepts import concept_rankings
    from cranfield.lab.pool import make_pool

    named = name_runs(args.runs)
    if args.labels:
        runs = concept_rankings([replace(read_labels(path), name=name) for name, path in named])
    else:
        runs = [read_run(path).named(name) for name, path in named]
    judged = None if args.judged is None else read_qrels(args.judged)
    pool = make_pool(runs, depth=args.depth, judged=judged)
    chosen = pool.items if args.next is None else pool.next_to_judge(args.next)
    items = pool.table(chosen)
    shown = [pool.summary_table()] if args.next is None else [items]
    payload = {"cranfield": __version__, "command": "pool"} | pool.to_dict()
    if args.next is not None:
        kept = {(i.topic, i.item) for i in chosen}
        payload["items"] = [i for i in payload["items"] if (i["topic"], i["item"]) in kept]
    emit(Document(payload, shown, (), items), args)
    return 0
