"""`cranfield costmap`: look at a cost map, or compare two."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cranfield._version import __version__
from cranfield.cli._common import Parser, add_output_options, add_seed_option, emit, positive
from cranfield.errors import UsageError, suggest
from cranfield.report.document import Cell, Column, Document, Table

DONE = 0
_WIDEST_HEAT_MAP = 120


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if args.task == "show":
        _show(args)
    else:
        _compare(args)
    return DONE


def make_parser() -> Parser:
    parser = Parser(prog="cranfield costmap", description="Look at a cost map, or compare two.")
    tasks = parser.add_subparsers(dest="task", required=True, parser_class=Parser, metavar="TASK")
    show = tasks.add_parser(
        "show",
        help="heat map, dendrogram and nearest concepts",
        description="Heat map, dendrogram and nearest concepts. --format html draws a page.",
    )
    show.add_argument("map", metavar="MAP", help="a cost map: square CSV with names")
    show.add_argument(
        "--nearest",
        type=positive,
        default=3,
        metavar="N",
        help="how many nearest concepts to list (default: 3)",
    )
    show.add_argument(
        "--concept",
        action="append",
        default=[],
        metavar="NAME",
        help="list the nearest of this one only; may be given again",
    )
    compare = tasks.add_parser(
        "compare",
        help="how alike two cost maps are",
        description="How alike two cost maps are, with Mantel's test.",
    )
    compare.add_argument("first", metavar="MAP", help="a cost map")
    compare.add_argument("second", metavar="MAP", help="another one")
    compare.add_argument(
        "--top",
        type=positive,
        default=10,
        metavar="N",
        help="pairs that differ most to list (default: 10)",
    )
    compare.add_argument(
        "--permutations",
        type=positive,
        default=999,
        metavar="N",
        help="shuffles of the test (default: 999)",
    )
    add_seed_option(compare)
    for task in (show, compare):
        add_output_options(task)
    return parser


def _show(args: argparse.Namespace) -> None:
    from cranfield.io.costmap import read_costmap
    from cranfield.io.files import write_whole
    from cranfield.report.costmap import (
        cluster,
        costmap_page,
        dendrogram_text,
        heat_map_text,
        nearest_table,
    )

    costs = read_costmap(args.map)
    for name in args.concept:
        if name not in costs.concepts:
            raise UsageError(f"{args.map}: no concept {name!r}.{suggest(name, costs.concepts)}")
    tree = cluster(costs)
    nearest = nearest_table(costs, args.nearest, args.concept)
    if args.format == "html":
        page = costmap_page(costs, tree, nearest)
        if args.output is None:
            sys.stdout.write(page)
        else:
            write_whole(Path(args.output), page.encode())
        return
    payload = {
        "cranfield": __version__,
        "command": "costmap",
        "concepts": list(costs.concepts),
        "order": [costs.concepts[i] for i in tree.leaves()],
        "nearest": [
            {
                "concept": row[0],
                "nearest": [
                    {"concept": c, "cost": x}
                    for c, x in zip(row[1::2], row[2::2], strict=True)
                    if c
                ],
            }
            for row in nearest.rows
        ],
    }
    if args.format == "table" and not args.concept:
        drawing = ["", "Dendrogram (average cost at which concepts join)"]
        drawing += dendrogram_text(costs, tree)
        if len(costs.concepts) <= _WIDEST_HEAT_MAP:
            drawing += ["", "Heat map (dark is near)", *heat_map_text(costs, tree)]
        nearest = Table(nearest.columns, nearest.rows, nearest.title, drawing)
    emit(Document(payload, [nearest]), args)


def _compare(args: argparse.Namespace) -> None:
    from cranfield.io.costmap import read_costmap
    from cranfield.relatedness.costmaps import compare_maps

    first, second = read_costmap(args.first), read_costmap(args.second)
    found = compare_maps(first, second, permutations=args.permutations, seed=args.seed)
    differing = [row for row in found.differences if row[2] != row[3]][: args.top]
    payload = {
        "cranfield": __version__,
        "command": "costmap",
        "a": args.first,
        "b": args.second,
        "concepts": len(found.concepts),
        "pearson": found.pearson,
        "spearman": found.spearman,
        "p": found.p,
        "mean_difference": found.mean_difference,
        "seed": args.seed,
        "differences": [{"concept1": c, "concept2": d, "a": x, "b": y} for c, d, x, y in differing],
    }
    summary = Table(
        [
            Column("concepts"),
            Column("Spearman"),
            Column("p (Mantel)"),
            Column("Pearson"),
            Column("mean difference"),
        ],
        [[len(found.concepts), found.spearman, found.p, found.pearson, found.mean_difference]],
        f"{args.first} and {args.second}",
    )
    rows: list[list[Cell]] = [[c, d, x, y] for c, d, x, y in differing]
    columns = [Column(n, numeric=False) for n in ("concept", "concept")]
    columns += [Column("first", digits=3), Column("second", digits=3)]
    left_out = len(first.concepts) + len(second.concepts) - 2 * len(found.concepts)
    warnings = [f"{left_out} concepts are in one map only and left out"] if left_out else []
    tables = [summary, Table(columns, rows, "Pairs that differ most")]
    emit(Document(payload, tables if rows else [summary], warnings), args)
