"""`cranfield site submit`: a run to the site of a campaign."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs

DESCRIPTION = """Send a run to the site of a campaign, where it is checked and accepted or refused
at once. The token of your team is read from the environment: CRANFIELD_TOKEN."""


def make_parser() -> Parser:
    parser = Parser.of("site submit", DESCRIPTION)
    add(parser, "run RUN", "the file of the run, as it is or packed as .gz or .zst")
    add(parser, "--to URL", "the address of the campaign, https://host/campaign", required=True)
    add(parser, "--task T", "the task, such as ranked or labels", required=True)
    add(parser, "--conf C", "the configuration, such as V, T or M", str, "")
    add(parser, "--about TEXT", "how the run was made, in a few sentences", str, "")
    add(parser, "--tag NAME", "your name of the run (default: the file's)")
    add(parser, "--features TEXT", "which features it uses", str, "")
    add(parser, "--classifier TEXT", "which method it uses", str, "")
    add(
        parser,
        "--threshold X",
        "annotations: a number, a file of one per concept, or rows",
        str,
        "",
    )
    add(parser, "--replace", "replace your run of the same tag", bool)
    add(parser, "--check", "only check it; nothing is stored", bool)
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.client import submit_run

    output.show(submit_run(**arguments))
    return 0
