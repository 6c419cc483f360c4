"""`cranfield demo`: the collection that ships with the package, evaluated."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser, add
from cranfield.errors import UsageError
from cranfield.io.files import write_atomic
from cranfield.io.samples import NAMES, copy_sample, sample_folder
from cranfield.report.render import text_table

DESCRIPTION = """Evaluate the collection that ships with the package, print the tables and write
a report that opens in a browser."""


def make_parser() -> Parser:
    parser = Parser.of("demo", DESCRIPTION)
    help_text = "where to write the report"
    add(parser, "-o --output FILE", help_text, default="demo-report.html", dest="path")
    instead = parser.exclusive_group()
    add(instead, "--folder", "only print the folder of the collection", bool)
    add(instead, "--copy DIR", "only copy the collection into a new folder, to play with")
    help_text = """handwritten digits with rankings and annotations; pages with digits on them and
    the boxes of detectors; with --folder and --copy also photographs to make runs from"""
    add(parser, "--collection", help_text, NAMES, "digits")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    name = arguments["collection"]
    if arguments["folder"]:
        sys.stdout.write(f"{sample_folder(name)}\n")
    elif arguments["copy"] is not None:
        copy_sample(arguments["copy"], name)
        sys.stdout.write(
            f"The collection is in {arguments['copy']}; its SOURCES.md tells what it is.\n"
        )
    elif name == "pages":
        _show_boxes(str(output.path))
    elif name != "digits":
        raise UsageError(f"{name} has no runs to evaluate: --copy it, and make some")
    else:
        _demonstrate(str(output.path))
    return 0


def _show_boxes(path: str) -> None:
    from cranfield.evaluation.regions import evaluate_regions
    from cranfield.io.collection import read_collection
    from cranfield.report.collection import collection_report
    from cranfield.report.document import document_of

    collection = read_collection(sample_folder("pages"))
    scores = evaluate_regions(collection.need("boxes"), collection.box_runs, errors=0.3)
    for table in document_of(scores).tables:
        sys.stdout.write(f"{text_table(table, colour=False)}\n")
    write_atomic(Path(path), collection_report(collection).encode())
    sys.stdout.write(f"The report, with the boxes on their pages, is in {path}.\n")


def _demonstrate(path: str) -> None:
    from cranfield.report.demo import NEXT_COMMANDS, demonstrate

    parts, page = demonstrate()
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for part in parts:
        table = text_table(part.table, colour=colour)
        sys.stdout.write(f"{part.heading}\n\n{table}{part.remark}\n\n")
    write_atomic(Path(path), page.encode())
    lines = [f"The report is in {path}. Try next:\n"]
    lines += [f"\n  # {purpose}\n  {command}\n" for purpose, command in NEXT_COMMANDS]
    sys.stdout.write("".join(lines))
