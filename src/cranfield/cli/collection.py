"""`cranfield collection init`, `check` and `submissions`: a folder, and what is sent to it."""

from __future__ import annotations

from functools import partial

from cranfield.answers import Answer
from cranfield.cli._common import Arguments, Output, Parser, Threshold, add, outputs
from cranfield.data.collection import KINDS

DONE, CHECK_FAILED = 0, 1
DESCRIPTIONS = {
    "init": "Write a commented collection.toml from what is found in a folder. Nothing is asked.",
    "check": "Read all that a collection names and hold its files against one another; exit 1 when "
    "something is wrong.",
    "submissions": "Look for all that is wrong with submissions: rows that cannot be read, ids "
    "that the collection does not have, items that are missing, values like percents, thresholds. "
    "The truth is not opened; exit 1 when a submission is bad.",
}
FOLDERS = {
    "init": "a folder with runs, judgements, labels, pictures, ...",
    "check": "a folder with a collection.toml",
}


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


COMMANDS = {action: (partial(make_parser, action), partial(run, action)) for action in DESCRIPTIONS}
