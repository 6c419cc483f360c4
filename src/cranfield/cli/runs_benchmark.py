"""`cranfield runs benchmark`: descriptors against each other on a folder of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser, add, common, target

DESCRIPTION = """Describe the pictures of a folder by many descriptors, search with each picture,
score the runs and compare them, in the layout of a paper's tables."""
EPILOG = """FOLDER has a folder for each class, or is Wang's collection (0.jpg to 999.jpg, a hundred
a class) or Nistér's (ukbench00000.jpg, four a group); others, such as UCID, need --qrels. DIR gets
vectors, runs, judgements and charts."""


def make_parser() -> Parser:
    parser = Parser.of("runs benchmark", DESCRIPTION, EPILOG)
    add(parser, "folder FOLDER", "the pictures")
    help_text = "the tables to make: mnro-table-5 has Tables 5 and 8 of Chatzichristofis et al."
    add(parser, "--as", help_text, ("mnro-table-5",), "mnro-table-5", dest="table")
    add(parser, "--qrels FILE", "what is relevant, by picture", dest="judgements")
    help_text = "how classes are told"
    add(parser, "--layout", help_text, ("auto", "classes", "wang", "nister"), "auto")
    help_text = "descriptors or sets of them (default: those of the table)"
    add(parser, "-d --descriptors NAMES", help_text)
    add(parser, "--lire", "descriptors as LIRE computes and compares them", bool)
    common(parser, "jobs", "seed")
    target(parser, "DIR: keep vectors, runs, judgements and charts here", "table")
    return parser


def main(argv: Sequence[str]) -> int:
    from dataclasses import replace

    arguments, output = make_parser().read(argv)
    from cranfield.comparison.descriptor_benchmark import benchmark_descriptors

    if arguments.pop("lire"):
        arguments["preset"] = "lire"
    options = {name: value for name, value in arguments.items() if value is not None}
    folder = None if output.path is None else Path(output.path)
    with output.working("describing and searching") as progress:
        answer = benchmark_descriptors(output=folder, progress=progress, **options)
    if folder is not None:
        from cranfield.io.files import write_atomic
        from cranfield.report import charts

        for measure in map(str, answer.scores.measures):
            name = measure.replace("@", "-at-")
            chart = charts.leaderboard(answer.comparison, measure)
            write_atomic(folder / f"leaderboard-{name}.svg", charts.draw(chart, "svg"))
    replace(output, path=None).show(answer)
    return 0
