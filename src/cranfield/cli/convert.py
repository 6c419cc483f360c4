"""`cranfield convert`: judgements or runs from one format to another."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser, Watch
from cranfield.data import Judgements, Run
from cranfield.errors import InputError, UsageError
from cranfield.io import is_tabular, read_qrels, read_run, trec
from cranfield.io.files import (
    can_be_read_again,
    describe,
    inner_suffix,
    open_input,
    write_whole,
)


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield convert",
        description="Convert judgements or runs between formats; the endings of the names choose: "
        ".json, .csv, .tsv, .parquet, anything else is TREC's format; .gz packs the output.",
    )
    parser.add_argument("source", metavar="in", help="file to read, or '-'")
    parser.add_argument("target", metavar="out", help="file to write, or '-' for TREC's format")
    parser.add_argument(
        "--kind", choices=("run", "qrels"), help="what the input is (default: found out)"
    )
    parser.add_argument("--quiet", action="store_true", help="no warnings")
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    kind = args.kind or guess_kind(args.source)
    with Watch("converting", lambda: 0.0, quiet=True) as watch:
        table = read_run(args.source) if kind == "run" else read_qrels(args.source)
    if not args.quiet:
        for message in watch.messages:
            sys.stderr.write(f"warning: {message}\n")
    data = _encode(table, args.target)
    if args.target == "-":
        sys.stdout.buffer.write(data)
    else:
        write_whole(Path(args.target), data)
    return 0


def guess_kind(path: str) -> str:
    """'run' or 'qrels', from the header or the number of fields of the first line."""
    if not can_be_read_again(path):
        raise UsageError(f"say what {describe(path)} holds: --kind run or --kind qrels")
    if inner_suffix(path) == ".parquet":
        raise UsageError("say what the Parquet file holds: --kind run or --kind qrels")
    with open_input(path) as stream:
        head = stream.read(65536).decode("utf-8-sig", errors="replace")
    if inner_suffix(path) == ".json":
        raise UsageError("say what the JSON file holds: --kind run or --kind qrels")
    for line in head.splitlines():
        if line.strip() and not line.startswith("#"):
            if is_tabular(path):
                return "run" if "score" in line.lower() else "qrels"
            fields = len(line.split())
            if fields in (4, 6):
                return "run" if fields == 6 else "qrels"
            raise InputError.single(
                describe(path), f"{fields} fields in the first line: neither 4 (judgements) nor 6 "
                "(a run); say --kind run or --kind qrels to see what is wrong",
            )  # fmt: skip
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
