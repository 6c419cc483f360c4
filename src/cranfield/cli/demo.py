"""`cranfield demo`: the collection that ships with the package, evaluated."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser
from cranfield.errors import UsageError
from cranfield.io.files import write_whole
from cranfield.io.samples import NAMES, copy_sample, sample_folder
from cranfield.report.render import text_table

# What to try next: commands that work as they stand, one after the other.
NEXT = (
    ("the files, to play with", "cranfield demo --copy digits"),
    (
        "which differences are real?",
        "cranfield compare digits/qrels.txt.gz digits/runs/*.run.gz -m 'AP nDCG@10' "
        "--baseline pixels",
    ),
    (
        "how far can ties move a mean?",
        "cranfield eval digits/qrels.txt.gz digits/runs/bits.run.gz -m 'AP P@10' --tie-range",
    ),
    (
        "which concepts are hard?",
        "cranfield label digits/truth.csv digits/labels/*.csv.gz -m 'AP.concept F.concept' "
        "--per-concept",
    ),
    (
        "can chance win?",
        "cranfield lab random --truth digits/truth.csv digits/labels/* --ontology "
        "digits/ontology.csv --rules digits/rules.toml -m 'F.example OS HS AP.concept'",
    ),
    (
        "whose judgements should not count?",
        "cranfield agreement digits/judgement-log.csv.gz --quality",
    ),
    ("what does a number mean?", "cranfield measures nDCG"),
)


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield demo",
        description="Evaluate the collection that ships with the package, print the tables and "
        "write a report that opens in a browser.",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="demo-report.html",
        metavar="FILE",
        help="where to write the report (default: demo-report.html)",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--folder", action="store_true", help="only print the folder of the collection"
    )
    instead.add_argument(
        "--copy", metavar="DIR", help="only copy the collection into a new folder, to play with"
    )
    parser.add_argument(
        "--collection",
        choices=NAMES,
        default="digits",
        help="with --folder and --copy: handwritten digits with runs, or photographs to make runs "
        "from (default: digits)",
    )
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if args.folder:
        sys.stdout.write(f"{sample_folder(args.collection)}\n")
    elif args.copy is not None:
        copy_sample(args.copy, args.collection)
        sys.stdout.write(f"The collection is in {args.copy}; its SOURCES.md tells what it is.\n")
    elif args.collection != "digits":
        raise UsageError(f"{args.collection} has no runs to evaluate: --copy it, and make some")
    else:
        _demonstrate(args.output)
    return 0


def _demonstrate(output: str) -> None:
    from cranfield.report.demo import demonstrate

    parts, page = demonstrate()
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for part in parts:
        sys.stdout.write(f"{part.heading}\n\n")
        sys.stdout.write(text_table(part.table, colour=colour))
        sys.stdout.write(f"{part.remark}\n\n")
    write_whole(Path(output), page.encode())
    lines = [f"The report is in {output}. Try next:\n"]
    lines += [f"\n  # {what}\n  {command}\n" for what, command in NEXT]
    sys.stdout.write("".join(lines))
