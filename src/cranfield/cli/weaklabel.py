"""`cranfield weaklabel`: keep the items whose features fit their tag."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield._version import __version__
from cranfield.agreement.weaklabel import FEWEST, TagFilter, filter_weak_labels
from cranfield.cli._common import Parser, add_output_options, emit
from cranfield.cli._judgements import watched, write_tables
from cranfield.errors import UsageError
from cranfield.io.weak_labels import read_features, read_tags
from cranfield.report.document import Cell, Column, Document, Table


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if not 0 < args.outliers < 1:
        raise UsageError(f"--outliers {args.outliers} is not between 0 and 1")
    if args.gamma is not None and not args.gamma > 0:
        raise UsageError(f"--gamma {args.gamma} is not above 0")
    with watched("fitting", args) as (progress, watch):
        items, features = read_features(args.features)
        tags = read_tags(args.tags)
        truth = None
        if args.truth:
            known = read_tags(args.truth)
            truth = {tag: frozenset(known.get(tag, ())) for tag in tags}
        found = filter_weak_labels(
            items,
            features,
            tags,
            truth=truth,
            outliers=args.outliers,
            gamma=args.gamma,
            progress=progress.part(0.1, 1.0),
        )
    small = [f.tag for f in found if len(f.items) < FEWEST]
    warnings = list(watch.messages)
    if small:
        warnings.append(
            f"{len(small)} tags with fewer than {FEWEST} items are kept as they are, "
            f"such as {small[0]!r}"
        )
    if args.kept:
        write_tables({args.kept: _kept_table(found)})
    emit(Document(_payload(found, args), [_summary(found, args)], warnings), args)
    return 0


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield weaklabel",
        description="Keep the items whose features fit their tag (one-class SVM).",
    )
    parser.add_argument("features", metavar="FEATURES", help="CSV item,number,... or .npz")
    parser.add_argument("tags", metavar="TAGS", help="CSV item,tag")
    parser.add_argument("--truth", metavar="FILE", help="CSV item,tag: what is truly shown")
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


def _kept_table(found: Sequence[TagFilter]) -> Table:
    rows: list[list[Cell]] = [
        [item, f.tag, float(fit)]
        for f in found
        for item, fit, kept in zip(f.items, f.fit, f.kept, strict=True)
        if kept
    ]
    return Table([Column("item", numeric=False), Column("tag", numeric=False), Column("fit")], rows)


def _payload(found: Sequence[TagFilter], args: argparse.Namespace) -> dict[str, object]:
    return {
        "cranfield": __version__,
        "command": "weaklabel",
        "outliers": args.outliers,
        "tags": [
            {
                "tag": f.tag,
                "items": len(f.items),
                "kept": int(f.kept.sum()),
                "precision_before": f.before,
                "precision": f.precision,
                "recall": f.recall,
            }
            for f in found
        ],
        "per_item": [
            {"item": item, "tag": f.tag, "fit": float(fit), "kept": bool(kept)}
            for f in found
            for item, fit, kept in zip(f.items, f.fit, f.kept, strict=True)
        ],
    }


def _summary(found: Sequence[TagFilter], args: argparse.Namespace) -> Table:
    columns = [Column("tag", numeric=False), Column("items"), Column("kept")]
    rows: list[list[Cell]] = [[f.tag, len(f.items), int(f.kept.sum())] for f in found]
    if args.truth:
        columns += [Column("precision_before"), Column("precision"), Column("recall")]
        for row, f in zip(rows, found, strict=True):
            row += [f.before, f.precision, f.recall]
    return Table(columns, rows, "Items that fit their tag")
