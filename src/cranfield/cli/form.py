"""`cranfield form`: forms for people who annotate, and what they filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cranfield.cli._common import Output, Parser, add, common, outputs, positive

DESCRIPTION = """Forms for people who annotate: a file that works from disk in any browser, and
the log of what was filled in."""


def make_parser() -> Parser:
    parser = Parser.of("form", DESCRIPTION)
    step = parser.steps("step", "STEP")
    make = step("make", "a form as one file, from an ontology")
    add(make, "source DIR|ONTOLOGY", "a collection's folder, or an ontology")
    common(make, "rules")
    add(make, "--pictures DIR", "pictures of the items")
    add(make, "--items FILE", "the items to ask about")
    add(make, "--split NAME", "the items of a split of the collection")
    add(make, "--below CONCEPT", "ask only for the concepts below this one")
    add(make, "--known LABELS", "with --below: ask about the items that have that concept")
    add(make, "--meanings FILE", "CSV concept,title,question,definition,example")
    add(make, "--guidelines FILE", "a text for the annotators")
    add(make, "--version V", "of the guidelines", default="1")
    add(make, "--title TEXT", "what the page is called")
    add(make, "--first N", "ask about N items only", positive)
    add(make, "--seed N", "ask in an order that is drawn by this seed", positive)
    add(make, "-o --output FILE.html", "write here", dest="path", required=True)
    common(make, "quiet")
    read = step("read", "answers to a log: of our forms, of a crowd platform, of Label Studio")
    add(read, "files ANSWERS+", "saved answers (JSON), a platform's CSV, an export (JSON)")
    common(read, "ontology", "rules")
    add(read, "--classes FILE", "what comments are about: CSV comment,class")
    add(read, "--pseudonyms", "numbers for the names of annotators", bool)
    outputs(read, to="write the log here, whole or not at all; with --format html, the page")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    return (_make if arguments.pop("step") == "make" else _read)(output, arguments)


def _make(output: Output, arguments: dict[str, Any]) -> int:
    from cranfield.site.work_pages import make_form

    output.write(str(output.path), make_form(**arguments))
    return 0


def _read(output: Output, arguments: dict[str, Any]) -> int:
    from cranfield.campaign.responses import read_forms
    from cranfield.report.tables.agreement import log_table

    answer = read_forms(**arguments)
    # A page is what shows the answer; the log is a table of its own.
    is_page = output.form == "html"
    (output if is_page else replace(output, path=None)).show(answer)
    if output.path and not is_page:
        output.write_tables({output.path: log_table(answer.log)})
    return 0
