"""`cranfield convert`: judgements, runs or labels from one format to another."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser
from cranfield.data import Judgements, Run
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, UsageError
from cranfield.io import is_tabular, read_qrels, read_run, trec
from cranfield.io.files import (
    COMPRESSED,
    can_be_read_again,
    describe,
    inner_suffix,
    open_input,
    write_whole,
)

KINDS = ("run", "qrels", "labels")


def make_parser() -> argparse.ArgumentParser:
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
    args = make_parser().parse_args(argv)
    kind = args.kind or guess_kind(args.source)
    if kind == "labels":
        return _convert_labels(args)
    table = read_run(args.source) if kind == "run" else read_qrels(args.source)
    if not args.quiet:
        for message in table.notes:
            sys.stderr.write(f"warning: {message}\n")
    data = _encode(table, args.target)
    if args.target == "-":
        sys.stdout.buffer.write(data)
    else:
        write_whole(Path(args.target), data)
    return 0


def _convert_labels(args: argparse.Namespace) -> int:
    from cranfield.io.labels import read_labels, write_labels

    suffix = Path(args.target).suffix.lower()
    if args.target == "-" or suffix in COMPRESSED or suffix in (".json", ".parquet"):
        raise UsageError("labels are written to a .csv, .npz or ImageCLEF text file, not packed")
    if args.long and suffix != ".csv":
        raise UsageError("--long goes with a .csv file")
    write_labels(read_labels(args.source), args.target, form="long" if args.long else None)
    return 0


def guess_kind(path: str) -> str:
    """What a file holds, from its header or the number of fields of its first line."""
    suffix = inner_suffix(path)
    if suffix == ".npz":
        return "labels"
    if not can_be_read_again(path) or suffix in (".parquet", ".json"):
        kinds = ", ".join(f"--kind {kind}" for kind in KINDS)
        raise UsageError(f"say what {describe(path)} holds: {kinds}")
    with open_input(path) as stream:
        head = stream.read(65536).decode("utf-8-sig", errors="replace")
    for line in head.splitlines():
        if line.strip() and not line.startswith("#"):
            if is_tabular(path):
                header = line.lower()
                if not any(name in header for name in HEADERS["topic"]):
                    return "labels"
                return "run" if "score" in header else "qrels"
            fields = len(line.split())
            if fields in (4, 6):
                return "run" if fields == 6 else "qrels"
            raise InputError.single(
                describe(path),
                f"{fields} fields in the first line: neither 4 (judgements) nor 6 "
                "(a run); say --kind run or --kind qrels to see what is wrong, or --kind labels",
            )
    raise InputError.single(describe(path), "is empty")


def _encode(table: Judgements | Run, target: str) -> bytes:
    suffix = inner_suffix(target)
    if is_tabular(target):
        from cranfield.io.tabular import to_bytes

        data = to_bytes(table, suffix)
    else:
        data = "".join(trec.write_table(table)).encode()
    packing = Path(target).suffix.lower()
    if packing == ".zst":
        raise UsageError("writing .zst is not supported: use .gz, or pack the file afterwards")
    return gzip.compress(data, mtime=0) if packing == ".gz" else data
