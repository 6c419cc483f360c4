"""`cranfield collection`: a folder of files that belong together."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs

DONE, CHECK_FAILED = 0, 1


def make_parser() -> Parser:
    parser = Parser.of("collection", "A folder of files that belong together.")
    step = parser.steps("action", "ACTION")
    init = step(
        "init",
        "write its collection.toml",
        "Write a commented collection.toml from what is found in a folder. Nothing is asked.",
    )
    check = step(
        "check",
        "read all of it; exit 1 when something is wrong",
        "Read all that a collection names and hold its files against one another; exit 1 when "
        "something is wrong.",
    )
    add(init, "folder DIR", "a folder with runs, judgements, labels, pictures, ...")
    add(check, "folder DIR", "a folder with a collection.toml")
    for one in (init, check):
        outputs(one)
    return parser


def main(argv: Sequence[str]) -> int:
    given, output = make_parser().read(argv)
    from cranfield.campaign.collections import check_collection, init_collection

    if given.pop("action") == "init":
        output.show(init_collection(**given))
        return DONE
    with output.working("checking") as progress:
        found = check_collection(progress=progress, **given)
    output.show(found)
    return CHECK_FAILED if found.count else DONE
