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
    parser.add_argument(
        "--from-folders",
        action="store_true",
        help="IN is a folder with a folder of pictures for each class: a truth (--kind labels), or "
        "judgements in which the pictures of a class are relevant to each other (--kind qrels)",
    )
    parser.add_argument("--quiet", action="store_true", help="no warnings")
    return parser


def main(argv: Sequence[str]) -> int:
    given = make_parser().read(argv)
    to_standard = given["target"] == "-"
    target = None if to_standard else given["target"]
    if given["from_folders"]:
        return _from_folders(given["source"], target, given["kind"], given["long"])
    notes, data = convert(given["source"], target, kind=given["kind"], long=given["long"])
    if not given["quiet"]:
        for note in notes:
            sys.stderr.write(f"warning: {in_options(note)}\n")
    if to_standard:
        sys.stdout.buffer.write(data)
    return 0


def _from_folders(source: str, target: str | None, kind: str | None, long: bool) -> int:
    from pathlib import Path

    from cranfield.errors import UsageError
    from cranfield.features.classes import class_judgements, class_labels
    from cranfield.io.convert import encoded
    from cranfield.io.files import write_whole
    from cranfield.io.labels import write_labels

    if kind == "labels" and target is not None:
        write_labels(class_labels(source), target, form="long" if long else None)
    elif kind == "qrels":
        data = encoded(class_judgements(source), target)
        if target is None:
            sys.stdout.buffer.write(data)
        else:
            write_whole(Path(target), data)
    else:
        raise UsageError("folders become --kind qrels, or --kind labels in a file")
    return 0
