"""`cranfield concepts ontology`: check an ontology, show what it says, put two side by side."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, outputs

DONE, CHECK_FAILED = 0, 1
DESCRIPTION = """Check an ontology for cycles and contradictions, show what it says, or put two
vocabularies side by side."""
EPILOG = """SOURCE: pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), OWL,
RDF, SKOS, or CSV concept,path."""


def make_parser() -> Parser:
    parser = Parser.of("concepts ontology", DESCRIPTION, EPILOG)
    step = parser.steps("action", "ACTION")
    check = step(
        "check",
        "exit 1 when something is wrong with it",
        "Look for cycles, unknown names and concepts that can never be assigned; exit 1 when "
        "there are any.",
    )
    show = step(
        "show",
        "its tree, link costs and rules, or one concept",
        "The tree of an ontology with its link costs and rules, or one concept.",
    )
    convert = step(
        "convert",
        "write it as OWL, SKOS or CSV",
        "Write an ontology in the format of a file's ending: .owl, .ttl and other RDF (OWL, or "
        "SKOS on request), .csv, .tsv.",
    )
    categories = step(
        "categories",
        "its concepts by category",
        "How many concepts each top category and each of its parts has, and which.",
    )
    compare = step(
        "compare",
        "two vocabularies, or two versions of one",
        "What two vocabularies share, what the second covers of the first, and what was added, "
        "removed and moved. A vocabulary is an ontology or a list of concepts.",
    )
    add(compare, "first A", "a built-in name or a file")
    add(compare, "second B", "the same, of the other or later one")
    add(compare, "-m --method NAME", "also what is near by a method such as WUP")
    add(compare, "--near X", "near from here on", float, 0.9)
    add(compare, "--mapping FILE", "CSV concept,word for WordNet; or pto")
    compare.add_argument("--rules", nargs=2, metavar=("A", "B"), help="TOML with more rules")
    for subparser in (check, show, convert, categories):
        add(subparser, "source SOURCE", "a built-in name or a file")
        common(subparser, "rules")
    add(convert, "target OUT", "the file to write")
    add(convert, "--skos", "SKOS, which has no rules, not OWL", bool)
    add(convert, "--rules-to FILE", "write the rules here, as TOML")
    add(convert, "--quiet", "say nothing", bool)
    add(show, "concept CONCEPT?", "all about one concept")
    for subparser in (check, show, categories, compare):
        outputs(subparser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.relatedness.hierarchies import check_ontology, view_concept, view_ontology

    action = arguments.pop("action")
    if action == "compare":
        from cranfield.relatedness.vocabularies import compare_vocabularies

        arguments["rules"] = tuple(arguments["rules"] or (None, None))
        options = {name: value for name, value in arguments.items() if value is not None}
        output.show(compare_vocabularies(**options))
        return DONE
    source, rules = arguments["source"], arguments["rules"]
    if action == "categories":
        from cranfield.relatedness.hierarchies import count_categories

        output.show(count_categories(source, rules=rules))
        return DONE
    if action == "check":
        answer = check_ontology(source, rules=rules)
        output.show(answer)
        return CHECK_FAILED if answer.problems else DONE
    if action == "show":
        concept = arguments["concept"]
        concept_view = view_concept(source, concept, rules=rules) if concept is not None else None
        output.show(concept_view or view_ontology(source, rules=rules))
        return DONE
    from cranfield.io.ontology import convert_ontology

    to, rules_target = arguments["target"], arguments["rules_to"]
    notes = convert_ontology(source, to, rules=rules, skos=arguments["skos"], rules_to=rules_target)
    output.warn(f"{note} (keep them with --rules-to)" for note in notes)
    for path in filter(None, (to, rules_target)):
        output.wrote(path)
    return DONE
