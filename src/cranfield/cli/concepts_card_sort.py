"""`cranfield concepts card-sort`: how people group and tag items."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs, share

DESCRIPTION = """Which items people put together, by what kinds of reasons, and how far they
agree."""


def make_parser() -> Parser:
    parser = Parser.of("concepts card-sort", DESCRIPTION)
    help_text = (
        "CSV subject,item,group[,kind], a group of a group as people/women; or subject,item,tag"
    )
    add(parser, "source GROUPS", help_text)
    add(parser, "--level X", "how far items of a cluster are together on average", share, 0.5)
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.agreement.card_sorting import study_groups

    output.show(study_groups(arguments["source"], level=arguments["level"]))
    return 0
