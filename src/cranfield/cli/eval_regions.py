"""`cranfield eval regions`: runs that place boxes, against the truth."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import (
    Parser,
    add,
    common,
    gate_floors,
    measures,
    outputs,
    positive,
)
from cranfield.cli._inputs import scores_and_page, with_folder
from cranfield.measures.regions import DEFAULT_MEASURES, REGION_SETS

FILES = """Files: JSON of COCO (truth and results), a folder of VOC's XML files, or CSV
(item,concept,x,y,width,height or xmin,ymin,xmax,ymax; runs also have confidence); each file may be
.gz or .zst."""
SETS = ", ".join(REGION_SETS)


def make_parser() -> Parser:
    parser = Parser.of("eval regions", "Evaluate runs that place boxes around objects.", FILES)
    add(parser, "truth TRUTH|DIR", "the boxes that are wanted, or a collection's folder")
    add(parser, "runs RUN*", "one or more runs; NAME=FILE gives one another name")
    measures(parser, f"measures or sets of them: {SETS} (default: {DEFAULT_MEASURES})")
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


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    arguments = with_folder("eval regions", arguments, "truth", "runs")
    from cranfield.evaluation.regions import evaluate_regions

    checks = [arguments.pop(n) for n in ("fail_under", "junit", "summary")]
    names = DEFAULT_MEASURES if arguments["measures"] is None else arguments["measures"]
    arguments["measures"] = " ".join([names, *(name for name, _ in checks[0])])
    per = [unit for unit in ("concept", "item") if arguments.pop(f"per_{unit}")]
    scores, page, per_units = scores_and_page(
        output, arguments, evaluate_regions, "region_case", per
    )
    output.show(scores, page=page, per=per_units)
    return gate_floors(scores, checks, output)
