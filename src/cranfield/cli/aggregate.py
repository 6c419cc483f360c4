"""`cranfield aggregate`: many opinions to one truth."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import numpy as np

from cranfield._version import __version__
from cranfield.agreement.aggregate import METHODS, Aggregated, aggregate_judgements
from cranfield.agreement.majority import TIES
from cranfield.cli._common import Parser, add_output_options, emit, positive
from cranfield.cli._judgements import (
    READING_PART,
    add_log_options,
    log_facts,
    log_warnings,
    read_groups,
    read_log,
    watched,
    write_tables,
)
from cranfield.errors import UsageError
from cranfield.io.judgement_log import read_gold, read_weights
from cranfield.report.document import Cell, Column, Document, Table

EPILOG = """
methods: majority and weighted-majority count votes; dawid-skene learns how each annotator
confuses answers, one-coin how often each is right, mace who knows and who spams.
"""


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    with watched("aggregating", args) as (progress, watch):
        groups = read_groups(args)
        log, forms = read_log(args, groups, progress)
        result = aggregate_judgements(
            log,
            args.method,
            ties=args.ties,
            weights=read_weights(args.weights, log) if args.weights else None,
            gold=read_gold(args.gold, log) if args.gold else None,
            share=args.share,
            smoothing=args.smoothing,
            iterations=args.iterations,
            tolerance=args.tolerance,
            progress=progress.part(READING_PART, 1.0),
        )
        truth = _truth_table(result, args)
        beside = {}
        if args.annotators:
            beside[args.annotators] = _annotator_table(result)
        if args.confusion:
            beside[args.confusion] = _confusion_table(result)
    warnings = [*watch.messages, *log_warnings(log, forms), *_own_warnings(result, args)]
    write_tables(beside)
    emit(Document(_payload(result), [truth], warnings), args)
    return 0


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield aggregate", description="Many opinions to one truth.", epilog=EPILOG
    )
    add_log_options(parser, ("error", "first", "last", "all"))
    parser.add_argument("--method", choices=METHODS, default="majority", help="default: majority")
    parser.add_argument(
        "--ties",
        choices=TIES,
        default="lowest",
        help="of votes: the lowest answer (default; 0 before 1), the highest, or omit the unit",
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
        "--smoothing",
        type=_from_zero,
        default=0.0,
        metavar="X",
        help="judgements added to each cell of a dawid-skene table (default: 0)",
    )
    parser.add_argument(
        "--iterations",
        type=positive,
        default=100,
        metavar="N",
        help="of a model, at most (default: 100)",
    )
    parser.add_argument(
        "--tolerance",
        type=_from_zero,
        default=1e-6,
        metavar="X",
        help="stop when the log-likelihood per judgement grows by less (default: 1e-6)",
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


def _truth_table(result: Aggregated, args: argparse.Namespace) -> Table:
    log = result.log
    if args.confidences:
        return _confidence_table(result)
    columns = [Column("item", numeric=False), Column("probability")]
    named = ["concept", "value"] if log.kind == "concept" else ["category"]
    columns[1:1] = [Column(name, numeric=False) for name in named]
    asks = log.kind == "concept"
    rows: list[list[Cell]] = []
    items = [log.items[i] for i in result.item.tolist()]
    concepts = [log.concepts[c] for c in result.concept.tolist()]
    if args.soft:
        for i, share in enumerate(result.probability.tolist()):
            for v in log.answers_of(int(result.concept[i])):
                middle = [concepts[i], log.values[v]] if asks else [log.values[v]]
                rows.append([items[i], *middle, share[v]])
    else:
        share = result.winning_probability.tolist()
        for i, winner in enumerate(result.winner.tolist()):
            if winner >= 0:
                middle = [concepts[i], log.values[winner]] if asks else [log.values[winner]]
                rows.append([items[i], *middle, share[i]])
    return Table(columns, rows)


def _confidence_table(result: Aggregated) -> Table:
    log, levels = result.log, result.log.levels
    if log.kind != "concept" or levels is None:
        raise UsageError("--confidences needs a log with annotator,item,concept,value")
    present = result.probability[:, levels > 0].sum(axis=1)
    rows: list[list[Cell]] = [
        [log.items[i], log.concepts[c], p]
        for i, c, p in zip(
            result.item.tolist(), result.concept.tolist(), present.tolist(), strict=True
        )
    ]
    return Table(
        [Column("item", numeric=False), Column("concept", numeric=False), Column("value")], rows
    )


def _annotator_table(result: Aggregated) -> Table:
    rows: list[list[Cell]] = [
        [name, int(result.judgements[a]), float(result.reliability[a])]
        for a, name in enumerate(result.log.annotators)
        if result.judgements[a]
    ]
    columns = [Column("annotator", numeric=False), Column("judgements"), Column("reliability")]
    return Table(columns, rows)


def _confusion_table(result: Aggregated) -> Table:
    if not result.fits:
        raise UsageError(f"the method {result.method!r} estimates no confusions (--confusion)")
    names = ("annotator", "concept", "true", "answer")
    columns = [Column(name, numeric=False) for name in names] + [Column("probability")]
    return Table(columns, [list(row) for row in result.confusion()])


def _payload(result: Aggregated) -> dict[str, object]:
    log = result.log
    truth = []
    for i, c, w, p in zip(
        result.item.tolist(),
        result.concept.tolist(),
        result.winner.tolist(),
        result.winning_probability.tolist(),
        strict=True,
    ):
        if w < 0:
            continue
        middle = (
            {"concept": log.concepts[c], "value": log.values[w]}
            if log.kind == "concept"
            else {"category": log.values[w]}
        )
        truth.append({"item": log.items[i], **middle, "probability": p})
    return {
        "cranfield": __version__,
        "command": "aggregate",
        "method": result.method,
        "log": log_facts(log),
        "ties": result.ties,
        "truth": truth,
        "annotators": [
            {
                "annotator": name,
                "judgements": int(result.judgements[a]),
                "reliability": float(result.reliability[a]),
            }
            for a, name in enumerate(log.annotators)
            if result.judgements[a]
        ],
    }


def _own_warnings(result: Aggregated, args: argparse.Namespace) -> list[str]:
    said = []
    if result.ties:
        what = "are left out" if args.ties == "omit" else f"go to the {args.ties} answer"
        said.append(f"{result.ties} of {result.item.size} units are tied and {what}")
    slow = [name for name, _, fit in result.fits if not fit.converged]
    if slow:
        said.append(
            f"not converged after {args.iterations} iterations: {', '.join(slow[:5])}"
            f"{' ...' if len(slow) > 5 else ''} (--iterations, --tolerance)"
        )
    silent = int(np.count_nonzero(result.judgements == 0))
    if silent:
        said.append(f"{silent} annotators have no judgement left")
    return said
