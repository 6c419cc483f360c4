"""`cranfield displacement`: rankings of systems against rankings of people."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from cranfield._version import __version__
from cranfield.cli._common import (
    Parser,
    add_jobs_option,
    add_output_options,
    check_standard_input,
    emit,
    positive,
)
from cranfield.evaluation.displacement import (
    DEFAULT_MEASURES,
    DisplacementScores,
    evaluate_displacement,
)
from cranfield.io import read_run
from cranfield.io.forms import coerce_run, name_runs
from cranfield.io.opinions import read_subject_rankings
from cranfield.report.document import Cell, Column, Document, Table


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield displacement",
        description="How far rankings of systems are from ranked lists that people made.",
        epilog="SUBJECTS: subject,topic,item,significance, with significances in [0, 1]; a "
        "list is ordered by significance, equal ones as in the file.",
    )
    parser.add_argument("subjects", metavar="SUBJECTS", help="CSV subject,topic,item,significance")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    parser.add_argument(
        "-m",
        "--measures",
        default=DEFAULT_MEASURES,
        metavar="NAMES",
        help=f"measures of displacement (default: {DEFAULT_MEASURES})",
    )
    parser.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    parser.add_argument("--per-subject", action="store_true", help="also the mean of each subject")
    parser.add_argument("--per-topic", action="store_true", help="also every subject and topic")
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    check_standard_input(args)
    rankings = read_subject_rankings(args.subjects)
    runs = [coerce_run(read_run(path, jobs=args.jobs), name) for name, path in name_runs(args.runs)]
    scores = evaluate_displacement(
        rankings, runs, args.measures, collection_size=args.collection_size
    )
    emit(_document(scores, args), args)
    return 0


def _document(scores: DisplacementScores, args: argparse.Namespace) -> Document:
    per_subject = [
        {"run": run, "subject": subject}
        | {str(m): float(scores.per_subject(m)[r, s]) for m in scores.measures}
        for r, run in enumerate(scores.runs)
        for s, subject in enumerate(scores.subjects)
    ]
    per_topic = [
        {"run": run, "subject": subject, "topic": topic}
        | {str(m): _number(scores.values[m][r, s, t]) for m in scores.measures}
        for r, run in enumerate(scores.runs)
        for s, subject in enumerate(scores.subjects)
        for t, topic in enumerate(scores.topics)
    ]
    payload: dict[str, Any] = {
        "cranfield": __version__,
        "command": "displacement",
        "measures": [
            {
                "name": str(m),
                "mean_name": m.mean_label,
                "higher_is_better": m.higher_is_better,
            }
            for m in scores.measures
        ],
        "runs": [
            {
                "name": run,
                "mean": {str(m): float(scores.mean(m)[r]) for m in scores.measures},
                "sd": {str(m): float(scores.spread(m)[r]) for m in scores.measures},
                "subjects": len(scores.subjects),
                "topics": len(scores.topics),
            }
            for r, run in enumerate(scores.runs)
        ],
    }
    tables = [_overview(scores)]
    if args.per_subject:
        payload["per_subject"] = per_subject
        tables.append(_listing(scores, per_subject, ("run", "subject"), "Per subject"))
    if args.per_topic:
        payload["per_topic"] = per_topic
        tables.append(
            _listing(scores, per_topic, ("run", "subject", "topic"), "Per subject and topic")
        )
    return Document(payload, tables, scores.notes, tables[-1])


def _overview(scores: DisplacementScores) -> Table:
    columns = [Column("run", numeric=False)]
    for m in scores.measures:
        columns.append(Column(str(m), best="max" if m.higher_is_better else "min"))
        columns.append(Column(f"sd of {m}", heading="sd"))
    columns += [Column("subjects"), Column("topics")]
    rows: list[list[Cell]] = []
    for r, run in enumerate(scores.runs):
        row: list[Cell] = [run]
        for m in scores.measures:
            row += [float(scores.mean(m)[r]), _number(scores.spread(m)[r])]
        rows.append([*row, len(scores.subjects), len(scores.topics)])
    note = "sd: between subjects"
    return Table(columns, rows, notes=[note])


def _listing(
    scores: DisplacementScores, rows: list[dict[str, Any]], keys: Sequence[str], title: str
) -> Table:
    columns = [Column(k, numeric=False) for k in keys]
    columns += [Column(str(m)) for m in scores.measures]
    return Table(columns, [list(row.values()) for row in rows], title)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
