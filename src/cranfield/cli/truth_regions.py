"""`cranfield truth regions`: people who drew boxes, and one truth of what they drew."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, outputs, positive, share

DESCRIPTION = """How far people agree who drew boxes on the same items: boxes match by concept and
overlap. With --consensus, what most of them drew becomes one truth."""


def make_parser() -> Parser:
    parser = Parser.of("truth regions", DESCRIPTION)
    add(parser, "files EXPORT+", "answers to forms with boxes (JSON), or JSON of Label Studio")
    add(parser, "--iou X", "the overlap from which two boxes match", share, 0.5)
    help_text = "write what more than half drew: .json (COCO), .csv, or a folder with / at its end"
    add(parser, "--consensus FILE", help_text)
    add(parser, "--resamples N", "samples of items behind an interval", positive, 1000)
    common(parser, "seed")
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.agreement.regions import consensus_regions, region_agreement
    from cranfield.io.regions import read_all_drawn_regions
    from cranfield.io.regions_write import write_regions

    drawn, iou = read_all_drawn_regions(arguments["files"]), arguments["iou"]
    agreement = region_agreement(
        drawn, iou=iou, resamples=arguments["resamples"], rng=arguments["rng"]
    )
    if arguments["consensus"]:
        output.warn(write_regions(consensus_regions(drawn, iou=iou), arguments["consensus"]))
    output.show(agreement)
    return 0
