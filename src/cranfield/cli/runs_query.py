"""`cranfield runs query`: annotation runs answer logical queries over concepts with rankings."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, positive, run_target
from cranfield.data.concept_query import READINGS

DESCRIPTION = """Rank the items of an annotation run by how far logical queries over concepts
hold for them, as a run that eval takes."""
EXAMPLES = """A query: Sea AND NOT (Night OR Indoor), also with & | !; names with blanks in quotes.
QUERIES: CSV topic,query, or lines of a topic and its query."""


def make_parser() -> Parser:
    parser = Parser.of("runs query", DESCRIPTION, EXAMPLES)
    add(parser, "queries QUERIES", "topics and their expressions")
    add(parser, "labels LABELS", "confidences or labels of items")
    help_text = """fuzzy: least and largest confidence; probability: chances of independent
    concepts; overlap: how many of the query's concepts an item has; inclusion: whether it has them
    all"""
    add(parser, "--reading", help_text, READINGS, READINGS[0])
    help_text = "with --reading overlap: items that have at least K of the query's concepts"
    add(parser, "--min-terms K", help_text, positive)
    add(parser, "-k N", "items per topic (default: all)", positive)
    help_text = "LABELS is a truth: write the judgements that it implies here"
    add(parser, "--judgements FILE", help_text)
    run_target(parser, "the run", "the queries and their first items")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.concept_queries import query_concepts, write_concept_judgements

    judgements = arguments.pop("judgements")
    if judgements is not None:
        write_concept_judgements(arguments["queries"], arguments["labels"], judgements)
        return 0
    answer = query_concepts(name=output.name("") or None, **arguments)
    output.show_run(answer, answer.run)
    return 0
