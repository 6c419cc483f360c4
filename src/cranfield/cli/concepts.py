"""`cranfield concepts`: ontologies, tags, card sorting, relatedness and cost maps."""

from __future__ import annotations

from dataclasses import replace

from cranfield.cli._common import (
    Arguments,
    NamedValues,
    Output,
    Parser,
    Place,
    add,
    common,
    outputs,
    positive,
    share,
)
from cranfield.io.files import inner_suffix

DONE, CHECK_FAILED = 0, 1


ONTOLOGY_DESCRIPTION = """\
Check an ontology for cycles and contradictions, show what it says, or put two
vocabularies side by side."""


ONTOLOGY_EPILOG = """\
SOURCE: pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), OWL,
RDF, SKOS, or CSV concept,path."""


def ontology_parser() -> Parser:
    parser = Parser.of("concepts ontology", ONTOLOGY_DESCRIPTION, ONTOLOGY_EPILOG)
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


def ontology(arguments: Arguments, output: Output) -> int:
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


TAGS_DESCRIPTION = """How many tags items have, of which kinds they are, what a vocabulary covers of
them, and which tags could become concepts."""


CARD_SORT_DESCRIPTION = """Which items people put together, by what kinds of reasons, and how far
they agree."""


def tags_parser() -> Parser:
    parser = Parser.of("concepts tags", TAGS_DESCRIPTION)
    add(parser, "corpus TAGS", "CSV item,tags[,text] or item,tag")
    add(parser, "--vocabulary V", "an ontology or a list of concepts: what it covers")
    add(parser, "--mapping FILE", "CSV concept,word: what stands for its concepts; or pto")
    add(parser, "--min-items N", "enough items", positive, 20)
    add(parser, "--wordnet DIR", "the folder of WordNet")
    add(parser, "--top N", "rows of a list", positive, 20)
    outputs(parser)
    return parser


def tags(arguments: Arguments, output: Output) -> int:
    from cranfield.relatedness.vocabularies import analyse_tags

    top = arguments.pop("top")
    with output.working("tags") as progress:
        answer = analyse_tags(progress=progress, **arguments)
    output.show(answer, top=top)
    return 0


def card_sort_parser() -> Parser:
    parser = Parser.of("concepts card-sort", CARD_SORT_DESCRIPTION)
    help_text = (
        "CSV subject,item,group[,kind], a group of a group as people/women; or subject,item,tag"
    )
    add(parser, "source GROUPS", help_text)
    add(parser, "--level X", "how far items of a cluster are together on average", share, 0.5)
    outputs(parser)
    return parser


def card_sort(arguments: Arguments, output: Output) -> int:
    from cranfield.agreement.card_sorting import study_groups

    output.show(study_groups(arguments["source"], level=arguments["level"]))
    return 0


RELATEDNESS_DESCRIPTION = "How close are two concepts? Relatedness of pairs, or a cost map."


RELATEDNESS_EXAMPLES = """\
examples:
  cranfield concepts relatedness --list
  cranfield concepts relatedness --method WUP --pair river sea
  cranfield concepts relatedness --method wordnet --human pairs.csv
  cranfield concepts relatedness --method JCN --concepts concepts.csv --mapping pto -o costmap.csv
  cranfield concepts relatedness --method FTS --tags tags.csv --concepts concepts.csv -o costmap.csv
"""


def relatedness_parser() -> Parser:
    parser = Parser.of(
        "concepts relatedness", RELATEDNESS_DESCRIPTION, RELATEDNESS_EXAMPLES, raw=True
    )
    _pair_options(parser.group("what to relate"))
    _method_options(parser.group("how"))
    common(parser, "jobs")
    outputs(parser)
    return parser


def _pair_options(group: Place) -> None:
    add(group, "pairs PAIRS?", "CSV word1,word2[,human]")
    help_text = "one pair of words; may be given again"
    group.add_argument(
        "--pair", nargs=2, action="append", default=[], metavar="WORD", help=help_text
    )
    help_text = (
        "a cost map over these concepts: one a line, CSV with 'concept', or such as pto-2011"
    )
    add(group, "--concepts FILE", help_text)
    help_text = "only the correlation with people's scores, one row per method"
    add(group, "--human", help_text, bool)
    help_text = "pairs without a value in correlations"
    add(group, "--missing", help_text, ("leave-out", "zero"), "leave-out")
    add(group, "--list", "the methods, and what they need", bool)


