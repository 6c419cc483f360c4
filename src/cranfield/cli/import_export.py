"""`cranfield import`: what other programs export, as files of Cranfield."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, add

DESCRIPTION = """Read what another program exports. Annotations become a judgement log for `truth
agreement` and `truth aggregate`, which also read such files directly: Label Studio (JSON, JSON-MIN,
CSV), Mechanical Turk (CSV), doccano, Prodigy, Argilla, task,worker,label, and sheets with a column
for each annotator (CSV, .xlsx). Topics of BEIR and TREC become TSV topic,text; predictions of MTEB
a run in TREC's format. What is not read, such as spans and boxes, is named."""


def make_parser() -> Parser:
    parser = Parser.of("import", DESCRIPTION)
    add(parser, "source EXPORT", "the file, or '-'")
    add(parser, "--form NAME", "what it is (default: found out); a wrong name lists them all")
    add(parser, "--item NAME", "the column or field that names the items")
    add(parser, "--part NAME", "of several rankings of MTEB: subset/split")
    add(parser, "-o --output FILE", "write here, whole or not at all", dest="target")
    add(parser, "--quiet", "no warnings", bool)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.io.exports import import_export, write_import

    target = arguments.pop("target")
    imported = import_export(**arguments)
    output.warn(imported.notes)
    data = write_import(imported, target)
    if target is None:
        Output().data(data)
    return 0
