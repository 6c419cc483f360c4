"""`cranfield eval displacement`: rankings of systems against rankings of people."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, measures, outputs
from cranfield.cli._inputs import with_folder
from cranfield.io.coerce import read_runs
from cranfield.options import DISPLACEMENT

DESCRIPTION = "How far rankings of systems are from ranked lists that people made."
FILES = """SUBJECTS: subject,topic,item,significance, with significances in [0, 1]; a list is
ordered by significance, equal ones as in the file."""


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.displacement import evaluate_displacement
    from cranfield.io.votes import read_subject_rankings

    arguments = with_folder("eval displacement", arguments, "subjects", "runs")
    per = [unit for unit in ("subject", "topic") if arguments.pop(f"per_{unit}")]
    with output.working("comparing") as progress:
        rankings = read_subject_rankings(arguments.pop("subjects"))
        runs = read_runs(arguments.pop("runs"), jobs=arguments.pop("jobs"))
        answer = evaluate_displacement(rankings, runs, progress=progress, **arguments)
    output.show(answer, per=per)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("eval displacement", DESCRIPTION, FILES)
    help_text = "CSV subject,topic,item,significance, or a collection's folder"
    add(parser, "subjects SUBJECTS|DIR", help_text)
    add(parser, "runs RUN*", "one or more runs")
    measures(parser, "measures of displacement", DISPLACEMENT)
    common(parser, "collection-size")
    help_text = "also the displacement with items that were not retrieved next, in the middle, last"
    add(parser, "--hypotheses", help_text, bool)
    help_text = (
        "equally significant items of a subject: as in the file, or the mean over their orders"
    )
    add(parser, "--ties", help_text, ("file", "average"), "file")
    add(parser, "--per-subject", "also the mean of each subject", bool)
    add(parser, "--per-topic", "also every subject and topic", bool)
    common(parser, "seed", "jobs")
    outputs(parser)
    return parser
