"""`cranfield weaklabel`: keep the items whose features fit their tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cranfield.agreement.weaklabel import METHODS, filter_weak_labels
from cranfield.cli._common import Output, Parser, add_output_options, show, working
from cranfield.cli._judgements import write_tables
from cranfield.io.weak_labels import read_features, read_tags
from cranfield.report.tables.weaklabel import kept_table


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    output = Output.of(args)
    with working("fitting", output) as progress:
        items, features, notes = _features(args.features, args.descriptors)
        answer = filter_weak_labels(
            items,
            features,
            read_tags(args.tags),
            truth=read_tags(args.truth) if args.truth else None,
            method=args.method,
            outliers=args.outliers,
            gamma=args.gamma,
            progress=progress.part(0.1, 1.0),
        )
    answer = replace(answer, notes=(*notes, *answer.notes))
    if args.kept:
        write_tables({args.kept: kept_table(answer)}, quiet=output.quiet)
    show(answer, output)
    return 0


def _features(source: str, descriptors: str) -> tuple[Sequence[str], Any, tuple[str, ...]]:
    """Items, their features, and what was noticed about them."""
    if not Path(source).is_dir():
        return *read_features(source), ()
    from cranfield.features.collections import picture_features

    return picture_features(source, descriptors)


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield weaklabel",
        description="Keep the items whose features fit their tag.",
        epilog="svm: a one-class support vector machine, which follows any shape but takes "
        "near-duplicates for typical; median: the nearest to the median of the tag, which "
        "near-duplicates that are fewer than half cannot move.",
    )
    parser.add_argument(
        "features", metavar="FEATURES", help="CSV item,number,... or .npz, or a folder of pictures"
    )
    parser.add_argument("tags", metavar="TAGS", help="CSV item,tag")
    parser.add_argument(
        "-d",
        "--descriptors",
        default="CEDD EHD Tamura",
        metavar="NAMES",
        help="of a folder of pictures: colour, edges and texture (default: CEDD EHD Tamura)",
    )
    parser.add_argument("--truth", metavar="FILE", help="CSV item,tag: what is truly shown")
    parser.add_argument("--method", choices=METHODS, default="svm", help="default: svm")
    parser.add_argument(
        "--outliers",
        type=float,
        default=0.3,
        metavar="X",
        help="share of items expected not to fit their tag (default: 0.3)",
    )
    parser.add_argument(
        "--gamma",
        type=float,
        metavar="X",
        help="width of the kernel of the SVM (default: 1 / features)",
    )
    parser.add_argument("--kept", metavar="FILE", help="write item,tag,fit of the items kept")
    add_output_options(parser)
    return parser
