"""`cranfield concepts tags` and `card-sort`: what people call items, and how they group them."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    outputs,
    positive,
    share,
)

TAGS_DESCRIPTION = """How many tags items have, of which kinds they are, what a vocabulary covers of
them, and which tags could become concepts."""

CARD_SORT_DESCRIPTION = """Which items people put together, by what kinds of reasons, and how far
they agree."""


def tags_parser() -> Parser:
    parser = Parser.of("concepts tags", TAGS_DESCRIPTION)
    add(parser, "corpus TAGS", "CSV item,tags[,text] or item,tag")
    add(parser, "--vocabulary V", "an ontology or a list of concepts: what it covers")
    add(parser, "--mapping FILE", "CSV concept,word: what stands for its concepts; or pto")
    add(parser, "--min-items N", "enough items", positive, 20)
    add(parser, "--wordnet DIR", "the folder of WordNet")
    add(parser, "--top N", "rows of a list", positive, 20)
    outputs(parser)
    return parser


def tags(arguments: Arguments, output: Output) -> int:
    from cranfield.relatedness.vocabularies import analyse_tags

    top = arguments.pop("top")
    with output.working("tags") as progress:
        answer = analyse_tags(progress=progress, **arguments)
    output.show(answer, top=top)
    return 0


def card_sort_parser() -> Parser:
    parser = Parser.of("concepts card-sort", CARD_SORT_DESCRIPTION)
    help_text = (
        "CSV subject,item,group[,kind], a group of a group as people/women; or subject,item,tag"
    )
    add(parser, "source GROUPS", help_text)
    add(parser, "--level X", "how far items of a cluster are together on average", share, 0.5)
    outputs(parser)
    return parser


def card_sort(arguments: Arguments, output: Output) -> int:
    from cranfield.agreement.card_sorting import study_groups

    output.show(study_groups(arguments["source"], level=arguments["level"]))
    return 0


PARSERS = {"tags": tags_parser, "card-sort": card_sort_parser}
COMMANDS = {"tags": tags, "card-sort": card_sort}


def make_parser(command: str) -> Parser:
    return PARSERS[command]()


def main(argv: Sequence[str], command: str) -> int:
    arguments, output = PARSERS[command]().read(argv)
    return COMMANDS[command](arguments, output)
