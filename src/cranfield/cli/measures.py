"""`cranfield measures`: the catalogue, or all about one measure."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs

DESCRIPTION = """List all measures, or tell all about one: formula, source, range, direction,
what it needs, an example."""


def make_parser() -> Parser:
    parser = Parser.of("measures", DESCRIPTION)
    add(parser, "name NAME?", "a measure, such as nDCG or 'nDCG@10'")
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    given, output = make_parser().read(argv)
    from cranfield.evaluation.catalogue import describe_measure, list_measures

    name = given["name"]
    output.show(list_measures() if name is None else describe_measure(name))
    return 0
