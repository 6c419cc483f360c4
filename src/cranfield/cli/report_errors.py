"""`cranfield report errors`: where runs fail."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, measures, outputs, positive
from cranfield.cli._inputs import subject_options
from cranfield.data.collection import KINDS

DESCRIPTION = """Where runs fail: the hardest topics, those where runs disagree, the largest gains
and losses against a baseline; for annotations also the concepts that are confused most, and
wrong labels by confidence."""
EXAMPLES = """examples:
  cranfield report errors qrels.txt bm25.run dense.run -m AP --baseline bm25
  cranfield report errors --truth truth.csv a.csv b.csv -m AP.concept
  cranfield report errors DIR --kind labels   (a collection's folder)
"""


def make_parser() -> Parser:
    parser = Parser.of("report errors", DESCRIPTION, EXAMPLES, raw=True)
    measures(parser, "the first one counts (default: that of eval or label)")
    add(parser, "--baseline RUN", "also gains and losses against this run")
    add(parser, "--kind", "which runs of a collection that has both", KINDS)
    add(parser, "--count N", "rows of each table", positive, 10, dest="shown")
    subject_options(parser)
    common(parser, "jobs")
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.campaign.error_analysis import find_errors

    with output.working("looking for errors") as progress:
        answer = find_errors(progress=progress, **arguments)
    output.show(answer)
    return 0
