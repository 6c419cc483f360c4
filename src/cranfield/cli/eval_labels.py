"""`cranfield eval labels` and `regions`: annotations against a truth."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    executor,
    gate_floors,
    measures,
    outputs,
    positive,
)
from cranfield.cli._inputs import (
    has_truths,
    label_options,
    score_option,
    scores_and_page,
    show_powered,
    truth_options,
    with_folder,
)
from cranfield.errors import UsageError
from cranfield.evaluation.inputs import drop_unreadable_runs, with_notes
from cranfield.measures.regions import DEFAULT_MEASURES as REGION_MEASURES
from cranfield.measures.regions import REGION_SETS
from cranfield.options import DEFAULT_MEASURES, DEFAULT_WITH_COSTS, LABEL_SET_NAMES

LABELS_FILES = """\
Files: ImageCLEF text (item, then a number per concept; 2010: 0/1 rows after the
confidence rows), .csv or .tsv (wide; item,concept,value; or item,labels with lists of concepts),
.json, .parquet, .npz; each may be .gz or .zst; a folder with a file per concept (PASCAL VOC)."""


LABELS_MEASURES = f"""\
measures or sets of them: {", ".join(LABEL_SET_NAMES)} (default: {DEFAULT_MEASURES};
with an ontology or cost map: {DEFAULT_WITH_COSTS})"""


def labels_parser() -> Parser:
    parser = Parser.of(
        "eval labels", "Evaluate runs that annotate items with concepts.", LABELS_FILES
    )
    add(parser, "truth TRUTH|DIR", "the true concepts of the items, or a collection's folder")
    add(parser, "runs RUN*", "one or more runs; NAME=FILE gives one another name")
    measures(parser, LABELS_MEASURES)
    label_options(parser)
    truth_options(parser)
    common(parser, "design")
    score_option(parser)
    add(parser, "--per-item", "also the values of each item", bool)
    add(parser, "--per-concept", "also the values of each concept", bool)
    common(parser, "ranks", "by")
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


def labels(arguments: Arguments, output: Output) -> int:
    arguments = with_folder("eval labels", arguments, "truth", "runs")
    if has_truths(arguments):
        files = [arguments.pop("truth"), *arguments.pop("runs")]
        return show_powered(labels_parser(), arguments, files, output, task="labels")
    bad = drop_unreadable_runs(arguments)
    checks = [arguments.pop(n) for n in ("fail_under", "junit", "summary")]
    item, groups = arguments.pop("explain"), arguments.pop("by")
    design = arguments.pop("design")
    ranks = arguments.pop("ranks")
    if ranks and groups is not None:
        raise UsageError("--ranks and --by cannot be combined: slices have means and differences")
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
    output.show(with_notes(scores, bad), page=page, per=per, ranks=ranks)
    return gate_floors(scores, checks, output) or bool(bad)


REGIONS_FILES = """Files: JSON of COCO (truth and results), a folder of VOC's XML files, or CSV
(item,concept,x,y,width,height or xmin,ymin,xmax,ymax; runs also have confidence); each file may be
.gz or .zst."""


REGIONS_SETS = ", ".join(REGION_SETS)


def regions_parser() -> Parser:
    parser = Parser.of(
        "eval regions", "Evaluate runs that place boxes around objects.", REGIONS_FILES
    )
    add(parser, "truth TRUTH|DIR", "the boxes that are wanted, or a collection's folder")
    add(parser, "runs RUN*", "one or more runs; NAME=FILE gives one another name")
    measures(parser, f"measures or sets of them: {REGIONS_SETS} (default: {REGION_MEASURES})")
    help_text = "resamples of the items, for intervals and for the differences of every two runs"
    add(parser, "--draws N", help_text, positive)
    help_text = "also count the kinds of errors of boxes that are at least so sure"
    add(parser, "--errors CONFIDENCE", help_text, float)
    common(parser, "ontology")
    add(parser, "--costmap FILE", "costs of confusing concepts, square CSV, for HF.region")
    add(parser, "--per-concept", "also the values of each concept", bool)
    add(parser, "--per-item", "also what each item alone gives", bool)
    common(parser, "fail-under", "junit", "summary", "public", "title", "pictures", "jobs", "seed")
    outputs(parser)
    return parser


def regions(arguments: Arguments, output: Output) -> int:
    arguments = with_folder("eval regions", arguments, "truth", "runs")
    from cranfield.evaluation.regions import evaluate_regions

    checks = [arguments.pop(n) for n in ("fail_under", "junit", "summary")]
    names = REGION_MEASURES if arguments["measures"] is None else arguments["measures"]
    arguments["measures"] = " ".join([names, *(name for name, _ in checks[0])])
    per = [unit for unit in ("concept", "item") if arguments.pop(f"per_{unit}")]
    scores, page, per_units = scores_and_page(
        output, arguments, evaluate_regions, "region_case", per
    )
    output.show(scores, page=page, per=per_units)
    return gate_floors(scores, checks, output)


COMMANDS = {
    "labels": (labels_parser, labels),
    "regions": (regions_parser, regions),
}
