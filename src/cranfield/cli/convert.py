"""`cranfield convert`: judgements, runs or labels from one format to another."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cranfield.cli._common import Parser
from cranfield.cli._words import in_options
from cranfield.io.convert import KINDS, convert


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield convert",
        description="Convert judgements, runs or labels of items between formats; the endings of "
        "the names choose. Judgements and runs: .json, .csv, .tsv, .parquet, anything else is "
        "TREC's format; .gz packs the output. Labels: .csv, .npz, anything else is ImageCLEF text.",
    )
    parser.add_argument("source", metavar="IN", help="file to read, or '-'")
    parser.add_argument("target", metavar="OUT", help="file to write, or '-' for TREC's format")
    parser.add_argument("--kind", choices=KINDS, help="what the input is (default: found out)")
    parser.add_argument(
        "--long", action="store_true", help="labels as CSV item,concept,value, not one row an item"
    )
    parser.add_argument("--quiet", action="store_true", help="no warnings")
    return parser


def main(argv: Sequence[str]) -> int:
    given = make_parser().read(argv)
    to_standard = given["target"] == "-"
    target = None if to_standard else given["target"]
    notes, data = convert(given["source"], target, kind=given["kind"], long=given["long"])
    if not given["quiet"]:
        for note in notes:
            sys.stderr.write(f"warning: {in_options(note)}\n")
    if to_standard:
        sys.stdout.buffer.write(data)
    return 0
