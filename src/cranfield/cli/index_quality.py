"""`cranfield index-quality`: what an index of vectors could reach at best."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield.cli._common import (
    Output,
    Parser,
    add_jobs_option,
    add_output_options,
    show,
    working,
)
from cranfield.evaluation.index_quality import DEFAULT_MEASURES, evaluate_index
from cranfield.io import read_qrels, read_run
from cranfield.io.forms import name_runs
from cranfield.io.vectors import read_item_vectors


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    output = Output.of(args)
    named = name_runs(args.runs) if args.runs else []
    with working("ranking", output) as progress:
        answer = evaluate_index(
            read_item_vectors(args.vectors, args.items),
            read_qrels(args.qrels, jobs=args.jobs),
            {name: read_run(path, jobs=args.jobs) for name, path in named},
            args.measures,
            rel=args.rel,
            raw=args.raw,
            best=args.best,
            jobs=args.jobs,
            progress=progress,
        )
    show(answer, output, per=("topic",) if args.per_topic else ())
    return 0


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield index-quality",
        description="Rank the collection with each topic's optimal query (Rocchio): the mean of "
        "the relevant vectors minus the mean of the others, by cosine. It is optimal for the "
        "difference of mean cosines; --best also looks for the vector that ranks best.",
        epilog="VECTORS: .npy (a row per item; ids from --items, or row numbers from 0), .npz "
        "(arrays items, vectors) or .parquet (item, and vector or one column per dimension).",
    )
    parser.add_argument("vectors", metavar="VECTORS", help="vectors of all items of the collection")
    parser.add_argument("qrels", metavar="QRELS", help="judgements")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="runs to hold against it")
    parser.add_argument(
        "-m",
        "--measures",
        default=DEFAULT_MEASURES,
        metavar="NAMES",
        help=f"measures or sets of them (default: {DEFAULT_MEASURES})",
    )
    parser.add_argument("--items", metavar="FILE", help="ids of the rows of .npy, one per line")
    parser.add_argument(
        "--rel",
        type=float,
        default=1.0,
        metavar="G",
        help="the grade from which items are relevant when queries are formed (default: 1)",
    )
    parser.add_argument(
        "--raw", action="store_true", help="means of the vectors as they are, not of unit length"
    )
    parser.add_argument(
        "--best", action="store_true", help="also the query that ranks best, by descent on a loss"
    )
    parser.add_argument("--per-topic", action="store_true", help="also the values of each topic")
    add_jobs_option(parser)
    add_output_options(parser)
    return parser
