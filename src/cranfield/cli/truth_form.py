"""`cranfield truth form`: forms for people who annotate, and what they filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cranfield.cli._common import Output, Parser, add, common, outputs, positive, share
from cranfield.options import SHAPES

DESCRIPTION = """Forms for people who annotate: a file that works from disk in any browser, and
the log of what was filled in."""


def make_parser() -> Parser:
    parser = Parser.of("truth form", DESCRIPTION)
    step = parser.steps("step", "STEP")
    make = step("make", "a form as one file, from an ontology")
    add(make, "source DIR|ONTOLOGY", "a collection's folder, or an ontology")
    common(make, "rules")
    add(make, "--pictures DIR", "pictures of the items")
    add(make, "--recordings DIR", "sounds and films of the items, with a player")
    add(make, "--items FILE", "the items to ask about")
    add(make, "--split NAME", "the items of a split of the collection")
    add(make, "--below CONCEPT", "ask only for the concepts below this one")
    add(make, "--known LABELS", "with --below: ask about the items that have that concept")
    help_text = "ask only about what `truth pool --labels` has pooled, item by item"
    add(make, "--pool POOL.tsv", help_text)
    help_text = "mark the concepts instead: boxes or points on pictures, segments of recordings"
    add(make, "--marks", help_text, SHAPES)
    help_text = "a run of annotations: people see what it says on a share of the items"
    add(make, "--suggestions RUN", help_text)
    add(make, "--suggestions-shown X", "that share", share, 0.5)
    add(make, "--meanings FILE", "CSV concept,title,question,definition,example")
    add(make, "--guidelines FILE", "a text for the annotators")
    add(make, "--version V", "of the guidelines", default="1")
    add(make, "--title TEXT", "what the page is called")
    add(make, "--first N", "ask about N items only", positive)
    add(make, "--seed N", "ask in an order that is drawn by this seed", positive)
    add(make, "-o --output FILE.html", "write here", dest="path", required=True)
    common(make, "quiet")
    crowd = step("crowd", "the same form for a crowd platform: layout, input, instructions")
    add(crowd, "source DIR|ONTOLOGY", "a collection's folder, or an ontology")
    common(crowd, "rules")
    add(crowd, "--address URL", "where the pictures are, under their names", required=True)
    add(crowd, "--action URL", "where the platform takes answers (default: MTurk's)")
    add(crowd, "--pictures DIR", "pictures of the items")
    add(crowd, "--items FILE", "the items to ask about")
    add(crowd, "--split NAME", "the items of a split of the collection")
    add(crowd, "--guidelines FILE", "a text for the workers")
    add(crowd, "--title TEXT", "what the page is called")
    add(crowd, "--first N", "ask about N items only", positive)
    help_text = "where template.html, input.csv and instructions.txt go"
    add(crowd, "-o --output DIR", help_text, dest="path", required=True)
    common(crowd, "quiet")
    pay = step("pay", "which forms of a crowd are approved or rejected, and why")
    add(pay, "results RESULTS.csv", "a platform's results")
    common(pay, "ontology", "rules")
    add(pay, "--gold FILE", "known answers: CSV item,concept,value")
    add(pay, "--least X", "the share of them that a worker must have right", share, 0.7)
    add(pay, "--bonus X", "added to each form of a worker who has all of them right", float, 0.0)
    add(pay, "-o --output FILE.csv", "write here", dest="path", required=True)
    common(pay, "quiet")
    read = step("read", "answers to a log: of our forms, of a crowd platform, of Label Studio")
    add(read, "files ANSWERS+", "saved answers (JSON), a platform's CSV, an export (JSON)")
    common(read, "ontology", "rules")
    add(read, "--classes FILE", "what comments are about: CSV comment,class")
    add(read, "--pseudonyms", "numbers for the names of annotators", bool)
    outputs(read, to="write the log here, whole or not at all; with --format html, the page")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    steps = {"make": _make, "crowd": _crowd, "pay": _pay, "read": _read}
    return steps[arguments.pop("step")](output, arguments)


def _make(output: Output, arguments: dict[str, Any]) -> int:
    from cranfield.site.work_pages import make_form

    output.write(str(output.path), make_form(**arguments))
    return 0


def _crowd(output: Output, arguments: dict[str, Any]) -> int:
    from cranfield.io.files import make_folder
    from cranfield.site.work_pages import make_crowd_task

    task = make_crowd_task(**{name: v for name, v in arguments.items() if v is not None})
    folder = make_folder(str(output.path))
    for name, text in task.items():
        output.write(str(folder / name), text)
    return 0


def _pay(output: Output, arguments: dict[str, Any]) -> int:
    from cranfield.campaign.responses import judge_crowd_forms, verdict_file

    output.write(str(output.path), verdict_file(judge_crowd_forms(**arguments)))
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
