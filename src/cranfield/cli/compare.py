"""`cranfield compare`: is the difference between runs real?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cranfield.cli._common import (
    Parser,
    add,
    common,
    from_zero,
    gate,
    measures,
    outputs,
    positive,
    share,
)
from cranfield.cli._inputs import (
    has_truths,
    score_option,
    show_powered,
    subject_options,
    truth_options,
    with_folder,
)
from cranfield.comparison.options import ComparisonOptions
from cranfield.comparison.regression_gate import (
    WAYS,
    accept_run,
    drift_checked,
    read_ledger,
    worse_checked,
)
from cranfield.errors import UsageError
from cranfield.evaluation.inputs import (
    SUBJECT_OPTIONS,
    EvaluationInput,
    baseline_measures,
    is_saved,
    with_baseline,
    with_notes,
)

if TYPE_CHECKING:
    from cranfield.comparison.answer import Comparison
    from cranfield.comparison.regression_gate import Check
    from cranfield.evaluation.scores import Scores
    from cranfield.notes import Progress

DESCRIPTION = """Compare runs with a baseline, or every two runs, under one or more measures:
differences with confidence intervals, p-values corrected for many comparisons, effect sizes,
and a leaderboard that says which runs cannot be told apart."""
EXAMPLES = """examples:
  cranfield compare qrels.txt bm25.run dense.run --baseline bm25
  cranfield compare qrels.txt *.run -m "AP nDCG@10" --test randomization --correction bh
  cranfield compare qrels.txt a.run b.run --baseline a --tail one --format latex
  cranfield compare --truth truth.csv a.csv b.csv -m F.example --baseline a
  cranfield compare --truth instances.json a.json b.json -m AP.region   (boxes)
  cranfield compare --gold people.qrels --silver model.qrels a.run b.run
  cranfield compare old.json new.json --baseline old   (scores that were saved)
