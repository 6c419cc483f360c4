"""`cranfield measures`: the catalogue, or all about one measure."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, outputs
from cranfield.errors import UsageError
from cranfield.options import DIMENSIONS

DESCRIPTION = """List all measures, or tell all about one: formula, source, range, direction,
what it needs, an example."""
_MEANING = {
    "direction": "a value for each concept, example (item) or topic",
    "prediction": "judges sets (binary) or rankings",
    "relevance": "the truth is binary or graded",
    "score": "a wrong label is wrong (binary), or by its distance (semantic)",
}


def make_parser() -> Parser:
    parser = Parser.of("measures", DESCRIPTION)
    add(parser, "name NAME?", "a measure, such as nDCG or 'nDCG@10'")
    group = parser.group("only those with")
    for name, values in DIMENSIONS.items():
        add(group, f"--{name}", _MEANING[name], values)
    add(parser, "--by-dimension", "a table by these four, names only", bool)
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.measure_catalogue import describe_measure, list_measures

    name, by_dimension = arguments["name"], arguments["by_dimension"]
    filters = {dimension: arguments[dimension] for dimension in DIMENSIONS if arguments[dimension]}
    if name is not None and (filters or by_dimension):
        raise UsageError(f"dimensions choose among all measures: leave {name} out")
    answer = list_measures(**filters) if name is None else describe_measure(name)
    output.show(answer, by_dimension=by_dimension)
    return 0
