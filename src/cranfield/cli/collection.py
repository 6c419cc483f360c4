"""`cranfield collection init` and `check`: a folder of files that belong together."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs

DONE, CHECK_FAILED = 0, 1
DESCRIPTIONS = {
    "init": "Write a commented collection.toml from what is found in a folder. Nothing is asked.",
    "check": "Read all that a collection names and hold its files against one another; exit 1 when "
    "something is wrong.",
}
FOLDERS = {
    "init": "a folder with runs, judgements, labels, pictures, ...",
    "check": "a folder with a collection.toml",
}


def make_parser(action: str) -> Parser:
    parser = Parser.of(f"collection {action}", DESCRIPTIONS[action])
    add(parser, "folder DIR", FOLDERS[action])
    outputs(parser)
    return parser


def main(argv: Sequence[str], action: str) -> int:
    arguments, output = make_parser(action).read(argv)
    from cranfield.campaign.collections import check_collection, init_collection

    if action == "init":
        output.show(init_collection(**arguments))
        return DONE
    with output.working("checking") as progress:
        answer = check_collection(progress=progress, **arguments)
    output.show(answer)
    return CHECK_FAILED if answer.count else DONE
