"""`cranfield displacement`: rankings of systems against rankings of people."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, measures, outputs
from cranfield.cli._inputs import with_folder
from cranfield.evaluation.choices import DISPLACEMENT
from cranfield.io.coerce import read_runs

DESCRIPTION = "How far rankings of systems are from ranked lists that people made."
FILES = """SUBJECTS: subject,topic,item,significance, with significances in [0, 1]; a list is
ordered by significance, equal ones as in the file."""


def main(argv: Sequence[str]) -> int:
    given, output = make_parser().read(argv)
    from cranfield.evaluation.displacement import evaluate_displacement
    from cranfield.io.votes import read_subject_rankings

    given = with_folder("displacement", given, "subjects", "runs")
    per = [unit for unit in ("subject", "topic") if given.pop(f"per_{unit}")]
    with output.working("comparing") as progress:
        rankings = read_subject_rankings(given.pop("subjects"))
        runs = read_runs(given.pop("runs"), jobs=given.pop("jobs"))
        answer = evaluate_displacement(rankings, runs, progress=progress, **given)
    output.show(answer, per=per)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("displacement", DESCRIPTION, FILES)
    what = "CSV subject,topic,item,significance, or a collection's folder"
    add(parser, "subjects SUBJECTS|DIR", what)
    add(parser, "runs RUN*", "one or more runs")
    measures(parser, "measures of displacement", DISPLACEMENT)
    common(parser, "collection-size")
    what = "also the displacement with items that were not retrieved next, in the middle, last"
    add(parser, "--hypotheses", what, bool)
    what = "equally significant items of a subject: as in the file, or the mean over their orders"
    add(parser, "--ties", what, ("file", "average"), "file")
    add(parser, "--per-subject", "also the mean of each subject", bool)
    add(parser, "--per-topic", "also every subject and topic", bool)
    common(parser, "seed", "jobs")
    outputs(parser)
    return parser
