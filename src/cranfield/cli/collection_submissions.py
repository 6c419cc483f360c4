"""`cranfield collection submissions`: submissions to a collection, without opening its truth."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, Threshold, add, outputs
from cranfield.data.collection import KINDS

DONE, CHECK_FAILED = 0, 1
DESCRIPTION = """Look for all that is wrong with submissions: rows that cannot be read, ids that the
collection does not have, items that are missing, values like percents, thresholds. The truth is
not opened; exit 1 when a submission is bad."""


def make_parser() -> Parser:
    parser = Parser.of("collection submissions", DESCRIPTION)
    add(parser, "collection DIR", "a folder with a collection.toml")
    add(parser, "submissions SUBMISSION+", "one or more runs")
    add(parser, "--kind", "what they are (default: each file tells)", KINDS)
    help_text = """annotations: a number, a file with one per concept, or rows for 0/1 rows in the
    file itself (default: the collection's); repeatable"""
    add(parser, "--threshold [RUN=]X|FILE|rows", help_text, Threshold, dest="thresholds")
    parser.set_defaults(threshold=None)
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.campaign.submissions import check_submissions

    with output.working("checking") as progress:
        answer = check_submissions(progress=progress, **arguments)
    output.show(answer)
    return CHECK_FAILED if answer.bad else DONE
