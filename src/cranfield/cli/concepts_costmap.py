"""`cranfield concepts costmap`: look at a cost map, or compare two."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, outputs, positive


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.relatedness.cost_maps import compare_cost_maps, view_cost_map

    if arguments.pop("task") == "show":
        output.show(view_cost_map(**arguments), form=output.form)
        return 0
    top, arguments["seed"] = arguments.pop("top"), arguments.pop("rng")
    with output.working("comparing") as progress:
        comparison = compare_cost_maps(progress=progress, **arguments)
    output.show(comparison, top=top)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("concepts costmap", "Look at a cost map, or compare two.")
    step = parser.steps("task", "TASK")
    show_text = "Heat map, dendrogram and nearest concepts. --format html draws a page."
    show = step("show", "heat map, dendrogram and nearest concepts", show_text)
    add(show, "costs MAP", "a cost map: square CSV with names")
    add(show, "--nearest N", "how many nearest concepts to list", positive, 3)
    help_text = "list the nearest of this one only; may be given again"
    add(show, "--concept NAME", help_text, [str], dest="concepts")
    compare_text = "How alike two cost maps are, with Mantel's test."
    compare = step("compare", "how alike two cost maps are", compare_text)
    add(compare, "first MAP", "a cost map")
    add(compare, "second MAP", "another one")
    add(compare, "--top N", "pairs that differ most to list", positive, 10)
    add(compare, "--permutations N", "shuffles of the test", positive, 999)
    common(compare, "seed")
    for task in (show, compare):
        outputs(task)
    return parser
