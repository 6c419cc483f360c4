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
    for subparser in (init, check):
        outputs(subparser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.campaign.collections import check_collection, init_collection

    if arguments.pop("action") == "init":
        output.show(init_collection(**arguments))
        return DONE
    with output.working("checking") as progress:
        answer = check_collection(progress=progress, **arguments)
    output.show(answer)
    return CHECK_FAILED if answer.count else DONE
