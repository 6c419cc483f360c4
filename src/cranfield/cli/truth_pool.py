"""`cranfield truth pool`: the items to judge."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, outputs, positive, share
from cranfield.cli._inputs import with_folder
from cranfield.errors import UsageError
from cranfield.options import JUDGING_METHODS

EPILOG = """weight says how far the judgement of an item can move the runs apart: 0 for an item
that all of them rank alike. With --for the items are drawn with known probabilities, round by
round: write them to a file (--format csv), fill its column relevance, add it to the ledger and
ask again."""

# What only a drawn pool takes.
DRAWN = ("ledger", "method", "judge", "budget", "first", "alpha", "rng")


def make_parser() -> Parser:
    help_text = "The items to judge: the first ones of every run, each once per topic."
    parser = Parser.of("truth pool", help_text, EPILOG)
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
    group = parser.group("drawn with known probabilities")
    help_text = "draw the next items for this measure, P@K or RBP, and say what is settled already"
    add(group, "--for NAME", help_text, dest="measure")
    help_text = "what was drawn and judged before: CSV topic,item,round,probability,relevance"
    add(group, "--ledger FILE", help_text)
    help_text = "how items are chosen (default: sampled); only sampled and even come with intervals"
    add(group, "--method", help_text, JUDGING_METHODS)
    add(group, "--judge QRELS", "judgements of a model, which people's correct")
    help_text = "judgements in all: judging stops where the rest would settle nothing"
    add(group, "--budget N", help_text, positive)
    add(group, "--first K", "stop when the order of the first K runs is settled", positive)
    add(group, "--alpha A", "level of tests, intervals and claims (default: 0.05)", share)
    common(group, "seed")
    outputs(parser, "tsv")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    arguments = with_folder("truth pool", arguments, "runs", "runs")
    from cranfield.lab import make_pool, next_judgements

    first = arguments.pop("next")
    measure = arguments.pop("measure")
    options = {name: arguments.pop(name) for name in DRAWN}
    options = {name: value for name, value in options.items() if value is not None}
    if measure is not None:
        if arguments["judged"] is not None:
            raise UsageError("measure= draws round by round: judgements go into ledger=")
        if first is not None:
            options["count"] = first
        with output.working("pool") as progress:
            answer = next_judgements(
                arguments["runs"],
                measure,
                depth=arguments["depth"],
                labels=arguments["labels"],
                **options,
                progress=progress,
            )
        output.show(answer)
        return 0
    options.pop("rng", None)
    if options:
        raise UsageError(f"{next(iter(options))}= is for items that are drawn: give measure=")
    with output.working("pool") as progress:
        pool = make_pool(progress=progress, **arguments)
    output.show(pool, first=first)
    return 0
