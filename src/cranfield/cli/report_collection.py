"""`cranfield report page` and `site`: the results of a collection as a page or a site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    positive,
    target,
)
from cranfield.cli._inputs import truth_files
from cranfield.data.collection import KINDS

PAGE_DESCRIPTION = """Write one page with everything about a collection: leaderboards, comparisons,
every topic and item, annotators. It needs no network and opens from disk."""

SITE_DESCRIPTION = """Write the results of a collection as a site of plain files, readable without a
script: leaderboards with intervals and groups, a page for every run, team, topic and concept,
comparisons, method, files; each also as JSON and CSV. The truth stays sealed unless it is
released."""


def page_parser() -> Parser:
    parser = Parser.of("report page", PAGE_DESCRIPTION)
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


def page(arguments: Arguments, output: Output) -> int:
    from cranfield.report.collection import collection_report

    kind, head = arguments.pop("kind"), output.head(arguments["public"])
    with output.working("reporting") as progress:
        page = collection_report(kinds=kind and (kind,), progress=progress, **arguments, **head)
    output.write(str(output.path), page)
    return 0


def site_parser() -> Parser:
    parser = Parser.of("report site", SITE_DESCRIPTION)
    add(parser, "collection DIR", "a folder with a collection.toml")
    help_text = "also show the truth: judgements, relevant items, true labels, and its files"
    add(parser, "--release-truth", help_text, bool)
    add(parser, "--with-runs", "also copy the files of the runs", bool)
    add(parser, "--kind", "only the runs of this kind", KINDS)
    truth_files(parser, "folder's truth")
    add(parser, "--resamples N", "random draws of the tests", positive, 10_000)
    common(parser, "jobs")
    folder_help = (
        "SITE!: the folder to write, whole or not at all; a site that is there is replaced"
    )
    target(parser, folder_help, "table")
    return parser


def site(arguments: Arguments, output: Output) -> int:
    from cranfield.site.publish import publish

    kind, place = arguments.pop("kind"), str(output.path)
    with output.working("publishing") as progress:
        answer = publish(target=place, kinds=kind and (kind,), progress=progress, **arguments)
    replace(output, path=None).show(answer)
    return 0


PARSERS = {"page": page_parser, "site": site_parser}
COMMANDS = {"page": page, "site": site}


def make_parser(command: str) -> Parser:
    return PARSERS[command]()


def main(argv: Sequence[str], command: str) -> int:
    arguments, output = PARSERS[command]().read(argv)
    return COMMANDS[command](arguments, output)
