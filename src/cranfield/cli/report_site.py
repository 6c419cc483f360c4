"""`cranfield report site`: a collection as a static site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cranfield.cli._common import Parser, add, common, positive, target
from cranfield.cli._inputs import truth_files
from cranfield.data.collection import KINDS

DESCRIPTION = """Write the results of a collection as a site of plain files, readable without a
script: leaderboards with intervals and groups, a page for every run, team, topic and concept,
comparisons, method, files; each also as JSON and CSV. The truth stays sealed unless it is
released."""


def make_parser() -> Parser:
    parser = Parser.of("report site", DESCRIPTION)
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


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.site.publish import publish

    kind, place = arguments.pop("kind"), str(output.path)
    with output.working("publishing") as progress:
        answer = publish(target=place, kinds=kind and (kind,), progress=progress, **arguments)
    replace(output, path=None).show(answer)
    return 0
