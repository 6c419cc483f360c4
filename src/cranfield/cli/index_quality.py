"""`cranfield index-quality`: what an index of vectors could reach at best."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield.cli._common import Parser, add_jobs_option, add_output_options, emit
from cranfield.errors import InputError
from cranfield.evaluation.index_quality import (
    DEFAULT_MEASURES,
    OPTIMAL,
    IndexQuality,
    ItemVectors,
    evaluate_index,
)
from cranfield.io import read_qrels, read_run
from cranfield.io.files import describe
from cranfield.io.forms import coerce_run, name_runs
from cranfield.io.vectors import read_vectors
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.scores import leaderboard, per_unit


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield index-quality",
        description="Rank the collection with each topic's optimal query (Rocchio): the mean of "
        "the relevant vectors minus the mean of the others, by cosine. It says what the index can "
        "do for a query that knows the answer; what a run scores less is lost in its query.",
        epilog="VECTORS: .npy (a row per item; ids from --items, or row numbers from 0), .npz "
        "(arrays items, vectors) or .parquet (item, and vector or one column per dimension).",
    )
    parser.add_argument("vectors", metavar="VECTORS", help="vectors of all items of the collection")
    parser.add_argument("qrels", metavar="QRELS", help="judgements")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="runs to hold against it")
    parser.add_argument(
        "-m",
        "--measures",
        default=DEFAULT_MEASURES,
        metavar="NAMES",
        help=f"measures or sets of them (default: {DEFAULT_MEASURES})",
    )
    parser.add_argument("--items", metavar="FILE", help="ids of the rows of .npy, one per line")
    parser.add_argument(
        "--rel",
        type=float,
        default=1.0,
        metavar="G",
        help="the grade from which items are relevant when queries are formed (default: 1)",
    )
    parser.add_argument(
        "--raw", action="store_true", help="means of the vectors as they are, not of unit length"
    )
    parser.add_argument("--per-topic", action="store_true", help="also the values of each topic")
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    items, table = read_vectors(args.vectors, args.items)
    vectors = ItemVectors.of(items, table, describe(args.vectors))
    runs = [
        coerce_run(read_run(path, jobs=args.jobs), name)
        for name, path in (name_runs(args.runs) if args.runs else [])
    ]
    try:
        quality = evaluate_index(
            vectors,
            read_qrels(args.qrels, jobs=args.jobs),
            runs,
            args.measures,
            rel=args.rel,
            raw=args.raw,
            jobs=args.jobs,
        )
    except InputError as error:
        if error.where != "<vectors>":
            raise
        raise InputError(describe(args.vectors), error.problems, error.count) from None
    emit(_document(quality, args), args)
    return 0


def _document(quality: IndexQuality, args: argparse.Namespace) -> Document:
    scores = quality.scores
    payload: dict[str, Any] = scores.to_dict(per=("topic",) if args.per_topic else ())
    payload["command"] = "index-quality"
    payload["collection_size"] = quality.size
    tables = [leaderboard(scores)]
    machine = None
    others = [run for run in scores.runs if run != OPTIMAL]
    if others:
        rows: list[list[Cell]] = []
        for entry in payload["runs"]:
            if entry["name"] == OPTIMAL:
                continue
            lost = {m: quality.lost(entry["name"], m) for m in scores.measures}
            entry["lost"] = {str(m): v for m, (v, _) in lost.items()}
            entry["lost_share"] = {str(m): share for m, (_, share) in lost.items()}
            rows.append([entry["name"], *(f"{v:.4f} ({s:.0%})" for v, s in lost.values())])
        columns = [Column("run", numeric=False)]
        columns += [Column(str(m), heading=m.mean_label) for m in scores.measures]
        tables.append(
            Table(columns, rows, "Lost in the query (and as a share of what the index can do)")
        )
    if args.per_topic:
        machine = per_unit(scores, "topic")
        tables.append(machine)
    return Document(payload, tables, quality.notes, machine)
