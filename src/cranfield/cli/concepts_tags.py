"""`cranfield concepts tags`: a tag corpus in figures, and which tags could become concepts."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs, positive

DESCRIPTION = """How many tags items have, of which kinds they are, what a vocabulary covers of
them, and which tags could become concepts."""


def make_parser() -> Parser:
    parser = Parser.of("concepts tags", DESCRIPTION)
    add(parser, "corpus TAGS", "CSV item,tags[,text] or item,tag")
    add(parser, "--vocabulary V", "an ontology or a list of concepts: what it covers")
    add(parser, "--mapping FILE", "CSV concept,word: what stands for its concepts; or pto")
    add(parser, "--min-items N", "enough items", positive, 20)
    add(parser, "--wordnet DIR", "the folder of WordNet")
    add(parser, "--top N", "rows of a list", positive, 20)
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.relatedness.tag_corpus import analyse_tags

    top = arguments.pop("top")
    with output.working("tags") as progress:
        answer = analyse_tags(progress=progress, **arguments)
    output.show(answer, top=top)
    return 0
