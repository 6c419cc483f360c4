"""`cranfield eval`: ranked runs against judgements."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import (
    Output,
    Parser,
    add_executor_option,
    add_gate_option,
    add_jobs_option,
    add_measures_option,
    add_output_options,
    add_public_option,
    check_standard_input,
    gate,
    in_background,
    show,
    take_measures,
    working,
)
from cranfield.cli._ranked_options import add_ranked_options
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io import THIRD, read_run
from cranfield.measures import SETS


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield eval",
        description="Evaluate ranked runs against judgements.",
        epilog="Files: TREC format, or .json, .csv, .tsv, .parquet; each may be .gz or .zst, "
        "and '-' is standard input.",
    )
    parser.add_argument("judgements", metavar="QRELS", help="judgements")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    add_measures_option(
        parser, f"measures or sets of them: {', '.join(SETS)} (default: {DEFAULT_MEASURES})"
    )
    add_ranked_options(parser)
    parser.add_argument(
        "--tie-range", action="store_true", help="also tell how far ties can move each mean"
    )
    parser.add_argument("--per-topic", action="store_true", help="also the values of each topic")
    parser.add_argument(
        "--third",
        choices=THIRD,
        help="runs of three columns without a header: what the third one is (default: a rank "
        "where it counts from 1 in every topic, else a score)",
    )
    add_gate_option(parser)
    add_public_option(parser)
    add_executor_option(parser, "each run is evaluated there")
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    given = make_parser().read(argv)
    output = Output.take(given)
    check_standard_input(given)
    floors = given.pop("fail_under")
    measures = " ".join([take_measures(given, DEFAULT_MEASURES), *(name for name, _ in floors)])
    third = given.pop("third")
    if third is not None:
        given["runs"] = [read_run(path, third=third) for path in given["runs"]]
    per = ("topic",) if given.pop("per_topic") else ()
    public = given.pop("public")
    if output.form == "html":
        return gate(_page(given, measures, output, public), floors)
    with working("evaluating", output) as progress:
        scores = in_background(
            lambda: evaluate(measures=measures, progress=progress, **given), progress.cancel
        )
    show(scores, output, per=per)
    return gate(scores, floors)


def _page(given: dict[str, object], measures: str, output: Output, public: bool) -> Scores:
    """The interactive report, which has every topic anyway."""
    from cranfield.report.cases import ranked_case
    from cranfield.report.parts import case_page
    from cranfield.report.tables import document_of

    with working("evaluating", output) as progress:
        case = in_background(
            lambda: ranked_case(measures=measures, progress=progress, **given),  # type: ignore[arg-type]
            progress.cancel,
        )
    board, *more = document_of(case.scores).tables
    show(case.scores, output, page=case_page(case, tables=[board], further=more, public=public))
    return case.scores
