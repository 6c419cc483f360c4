"""`cranfield ontology`: check an ontology, show what it says, put two side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.cli._common import Output, Parser, add_output_options, show

if TYPE_CHECKING:
    from cranfield.answers import Answer
    from cranfield.relatedness.sources import SourceOptions

DONE, CHECK_FAILED = 0, 1


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield ontology",
        description="Check an ontology for cycles and contradictions, show what it says, or put "
        "two vocabularies side by side.",
        epilog="SOURCE: pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), "
        "OWL, RDF, SKOS, or CSV concept,path.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
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
    categories = actions.add_parser(
        "categories",
        help="its concepts by category",
        description="How many concepts each top category and each of its parts has, and which.",
    )
    _add_compare(actions)
    for one in (check, show, convert, categories):
        one.add_argument("source", metavar="SOURCE", help="a built-in name or a file")
        one.add_argument("--rules", metavar="FILE", help="TOML with more rules")
    convert.add_argument("target", metavar="OUT", help="the file to write")
    convert.add_argument("--skos", action="store_true", help="SKOS, which has no rules, not OWL")
    convert.add_argument("--rules-to", metavar="FILE", help="write the rules here, as TOML")
    convert.add_argument("--quiet", action="store_true", help="say nothing")
    show.add_argument("concept", nargs="?", metavar="CONCEPT", help="all about one concept")
    for one in (check, show, categories):
        add_output_options(one)
    return parser


def _add_compare(actions: argparse._SubParsersAction[Parser]) -> None:
    compare = actions.add_parser(
        "compare",
        help="two vocabularies, or two versions of one",
        description="What two vocabularies share, what the second covers of the first, and what "
        "was added, removed and moved. A vocabulary is an ontology or a list of concepts.",
    )
    compare.add_argument("first", metavar="A", help="a built-in name or a file")
    compare.add_argument("second", metavar="B", help="the same, of the other or later one")
    compare.add_argument(
        "-m", "--method", metavar="NAME", help="also what is near by a method such as WUP"
    )
    compare.add_argument(
        "--near", type=float, default=0.9, metavar="X", help="near from here on (default: 0.9)"
    )
    compare.add_argument("--mapping", metavar="FILE", help="CSV concept,word for WordNet; or pto")
    compare.add_argument("--rules", nargs=2, metavar=("A", "B"), help="TOML with more rules")
    add_output_options(compare)


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if args.action == "convert":
        return _convert(args.source, args.target, args.rules, args.skos, args.rules_to, args.quiet)
    output = Output.of(args)
    if args.action == "compare":
        show(
            _compared(args.first, args.second, args.method, args.near, args.mapping, args.rules),
            output,
        )
        return DONE
    if args.action == "categories":
        from cranfield.relatedness.categories import count_categories

        show(count_categories(args.source, rules=args.rules), output)
        return DONE
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


def _compared(
    first: str,
    second: str,
    method: str | None,
    near: float,
    mapping: str | None,
    rules: list[str] | None,
) -> Answer:
    from cranfield.relatedness.vocabularies import compare_vocabularies

    sources: SourceOptions = {} if mapping is None else {"mapping": mapping}
    both = (rules[0], rules[1]) if rules else (None, None)
    return compare_vocabularies(first, second, method=method, near=near, rules=both, **sources)


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
