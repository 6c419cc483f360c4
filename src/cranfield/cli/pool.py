"""`cranfield pool`: the items to judge."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs, positive
from cranfield.cli._inputs import with_folder

EPILOG = """weight says how far the judgement of an item can move the runs apart: 0 for an item
that all of them rank alike."""


def make_parser() -> Parser:
    help_text = "The items to judge: the first ones of every run, each once per topic."
    parser = Parser.of("pool", help_text, EPILOG)
    add(parser, "runs RUN|DIR+", "one or more runs; or a collection's folder, and runs if others")
    add(parser, "--depth K", "how many items of each run and topic", positive, 100)
    help_text = """judgements that exist (with --labels: concepts for topics); the pool says which
    items have one"""
    add(parser, "--judged QRELS", help_text)
    add(
        parser,
        "--next N",
        "only the N unjudged items that can move the runs apart the most",
        positive,
    )
    help_text = "the runs are annotations: a pool of items for each concept, by confidence"
    add(parser, "--labels", help_text, bool)
    outputs(parser, "tsv")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    arguments = with_folder("pool", arguments, "runs", "runs")
    from cranfield.lab import make_pool

    first = arguments.pop("next")
    with output.working("pool") as progress:
        pool = make_pool(progress=progress, **arguments)
    output.show(pool, first=first)
    return 0
