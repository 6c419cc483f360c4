"""`cranfield describe`: a folder of pictures to vectors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield.cli._common import Output, Parser, add_jobs_option, positive, show, working
from cranfield.report.render import FORMATS


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield describe",
        description="Describe pictures: DIR/NAME.npz has the ids (paths without ending) and one "
        "vector each, DIR/manifest.json what was left out and why. Again, only what is new or "
        "changed is described, and what is gone is dropped.",
        epilog="cranfield descriptors lists the descriptors. Blanks in names are written %20 in "
        "ids. Transparent pictures lie over white, turned ones are turned back, of animations the "
        "first picture counts.",
    )
    parser.add_argument(
        "source", metavar="FOLDER|LIST", help="a folder of pictures, or a file with one name a line"
    )
    parser.add_argument(
        "-d",
        "--descriptors",
        required=True,
        metavar="NAMES",
        help='descriptors or sets of them, such as "CEDD EHD" or mpeg7',
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="the folder for the vectors"
    )
    parser.add_argument(
        "--tags",
        metavar="FILE",
        help="tags of the pictures (CSV item,tags or item,tag): tags.npz and tags.tfidf.npz",
    )
    parser.add_argument(
        "--most-tags",
        type=positive,
        metavar="N",
        help="how many of the most frequent tags (default: 1000)",
    )
    parser.add_argument(
        "--exif", action="store_true", help="also how the pictures were taken: EXIF.npz"
    )
    parser.add_argument(
        "--strict", action="store_true", help="a picture that cannot be read is an error"
    )
    parser.add_argument(
        "--max-pixels",
        type=positive,
        metavar="N",
        help="leave out pictures with more pixels (default: 89478485)",
    )
    add_jobs_option(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    group.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    return parser


def _options(args: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name) for name in ("tags", "most_tags", "max_pixels")}
    chosen = {name: value for name, value in given.items() if value is not None}
    return chosen | {"exif": args.exif, "strict": args.strict, "jobs": args.jobs}


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    from cranfield.features.describe import describe_pictures

    output = Output(args.format, None, args.quiet)
    with working("describing", output) as progress:
        answer = describe_pictures(
            args.source, args.descriptors, args.output, progress=progress, **_options(args)
        )
    show(answer, output)
    return 0
