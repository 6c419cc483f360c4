"""`cranfield concepts relatedness` and `costmap`: how close two concepts are, and cost maps."""

from __future__ import annotations

from collections.abc import Sequence
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
)
from cranfield.io.files import inner_suffix

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


PARSERS = {"relatedness": relatedness_parser, "costmap": costmap_parser}
COMMANDS = {"relatedness": relatedness, "costmap": costmap}


def make_parser(command: str) -> Parser:
    return PARSERS[command]()


def main(argv: Sequence[str], command: str) -> int:
    arguments, output = PARSERS[command]().read(argv)
    return COMMANDS[command](arguments, output)
