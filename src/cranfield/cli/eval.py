"""`cranfield eval`: ranked runs against judgements."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._commands import commands_of
from cranfield.cli._common import Parser, add, common, executor, gate_floors, measures, outputs
from cranfield.cli._inputs import (
    has_truths,
    ranked_options,
    scores_and_page,
    show_powered,
    truth_options,
    with_folder,
)
from cranfield.evaluation.inputs import select_readable_runs, with_notes
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.measures import SETS

FILES = """Files: TREC format, or .json, .csv, .tsv, .parquet; each may be .gz or .zst, and '-' is
standard input. Other evaluations are commands of their own:"""


def make_parser() -> Parser:
    others = "; ".join(f"cranfield eval {name}" for name in commands_of("eval") if name != "ranked")
    parser = Parser.of("eval", "Evaluate ranked runs against judgements.", f"{FILES} {others}.")
    add(parser, "judgements QRELS|DIR", "judgements, or a collection's folder")
    add(parser, "runs RUN*", "one or more runs; NAME=FILE gives one another name")
    measures(parser, f"measures or sets of them: {', '.join(SETS)} (default: {DEFAULT_MEASURES})")
    ranked_options(parser)
    truth_options(parser)
    common(parser, "design")
    add(parser, "--tie-range", "also tell how far ties can move each mean", bool)
    common(parser, "per-topic", "by")
    common(parser, "third", "keep-going", "fail-under", "junit", "summary")
    common(parser, "public", "title", "pictures")
    executor(parser, "each run is evaluated there")
    common(parser, "jobs", "seed")
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    parser = make_parser()
    arguments, output = parser.read(argv)
    arguments = with_folder("eval", arguments, "judgements", "runs")
    if has_truths(arguments):
        files = [arguments.pop("judgements"), *arguments.pop("runs")]
        return show_powered(parser, arguments, files, output)
    bad: tuple[str, ...] = ()
    if arguments.pop("keep_going"):
        arguments["runs"], bad = select_readable_runs(arguments["runs"])
    checks = [arguments.pop(n) for n in ("fail_under", "junit", "summary")]
    measure_names = DEFAULT_MEASURES if arguments["measures"] is None else arguments["measures"]
    arguments["measures"] = " ".join([measure_names, *(name for name, _ in checks[0])])
    # The report has every topic anyway.
    per: Sequence[str] = ["topic"] if arguments.pop("per_topic") and output.form != "html" else []
    groups, design = arguments.pop("by"), arguments.pop("design")
    scores, page, per = scores_and_page(
        output, arguments, evaluate, "" if groups else "ranked_case", per
    )
    if design is not None:
        scores = scores.with_design(design)
    if groups is not None:
        output.show(with_notes(scores, bad).by(groups, rng=arguments["rng"]))
        return gate_floors(scores, checks, output) or bool(bad)
    output.show(with_notes(scores, bad) if bad else scores, page=page, per=per)
    return gate_floors(scores, checks, output) or bool(bad)
