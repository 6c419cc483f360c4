"""`cranfield truth weak-labels`: keep the items whose features fit their tag."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs
from cranfield.cli._inputs import with_folder
from cranfield.options import TAG_FILTERS

EPILOG = """svm: a one-class support vector machine, which follows any shape but takes
near-duplicates for typical; median: the nearest to the median of the tag, which near-duplicates
that are fewer than half cannot move."""


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.agreement.weak_labels import filter_weak_files
    from cranfield.report.tables.agreement import kept_items_table

    arguments = with_folder("truth weak-labels", arguments, "features")
    kept_file = arguments.pop("kept")
    with output.working("fitting") as progress:
        answer = filter_weak_files(progress=progress, **arguments)
    output.write_tables({kept_file: kept_items_table(answer)} if kept_file else {})
    output.show(answer)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("truth weak-labels", "Keep the items whose features fit their tag.", EPILOG)
    add(
        parser,
        "features FEATURES",
        "CSV item,number,... or .npz; a folder of pictures, or a collection's",
    )
    add(parser, "tags TAGS", "CSV item,tag")
    help_text = "of a folder of pictures: colour, edges and texture"
    add(parser, "-d --descriptors NAMES", help_text, default="CEDD EHD Tamura")
    add(parser, "--truth FILE", "CSV item,tag: what is truly shown")
    add(parser, "--method", "", TAG_FILTERS, "svm")
    add(parser, "--outliers X", "share of items expected not to fit their tag", float, 0.3)
    add(parser, "--gamma X", "width of the kernel of the SVM (default: 1 / features)", float)
    add(parser, "--kept FILE", "write item,tag,fit of the items kept")
    outputs(parser)
    return parser
