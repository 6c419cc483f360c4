"""`cranfield truth next`: whose opinion is worth most next, and about which item."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs, positive, share
from cranfield.options import AGGREGATION_METHODS

EPILOG = """information: the bits that an opinion is expected to tell about the answers, from what
is known of the item and of the person. Items to judge for runs come from `cranfield truth pool`."""


def make_parser() -> Parser:
    help_text = "The items of a crowd that want another opinion, and who should give it."
    parser = Parser.of("truth next", help_text, EPILOG)
    add(parser, "log LOG", "opinions: CSV annotator,item,concept,value or annotator,item,category")
    add(parser, "--count N", "how many opinions", positive, 100)
    add(parser, "--sure P", "an item is closed when all its answers are so probable", share, 0.9)
    add(parser, "--least N", "opinions that each item gets", positive, 2)
    add(parser, "--most N", "opinions that an item gets at most", positive, 5)
    help_text = "who can be asked (default: all who judged)"
    add(parser, "--people NAMES", help_text, lambda text: tuple(text.split(",")), ())
    help_text = "the model of the annotators (default: as for `truth aggregate`)"
    add(parser, "--method", help_text, AGGREGATION_METHODS)
    help_text = "a second judgement of the same annotator on the same cell"
    add(parser, "--duplicates", help_text, ("error", "first", "last", "all"), "error")
    outputs(parser, "tsv")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.lab import next_opinions

    with output.working("opinions") as progress:
        answer = next_opinions(progress=progress, **arguments)
    output.show(answer)
    return 0
