"""`cranfield runs descriptors`: the catalogue, or all about one descriptor."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs

DESCRIPTION = """List all descriptors of pictures and the distances of vectors, or tell all
about one: formula, source, length, distance, what it was checked against."""


def make_parser() -> Parser:
    parser = Parser.of("runs descriptors", DESCRIPTION)
    add(parser, "name NAME?", "a descriptor, such as CEDD")
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.features.catalogue import describe_descriptor, list_descriptors

    name = arguments["name"]
    output.show(list_descriptors() if name is None else describe_descriptor(name))
    return 0
