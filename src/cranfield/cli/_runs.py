"""Answers that are a run: the run itself in TREC's format, or the answer in any other."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cranfield.answers import Answer
from cranfield.cli._common import Output, show
from cranfield.data.tables import Table
from cranfield.io.files import write_whole

FORMATS = ("trec", "table", "json", "csv", "tsv", "latex", "html", "markdown")


def add_run_output(parser: argparse.ArgumentParser, what: str, others: str) -> None:
    """Where a run goes, and in which format the answer is printed."""
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="RUN", help=f"write {what} here")
    group.add_argument(
        "--format",
        choices=FORMATS,
        default="trec",
        help=f"trec: the run itself; others: {others} (default: trec)",
    )
    group.add_argument("--quiet", action="store_true", help="no progress and no warnings")


def run_name(output: Output, default: str) -> str:
    """The name of a run: that of its file."""
    return Path(output.path).name.split(".")[0] if output.path else default


def show_run(answer: Answer, run: Table, output: Output) -> None:
    """Write a run where it was asked for, and print it or the answer it came with."""
    from cranfield.io.trec import write_table

    text = "".join(write_table(run))
    if output.path is not None:
        write_whole(Path(output.path), text.encode())
    if output.form != "trec":
        show(answer, Output(output.form, None, output.quiet))
        return
    if not output.quiet:
        sys.stderr.writelines(f"note: {note}\n" for note in answer.notes)
    if output.path is None:
        sys.stdout.write(text)
