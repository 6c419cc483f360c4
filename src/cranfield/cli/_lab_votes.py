"""`cranfield lab votes`: questionnaires, their answers, and tables of votes."""

from __future__ import annotations

import argparse
from typing import Any

from cranfield import lab
from cranfield.cli._common import (
    Output,
    Parser,
    add_output_options,
    add_seed_option,
    positive,
    show,
)
from cranfield.cli._lab_common import Files, add_number, add_study
from cranfield.cli._label_inputs import add_label_options
from cranfield.errors import UsageError

# Options of questions on ranked lists: the value without them, and what they say.
OF_LISTS = {
    "lists": (5, "how many in each question"),
    "relevant": (5, "relevant items in each"),
    "size": (100, "items in the collection"),
}


def votes_parser(studies: Any) -> None:
    from cranfield.campaign.concept_survey import WITH_COSTS, WITHOUT_COSTS
    from cranfield.campaign.questionnaire import MEASURES

    parser = studies.add_parser(
        "votes",
        help="what people choose, beside what measures say",
        description="What people choose, beside what measures say: a questionnaire, its answers, "
        "or a table of votes.",
    )
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP", parser_class=Parser)
    count = add_study(steps, "count", "count the votes of a table", _count)
    count.add_argument(
        "votes",
        metavar="VOTES.csv",
        help="question,MEASURE,... with votes; or question,votes_a,votes_b,votes_both,M_a,M_b,...",
    )
    make = add_study(steps, "make", "make a blind questionnaire", _make)
    make.add_argument("folder", metavar="DIR", help="where questions.html, .json and key.json go")
    make.add_argument(
        "--truth",
        metavar="FILE",
        help="ask about concept sets of two runs, not about made-up ranked lists",
    )
    make.add_argument(
        "--between",
        dest="paths",
        nargs=2,
        metavar="RUN",
        default=(),
        help="with --truth: the two annotations to choose between",
    )
    make.add_argument(
        "-m",
        "--measures",
        metavar="NAMES",
        help=f"the measures to choose between (default: {MEASURES}; with --truth: {WITH_COSTS}, or "
        f"without costs {WITHOUT_COSTS})",
    )
    make.add_argument(
        "--alike",
        metavar="NAMES",
        default="",
        help="with --truth: measures that must score both sets alike, such as Rprec.example",
    )
    add_label_options(make)
    add_number(make, "--questions", 10, "questions")
    for name, (value, what) in OF_LISTS.items():
        make.add_argument(
            f"--{name}", type=positive, metavar="N", help=f"ranked lists: {what} (default: {value})"
        )
    add_seed_option(make)
    tally = add_study(steps, "tally", "count the answers to a questionnaire", _tally)
    tally.add_argument("key", metavar="KEY.json", help="the key.json of the questionnaire")
    tally.add_argument("answers", nargs="+", metavar="ANSWERS.json", help="saved answers")
    for one in (count, make, tally):
        add_output_options(one)


def _count(args: argparse.Namespace) -> None:
    show(lab.count_votes(args.votes), Output.of(args))


def _tally(args: argparse.Namespace) -> None:
    show(lab.tally(args.key, args.answers), Output.of(args))


def _make(args: argparse.Namespace) -> None:
    files, asked = Files.of(args), {"questions": args.questions, "rng": args.seed}
    lists = {name: getattr(args, name) for name in OF_LISTS}
    if files.truth is None:
        if files.paths or args.alike:
            raise UsageError("--between and --alike are for concept sets: name the --truth")
        files.refuse_label_options()
        lists["measures"] = files.measures
        chosen: dict[str, Any] = {n: value for n, value in lists.items() if value is not None}
        made = lab.make_questionnaire(**asked, **chosen)
    else:
        if any(lists.values()):
            raise UsageError(f"--{', --'.join(OF_LISTS)} are for ranked lists, not for --truth")
        options = files.label_options() | {"alike": args.alike}
        made = lab.make_concept_survey(files.truth, files.paths, files.measures, **asked, **options)
    show(made.write(args.folder), Output.of(args))
