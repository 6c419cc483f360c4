"""`cranfield annotate`: baselines, from vectors and a truth to confidences of concepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cranfield.cli._common import Output, Parser, add_seed_option, positive, show, working
from cranfield.errors import UsageError
from cranfield.evaluation.baselines.annotate import AFTER, FUSIONS, THRESHOLDS
from cranfield.evaluation.baselines.classifiers import METHODS
from cranfield.report.render import FORMATS


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield annotate",
        description="Annotate items by what was learnt from others: --train takes vectors and, "
        "last, the truth of their items; --apply the same kinds of vectors of the items to "
        "annotate.",
        epilog="prior gives every concept its share in training, random any confidence: what a "
        "run must beat.",
    )
    parser.add_argument(
        "--train", nargs="+", required=True, metavar="FILE", help="vectors ..., then the truth"
    )
    parser.add_argument(
        "--apply", nargs="+", required=True, metavar="VECTORS", help="vectors of other items"
    )
    parser.add_argument("--method", choices=METHODS, default="logistic", help="default: logistic")
    parser.add_argument(
        "--fusion",
        choices=FUSIONS,
        default="early",
        help="of several kinds of vectors: put together before learning, or their confidences "
        "averaged (default: early)",
    )
    parser.add_argument(
        "--after",
        choices=AFTER,
        help="lift and lower confidences by the ontology's rules, or by co-occurrence in training",
    )
    parser.add_argument("--ontology", metavar="F", help="for --after rules")
    parser.add_argument("--rules", metavar="FILE", help="more rules, as TOML")
    parser.add_argument(
        "--threshold",
        choices=THRESHOLDS,
        default="one",
        help="0.5 for all, one for each concept (--thresholds writes them), or the decisions as "
        "labels beside the confidences (default: one)",
    )
    parser.add_argument("--thresholds", metavar="FILE", help="write CSV concept,threshold")
    parser.add_argument(
        "--neighbours", type=positive, default=10, metavar="N", help="for neighbours (default: 10)"
    )
    add_seed_option(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", required=True, metavar="LABELS", help=".csv, .npz or ImageCLEF text"
    )
    group.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    group.add_argument("--quiet", action="store_true", help="no progress and no warnings")
    return parser


def main(argv: Sequence[str]) -> int:
    given = make_parser().read(argv)
    from cranfield.evaluation.baselines.annotate import annotate
    from cranfield.io.files import run_name
    from cranfield.io.labels import write_labels, write_thresholds

    *train, truth = given["train"]
    if not train:
        raise UsageError("--train takes one or more files of vectors, and the truth last")
    output = Output(given["format"], None, given["quiet"])
    with working("annotating", output) as progress:
        answer = annotate(
            train,
            truth,
            given["apply"],
            name=run_name(given["output"]),
            progress=progress,
            **_options(given),
        )
    write_labels(answer.labels, given["output"])
    if given["thresholds"]:
        write_thresholds(answer.thresholds, given["thresholds"])
    show(answer, output)
    return 0


def _options(given: dict[str, Any]) -> dict[str, Any]:
    names = ("method", "fusion", "after", "ontology", "rules", "threshold", "neighbours", "seed")
    return {name: given[name] for name in names}
