"""`cranfield lab votes`: questionnaires, their answers, and tables of votes."""

from __future__ import annotations

import argparse
from typing import Any

from cranfield._version import __version__
from cranfield.cli._common import Parser, Watch, add_output_options, add_seed_option, emit, positive
from cranfield.cli._lab_common import add_study, answer, material_of, refuse_label_options
from cranfield.cli._label_inputs import add_label_options
from cranfield.errors import UsageError
from cranfield.lab.votes import Choices, Preferences
from cranfield.report.document import Document, Table

LISTS = "AP NMRR MNRO"
SETS = "F.example Rprec.example"
# Options of questions on ranked lists: the value without them, and what they say.
OF_LISTS = {
    "lists": (5, "how many in each question"),
    "relevant": (5, "relevant items in each"),
    "size": (100, "items in the collection"),
}


def votes_parser(studies: Any) -> None:
    parser = studies.add_parser(
        "votes",
        help="what people choose, beside what measures say",
        description="What people choose, beside what measures say: a questionnaire, its answers, "
        "or a table of votes.",
    )
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP", parser_class=Parser)
    count = add_study(steps, "count", "count the votes of a table", _votes_count)
    count.add_argument(
        "votes",
        metavar="VOTES.csv",
        help="question,MEASURE,... with votes; or question,votes_a,votes_b,votes_both,M_a,M_b,...",
    )
    make = add_study(steps, "make", "make a blind questionnaire", _votes_make)
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
        help=f"the measures to choose between (default: {LISTS}; with --truth: {SETS})",
    )
    add_label_options(make)
    make.add_argument(
        "--questions", type=positive, default=10, metavar="N", help="questions (default: 10)"
    )
    for name, (value, what) in OF_LISTS.items():
        make.add_argument(
            f"--{name}", type=positive, metavar="N", help=f"ranked lists: {what} (default: {value})"
        )
    add_seed_option(make)
    tally = add_study(steps, "tally", "count the answers to a questionnaire", _votes_tally)
    tally.add_argument("key", metavar="KEY.json", help="the key.json of the questionnaire")
    tally.add_argument("answers", nargs="+", metavar="ANSWERS.json", help="saved answers")
    for one in (count, make, tally):
        add_output_options(one)


def _votes_count(args: argparse.Namespace) -> int:
    from cranfield.lab.votes import read_votes

    return _counted(args, read_votes(args.votes))


def _votes_tally(args: argparse.Namespace) -> int:
    from cranfield.lab.questionnaire import tally

    return _counted(args, tally(args.key, args.answers))


def _counted(args: argparse.Namespace, result: Choices | Preferences) -> int:
    more = [] if isinstance(result, Preferences) else [result.duel_table()]
    return answer(args, result, [result.table(), *more])


def _votes_make(args: argparse.Namespace) -> int:
    from cranfield.lab.concept_survey import make_concept_survey
    from cranfield.lab.questionnaire import make_questionnaire
    from cranfield.report.document import Column

    if args.truth is None:
        if args.paths:
            raise UsageError("--between is for concept sets: name the truth with --truth")
        refuse_label_options(args)
    elif any(getattr(args, name) for name in OF_LISTS):
        raise UsageError(f"--{', --'.join(OF_LISTS)} are for ranked lists, not for --truth")
    with Watch("survey", lambda: 0.0, quiet=args.quiet) as watch:
        if args.truth is not None:
            args.collection_size, args.measures = None, args.measures or SETS
            made = make_concept_survey(material_of(args), questions=args.questions, rng=args.seed)
        else:
            chosen = {n: getattr(args, n) or value for n, (value, _) in OF_LISTS.items()}
            made = make_questionnaire(
                args.measures or LISTS, questions=args.questions, rng=args.seed, **chosen
            )
    files = [str(file) for file in made.write(args.folder)]
    what = ("the questions as data", "the page for people", "the key: keep it to yourself")
    table = Table(
        [Column("file", numeric=False), Column("what", numeric=False)],
        [list(row) for row in zip(files, what, strict=True)],
    )
    payload = {"cranfield": __version__, "command": "lab votes", "files": files}
    emit(Document(payload, [table], watch.messages), args)
    return 0
