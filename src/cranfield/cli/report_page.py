"""`cranfield report page`: a collection as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common
from cranfield.cli._inputs import truth_files
from cranfield.data.collection import KINDS

DESCRIPTION = """Write one page with everything about a collection: leaderboards, comparisons, every
topic and item, annotators. It needs no network and opens from disk."""


def make_parser() -> Parser:
    parser = Parser.of("report page", DESCRIPTION)
    add(parser, "collection DIR", "a folder with a collection.toml")
    add(parser, "-o --output FILE", "the page to write", dest="path", required=True)
    help_text = "leave out what tells the truth of single items, and the annotators"
    add(parser, "--public", help_text, bool)
    common(parser, "title", "pictures")
    add(parser, "--kind", "only the runs of this kind", KINDS)
    truth_files(parser, "folder's truth")
    add(parser, "--baseline RUN", "the run that others are compared with")
    common(parser, "jobs", "quiet")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.report.collection import collection_report

    kind, head = arguments.pop("kind"), output.head(arguments["public"])
    with output.working("reporting") as progress:
        page = collection_report(kinds=kind and (kind,), progress=progress, **arguments, **head)
    output.write(str(output.path), page)
    return 0
