"""`cranfield demo`: the collection that ships with the package, evaluated."""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser, emit
from cranfield.evaluation import evaluate
from cranfield.report.document import Document
from cranfield.report.scores import leaderboard, per_unit

MEASURES = "AP nDCG@10 RR P@5 P@10 Rprec Bpref Judged@10"
SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "photos"


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield demo",
        description="Evaluate the collection that ships with the package, print the table and "
        "write a report that opens in a browser.",
    )
    parser.add_argument(
        "-o", "--output", default="demo-report.html", metavar="FILE",
        help="where to write the report (default: demo-report.html)",
    )  # fmt: skip
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    with (SAMPLE / "collection.toml").open("rb") as file:
        collection = tomllib.load(file)
    scores = evaluate(
        SAMPLE / collection["judgements"],
        [SAMPLE / run for run in collection["runs"]],
        MEASURES,
        collection_size=collection["size"],
    )
    document = Document(
        scores.to_dict(per=("topic",)), [leaderboard(scores), per_unit(scores, "topic")]
    )
    sys.stdout.write(f"{collection['title']}: {len(scores.units['topic'])} topics\n\n")
    shown = Document(document.payload, document.tables[:1])
    emit(shown, argparse.Namespace(quiet=True, output=None, format="table"))
    emit(document, argparse.Namespace(quiet=True, output=args.output, format="html"))
    sys.stdout.write(
        f"\nThe report is in {args.output}. Try next:\n"
        f"  cranfield eval {SAMPLE}/qrels.txt {SAMPLE}/*.run -m 'AP nDCG@10' --per-topic\n"
        "  cranfield measures nDCG\n"
    )
    return 0
