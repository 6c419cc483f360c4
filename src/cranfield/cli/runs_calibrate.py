"""`cranfield runs calibrate`: confidences of a run to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cranfield.cli._common import Parser, add, common, positive, target
from cranfield.options import CALIBRATION_UNITS, CALIBRATIONS

DESCRIPTION = """Make probabilities of a run's confidences. The curve is fitted on the items of
--on, which are left out of what is written, or on all folds but the one that an item is in: either
way the calibrated run can be evaluated on the same truth."""


def make_parser() -> Parser:
    parser = Parser.of("runs calibrate", DESCRIPTION)
    add(parser, "truth TRUTH", "the true concepts of the items; not all cells need be judged")
    add(parser, "run RUN", "confidences of concepts")
    help_text = """a monotonic step function; a logistic curve of the logit (Platt); the logit
    divided by one number"""
    add(parser, "--method", help_text, CALIBRATIONS, CALIBRATIONS[0])
    help_text = "one curve for all concepts, or one for each"
    add(parser, "--per", help_text, CALIBRATION_UNITS, CALIBRATION_UNITS[0])
    add(parser, "--on FILE", "items to fit on, one a line, or a collection's split")
    add(parser, "--folds N", "without --on: parts of the items", positive, 5)
    help_text = "the numbers of the run are in [0, 1], or scores of any size"
    add(parser, "--scores", help_text, ("confidence", "any"), "confidence")
    help_text = "what cells are that a long truth does not list"
    add(parser, "--unlisted", help_text, ("absent", "unjudged"))
    common(parser, "seed")
    target(parser, "LABELS!: .csv, .npz or ImageCLEF text", "table")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.calibration import calibrate
    from cranfield.io.files import run_name
    from cranfield.io.labels import write_labels

    path = str(output.path)
    with output.working("calibrating") as progress:
        answer = calibrate(name=run_name(path), progress=progress, **arguments)
    write_labels(answer.labels, path)
    replace(output, path=None).show(answer)
    return 0
