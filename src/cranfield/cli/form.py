"""`cranfield form`: forms for people who annotate, and what they filled in."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from cranfield.cli._common import (
    Output,
    Parser,
    add_output_options,
    positive,
    show,
    write_file,
)


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield form",
        description="Forms for people who annotate: a file that works from disk in any browser, "
        "and the log of what was filled in.",
    )
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP", parser_class=Parser)
    make = steps.add_parser("make", help="a form as one file, from an ontology")
    make.add_argument("source", metavar="DIR|ONTOLOGY", help="a collection's folder or an ontology")
    make.add_argument("--rules", metavar="FILE", help="rules between concepts (TOML)")
    make.add_argument("--pictures", metavar="DIR", help="pictures of the items")
    make.add_argument("--items", metavar="FILE", help="the items to ask about")
    make.add_argument("--split", metavar="NAME", help="items of a split of the collection")
    make.add_argument("--below", metavar="CONCEPT", help="ask only for the concepts below this one")
    make.add_argument(
        "--known", metavar="LABELS", help="with --below: ask about items that have that concept"
    )
    make.add_argument(
        "--meanings", metavar="FILE", help="CSV concept,title,question,definition,example"
    )
    make.add_argument("--guidelines", metavar="FILE", help="a text for the annotators")
    make.add_argument("--version", default="1", metavar="V", help="of the guidelines (default: 1)")
    make.add_argument("--title", metavar="TEXT", help="what the page is called")
    make.add_argument("--first", type=positive, metavar="N", help="ask about N items only")
    make.add_argument("--seed", type=positive, metavar="N", help="in an order drawn by this seed")
    make.add_argument("-o", "--output", metavar="FILE.html", required=True, help="write here")
    make.add_argument("--quiet", action="store_true", help="say nothing beside")
    make.set_defaults(run=_make)
    read = steps.add_parser("read", help="answers to a log: of forms, a crowd platform, a tool")
    read.add_argument("answers", nargs="+", metavar="ANSWERS", help="saved answers, CSV or JSON")
    read.add_argument("--ontology", metavar="F", help="forms that break its rules are rejected")
    read.add_argument("--rules", metavar="FILE", help="the same, for rules alone (TOML)")
    read.add_argument(
        "--classes", metavar="FILE", help="what comments are about: CSV comment,class"
    )
    read.add_argument("--pseudonyms", action="store_true", help="numbers for annotators' names")
    add_output_options(read)
    read.set_defaults(run=_read)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    args.run(args)
    return 0


def _make(args: argparse.Namespace) -> None:
    from cranfield.campaign.sheet_maker import make_sheet
    from cranfield.site.work_pages import sheet_page

    asked = {k: v for k, v in vars(args).items() if k not in ("step", "run", "output", "quiet")}
    write_file(args.output, sheet_page(make_sheet(**asked)), quiet=args.quiet)


def _read(args: argparse.Namespace) -> None:
    from cranfield.campaign.collected import read_classes, read_forms
    from cranfield.cli._judgements import write_tables
    from cranfield.io.ontology import read_rules_of
    from cranfield.report.tables.agreement import log_table

    answer = read_forms(
        args.answers,
        rules=read_rules_of(rules=args.rules, ontology=args.ontology),
        classes=read_classes(args.classes) if args.classes else None,
        pseudonyms=args.pseudonyms,
    )
    show(answer, replace(Output.of(args), path=None))
    if args.output:
        write_tables({args.output: log_table(answer.log)}, quiet=args.quiet)