def _method_options(group: Place) -> None:
    help_text = "such as WUP or 'JCN LIN'; wordnet, the default: all nine"
    add(group, "-m --method NAMES", help_text, default="wordnet")
    help_text = "the WordNet database (default: WNSEARCHDIR, WNHOME, usual places)"
    add(group, "--wordnet FOLDER", help_text)
    help_text = "parts of speech of plain words (default: auto, nouns if it has any)"
    add(group, "--pos", help_text, ("auto", "n", "v", "nv", "nvar"), "auto")
    help_text = """CSV concept,word for concepts not in WordNet, or word,concept for words not in
    the ontology; built in: pto"""
    add(group, "--mapping FILE", help_text)
    help_text = "LESK without articles, pronouns, prepositions, conjunctions"
    add(group, "--stop-words", help_text, bool)
    help_text = (
        "hit counts: CSV term,with,count; several by name: --counts G=a.csv --counts Y=b.csv"
    )
    add(group, "--counts [NAME=]FILE", help_text, NamedValues)
    add(group, "--tags [NAME=]FILE", "a tag corpus or training set to count; several", NamedValues)
    add(group, "--save-counts FILE", "keep what was counted on --tags")
    add(group, "--provider FILE", "a live source of counts (TOML), remembered in --counts")
    add(group, "--links FILE", "a link table: CSV source,target")
    add(group, "--articles N", "articles behind --links (default: those it names)", positive)
    add(group, "--ontology FILE", "built-in name, CSV, OWL or SKOS")


def relatedness(arguments: Arguments, output: Output) -> int:
    from cranfield.relatedness import api

    if arguments.pop("list"):
        output.show(api.list_methods())
        return 0
    # A cost map that goes to a file is the square of costs, which other commands read.
    is_map = arguments["pairs"] is None and not arguments["pair"]
    if is_map and output.form == "table" and output.path is not None:
        square = "tsv" if inner_suffix(output.path) == ".tsv" else "csv"
        output = replace(output, form=square)
    with output.working("relating") as progress:
        answer = api.relate(progress=progress, **arguments)
    output.show(answer, human=arguments["human"], form=output.form)
    return 0


def costmap_parser() -> Parser:
    parser = Parser.of("concepts costmap", "Look at a cost map, or compare two.")
    step = parser.steps("task", "TASK")
    show_text = "Heat map, dendrogram and nearest concepts. --format html draws a page."
    show = step("show", "heat map, dendrogram and nearest concepts", show_text)
    add(show, "costs MAP", "a cost map: square CSV with names")
    add(show, "--nearest N", "how many nearest concepts to list", positive, 3)
    help_text = "list the nearest of this one only; may be given again"
    add(show, "--concept NAME", help_text, [str], dest="concepts")
    compare_text = "How alike two cost maps are, with Mantel's test."
    compare = step("compare", "how alike two cost maps are", compare_text)
    add(compare, "first MAP", "a cost map")
    add(compare, "second MAP", "another one")
    add(compare, "--top N", "pairs that differ most to list", positive, 10)
    add(compare, "--permutations N", "shuffles of the test", positive, 999)
    common(compare, "seed")
    for task in (show, compare):
        outputs(task)
    return parser


def costmap(arguments: Arguments, output: Output) -> int:
    from cranfield.relatedness.cost_maps import compare_cost_maps, view_cost_map

    if arguments.pop("task") == "show":
        output.show(view_cost_map(**arguments), form=output.form)
        return 0
    top, arguments["seed"] = arguments.pop("top"), arguments.pop("rng")
    with output.working("comparing") as progress:
        comparison = compare_cost_maps(progress=progress, **arguments)
    output.show(comparison, top=top)
    return 0


COMMANDS = {
    "ontology": (ontology_parser, ontology),
    "tags": (tags_parser, tags),
    "card-sort": (card_sort_parser, card_sort),
    "relatedness": (relatedness_parser, relatedness),
    "costmap": (costmap_parser, costmap),
}
