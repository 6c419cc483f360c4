"""`cranfield compare`: is the difference between runs real?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cranfield.cli._common import (
    Output,
    Parser,
    add_jobs_option,
    add_measures_option,
    add_output_options,
    add_public_option,
    add_seed_option,
    in_background,
    show,
    take_measures,
    working,
)
from cranfield.cli._subject import Subject, add_subject_options, take_subject
from cranfield.comparison.answer import Comparison
from cranfield.errors import UsageError, suggest

if TYPE_CHECKING:
    from cranfield.notes import Progress
    from cranfield.report.cases import Compared

DESCRIPTION = """Compare runs with a baseline, or every two runs, under one or more measures:
differences with confidence intervals, p-values corrected for many comparisons, effect sizes,
and a leaderboard that says which runs cannot be told apart."""
EXAMPLES = """examples:
  cranfield compare qrels.txt bm25.run dense.run --baseline bm25
  cranfield compare qrels.txt *.run -m "AP nDCG@10" --test randomization --correction bh
  cranfield compare qrels.txt a.run b.run --baseline a --tail one --format latex
  cranfield compare --truth truth.csv a.csv b.csv -m F.example --baseline a
  cranfield compare old.json new.json --baseline old   (scores that were saved)
"""


def main(argv: Sequence[str]) -> int:
    from cranfield.report.tables.comparison import PARTS, SUMMARY

    given = make_parser().read(argv)
    output = Output.take(given)
    subject = take_subject(given, least=2, command="compare")
    measures, jobs, public = take_measures(given), given["jobs"], given.pop("public")
    shown = given.pop("show")
    parts = shown or ((SUMMARY, *PARTS) if output.form == "latex" else PARTS)
    # What is left are the options of a comparison, two of them under the names of this face.
    options = given | {"rng": given.pop("seed"), "margin": given.pop("equivalence")}
    if subject.kind == "saved" and measures is not None:
        options["measures"] = measures
    with working("comparing", output) as progress:
        if output.form == "html":
            case = in_background(
                lambda: subject.case(measures, options, jobs, progress), progress.cancel
            )
            return _page(case, parts, output, public)
        comparison = in_background(
            lambda: _compared(subject, measures, options, progress), progress.cancel
        )
    show(comparison, output, parts=parts)
    return 0


def _compared(
    subject: Subject, measures: str | None, options: dict[str, Any], progress: Progress
) -> Comparison:
    scores = subject.scores(measures, options["jobs"], progress.part(0.0, 0.5))
    return scores.compare(**options, progress=progress.part(0.5, 1.0))


def _page(case: Compared, parts: Sequence[str], output: Output, public: bool) -> int:
    from cranfield.report.parts import case_page
    from cranfield.report.tables import document_of
    from cranfield.report.tables.comparison import further_tables

    if case.comparison is None:
        raise UsageError("; ".join(case.left_out) or "nothing could be compared")
    tables = document_of(case.comparison, parts=parts).tables
    more = further_tables(case.comparison)
    page = case_page(case, tables=tables, further=more, public=public)
    show(case.comparison, output, page=page, parts=parts)
    return 0


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield compare",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_measures_option(
        parser,
        "measures, such as 'AP nDCG@10' (default: those of eval; with --truth, of label)",
    )
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="the run that all others are compared with (default: every two runs)",
    )
    _add_test_options(parser)
    add_subject_options(parser)
    add_public_option(parser)
    add_jobs_option(parser)
    add_seed_option(parser)
    add_output_options(parser)
    return parser


def _add_test_options(parser: argparse.ArgumentParser) -> None:
    from cranfield.comparison.plan import CORRECTIONS, TESTS
    from cranfield.report.tables.comparison import PARTS, SUMMARY
    from cranfield.stats.intervals import METHODS
    from cranfield.stats.paired import TAILS

    group = parser.add_argument_group("tests")
    group.add_argument(
        "--test",
        choices=TESTS,
        default="bootstrap",
        metavar="TEST",
        help=f"one of {', '.join(TESTS)} (default: bootstrap); the last three assume that all "
        "runs vary alike and claim too much when one is erratic",
    )
    group.add_argument(
        "--correction",
        choices=CORRECTIONS,
        help="for many comparisons, over the pairs of a measure (default: romano-wolf for tests "
        "by resampling, else holm)",
    )
    group.add_argument(
        "--tail",
        choices=TAILS,
        default="two",
        help="two: do they differ (default); one: is the run better than the baseline; seen: "
        "one-tailed in the direction that each pair has",
    )
    group.add_argument(
        "--alpha", type=_share, default=0.05, metavar="X", help="significance level (default: 0.05)"
    )
    group.add_argument(
        "--interval",
        choices=METHODS,
        help="confidence interval (default: studentized for the bootstrap test, else t)",
    )
    group.add_argument(
        "--resamples",
        type=_resamples,
        default=10_000,
        metavar="N",
        help="random draws (default: 10000); 'exact' for a randomization test of few topics",
    )
    group.add_argument(
        "--equivalence",
        type=float,
        metavar="MARGIN",
        help="also test that the difference lies within this margin (two t-tests, too sure with "
        "skewed differences on few topics)",
    )
    group.add_argument(
        "--detect",
        type=float,
        metavar="DIFFERENCE",
        help="also say how many topics a difference of this size needs",
    )
    group.add_argument(
        "--power",
        type=_share,
        default=0.8,
        metavar="X",
        help="power for --detect and the column detectable (default: 0.8)",
    )
    group.add_argument(
        "--show",
        type=_tables,
        metavar="TABLES",
        help=f"tables to print, of {SUMMARY},{','.join(PARTS)} (default: all but the summary, "
        "which latex has too; csv and tsv hold one)",
    )


def _tables(text: str) -> list[str]:
    from cranfield.report.tables.comparison import PARTS, SUMMARY

    names, known = text.split(","), (SUMMARY, *PARTS)
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(
                f"no table {name!r} (there are: {', '.join(known)}).{suggest(name, known)}"
            )
    return names


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return value


MOST_RESAMPLES = 100_000_000


def _resamples(text: str) -> int | str:
    if text == "exact":
        return text
    try:
        count = int(text) if text.isascii() and "_" not in text else 0
    except ValueError:
        count = 0
    if count > MOST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is too large: at most {MOST_RESAMPLES:,}")
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on, nor 'exact'")
    return count
