"""`cranfield fuse`: several runs to one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield.cli._common import Output, Parser, add_seed_option, positive, working
from cranfield.cli._runs import add_run_output, run_name, show_run
from cranfield.errors import UsageError

METHODS = "zsum, combsum (minmax), combmnz, combanz, combmax, combmin, sum, rrf, borda"


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield fuse",
        description="Fuse runs: one ranking of several, or one annotation of several (--labels).",
        epilog="With --tune the weights of each judged topic are those that do best on the topics "
        "of the other folds, so that the run can be evaluated on the same judgements.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="two or more runs")
    parser.add_argument(
        "--method",
        metavar="NAME",
        help=f"{METHODS}, 'rrf(k=60)' (default: zsum); with --labels mean, max, min, product, "
        "borda, zsum (default: mean)",
    )
    parser.add_argument(
        "--weights", type=_numbers, metavar="X,X,...", help="a weight for each run (default: 1)"
    )
    parser.add_argument("--tune", metavar="QRELS", help="find the weights on these judgements")
    parser.add_argument(
        "-m", "--measure", default="AP", metavar="NAME", help="tune for (default: AP)"
    )
    parser.add_argument(
        "--folds", type=positive, default=5, metavar="N", help="for tuning (default: 5)"
    )
    parser.add_argument(
        "-k", type=positive, metavar="N", help="items for each topic (default: all)"
    )
    parser.add_argument(
        "--labels", action="store_true", help="the runs are annotations: fuse their confidences"
    )
    add_seed_option(parser)
    add_run_output(parser, "the fused run", "the weights")
    return parser


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers") from None


def _options(args: argparse.Namespace) -> dict[str, Any]:
    names = ("weights", "tune", "measure", "folds", "k", "seed")
    found = {name: getattr(args, name) for name in names}
    return found | ({"method": args.method} if args.method else {})


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    output = Output(args.format, args.output, args.quiet)
    if args.labels:
        if args.tune:
            raise UsageError("weights of labels are not tuned: give --weights")
        return _labels(args.runs, args.method, args.weights, output)
    from cranfield.evaluation.fusion import fuse

    with working("fusing", output) as progress:
        answer = fuse(
            args.runs, name=run_name(output, "fused"), progress=progress, **_options(args)
        )
    show_run(answer, answer.run, output)
    return 0


def _labels(
    runs: list[str], method: str | None, weights: list[float] | None, output: Output
) -> int:
    from cranfield.evaluation.fusion import fuse_labels
    from cranfield.io.labels import write_labels

    if output.path is None:
        raise UsageError("say where the labels go with -o: .csv, .npz or ImageCLEF text")
    write_labels(fuse_labels(runs, method or "mean", weights=weights), output.path)
    return 0
