"""`cranfield ontology`: check an ontology, or show what it says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, add_output_options, show

DONE, CHECK_FAILED = 0, 1


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield ontology",
        description="Check an ontology for cycles and contradictions, or show what it says.",
        epilog="SOURCE: pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), "
        "OWL, RDF, SKOS, or CSV concept,path.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|show|convert")
    check = actions.add_parser(
        "check",
        help="exit 1 when something is wrong with it",
        description="Look for cycles, names nobody knows and concepts that can never be assigned; "
        "exit 1 when there are any.",
    )
    show = actions.add_parser(
        "show",
        help="its tree, link costs and rules, or one concept",
        description="The tree of an ontology with its link costs and rules, or one concept.",
    )
    convert = actions.add_parser(
        "convert",
        help="write it as OWL, SKOS or CSV",
        description="Write an ontology in the format of a file's ending: .owl, .ttl and other RDF "
        "(OWL, or SKOS on request), .csv, .tsv.",
    )
    for one in (check, show, convert):
        one.add_argument("source", metavar="SOURCE", help="a built-in name or a file")
        one.add_argument("--rules", metavar="FILE", help="TOML with more rules")
    convert.add_argument("target", metavar="OUT", help="the file to write")
    convert.add_argument("--skos", action="store_true", help="SKOS, which has no rules, not OWL")
    convert.add_argument("--rules-to", metavar="FILE", help="write the rules here, as TOML")
    convert.add_argument("--quiet", action="store_true", help="say nothing")
    show.add_argument("concept", nargs="?", metavar="CONCEPT", help="all about one concept")
    for one in (check, show):
        add_output_options(one)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if args.action == "convert":
        return _convert(args.source, args.target, args.rules, args.skos, args.rules_to, args.quiet)
    output = Output.of(args)
    from cranfield.relatedness.hierarchies import check_ontology, view_concept, view_ontology

    if args.action == "check":
        found = check_ontology(args.source, rules=args.rules)
        show(found, output)
        return CHECK_FAILED if found.problems else DONE
    if args.concept is None:
        show(view_ontology(args.source, rules=args.rules), output)
    else:
        show(view_concept(args.source, args.concept, rules=args.rules), output)
    return DONE


def _convert(
    source: str, target: str, rules: str | None, skos: bool, rules_to: str | None, quiet: bool
) -> int:
    from cranfield.io.ontology import read_ontology
    from cranfield.io.ontology_write import write_ontology, write_rules

    ontology = read_ontology(source, rules=rules)
    notes = write_ontology(ontology, target, language="skos" if skos else "owl")
    if rules_to is not None:
        write_rules(ontology.rules, rules_to)
        notes = ()
    if not quiet:
        lines = [f"warning: {note} (keep them with --rules-to)" for note in notes]
        lines += [f"wrote {path}" for path in (target, rules_to) if path is not None]
        sys.stderr.write("".join(f"{line}\n" for line in lines))
    return DONE
