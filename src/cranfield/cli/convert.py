"""`cranfield convert` and `import`: files from one format to another."""

from __future__ import annotations

from cranfield.cli._common import Arguments, Output, Parser, add, common
from cranfield.cli._inputs import score_option
from cranfield.io.convert import ABOUT_SHAPE, KINDS, SHAPES, convert
from cranfield.options import UNLISTED

CONVERSION_DESCRIPTION = """\
Convert judgements, runs, labels or boxes of items between formats; the endings
of the names choose. Judgements and runs: .json, .jsonl, .csv, .tsv, .parquet, anything else is
TREC's format. Labels: .csv, .tsv, .json, .jsonl, .parquet, .npz, a folder for a name that ends
with / (a file per concept, as PASCAL VOC), anything else is ImageCLEF text. Boxes (--kind
regions): .json (COCO), .csv, .tsv, a folder for a name that ends with / (VOC's XML). Another .gz
or .zst packs the output."""


CONVERSION_FOLDERS = """\
IN is a folder with a folder of pictures for each class: a truth (--kind labels), or
judgements in which the pictures of a class are relevant to each other (--kind qrels)"""


def conversion_parser() -> Parser:
    parser = Parser.of("convert", CONVERSION_DESCRIPTION)
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
    add(parser, "--from-folders", CONVERSION_FOLDERS, bool)
    add(parser, "--quiet", "no warnings", bool)
    return parser


def conversion(arguments: Arguments, output: Output) -> int:
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


EXPORTS_DESCRIPTION = """\
Read what another program exports. Annotations become a judgement log for `truth
agreement` and `truth aggregate`, which also read such files directly: Label Studio (JSON, JSON-MIN,
CSV), Mechanical Turk (CSV), doccano, Prodigy, Argilla, task,worker,label, and sheets with a column
for each annotator (CSV, .xlsx). Topics of BEIR and TREC become TSV topic,text; predictions of MTEB
a run in TREC's format. What is not read, such as spans and boxes, is named."""


def exports_parser() -> Parser:
    parser = Parser.of("import", EXPORTS_DESCRIPTION)
    add(parser, "source EXPORT", "the file, or '-'")
    add(parser, "--form NAME", "what it is (default: found out); a wrong name lists them all")
    add(parser, "--item NAME", "the column or field that names the items")
    add(parser, "--part NAME", "of several rankings of MTEB: subset/split")
    add(parser, "-o --output FILE", "write here, whole or not at all", dest="target")
    add(parser, "--quiet", "no warnings", bool)
    return parser


def exports(arguments: Arguments, output: Output) -> int:
    from cranfield.io.exports import import_export, write_import

    target = arguments.pop("target")
    imported = import_export(**arguments)
    output.warn(imported.notes)
    data = write_import(imported, target)
    if target is None:
        Output().data(data)
    return 0


COMMANDS = {
    "convert": (conversion_parser, conversion),
    "import": (exports_parser, exports),
}
