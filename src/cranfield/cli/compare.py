"""`cranfield compare`: is the difference between runs real?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from cranfield.cli._common import (
    Parser,
    Watch,
    add_jobs_option,
    add_output_options,
    add_seed_option,
    check_standard_input,
    emit,
    positive,
)
from cranfield.cli._label_inputs import add_label_options, label_scores
from cranfield.comparison.answer import Comparison
from cranfield.errors import UsageError, suggest
from cranfield.evaluation.scores import Scores
from cranfield.report.document import Table

DESCRIPTION = """Compare runs with a baseline, or every two runs, under one or more measures:
differences with confidence intervals, p-values corrected for many comparisons, effect sizes,
and a leaderboard that says which runs cannot be told apart."""
EXAMPLES = """examples:
  cranfield compare qrels.txt bm25.run dense.run --baseline bm25
  cranfield compare qrels.txt *.run -m "AP nDCG@10" --test randomization --correction bh
  cranfield compare qrels.txt a.run b.run --baseline a --tail one --format latex
  cranfield compare --truth truth.csv a.csv b.csv -m F.example --baseline a
"""


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    done = [0.0]
    with Watch("comparing", lambda: done[0], quiet=args.quiet) as watch:
        from cranfield.comparison.compare import compare
        from cranfield.report.tables.comparison import PARTS, SUMMARY, comparison_document

        scores, notes = _label_scores(args) if args.truth else _ranked_scores(args)
        comparison = compare(
            scores,
            baseline=args.baseline,
            test=args.test,
            correction=args.correction,
            tail=args.tail,
            alpha=args.alpha,
            interval=args.interval,
            resamples=args.resamples,
            margin=args.equivalence,
            detect=args.detect,
            power=args.power,
            rng=args.seed,
            jobs=args.jobs,
            progress=lambda fraction: done.__setitem__(0, fraction),
        )
        usual = (SUMMARY, *PARTS) if args.format == "latex" else PARTS
        document = comparison_document(comparison, parts=args.show or usual)
        if args.format == "html":
            document = replace(document, page=_page(scores, comparison, document.tables, args))
    emit(replace(document, warnings=[*dict.fromkeys(watch.messages), *notes, *scores.notes]), args)
    return 0


def _page(
    scores: Scores, comparison: Comparison, tables: Sequence[Table], args: argparse.Namespace
) -> str:
    from cranfield.cli._pages import label_page, ranked_page
    from cranfield.report.tables.comparison import further_tables

    more = further_tables(comparison)
    if args.truth:
        return label_page(scores, args, tables=tables, more=more, comparison=comparison)
    options = {"topics": args.topics, "collection_size": args.collection_size}
    return ranked_page(
        scores,
        args.paths[0],
        args.paths[1:],
        options,
        tables=tables,
        more=more,
        comparison=comparison,
        jobs=args.jobs,
    )


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield compare",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="FILE",
        help="the judgements, then two runs or more; with --truth: runs only",
    )
    parser.add_argument(
        "-m",
        "--measures",
        metavar="NAMES",
        help="measures, such as 'AP nDCG@10' (default: those of eval; with --truth, of label)",
    )
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="the run that all others are compared with (default: every two runs)",
    )
    _add_test_options(parser)
    _add_ranked_options(parser)
    parser.add_argument(
        "--truth", metavar="TRUTH", help="compare annotation: the true concepts of each item"
    )
    add_label_options(parser)
    add_jobs_option(parser)
    add_seed_option(parser)
    add_output_options(parser)
    return parser


def _add_test_options(parser: argparse.ArgumentParser) -> None:
    from cranfield.comparison.compare import TESTS
    from cranfield.report.tables.comparison import PARTS, SUMMARY
    from cranfield.stats.corrections import CORRECTIONS
    from cranfield.stats.intervals import METHODS

    group = parser.add_argument_group("tests")
    group.add_argument(
        "--test",
        choices=TESTS,
        default="bootstrap",
        metavar="TEST",
        help=f"one of {', '.join(TESTS)} (default: bootstrap)",
    )
    group.add_argument(
        "--correction",
        choices=tuple(CORRECTIONS),
        help="for many comparisons, over the pairs of a measure (default: holm)",
    )
    group.add_argument(
        "--tail",
        choices=("one", "two"),
        default="two",
        help="one: is the run better than the baseline; two: do they differ (default)",
    )
    group.add_argument(
        "--alpha", type=_share, default=0.05, metavar="X", help="significance level (default: 0.05)"
    )
    group.add_argument(
        "--interval",
        choices=METHODS,
        help="confidence interval (default: bca for the bootstrap test, else t)",
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
        help="also test that the difference lies within this margin",
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


def _add_ranked_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("ranked runs")
    group.add_argument(
        "--topics",
        choices=("judged", "run"),
        default="judged",
        help="judged: a topic that a run misses scores as an empty ranking (default); "
        "run: it is left out, and pairs share the topics that both have",
    )
    group.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
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


def _resamples(text: str) -> int | str:
    if text == "exact":
        return text
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on, nor 'exact'")
    return count


def _ranked_scores(args: argparse.Namespace) -> tuple[Scores, list[str]]:
    from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate

    for option in ("ontology", "rules", "costmap", "agreement", "concepts", "threshold"):
        if getattr(args, option):
            raise UsageError(f"--{option} is for annotation; name the truth with --truth")
    if len(args.paths) < 3:
        raise UsageError(
            "compare needs judgements and two runs or more: cranfield compare QRELS RUN RUN"
        )
    check_standard_input(args)
    scores = evaluate(
        args.paths[0],
        args.paths[1:],
        args.measures or DEFAULT_MEASURES,
        topics=args.topics,
        collection_size=args.collection_size,
        jobs=args.jobs,
    )
    return scores, []


def _label_scores(args: argparse.Namespace) -> tuple[Scores, list[str]]:
    if args.collection_size or args.topics != "judged":
        raise UsageError("--topics and --collection-size are for ranked runs, not for annotation")
    if len(args.paths) < 2:
        raise UsageError("compare needs two runs or more: cranfield compare --truth TRUTH RUN RUN")
    args.runs = args.paths
    return label_scores(args, keep=True)
