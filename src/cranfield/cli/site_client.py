"""`cranfield site submit` and `judge`: a run, or judgements, to the site of a campaign."""

from __future__ import annotations

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    outputs,
    positive,
)

SUBMIT_DESCRIPTION = """Send a run to the site of a campaign, where it is checked and accepted or
refused at once. The token of your team is read from the environment: CRANFIELD_TOKEN."""

JUDGE_UNITS_DESCRIPTION = """Let a program judge what a campaign site has for it: for every unit it
gets a line of JSON on its standard input and answers with a line on its standard output. Its token
is read from the environment: CRANFIELD_TOKEN."""


def submit_parser() -> Parser:
    parser = Parser.of("site submit", SUBMIT_DESCRIPTION)
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


def submit(arguments: Arguments, output: Output) -> int:
    from cranfield.client import submit_run

    output.show(submit_run(**arguments))
    return 0


def judge_units_parser() -> Parser:
    parser = Parser.of("site judge", JUDGE_UNITS_DESCRIPTION)
    add(parser, "--to URL", "the address of the campaign, https://host/campaign", required=True)
    add(parser, "--command PROGRAM", "the program with its arguments", required=True)
    add(parser, "--most N", "judge N units at most", positive)
    about = "end a program that has not answered within this time (default: 600)"
    add(parser, "--answer-within SECONDS", about, positive, default=600)
    outputs(parser)
    return parser


def judge_units(arguments: Arguments, output: Output) -> int:
    from cranfield.server.model_annotator import judge

    output.show(judge(**arguments))
    return 0


COMMANDS = {"submit": (submit_parser, submit), "judge": (judge_units_parser, judge_units)}
