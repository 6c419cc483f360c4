"""`cranfield search`: vectors to runs, the nearest items of each query."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cranfield.cli._common import (
    Output,
    Parser,
    add_executor_option,
    add_jobs_option,
    positive,
    show,
    working,
    write_file,
)
from cranfield.errors import UsageError
from cranfield.io.files import write_whole

FORMATS = ("trec", "json", "html")


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield search",
        description="Search vectors: for every query, the nearest items as a TREC run whose "
        "scores are similarities in [0, 1].",
        epilog="With several files of vectors, -o is a folder: a run for each, NAME.run. "
        "cranfield descriptors lists the distances.",
    )
    parser.add_argument(
        "vectors", nargs="+", metavar="VECTORS", help=".npz of describe, or .npz, .npy, .parquet"
    )
    parser.add_argument(
        "--queries",
        metavar="Q",
        help="a folder of pictures, a file of vectors, or CSV topic,item (default: every item)",
    )
    parser.add_argument("--items", metavar="FILE", help="ids for .npy, one a line")
    parser.add_argument(
        "--distance", metavar="NAME", help="default: that of the descriptor, L2 for others"
    )
    parser.add_argument(
        "-k", type=positive, default=1000, metavar="N", help="items for each query (default: 1000)"
    )
    parser.add_argument(
        "--keep-query",
        action="store_true",
        help="leave the query itself in its ranking, where it is an item",
    )
    parser.add_argument(
        "--pictures", metavar="FOLDER", help="with --format html: the pictures of the collection"
    )
    parser.add_argument("--qrels", metavar="FILE", help="with --format html: mark what is relevant")
    add_executor_option(parser, "the queries are shared out there")
    add_jobs_option(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, default="trec", help="default: trec")
    group.add_argument("-o", "--output", metavar="RUN", help="write here, whole or not at all")
    group.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    return parser


def _options(args: argparse.Namespace) -> dict[str, Any]:
    names = ("distance", "k", "keep_query", "items", "executor", "jobs")
    return {name: getattr(args, name) for name in names}


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    from cranfield.features.search import Search, run_names, search

    output = Output(args.format, args.output, args.quiet)
    paths: list[str] = args.vectors
    names = run_names(paths)
    folder = _folder_of(output, len(paths))
    with working("searching", output) as progress:
        for number, (path, name) in enumerate(zip(paths, names, strict=True)):
            step = progress.part(number / len(paths), (number + 1) / len(paths))
            answer: Search = search(path, args.queries, progress=step, **_options(args))
            ending = "run" if output.form == "trec" else output.form
            place = None if folder is None else str(folder / f"{name}.{ending}")
            target = Output(output.form, place or output.path, output.quiet)
            if output.form == "html":
                _look(answer, target, args.pictures, args.queries, args.qrels)
            else:
                _write(answer, target)
    return 0


def _look(
    answer: Any, output: Output, pictures: str | None, queries: str | None, qrels: str | None
) -> None:
    """Query and results as pictures."""
    from cranfield.io import read_qrels
    from cranfield.report.pictures import search_page

    if pictures is None:
        raise UsageError("--format html shows pictures: name their folder with --pictures")
    asked = queries if queries is not None and Path(queries).is_dir() else None
    judged = None if qrels is None else read_qrels(qrels)
    page = search_page(answer, pictures, queries=asked, judgements=judged)
    if output.path is None:
        sys.stdout.write(page)
    else:
        write_file(output.path, page, quiet=output.quiet)


def _folder_of(output: Output, files: int) -> Path | None:
    """The folder for the runs of several files, or none."""
    if output.path is None:
        if files > 1:
            raise UsageError("several files of vectors give several runs: name a folder with -o")
        return None
    path = Path(output.path)
    if files == 1 and not path.is_dir():
        return None
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be used as a folder: {error.strerror}") from None
    return path


def _write(answer: Any, output: Output) -> None:
    if output.form != "trec":
        show(answer, output)
        return
    if not output.quiet:
        sys.stderr.writelines(f"warning: {note}\n" for note in answer.notes)
    data = answer.to_bytes()
    if output.path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    write_whole(Path(output.path), data)
    if not output.quiet:
        sys.stderr.write(f"wrote {output.path} ({answer.headline()})\n")
