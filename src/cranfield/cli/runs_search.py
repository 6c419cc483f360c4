"""`cranfield runs search`: vectors to runs, the nearest items of each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cranfield.cli._common import Output, Parser, add, common, executor, positive, target
from cranfield.errors import UsageError

DESCRIPTION = """Search vectors: for every query, the nearest items as a TREC run whose scores are
similarities in [0, 1]."""
EPILOG = """With several files of vectors, -o is a folder: a run for each, NAME.run. cranfield
descriptors lists the distances."""

# Items of each topic on a page of pictures.
SHOWN = 10


def make_parser() -> Parser:
    parser = Parser.of("runs search", DESCRIPTION, EPILOG)
    add(parser, "vectors VECTORS+", ".npz of describe, or .npz, .npy, .parquet")
    help_text = "a folder of pictures, a file of vectors, or CSV topic,item (default: every item)"
    add(parser, "--queries Q", help_text)
    add(parser, "--items FILE", "ids for .npy, one a line")
    add(parser, "--distance NAME", "default: that of the descriptor, L2 for others")
    add(parser, "-k N", "items for each query (default: 1000; 10 with --format html)", positive)
    help_text = "with --distance overlap: items that have at least K of the query's terms"
    add(parser, "--min-terms K", help_text, positive)
    help_text = "leave the query itself in its ranking, where it is an item"
    add(parser, "--keep-query", help_text, bool)
    add(parser, "--pictures FOLDER", "with --format html: the pictures of the collection")
    add(parser, "--qrels FILE", "with --format html: mark what is relevant")
    executor(parser, "the queries are shared out there")
    common(parser, "jobs")
    target(parser, "RUN: write here, whole or not at all", "trec", ("trec", "json", "html"))
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.features.search import DEFAULT_K, run_names, search

    paths, queries = arguments.pop("vectors"), arguments.pop("queries")
    pictures, qrels = arguments.pop("pictures"), arguments.pop("qrels")
    if output.form == "html" and pictures is None:
        raise UsageError("--format html shows pictures: name their folder with --pictures")
    arguments["k"] = arguments["k"] or (SHOWN if output.form == "html" else DEFAULT_K)
    folder = _folder_of(output, len(paths))
    ending = "run" if output.form == "trec" else output.form
    with output.working("searching") as progress:
        for number, (path, name) in enumerate(zip(paths, run_names(paths), strict=True)):
            step = progress.part(number / len(paths), (number + 1) / len(paths))
            answer = search(path, queries, progress=step, **arguments)
            place = output.path if folder is None else str(folder / f"{name}.{ending}")
            destination = replace(output, path=place)
            if output.form == "html":
                from cranfield.report.gallery import picture_page

                page = picture_page(answer, pictures, queries=queries, qrels=qrels)
                destination.data(page.encode(), f"{page.count(chr(10))} lines")
            elif output.form == "trec":
                destination.warn(answer.notes)
                destination.data(answer.to_bytes(place or "-"), answer.headline())
            else:
                destination.show(answer)
    return 0


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
