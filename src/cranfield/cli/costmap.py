"""`cranfield costmap`: look at a cost map, or compare two."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import (
    Output,
    Parser,
    add_output_options,
    add_seed_option,
    positive,
    show,
    working,
)

DONE = 0


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    output = Output.of(args)
    from cranfield.relatedness.maps import compare_cost_maps, view_cost_map

    if args.task == "show":
        view = view_cost_map(args.map, nearest=args.nearest, concepts=args.concept)
        show(view, output, form=output.form)
        return DONE
    with working("comparing", output) as progress:
        found = compare_cost_maps(
            args.first,
            args.second,
            permutations=args.permutations,
            seed=args.seed,
            progress=progress,
        )
    show(found, output, top=args.top)
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
