"""`cranfield eval labels`: runs that annotate items with concepts, against the truth."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, executor, gate_floors, measures, outputs
from cranfield.cli._inputs import (
    has_truths,
    label_options,
    score_option,
    scores_and_page,
    show_powered,
    truth_options,
    with_folder,
)
from cranfield.evaluation.inputs import drop_unreadable_runs, with_notes
from cranfield.options import DEFAULT_MEASURES, DEFAULT_WITH_COSTS, LABEL_SET_NAMES

FILES = """Files: ImageCLEF text (item, then a number per concept; 2010: 0/1 rows after the
confidence rows), .csv or .tsv (wide; item,concept,value; or item,labels with lists of concepts),
.json, .parquet, .npz; each may be .gz or .zst; a folder with a file per concept (PASCAL VOC)."""
MEASURES = f"""measures or sets of them: {", ".join(LABEL_SET_NAMES)} (default: {DEFAULT_MEASURES};
with an ontology or cost map: {DEFAULT_WITH_COSTS})"""


def make_parser() -> Parser:
    parser = Parser.of("eval labels", "Evaluate runs that annotate items with concepts.", FILES)
    add(parser, "truth TRUTH|DIR", "the true concepts of the items, or a collection's folder")
    add(parser, "runs RUN*", "one or more runs; NAME=FILE gives one another name")
    measures(parser, MEASURES)
    label_options(parser)
    truth_options(parser)
    common(parser, "design")
    score_option(parser)
    add(parser, "--per-item", "also the values of each item", bool)
    add(parser, "--per-concept", "also the values of each concept", bool)
    common(parser, "by")
    add(parser, "--explain ITEM", "instead, how the scores of one item come about")
    tuning = parser.group("thresholds chosen on some of the items")
    add(tuning, "--tune-threshold MEASURE", "the measure that they shall make best", dest="tune")
    add(
        tuning,
        "--on FILE",
        "items, one a line, or a collection's split, to choose on; evaluated are the others",
    )
    help_text = "one for each run (default) or each concept"
    add(tuning, "--tune-per", help_text, ("run", "concept"), "run")
    common(parser, "keep-going", "fail-under", "junit", "summary", "public", "title", "pictures")
    executor(parser, "each run is evaluated there")
    common(parser, "jobs", "seed")
    outputs(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    parser = make_parser()
    arguments, output = parser.read(argv)
    arguments = with_folder("eval labels", arguments, "truth", "runs")
    if has_truths(arguments):
        files = [arguments.pop("truth"), *arguments.pop("runs")]
        return show_powered(parser, arguments, files, output, task="labels")
    bad = drop_unreadable_runs(arguments)
    checks = [arguments.pop(n) for n in ("fail_under", "junit", "summary")]
    item, groups = arguments.pop("explain"), arguments.pop("by")
    design = arguments.pop("design")
    per: Sequence[str] = [unit for unit in ("item", "concept") if arguments.pop(f"per_{unit}")]
    from cranfield.evaluation.tuning import label_evaluator

    ask, reported = label_evaluator(arguments, keep=bool(per or groups))
    if item is not None:
        from cranfield.evaluation.explanations import explain_labels

        for name in ("jobs", "executor", "draws", "rng", "public"):
            arguments.pop(name, None)
        output.show(explain_labels(item=item, **arguments))
        return 0
    scores, page, per = scores_and_page(
        output, arguments, ask, "label_case" if reported and not groups else "", per
    )
    if design is not None:
        scores = scores.with_design(design)
    if groups is not None:
        output.show(with_notes(scores, bad).by(groups, rng=arguments.get("rng", 0)))
        return gate_floors(scores, checks, output) or bool(bad)
    per = ["topic" if scores.task == "ranked" else unit for unit in per]  # a concept's ranking
    output.show(with_notes(scores, bad), page=page, per=per)
    return gate_floors(scores, checks, output) or bool(bad)
