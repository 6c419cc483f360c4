"""`cranfield relatedness`: how close two concepts are, and cost maps."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cranfield.cli._common import (
    Output,
    Parser,
    add_jobs_option,
    add_output_options,
    positive,
    show,
    working,
)
from cranfield.errors import UsageError
from cranfield.io.files import inner_suffix

if TYPE_CHECKING:
    from cranfield.answers import Answer
    from cranfield.io.pairs import WordPair

DONE = 0
# The options that say what methods read.
SOURCES = (
    "wordnet",
    "pos",
    "mapping",
    "stop_words",
    "counts",
    "tags",
    "save_counts",
    "provider",
    "links",
    "articles",
    "ontology",
    "jobs",
)

EXAMPLES = """\
examples:
  cranfield relatedness --list
  cranfield relatedness --method WUP --pair river sea
  cranfield relatedness --method wordnet --human pairs.csv
  cranfield relatedness --method JCN --concepts concepts.csv --mapping pto -o costmap.csv
  cranfield relatedness --method FTS --tags tags.csv --concepts concepts.csv -o costmap.csv
"""


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield relatedness",
        epilog=EXAMPLES,
        description="How close are two concepts? Relatedness of pairs, or a cost map.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_what(parser.add_argument_group("what to relate"))
    _add_how(parser.add_argument_group("how"))
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def _add_what(what: argparse._ArgumentGroup) -> None:
    what.add_argument("pairs", nargs="?", metavar="PAIRS", help="CSV word1,word2[,human]")
    what.add_argument(
        "--pair",
        nargs=2,
        action="append",
        default=[],
        metavar="WORD",
        help="one pair of words; may be given again",
    )
    what.add_argument(
        "--concepts",
        metavar="FILE",
        help="a cost map over these concepts: one a line, CSV with 'concept', or such as pto-2011",
    )
    what.add_argument(
        "--human",
        action="store_true",
        help="only the correlation with people's scores, one row per method",
    )
    what.add_argument(
        "--missing",
        choices=("leave-out", "zero"),
        default="leave-out",
        help="pairs without a value in correlations (default: leave-out)",
    )
    what.add_argument("--list", action="store_true", help="the methods, and what they need")


def _add_how(how: argparse._ArgumentGroup) -> None:
    how.add_argument(
        "-m",
        "--method",
        default="wordnet",
        metavar="NAMES",
        help="such as WUP or 'JCN LIN'; wordnet, the default: all nine",
    )
    how.add_argument(
        "--wordnet",
        metavar="FOLDER",
        help="the WordNet database (default: WNSEARCHDIR, WNHOME, usual places)",
    )
    how.add_argument(
        "--pos",
        default="auto",
        choices=("auto", "n", "v", "nv", "nvar"),
        help="parts of speech of plain words (default: auto, nouns if it has any)",
    )
    how.add_argument(
        "--mapping",
        metavar="FILE",
        help="CSV concept,word for concepts not in WordNet, or word,concept for words not in the "
        "ontology; built in: pto",
    )
    how.add_argument(
        "--stop-words",
        action="store_true",
        help="LESK without articles, pronouns, prepositions, conjunctions",
    )
    how.add_argument("--counts", metavar="FILE", help="hit counts: CSV term,with,count")
    how.add_argument("--tags", metavar="FILE", help="a tag corpus or training set to count")
    how.add_argument("--save-counts", metavar="FILE", help="keep what was counted on --tags")
    how.add_argument(
        "--provider", metavar="FILE", help="a live source of counts (TOML), remembered in --counts"
    )
    how.add_argument("--links", metavar="FILE", help="a link table: CSV source,target")
    how.add_argument(
        "--articles",
        type=positive,
        metavar="N",
        help="articles behind --links (default: those it names)",
    )
    how.add_argument("--ontology", metavar="FILE", help="built-in name, CSV, OWL or SKOS")


def main(argv: Sequence[str]) -> int:
    asked = _asked(make_parser().parse_args(argv))
    from cranfield.relatedness import api

    if asked.listing:
        show(api.list_methods(), asked.output)
        return DONE
    with working("relating", asked.output) as progress:
        answer: Answer
        if asked.pairs is not None:
            options = asked.sources | {"missing": asked.missing}
            answer = api.relate_pairs(asked.pairs, asked.method, progress=progress, **options)
        else:
            answer = api.relate_concepts(
                asked.concepts, asked.method, progress=progress, **asked.sources
            )
    show(answer, asked.output, human=asked.human, form=asked.output.form)
    return DONE


@dataclass(frozen=True)
class _Asked:
    """What the arguments say; `pairs` is None where a cost map is asked for."""

    output: Output
    listing: bool
    method: str
    pairs: list[WordPair] | None
    concepts: str
    human: bool
    missing: str
    sources: dict[str, Any]


def _asked(args: argparse.Namespace) -> _Asked:
    output = Output.of(args)
    has_pairs = args.pairs is not None or bool(args.pair)
    if not has_pairs and args.concepts is None and not args.list:
        raise UsageError(
            "nothing to relate: give a file of pairs, --pair WORD WORD, or --concepts FILE"
        )
    # With --tags the concepts may be there only to name the columns of the corpus.
    if has_pairs and args.concepts is not None and args.tags is None:
        raise UsageError("give pairs or --concepts, not both")
    if args.human and not has_pairs:
        raise UsageError("--human needs pairs with people's scores, not --concepts")
    sources = {name: getattr(args, name) for name in SOURCES}
    if has_pairs and args.concepts is not None:
        sources["columns"] = args.concepts
    # A cost map that goes to a file is the square of costs, which other commands read.
    if not has_pairs and output.form == "table" and output.path is not None:
        square = "tsv" if inner_suffix(output.path) == ".tsv" else "csv"
        output = replace(output, form=square)
    return _Asked(
        output,
        args.list,
        args.method,
        _pairs(args.pair, args.pairs) if has_pairs else None,
        args.concepts,
        args.human,
        args.missing,
        sources,
    )


def _pairs(typed: list[list[str]], path: str | None) -> list[WordPair]:
    from cranfield.io.pairs import WordPair, read_pairs

    return [*(WordPair(a, b) for a, b in typed), *(read_pairs(path) if path else ())]
