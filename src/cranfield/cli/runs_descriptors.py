"""`cranfield runs descriptors`, `extract` and `benchmark`: pictures by descriptors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    outputs,
    positive,
    target,
)

CATALOGUE_DESCRIPTION = """List all descriptors of pictures and the distances of vectors, or tell
all about one: formula, source, length, distance, what it was checked against."""


EXTRACT_DESCRIPTION = """Describe pictures: DIR/NAME.npz has the ids (paths without ending) and one
vector each, DIR/manifest.json what was left out and why. Again, only what is new or changed is
described, and what is gone is dropped."""


EXTRACT_EPILOG = """cranfield runs descriptors lists the descriptors. Blanks in names are written
%20 in ids. Transparent pictures lie over white, turned ones are turned back, of animations the
first picture counts."""


def catalogue_parser() -> Parser:
    parser = Parser.of("runs descriptors", CATALOGUE_DESCRIPTION)
    add(parser, "name NAME?", "a descriptor, such as CEDD")
    outputs(parser)
    return parser


def catalogue(arguments: Arguments, output: Output) -> int:
    from cranfield.features.catalogue import describe_descriptor, list_descriptors

    name = arguments["name"]
    output.show(list_descriptors() if name is None else describe_descriptor(name))
    return 0


def extract_parser() -> Parser:
    parser = Parser.of("runs extract", EXTRACT_DESCRIPTION, EXTRACT_EPILOG)
    add(parser, "source FOLDER|LIST", "a folder of pictures, or a file with one name a line")
    help_text = 'descriptors or sets of them, such as "CEDD EHD" or mpeg7'
    add(parser, "-d --descriptors NAMES", help_text, required=True)
    help_text = "lire: descriptors as LIRE computes and compares them, where it has its own way"
    add(parser, "--as", help_text, ("lire",), dest="preset")
    help_text = "tags of the pictures (CSV item,tags or item,tag): tags.npz and tags.tfidf.npz"
    add(parser, "--tags FILE", help_text)
    add(parser, "--most-tags N", "how many of the most frequent tags (default: 1000)", positive)
    add(parser, "--exif", "also how the pictures were taken: EXIF.npz", bool)
    add(parser, "--strict", "a picture that cannot be read is an error", bool)
    help_text = "leave out pictures with more pixels (default: 89478485)"
    add(parser, "--max-pixels N", help_text, positive)
    common(parser, "jobs")
    target(parser, "DIR!: the folder for the vectors", "table")
    return parser


def extract(arguments: Arguments, output: Output) -> int:
    from cranfield.features.extract import describe_pictures

    source, names = arguments.pop("source"), arguments.pop("descriptors")
    options = {name: value for name, value in arguments.items() if value is not None}
    with output.working("describing") as progress:
        answer = describe_pictures(source, names, str(output.path), progress=progress, **options)
    replace(output, path=None).show(answer)
    return 0


BENCHMARK_DESCRIPTION = """\
Describe the pictures of a folder by many descriptors, search with each picture,
score the runs and compare them, in the layout of a paper's tables."""


BENCHMARK_EPILOG = """\
FOLDER has a folder for each class, or is Wang's collection (0.jpg to 999.jpg, a hundred
a class) or Nistér's (ukbench00000.jpg, four a group); others, such as UCID, need --qrels. DIR gets
vectors, runs, judgements and charts."""


def benchmark_parser() -> Parser:
    parser = Parser.of("runs benchmark", BENCHMARK_DESCRIPTION, BENCHMARK_EPILOG)
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


def benchmark(arguments: Arguments, output: Output) -> int:
    from dataclasses import replace

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


COMMANDS = {
    "descriptors": (catalogue_parser, catalogue),
    "extract": (extract_parser, extract),
    "benchmark": (benchmark_parser, benchmark),
}
