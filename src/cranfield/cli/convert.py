"""`cranfield convert`: judgements, runs, labels or regions from one format to another."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, add, common
from cranfield.cli._inputs import score_option
from cranfield.io.convert import ABOUT_SHAPE, KINDS, SHAPES, convert
from cranfield.options import UNLISTED

DESCRIPTION = """Convert judgements, runs, labels or boxes of items between formats; the endings
of the names choose. Judgements and runs: .json, .jsonl, .csv, .tsv, .parquet, anything else is
TREC's format. Labels: .csv, .tsv, .json, .jsonl, .parquet, .npz, a folder for a name that ends
with / (a file per concept, as PASCAL VOC), anything else is ImageCLEF text. Boxes (--kind
regions): .json (COCO), .csv, .tsv, a folder for a name that ends with / (VOC's XML). Another .gz
or .zst packs the output."""
FOLDERS = """IN is a folder with a folder of pictures for each class: a truth (--kind labels), or
judgements in which the pictures of a class are relevant to each other (--kind qrels)"""


def make_parser() -> Parser:
    parser = Parser.of("convert", DESCRIPTION)
    add(parser, "source IN", "file to read, or '-'")
    add(parser, "target OUT", "file to write, or '-' for TREC's format")
    add(parser, "--kind", "what the input is (default: found out)", KINDS)
    add(parser, "--long", "labels as CSV item,concept,value, not one row an item", bool)
    add(parser, "--shape", f"what else an ending may hold: {ABOUT_SHAPE}", tuple(SHAPES))
    score_option(parser)
    help_text = """labels: what cells are that a long file does not list, although it lists others
    as absent (default: absent)"""
    add(parser, "--unlisted", help_text, UNLISTED)
    common(parser, "third")
    add(parser, "--from-folders", FOLDERS, bool)
    add(parser, "--quiet", "no warnings", bool)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    target = None if arguments["target"] == "-" else arguments["target"]
    kind_options = {"kind": arguments["kind"], "long": arguments["long"]}
    notes: tuple[str, ...] = ()
    if arguments["from_folders"]:
        from cranfield.features.image_folders import convert_classes

        data = convert_classes(arguments["source"], target, **kind_options)
    else:
        notes, data = convert(
            arguments["source"],
            target,
            **kind_options,
            **{n: arguments[n] for n in ("scores", "third", "shape", "unlisted")},
        )
    output.warn(notes)
    if target is None:
        Output().data(data)
    return 0
