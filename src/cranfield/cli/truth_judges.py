"""`cranfield truth judges`: programs or people who judged, beside the gold."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, measures, outputs, positive, share
from cranfield.evaluation.scores import Task

DESCRIPTION = """Compare judges (a program, a crowd, other people) with the gold: agreement with
intervals, confusion of grades, and with --runs what each does to the means and the ranking of runs,
and whether it favours some of them."""
EXAMPLES = """examples:
  cranfield truth judges people.qrels model-a.qrels model-b.qrels
  cranfield truth judges people.qrels model.qrels --runs *.run -m "nDCG@10 AP"
  cranfield truth judges truth.csv crowd.csv --annotation --runs a.csv b.csv -m F.example
"""


def make_parser() -> Parser:
    parser = Parser.of("truth judges", DESCRIPTION, EXAMPLES, raw=True)
    add(parser, "gold GOLD", "what people judged")
    add(parser, "judges SILVER+", "what each judge says of the same")
    add(parser, "--runs RUN", "runs to score under the gold and each judge", nargs="+", default=())
    measures(parser, "measures (default: those of eval or label)")
    add(parser, "--annotation", "truths and runs are concepts of items, not rankings", bool)
    add(parser, "--families FILE", "CSV run,family: does a judge favour a family of runs?")
    add(parser, "--alpha X", "1 - the confidence of intervals, and the level of tests", share, 0.05)
    add(parser, "--resamples N", "random draws for intervals", positive, 10_000)
    common(parser, "jobs", "seed")
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.comparison.judges import assess_judges

    task: Task = "labels" if arguments.pop("annotation") else "ranked"
    with output.working("judging") as progress:
        answer = assess_judges(task=task, progress=progress, **arguments)
    output.show(answer)
    return 0
