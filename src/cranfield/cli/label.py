"""`cranfield label`: runs that annotate items with concepts, against the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from cranfield.cli._label_inputs import add_label_options, take_label_options
from cranfield.errors import UsageError
from cranfield.evaluation.label_inputs import DEFAULT_MEASURES, DEFAULT_WITH_COSTS
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.scores import Scores
from cranfield.measures.labels.registry import LABEL_SETS


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield label",
        description="Evaluate runs that annotate items with concepts.",
        epilog="Files: ImageCLEF text (item, then a number per concept; 2010: 0/1 rows after the "
        "confidence rows), .csv or .tsv (wide, or item,concept,value), .parquet, .npz; each may "
        "be .gz or .zst.",
    )
    parser.add_argument("truth", metavar="TRUTH", help="the true concepts of the items")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    add_measures_option(
        parser,
        f"measures or sets of them: {', '.join(LABEL_SETS)} (default: {DEFAULT_MEASURES}; with an "
        f"ontology or cost map: {DEFAULT_WITH_COSTS})",
    )
    add_label_options(parser)
    tuning = parser.add_argument_group("thresholds chosen on some of the items")
    tuning.add_argument(
        "--tune-threshold", metavar="MEASURE", help="the measure that they shall make best"
    )
    tuning.add_argument(
        "--on", metavar="FILE", help="items, one a line, to choose on; the others are evaluated"
    )
    tuning.add_argument(
        "--tune-per",
        choices=("run", "concept"),
        default="run",
        help="one for each run (default) or each concept",
    )
    parser.add_argument("--per-item", action="store_true", help="also the values of each item")
    parser.add_argument(
        "--per-concept", action="store_true", help="also the values of each concept"
    )
    parser.add_argument(
        "--explain", metavar="ITEM", help="instead, how the scores of one item come about"
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
    task = {
        "truth": given["truth"],
        "runs": given["runs"],
        "measures": take_measures(given),
        **take_label_options(given),
    }
    per = [unit for unit in ("item", "concept") if given[f"per_{unit}"]]
    if given["explain"] is not None:
        return _explain(task, given["explain"], output)
    if output.form == "html" and given["tune_threshold"] is None:
        return _page(task, per, given["jobs"], output, given["fail_under"], public=given["public"])
    ask, how = _asking(given)
    with working("evaluating", output) as progress:
        scores = in_background(
            lambda: ask(**task, **how, keep=bool(per), jobs=given["jobs"], progress=progress),
            progress.cancel,
        )
    show(scores, output, per=per)
    return gate(scores, given["fail_under"])


def _asking(given: dict[str, Any]) -> tuple[Callable[..., Scores], dict[str, Any]]:
    """Evaluation as it is, or with thresholds chosen first."""
    if given["tune_threshold"] is None:
        return evaluate_labels, {"executor": given["executor"]}
    if given["on"] is None:
        raise UsageError("--tune-threshold needs the items to choose on: --on FILE")
    from cranfield.evaluation.tuning import evaluate_tuned

    return evaluate_tuned, {
        "tune": given["tune_threshold"],
        "on": given["on"],
        "per": given["tune_per"],
    }


def _explain(task: dict[str, Any], item: str, output: Output) -> int:
    from cranfield.evaluation.explanations import explain_labels

    show(explain_labels(item=item, **task), output)
    return 0


def _page(
    task: dict[str, Any],
    per: Sequence[str],
    jobs: int,
    output: Output,
    floors: Sequence[tuple[str, float]],
    *,
    public: bool,
) -> int:
    """The interactive report."""
    from cranfield.report.cases import label_case
    from cranfield.report.parts import case_page
    from cranfield.report.tables import document_of

    with working("evaluating", output) as progress:
        case = in_background(
            lambda: label_case(jobs=jobs, progress=progress, **task), progress.cancel
        )
    # A public page has its own rows for items, under numbers.
    tables = document_of(case.scores, per=() if public else per).tables
    show(case.scores, output, page=case_page(case, tables=tables, public=public))
    return gate(case.scores, floors)
