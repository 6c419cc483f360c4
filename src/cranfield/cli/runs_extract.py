"""`cranfield runs extract`: a folder of pictures to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cranfield.cli._common import Parser, add, common, positive, target

DESCRIPTION = """Describe pictures: DIR/NAME.npz has the ids (paths without ending) and one
vector each, DIR/manifest.json what was left out and why. Again, only what is new or changed is
described, and what is gone is dropped."""
EPILOG = """cranfield runs descriptors lists the descriptors. Blanks in names are written %20 in
ids. Transparent pictures lie over white, turned ones are turned back, of animations the first
picture counts."""


def make_parser() -> Parser:
    parser = Parser.of("runs extract", DESCRIPTION, EPILOG)
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


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.features.extract import describe_pictures

    source, names = arguments.pop("source"), arguments.pop("descriptors")
    options = {name: value for name, value in arguments.items() if value is not None}
    with output.working("describing") as progress:
        answer = describe_pictures(source, names, str(output.path), progress=progress, **options)
    replace(output, path=None).show(answer)
    return 0
