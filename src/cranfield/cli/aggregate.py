"""`cranfield aggregate`: many opinions to one truth."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cranfield.agreement.aggregate import aggregate_judgements
from cranfield.agreement.aggregated import METHODS
from cranfield.agreement.majority import TIES
from cranfield.cli._common import (
    Output,
    Parser,
    add_output_options,
    add_seed_option,
    positive,
    show,
    working,
)
from cranfield.cli._judgements import READING_PART, LogInput, add_log_options, write_tables
from cranfield.io.judgement_log import read_gold, read_weights
from cranfield.report.tables.aggregate import annotator_table, confusion_table

EPILOG = """
methods: majority and weighted-majority count votes; dawid-skene learns how each annotator
confuses answers, one-coin how often each is right, mace who knows and who spams; mean and
median are for ratings.
"""


@dataclass(frozen=True, slots=True)
class _Asked:
    log: LogInput
    options: dict[str, Any]
    weights: str | None
    gold: str | None
    shape: str
    annotators: str | None
    confusion: str | None
    output: Output


def main(argv: Sequence[str]) -> int:
    asked = _asked(make_parser().parse_args(argv))
    with working("aggregating", asked.output) as progress:
        log, rules = asked.log.read(progress)
        answer = aggregate_judgements(
            log,
            rules=rules,
            weights=read_weights(asked.weights, log) if asked.weights else None,
            gold=read_gold(asked.gold, log) if asked.gold else None,
            progress=progress.part(READING_PART, 1.0),
            **asked.options,
        )
        beside = {}
        if asked.annotators:
            beside[asked.annotators] = annotator_table(answer)
        if asked.confusion:
            beside[asked.confusion] = confusion_table(answer)
    write_tables(beside, quiet=asked.output.quiet)
    show(answer, asked.output, shape=asked.shape)
    return 0


def _asked(args: argparse.Namespace) -> _Asked:
    names = ("method", "ties", "share", "prior", "smoothing", "iterations", "tolerance")
    options = {name: getattr(args, name) for name in names} | {"rng": args.seed}
    return _Asked(
        LogInput.of(args),
        options,
        args.weights,
        args.gold,
        "soft" if args.soft else "confidences" if args.confidences else "truth",
        args.annotators,
        args.confusion,
        Output.of(args),
    )


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield aggregate", description="Many opinions to one truth.", epilog=EPILOG
    )
    add_log_options(parser, ("error", "first", "last", "all"))
    parser.add_argument("--method", choices=METHODS, default="majority", help="default: majority")
    parser.add_argument(
        "--ties",
        choices=TIES,
        default="undecided",
        help="units whose answers are tied: left undecided (default), the lowest answer (0 before "
        "1), the highest or a random one, or omitted; exclusive groups always have one answer",
    )
    parser.add_argument(
        "--weights", metavar="FILE", help="CSV annotator,weight for weighted-majority"
    )
    parser.add_argument("--gold", metavar="FILE", help="known answers that the models keep to")
    parser.add_argument(
        "--share",
        action="store_true",
        help="one table of confusions per annotator for all concepts, not one per concept",
    )
    parser.add_argument(
        "--prior",
        type=_from_zero,
        metavar="X",
        help="judgements for which the usual annotator counts in what a model learns of each "
        "(default: by how much they differ, up to 10; 0: the estimates of the papers)",
    )
    parser.add_argument(
        "--smoothing",
        type=_from_zero,
        metavar="X",
        help="instead of it: judgements added to each cell of a dawid-skene table",
    )
    parser.add_argument(
        "--iterations",
        type=positive,
        default=500,
        metavar="N",
        help="of a model, at most (default: 500)",
    )
    parser.add_argument(
        "--tolerance",
        type=_from_zero,
        default=1e-4,
        metavar="X",
        help="stop when no probability moves by more (default: 0.0001)",
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument(
        "--soft", action="store_true", help="a row for every answer with its probability"
    )
    shape.add_argument(
        "--confidences",
        action="store_true",
        help="item,concept,value with the probability that the concept is present, "
        "as `cranfield label` reads it",
    )
    parser.add_argument(
        "--annotators", metavar="FILE", help="also write annotator,judgements,reliability"
    )
    parser.add_argument(
        "--confusion", metavar="FILE", help="also write what each annotator answers by truth"
    )
    add_seed_option(parser)
    add_output_options(parser, "csv")
    return parser


def _from_zero(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return number
