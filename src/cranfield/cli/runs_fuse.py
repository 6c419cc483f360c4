"""`cranfield runs fuse`: several runs to one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, positive, run_target
from cranfield.errors import UsageError

DESCRIPTION = "Fuse runs: one ranking of several, or one annotation of several (--labels)."
EPILOG = """With --tune the weights of each judged topic are those that do best on the topics of
the other folds, so that the run can be evaluated on the same judgements."""
METHOD = """zsum, combsum (minmax), combmnz, combanz, combmax, combmin, sum, rrf, borda, 'rrf(k=60)'
(default: zsum); with --labels mean, max, min, product, borda, zsum (default: mean)"""


def make_parser() -> Parser:
    parser = Parser.of("runs fuse", DESCRIPTION, EPILOG)
    add(parser, "runs RUN+", "two or more runs")
    add(parser, "--method NAME", METHOD)
    add(parser, "--weights X,X,...", "a weight for each run (default: 1)", _numbers)
    add(parser, "--tune QRELS", "find the weights on these judgements")
    add(parser, "-m --measure NAME", "tune for", default="AP")
    add(parser, "--folds N", "for tuning", positive, 5)
    add(parser, "-k N", "items for each topic (default: all)", positive)
    add(parser, "--labels", "the runs are annotations: fuse their confidences", bool)
    common(parser, "seed")
    run_target(parser, "the fused run", "the weights")
    return parser


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers") from None


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.fusion import fuse, fuse_labels

    runs, method = arguments.pop("runs"), arguments.pop("method")
    if arguments.pop("labels"):
        from cranfield.io.labels import write_labels

        if arguments["tune"]:
            raise UsageError("weights of labels are not tuned: give --weights")
        if output.path is None:
            raise UsageError("say where the labels go with -o: .csv, .npz or ImageCLEF text")
        write_labels(fuse_labels(runs, method or "mean", weights=arguments["weights"]), output.path)
        return 0
    arguments |= {"seed": arguments.pop("rng")} | ({"method": method} if method else {})
    with output.working("fusing") as progress:
        answer = fuse(runs, name=output.name("fused"), progress=progress, **arguments)
    output.show_run(answer, answer.run)
    return 0
