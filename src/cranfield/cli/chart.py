"""`cranfield chart`: runs as a picture."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cranfield.cli._common import Parser, Watch, add_jobs_option, add_seed_option, positive
from cranfield.cli._label_inputs import (
    add_label_options,
    check_names,
    label_scores,
    read_runs,
    read_truth,
)
from cranfield.data.alignment import align
from cranfield.errors import UsageError
from cranfield.evaluation.curves import RECALL_MEASURES
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io.files import write_whole
from cranfield.report import charts
from cranfield.report.charts.model import Chart
from cranfield.report.charts.parts import best_first, measure_of

EXAMPLES = """examples:
  cranfield chart leaderboard qrels.txt *.run -m nDCG@10 -o leaderboard.svg
  cranfield chart differences qrels.txt a.run b.run -m AP --baseline a -o gains.pdf
  cranfield chart roc --truth truth.csv a.csv b.csv --concept Sky -o roc.png
  cranfield chart behaviour -m "AP RR nDCG" -o behaviour.svg
"""


def make_parser() -> argparse.ArgumentParser:
    width = max(map(len, CHARTS))
    listed = "\n".join(f"  {name:<{width}}  {what}" for name, (_, what) in CHARTS.items())
    parser = Parser(
        prog="cranfield chart",
        description=f"Draw runs. The charts:\n{listed}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("chart", choices=CHARTS, metavar="CHART", help="one of those above")
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="FILE",
        help="the judgements, then the runs; with --truth: runs only",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help=".svg, .png, .pdf, or .json: the Vega-Lite specification",
    )
    parser.add_argument(
        "-m",
        "--measures",
        metavar="NAMES",
        help="what to draw: the first measure, the first two for scatter, all for behaviour; none "
        "for precision-recall and roc",
    )
    parser.add_argument("--run", metavar="RUN", help="the run to draw (default: the best)")
    parser.add_argument("--baseline", metavar="RUN", help="the run that differences are to")
    parser.add_argument("--concept", metavar="NAME", help="roc: one concept (default: all pooled)")
    parser.add_argument(
        "--collection-size",
        type=positive,
        metavar="N",
        help="number of items in the collection (behaviour: of ranks, default: 100)",
    )
    parser.add_argument(
        "--relevant",
        type=positive,
        default=1,
        metavar="N",
        help="behaviour: relevant items, of which one is retrieved (default: 1)",
    )
    parser.add_argument("--truth", metavar="TRUTH", help="annotation: the true concepts")
    add_label_options(parser)
    add_jobs_option(parser)
    add_seed_option(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    kind = charts.kind_of(args.output)
    with Watch("drawing", lambda: 0.0, quiet=args.quiet) as watch:
        picture = charts.draw(CHARTS[args.chart][0](args), kind)
    if not args.quiet:
        for message in dict.fromkeys(watch.messages):
            sys.stderr.write(f"warning: {message}\n")
    write_whole(Path(args.output), picture)
    return 0


def _scores(args: argparse.Namespace, measures: str | None = None) -> Scores:
    if args.truth:
        _need_paths(args, 1, "runs")
        args.runs = args.paths
        return label_scores(args, keep=True)[0]
    _need_paths(args, 2, "judgements and runs, or --truth and runs")
    return evaluate(
        args.paths[0],
        args.paths[1:],
        measures or args.measures or DEFAULT_MEASURES,
        collection_size=args.collection_size,
        jobs=args.jobs,
    )


def _need_paths(args: argparse.Namespace, least: int, what: str) -> None:
    if len(args.paths) < least:
        raise UsageError(f"the chart {args.chart} needs {what}. See: cranfield chart --help")


def _of_comparison(draw: Callable[..., Chart]) -> Callable[[argparse.Namespace], Chart]:
    def make(args: argparse.Namespace) -> Chart:
        scores = _scores(args)
        first = str(scores.measures[0])
        found = scores.compare(
            baseline=args.baseline, measures=[first], rng=args.seed, jobs=args.jobs
        )
        return draw(found, first)

    return make


def _differences(args: argparse.Namespace) -> Chart:
    scores = _scores(args)
    if len(scores.runs) < 2:
        raise UsageError("differences need two runs or more")
    others = [scores.runs[i] for i in best_first(scores, scores.measures[0])]
    baseline = args.baseline or next(r for r in scores.runs if r != args.run)
    run = args.run or next(r for r in others if r != baseline)
    return charts.differences(scores, run, baseline)


def _scatter(args: argparse.Namespace) -> Chart:
    scores = _scores(args)
    if len(scores.measures) < 2:
        raise UsageError("scatter needs two measures, such as -m 'AP nDCG@10'")
    first, second = map(str, scores.measures[:2])
    return charts.measures(scores, first, second)


def _precision_recall(args: argparse.Namespace) -> Chart:
    if args.truth or args.measures:
        raise UsageError(
            "precision-recall is of ranked runs and has its own measures: leave out --truth and -m"
        )
    return charts.precision_recall(_scores(args, RECALL_MEASURES))


def _roc(args: argparse.Namespace) -> Chart:
    _need_truth(args)
    if args.measures:
        raise UsageError("roc is of confidences, not of a measure: leave out -m")
    truth, _ = read_truth(args)
    aligned = (align(run, truth).run for run in read_runs(args))
    return charts.roc(truth, aligned, args.concept)


def _concepts(args: argparse.Namespace) -> Chart:
    _need_truth(args)
    args.measures = args.measures or "AP.concept"
    scores = _scores(args)
    return charts.concepts(scores, read_truth(args)[0], args.run, str(measure_of(scores, None)))


def _density(args: argparse.Namespace) -> Chart:
    _need_truth(args)
    return charts.density(_scores(args))


def _need_truth(args: argparse.Namespace) -> None:
    if not args.truth:
        raise UsageError(f"the chart {args.chart} is of annotation: name the truth with --truth")
    _need_paths(args, 1, "runs")
    args.runs = args.paths
    check_names(args)


def _behaviour(args: argparse.Namespace) -> Chart:
    if args.paths or args.truth:
        raise UsageError("behaviour is of measures alone; it takes no files")
    return charts.behaviour(
        args.measures or DEFAULT_MEASURES, size=args.collection_size or 100, relevant=args.relevant
    )


CHARTS: dict[str, tuple[Callable[[argparse.Namespace], Chart], str]] = {
    "leaderboard": (
        _of_comparison(charts.leaderboard),
        "means with intervals, and runs that cannot be told apart",
    ),
    "significance": (_of_comparison(charts.significance), "every pair of runs, with stars"),
    "heatmap": (lambda args: charts.heatmap(_scores(args)), "runs by topics (items, concepts)"),
    "differences": (_differences, "a run minus a baseline, topic by topic"),
    "precision-recall": (_precision_recall, "precision at eleven levels of recall, with bands"),
    "roc": (_roc, "annotation: ROC with points of equal error"),
    "scatter": (_scatter, "runs under two measures"),
    "density": (_density, "annotation: a score against label density"),
    "concepts": (_concepts, "annotation: values of concepts, with their frequency"),
    "behaviour": (_behaviour, "measures when one relevant item moves over the ranks"),
}
