"""`cranfield eval`: ranked runs against judgements."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield.cli._common import (
    Parser,
    Watch,
    add_jobs_option,
    add_output_options,
    check_standard_input,
    emit,
    in_background,
    positive,
)
from cranfield.cli._pieces import THREADS, add_executor_option, each_run, eval_piece, unpack
from cranfield.data import Run
from cranfield.evaluation.ranked import DEFAULT_MEASURES, Progress, evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io import read_qrels, read_run
from cranfield.io.files import can_be_read_again
from cranfield.io.forms import name_runs
from cranfield.measures import SETS, Measure, parse_measures
from cranfield.measures.ranked.plans import MISSING_RANKS
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.scores import leaderboard, per_unit, score_columns


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield eval",
        description="Evaluate ranked runs against judgements.",
        epilog="Files: TREC format, or .json, .csv, .tsv, .parquet; each may be .gz or .zst, "
        "and '-' is standard input.",
    )
    parser.add_argument("qrels", metavar="QRELS", help="judgements")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    parser.add_argument(
        "-m",
        "--measures",
        default=DEFAULT_MEASURES,
        metavar="NAMES",
        help=f"measures or sets of them: {', '.join(SETS)} (default: {DEFAULT_MEASURES})",
    )
    parser.add_argument(
        "--topics",
        choices=("judged", "run"),
        default="judged",
        help="average over the judged topics (a missing one is an empty ranking) or over those "
        "that the run has (default: judged)",
    )
    parser.add_argument(
        "--ties",
        choices=("id", "file", "average"),
        default="id",
        help="order of items with one score: by id as trec_eval does, as in the file, or the "
        "expected value over all orders (default: id)",
    )
    parser.add_argument(
        "--tie-range", action="store_true", help="also tell how far ties can move each mean"
    )
    parser.add_argument(
        "--judged-only", action="store_true", help="take unjudged items out of the rankings first"
    )
    parser.add_argument(
        "--max-items", type=positive, metavar="N", help="look at the first N items of each ranking"
    )
    parser.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    parser.add_argument(
        "--missing",
        choices=MISSING_RANKS,
        default="worst",
        help="where relevant items stand that were not retrieved, for measures of all ranks "
        "(default: worst, the last ranks of the collection)",
    )
    parser.add_argument(
        "--gmt",
        type=positive,
        metavar="N",
        help="NMRR: the largest number of relevant items of any topic (default: of the topics "
        "evaluated)",
    )
    parser.add_argument("--per-topic", action="store_true", help="also the values of each topic")
    add_executor_option(parser, "each run is evaluated there")
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if args.executor != THREADS:
        return _elsewhere(args)
    progress = Progress()

    def fraction() -> float:
        passes = 3 if args.tie_range else 1
        return progress.done / max(progress.total, 1) / passes

    with Watch("evaluating", fraction, quiet=args.quiet) as watch:
        scores, ranges = in_background(lambda: evaluate_args(args, progress), progress.cancel)
    emit(_document(scores, ranges, args, watch.messages), args)
    return 0


def evaluate_args(
    args: argparse.Namespace, progress: Progress
) -> tuple[Scores, tuple[Scores, Scores] | None]:
    check_standard_input(args)
    judgements = read_qrels(args.qrels, jobs=args.jobs)
    common = {**_options(args), "jobs": args.jobs, "progress": progress}
    common.pop("ties")
    runs: list[str | Run] = list(args.runs)
    if not args.tie_range:
        return evaluate(judgements, runs, args.measures, ties=args.ties, **common), None
    # A pipe can be read only once, and the range takes three passes.
    runs = [run if can_be_read_again(run) else read_run(run, jobs=args.jobs) for run in args.runs]
    scores = evaluate(judgements, runs, args.measures, ties=args.ties, **common)
    worst = evaluate(judgements, runs, args.measures, ties="worst", **common)
    best = evaluate(judgements, runs, args.measures, ties="best", **common)
    return scores, (worst, best)


def _elsewhere(args: argparse.Namespace) -> int:
    """Each run evaluated by a worker of its own."""
    name_runs(list(args.runs))
    done = [0.0]
    with Watch("evaluating", lambda: done[-1], quiet=args.quiet) as watch:
        answers = each_run(args, eval_piece, done.append)
    scores = unpack([a["scores"] for a in answers], parse_measures)
    ranges = None
    if args.tie_range:
        worst, best = (unpack([a["ranges"][k] for a in answers], parse_measures) for k in (0, 1))
        ranges = worst, best
    emit(_document(scores, ranges, args, watch.messages), args)
    return 0


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """What was said about the evaluation, as `evaluate` takes it."""
    names = ("topics", "ties", "judged_only", "max_items", "collection_size", "missing", "gmt")
    return {name: getattr(args, name) for name in names}


def _page(
    scores: Scores, args: argparse.Namespace, board: Table, more: Sequence[Table]
) -> str | None:
    if args.format != "html":
        return None
    from cranfield.cli._pages import ranked_page

    return ranked_page(
        scores, args.qrels, args.runs, _options(args), tables=[board], more=more, jobs=args.jobs
    )


def _document(
    scores: Scores,
    ranges: tuple[Scores, Scores] | None,
    args: argparse.Namespace,
    warnings: Sequence[str],
) -> Document:
    payload = scores.to_dict(per=("topic",) if args.per_topic else ())
    tables = [leaderboard(scores)]
    machine = None
    if ranges is not None:
        tables.append(_tie_table(scores, ranges))
        for entry, low, high in zip(
            payload["runs"], ranges[0].mean().values(), ranges[1].mean().values(), strict=True
        ):
            entry["tie_range"] = {
                str(m): sorted((low[str(m)], high[str(m)])) if _has_tie_range(m) else None
                for m in scores.measures
            }
    # The report has every topic anyway.
    page = _page(scores, args, tables[0], tables[1:])
    if args.per_topic:
        machine = per_unit(scores, "topic")
        tables.append(machine)
    return Document(payload, tables, [*warnings, *scores.notes], machine, page)


def _tie_table(scores: Scores, ranges: tuple[Scores, Scores]) -> Table:
    low, high = (r.mean() for r in ranges)
    shown = score_columns(scores)
    rows: list[list[Cell]] = []
    for run in scores.runs:
        row: list[Cell] = [run]
        for m, column in zip(scores.measures, shown, strict=True):
            a, b = sorted((low[run][str(m)], high[run][str(m)]))
            row.append(f"{column.show(a)} to {column.show(b)}" if _has_tie_range(m) else None)
        rows.append(row)
    columns = [Column("run", numeric=False)]
    columns += [Column(c.name, heading=c.label) for c in shown]
    return Table(columns, rows, "How far the order within ties can move each value")


def _has_tie_range(measure: Measure) -> bool:
    """Whether good items first and good items last are the ends of what a measure can be."""
    return measure.higher_is_better is not None or measure.ties == "of no effect"
