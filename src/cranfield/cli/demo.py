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
    instead = parser.add_mutually_exclusive_group()
    add(instead, "--folder", "only print the folder of the collection", bool)
    add(instead, "--copy DIR", "only copy the collection into a new folder, to play with")
    help_text = """with --folder and --copy: handwritten digits with runs, or photographs to make
    runs from"""
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
    elif name != "digits":
        raise UsageError(f"{name} has no runs to evaluate: --copy it, and make some")
    else:
        _demonstrate(str(output.path))
    return 0


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
