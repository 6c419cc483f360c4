"""`cranfield runs descriptors` and `extract`: descriptors, and pictures to vectors by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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


PARSERS = {"descriptors": catalogue_parser, "extract": extract_parser}
COMMANDS = {"descriptors": catalogue, "extract": extract}


def make_parser(command: str) -> Parser:
    return PARSERS[command]()


def main(argv: Sequence[str], command: str) -> int:
    arguments, output = PARSERS[command]().read(argv)
    return COMMANDS[command](arguments, output)
