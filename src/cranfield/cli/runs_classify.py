"""`cranfield runs classify`: baselines, from vectors and a truth to confidences of concepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cranfield.cli._common import Parser, add, common, positive, target
from cranfield.errors import UsageError
from cranfield.options import CLASSIFIERS, FUSIONS, LEARNED_THRESHOLDS, POSTPROCESSING

DESCRIPTION = """Annotate items by what was learnt from others: --train takes vectors and, last, the
truth of their items; --apply the same kinds of vectors of the items to annotate."""
EPILOG = """prior gives every concept its share in training, random any confidence: what a run must
beat."""


def make_parser() -> Parser:
    parser = Parser.of("runs classify", DESCRIPTION, EPILOG)
    add(parser, "--train FILE", "vectors ..., then the truth", nargs="+", required=True)
    add(parser, "--apply VECTORS", "vectors of other items", nargs="+", required=True)
    add(parser, "--method", "", CLASSIFIERS, "logistic")
    help_text = """of several kinds of vectors: put together before learning, or their confidences
    averaged"""
    add(parser, "--fusion", help_text, FUSIONS, "early")
    help_text = (
        "lift and lower confidences by the ontology's rules, or by co-occurrence in training"
    )
    add(parser, "--after", help_text, POSTPROCESSING)
    add(parser, "--ontology F", "for --after rules")
    add(parser, "--rules FILE", "more rules, as TOML")
    help_text = """0.5 for all, one for each concept (--thresholds writes them), or the decisions as
    labels beside the confidences"""
    add(parser, "--threshold", help_text, LEARNED_THRESHOLDS, "one")
    add(parser, "--thresholds FILE", "write CSV concept,threshold")
    add(parser, "--neighbours N", "for neighbours", positive, 10)
    common(parser, "seed")
    target(parser, "LABELS!: .csv, .npz or ImageCLEF text", "table")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.baselines import annotate
    from cranfield.io.files import run_name
    from cranfield.io.labels import write_labels, write_thresholds

    *train, truth = arguments.pop("train")
    if not train:
        raise UsageError("--train takes one or more files of vectors, and the truth last")
    path, vectors, limits = str(output.path), arguments.pop("apply"), arguments.pop("thresholds")
    arguments |= {"seed": arguments.pop("rng"), "name": run_name(path)}
    with output.working("annotating") as progress:
        answer = annotate(train, truth, vectors, progress=progress, **arguments)
    write_labels(answer.labels, path)
    if limits:
        write_thresholds(answer.thresholds, limits)
    replace(output, path=None).show(answer)
    return 0
