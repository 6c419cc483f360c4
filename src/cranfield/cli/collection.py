"""`cranfield collection`: a folder, its parts, and what is sent to it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial

from cranfield.answers import Answer
from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    Threshold,
    add,
    common,
    outputs,
    target,
)
from cranfield.data.collection import KINDS
from cranfield.errors import UsageError

DONE, CHECK_FAILED = 0, 1
DESCRIPTIONS = {
    "init": "Write a commented collection.toml from what is found in a folder. Nothing is asked.",
    "check": "Read all that a collection names and hold its files against one another; exit 1 when "
    "something is wrong.",
    "submissions": "Look for all that is wrong with submissions: rows that cannot be read, ids "
    "that the collection does not have, items that are missing, values like percents, thresholds. "
    "The truth is not opened; exit 1 when a submission is bad.",
    "split": "Divide items into parts such as training and test: at random, or so that each "
    "concept is divided in proportion; with --groups all items of a group stay together.",
}
FOLDERS = {
    "init": "a folder with runs, judgements, labels, pictures, ...",
    "check": "a folder with a collection.toml",
}


SPLIT_EXAMPLES = """examples:
  cranfield collection split truth.csv train=0.8 test=0.2 -o splits
  cranfield collection split DIR train=0.7 test=0.3 --groups photographers.csv -o splits
"""


def split_parser() -> Parser:
    parser = Parser.of("collection split", DESCRIPTIONS["split"], SPLIT_EXAMPLES, raw=True)
    add(parser, "source FILE|DIR", "a truth of labels, a list of items, or a collection's folder")
    add(parser, "parts PART=SHARE+", "the parts, whose shares sum to 1", named_share)
    help_text = "stratified: each concept in proportion (default where there are concepts)"
    add(parser, "--method", help_text, ("random", "stratified"))
    help_text = "CSV item,group: a group comes whole into one part"
    add(parser, "--groups FILE", help_text)
    common(parser, "seed")
    target(parser, "FOLDER: write PART.txt for each part here", "table")
    return parser


def named_share(text: str) -> tuple[str, float]:
    """An argparse type: a part with its share, such as train=0.8."""
    name, _, share = text.partition("=")
    try:
        return name, float(share)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as train=0.8") from None


def split(arguments: Arguments, output: Output) -> int:
    from cranfield.campaign.splitting import split_items

    parts = arguments.pop("parts")
    names = [name for name, _ in parts]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"the part {twice[0]!r} is there twice")
    answer = split_items(parts=dict(parts), **arguments)
    if output.path is not None:
        answer.write(output.path)
    replace(output, path=None).show(answer)
    return DONE


def make_parser(action: str) -> Parser:
    parser = Parser.of(f"collection {action}", DESCRIPTIONS[action])
    if action == "submissions":
        add(parser, "collection DIR", FOLDERS["check"])
        add(parser, "submissions SUBMISSION+", "one or more runs")
        add(parser, "--kind", "what they are (default: each file tells)", KINDS)
        help_text = """annotations: a number, a file with one per concept, or rows for 0/1 rows in
        the file itself (default: the collection's); repeatable"""
        add(parser, "--threshold [RUN=]X|FILE|rows", help_text, Threshold, dest="thresholds")
        parser.set_defaults(threshold=None)
    else:
        add(parser, "folder DIR", FOLDERS[action])
    outputs(parser)
    return parser


def run(action: str, arguments: Arguments, output: Output) -> int:
    if action == "init":
        from cranfield.campaign.collections import init_collection

        output.show(init_collection(**arguments))
        return DONE
    answer: Answer
    with output.working("checking") as progress:
        if action == "submissions":
            from cranfield.campaign.submissions import check_submissions

            submissions = check_submissions(progress=progress, **arguments)
            answer, is_bad = submissions, bool(submissions.bad)
        else:
            from cranfield.campaign.collections import check_collection

            report = check_collection(progress=progress, **arguments)
            answer, is_bad = report, bool(report.count)
    output.show(answer)
    return CHECK_FAILED if is_bad else DONE


COMMANDS = {
    action: (partial(make_parser, action), partial(run, action))
    for action in ("init", "check", "submissions")
} | {"split": (split_parser, split)}
