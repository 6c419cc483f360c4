"""`cranfield query`: annotation runs answer logical queries over concepts with rankings."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Output, Parser, positive
from cranfield.cli._runs import add_run_output, run_name, show_run
from cranfield.data.concept_query import READINGS

EXAMPLES = """A query: Sea AND NOT (Night OR Indoor), also with & | !; names with blanks in quotes.
QUERIES: CSV topic,query, or lines of a topic and its query."""


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield query",
        description="Rank the items of an annotation run by how far logical queries over concepts "
        "hold for them, as a run that eval takes.",
        epilog=EXAMPLES,
    )
    parser.add_argument("queries", metavar="QUERIES", help="topics and their expressions")
    parser.add_argument("labels", metavar="LABELS", help="confidences or labels of items")
    parser.add_argument(
        "--reading",
        choices=READINGS,
        default=READINGS[0],
        help="fuzzy: least and largest confidence; probability: chances of independent concepts "
        "(default: fuzzy)",
    )
    parser.add_argument("-k", type=positive, metavar="N", help="items per topic (default: all)")
    parser.add_argument(
        "--judgements",
        metavar="FILE",
        help="LABELS is a truth: write the judgements that it implies here",
    )
    add_run_output(parser, "the run", "the queries and their first items")
    return parser


def main(argv: Sequence[str]) -> int:
    given = make_parser().parse_args(argv)
    output = Output(given.format, given.output, given.quiet)
    from cranfield.evaluation.concept_queries import query_concepts, write_concept_judgements

    if given.judgements is not None:
        write_concept_judgements(given.queries, given.labels, given.judgements)
        return 0
    name = run_name(output, "") or None
    answer = query_concepts(
        given.queries, given.labels, reading=given.reading, k=given.k, name=name
    )
    show_run(answer, answer.run, output)
    return 0
