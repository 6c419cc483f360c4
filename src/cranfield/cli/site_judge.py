"""`cranfield site judge`: a program as an annotator of a campaign."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs, positive

DESCRIPTION = """Let a program judge what a campaign site has for it: for every unit it gets a line
of JSON on its standard input and answers with a line on its standard output. Its token is read from
the environment: CRANFIELD_TOKEN."""


def make_parser() -> Parser:
    parser = Parser.of("site judge", DESCRIPTION)
    add(parser, "--to URL", "the address of the campaign, https://host/campaign", required=True)
    add(parser, "--command PROGRAM", "the program with its arguments", required=True)
    add(parser, "--most N", "judge N units at most", positive)
    about = "end a program that has not answered within this time (default: 600)"
    add(parser, "--answer-within SECONDS", about, positive, default=600)
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.server.model_annotator import judge

    output.show(judge(**arguments))
    return 0
