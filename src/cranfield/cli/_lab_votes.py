"""`cranfield lab votes`: questionnaires, their answers, and tables of votes."""

from __future__ import annotations

import argparse
from typing import Any

from cranfield._version import __version__
from cranfield.cli._common import Parser, add_output_options, add_seed_option, emit, positive
from cranfield.cli._lab_common import add_study, answer
from cranfield.report.document import Document, Table


def votes_parser(studies: Any) -> None:
    parser = studies.add_parser("votes", help="what people choose, beside what measures say")
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP", parser_class=Parser)
    count = add_study(steps, "count", "count the votes of a table", _votes_count)
    count.add_argument(
        "votes", metavar="VOTES.csv",
        help="question,MEASURE,... with votes; or question,votes_a,votes_b,votes_both,M_a,M_b,...",
    )  # fmt: skip
    make = add_study(steps, "make", "make a blind questionnaire", _votes_make)
    make.add_argument("folder", metavar="DIR", help="where questions.html, .json and key.json go")
    make.add_argument(
        "-m", "--measures", metavar="NAMES", default="AP NMRR MNRO",
        help="the measures to choose between (default: AP NMRR MNRO)",
    )  # fmt: skip
    for name, value, what in (
        ("questions", 10, "questions"), ("lists", 5, "ranked lists in each question"),
        ("relevant", 5, "relevant items in each list"), ("size", 100, "items in the collection"),
    ):  # fmt: skip
        make.add_argument(
            f"--{name}",
            type=positive,
            default=value,
            metavar="N",
            help=f"{what} (default: {value})",
        )
    add_seed_option(make)
    tally = add_study(steps, "tally", "count the answers to a questionnaire", _votes_tally)
    tally.add_argument("key", metavar="KEY.json", help="the key.json of the questionnaire")
    tally.add_argument("answers", nargs="+", metavar="ANSWERS.json", help="saved answers")
    for one in (count, make, tally):
        add_output_options(one)


def _votes_count(args: argparse.Namespace) -> int:
    from cranfield.lab.votes import Choices, read_votes

    result = read_votes(args.votes)
    more = [result.duel_table()] if isinstance(result, Choices) else []
    return answer(args, result, [result.table(), *more])


def _votes_tally(args: argparse.Namespace) -> int:
    from cranfield.lab.questionnaire import tally

    result = tally(args.key, args.answers)
    return answer(args, result, [result.table(), result.duel_table()])


def _votes_make(args: argparse.Namespace) -> int:
    from cranfield.lab.questionnaire import make_questionnaire
    from cranfield.report.document import Column

    made = make_questionnaire(
        args.measures, questions=args.questions, lists=args.lists, relevant=args.relevant,
        size=args.size, rng=args.seed,
    )  # fmt: skip
    files = [str(file) for file in made.write(args.folder)]
    what = ("the questions as data", "the page for people", "the key: keep it to yourself")
    table = Table([Column("file", numeric=False), Column("what", numeric=False)],
                  [list(row) for row in zip(files, what, strict=True)])  # fmt: skip
    payload = {"cranfield": __version__, "command": "lab votes", "files": files}
    emit(Document(payload, [table]), args)
    return 0
