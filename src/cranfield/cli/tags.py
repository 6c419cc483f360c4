"""`cranfield tags`: a tag corpus in figures, and which tags could become concepts."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, add_output_options, positive, show, working

DONE = 0


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield tags",
        description="How many tags items have, of which kinds they are, what a vocabulary covers "
        "of them, and which tags could become concepts.",
    )
    parser.add_argument("corpus", metavar="TAGS", help="CSV item,tags[,text] or item,tag")
    parser.add_argument(
        "--vocabulary", metavar="V", help="an ontology or a list of concepts: what it covers"
    )
    parser.add_argument(
        "--mapping", metavar="FILE", help="CSV concept,word: what stands for its concepts; or pto"
    )
    parser.add_argument(
        "--min-items", type=positive, default=20, metavar="N", help="enough items (default: 20)"
    )
    parser.add_argument("--wordnet", metavar="DIR", help="the folder of WordNet")
    parser.add_argument(
        "--top", type=positive, default=20, metavar="N", help="rows of a list (default: 20)"
    )
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    given = make_parser().read(argv)
    output, top = Output.take(given), given.pop("top")
    from cranfield.relatedness.tag_corpus import analyse_tags

    with working("tags", output) as progress:
        found = analyse_tags(**given, progress=progress)
    show(found, output, top=top)
    return DONE