"""


def main(argv: Sequence[str]) -> int:
    from cranfield.report.tables.comparison import chosen_parts

    parser = make_parser()
    arguments, output = parser.read(argv)
    arguments = with_folder("compare", arguments, "files")
    inputs = {name: arguments.pop(name) for name in SUBJECT_OPTIONS}
    if has_truths(arguments):
        # The truth, or the first file, is the one of the two that has no option.
        first, files = arguments.pop("truth"), arguments.pop("files")
        files = files if first is None else [first, *files]
        kind = EvaluationInput.of(files, first, **inputs)
        options = {k: v for k, v in kind.options.items() if k in SUBJECT_OPTIONS}
        return show_powered(parser, arguments, files, output, task=kind.kind, pairs=True, **options)
    inputs |= {"draws": arguments.pop("draws"), "rng": arguments["rng"]}
    has_saved_baseline = arguments["baseline"] is not None and is_saved(arguments["baseline"])
    fewest_runs = 1 if has_saved_baseline else 2
    subject = EvaluationInput.of(
        arguments.pop("files"), arguments.pop("truth"), min_runs=fewest_runs, **inputs
    )
    worse, by, junit, summary, accept = (
        arguments.pop(n) for n in ("fail_if_worse", "worse_by", "junit", "summary", "accept")
    )
    baseline_file = arguments["baseline"]
    if accept and not (has_saved_baseline and worse is not None):
        raise UsageError("--accept needs --fail-if-worse, and --baseline with a file of scores")
    subject, bad = subject.without_bad() if arguments.pop("keep_going") else (subject, ())
    names, public, tables = (
        arguments.pop("measures"),
        arguments.pop("public"),
        arguments.pop("show"),
    )
    further = arguments["margin"] is not None or arguments["detect"] is not None
    parts = chosen_parts(tables, output.form, further=further)
    # What is left are the options of a comparison.
    if subject.kind == "saved" and names is not None:
        arguments["measures"] = names
    comparison_options = ComparisonOptions(**arguments)
    page = None
    with output.working("comparing") as progress:
        if output.form == "html":
            from cranfield.report.cases import case_of
            from cranfield.report.html_report import comparison_page

            case_options: dict[str, Any] = {
                "compare": arguments,
                "jobs": arguments["jobs"],
                "progress": progress,
            }
            report_case = case_of(subject, names, **case_options)
            page = comparison_page(report_case, parts=parts, public=public, **output.head(public))
            scores, comparison = report_case.scores, report_case.comparison
        else:
            scores, comparison = _compare_runs(subject, names, comparison_options, progress)
        checks: tuple[Check, ...] = ()
        if comparison is not None and worse is not None:
            checks = worse_checked(comparison, worse, by)
            ledger = read_ledger(baseline_file)
            if ledger is not None:
                checks += drift_checked(scores, ledger, worse, by, comparison_options)
    code = 1 if bad else 0
    if comparison is not None:
        output.show(with_notes(comparison, bad), page=page, parts=parts)
        if worse is not None:
            code = gate(checks, junit, summary, output) or code
    if accept and not code:
        accept_run(baseline_file, scores).save(baseline_file)
        output.wrote(baseline_file, "the run is the last accepted baseline")
    return code


def _compare_runs(
    subject: EvaluationInput, names: str | None, options: ComparisonOptions, progress: Progress
) -> tuple[Scores, Comparison]:
    from cranfield.comparison.compare import compare_scores

    measure_names = names or baseline_measures(options.baseline)
    scores = joined = subject.scores(measure_names, options.jobs, progress.part(0.0, 0.5))
    if options.baseline is not None:
        joined, baseline = with_baseline(scores, options.baseline)
        options = replace(options, baseline=baseline)
    return scores, compare_scores(joined, options, progress.part(0.5, 1.0))


def make_parser() -> Parser:
    parser = Parser.of("compare", DESCRIPTION, EXAMPLES, raw=True)
    help_text = "measures, such as 'AP nDCG@10' (default: those of eval; with --truth, of label)"
    measures(parser, help_text)
    help_text = """the run that all others are compared with, or a file of its saved scores
    (default: every two runs)"""
    add(parser, "--baseline RUN", help_text)
    _test_options(parser)
    group = parser.group("a gate for changes")
    help_text = "exit with 1 when a run is shown to be worse than the baseline by more than X"
    add(group, "--fail-if-worse X", help_text, from_zero)
    help_text = """test: when the interval of the difference shows a loss of more than X;
    non-inferiority (or interval): unless it rules such a loss out; superiority: unless it shows a
    gain of more than X"""
    add(group, "--worse-by", help_text, WAYS, "test")
    help_text = """when the gate lets the run pass, add it to the accepted baselines in the file of
    --baseline; later runs are held against the last one, and for their drift against all"""
    add(group, "--accept", help_text, bool)
    common(group, "junit", "summary")
    subject_options(parser)
    truth_options(parser)
    score_option(parser)
    common(parser, "keep-going", "public", "title", "pictures", "jobs", "seed")
    outputs(parser)
    return parser


def _test_options(parser: Parser) -> None:
    from cranfield.options import (
        CORRECTION_FAMILIES,
        CORRECTIONS,
        INTERVAL_METHODS,
        RESAMPLED_UNITS,
        TAILS,
        TESTS,
    )
    from cranfield.report.tables.comparison import CONCLUSIONS, PARTS, SUMMARY

    group = parser.group("tests")
    help_text = f"""one of {", ".join(TESTS)} (default: bootstrap); the last three assume that all
    runs vary alike and claim too much when one is erratic"""
    add(group, "--test TEST", help_text, TESTS, "bootstrap")
    help_text = """for many comparisons, over the pairs of a measure (default: romano-wolf for tests
    by resampling, else holm)"""
    add(group, "--correction", help_text, CORRECTIONS)
    help_text = """pairs: for the pairs of each measure (default); measures: for several measures
    as well"""
    add(group, "--correct", help_text, CORRECTION_FAMILIES, "pairs")
    help_text = """two: do they differ (default); one: is the run better than the baseline; seen:
    one-tailed in the direction that each pair has"""
    add(group, "--tail", help_text, TAILS, "two")
    add(group, "--alpha X", "significance level", share, 0.05)
    help_text = "confidence interval (default: studentized for the bootstrap test, else t)"
    add(group, "--interval", help_text, INTERVAL_METHODS)
    help_text = """annotation: what is drawn anew: items (default), also under measures that average
    over concepts; concepts; or both"""
    add(group, "--units", help_text, RESAMPLED_UNITS)
    common(group, "design")
    help_text = "random draws (default: 10000); 'exact' for a randomization test of few topics"
    add(group, "--resamples N", help_text, _resamples, 10_000)
    help_text = """also test that the difference lies within this margin (two t-tests, too sure with
    skewed differences on few topics)"""
    add(group, "--equivalence MARGIN", help_text, float, dest="margin")
    help_text = "also say how many topics a difference of this size needs"
    add(group, "--detect DIFFERENCE", help_text, float)
    add(group, "--power X", "power for --detect and the column detectable", share, 0.8)
    help_text = f"""tables to print, of {SUMMARY},{",".join(PARTS)},{CONCLUSIONS}, or all
    (default: the summary;
    for programs and pages all but it, for latex all; csv and tsv hold one)"""
    add(group, "--show TABLES", help_text)


def _resamples(text: str) -> int | str:
    if text == "exact":
        return text
    try:
        return positive(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, nor 'exact'") from None
