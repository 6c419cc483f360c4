"""`cranfield agreement`: how far annotators agree, and who should not count."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from cranfield._version import __version__
from cranfield.agreement.assess import Agreement, Bootstrap, assess_agreement
from cranfield.agreement.exclusive import Forms, Groups, question_log
from cranfield.cli import _agreement_parts as parts
from cranfield.cli._common import Parser, add_output_options, add_seed_option, emit, positive
from cranfield.cli._judgements import (
    READING_PART,
    Progress,
    add_log_options,
    log_facts,
    log_warnings,
    read_groups,
    read_log,
    watched,
    write_tables,
)
from cranfield.data.judgement_log import JudgementLog
from cranfield.errors import UsageError
from cranfield.report.document import Document, Table

EPILOG = """
coefficients: accuracy fleiss free_marginal krippendorff krippendorff_ordinal
krippendorff_interval gwet_ac1 gwet_ac2 gwet_ac2_linear gwet_ac2_ordinal; `standard` are the
nominal ones, `all` every one that the answers allow. Cohen and Scott come with --pairs.
A coefficient that does not exist (nobody shares a unit, or all answers are the same) is null.
"""


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    _check(args)
    with watched("agreement", args) as (progress, watch):
        groups = read_groups(args)
        log, forms = read_log(args, groups, progress)
        beside: dict[str, Table] = {}
        document = _answer(args, log, forms, groups, beside, progress)
    warnings = [*watch.messages, *log_warnings(log, forms), *document.warnings]
    write_tables(beside)
    emit(Document(document.payload, document.tables, warnings, document.machine), args)
    return 0


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield agreement",
        epilog=EPILOG,
        description="How far annotators agree, and who should not count.",
    )
    add_log_options(parser, ("error", "first", "last"))
    parser.add_argument(
        "--coefficients",
        default="standard",
        metavar='"A B"',
        help="of those below (default: standard)",
    )
    parser.add_argument(
        "--intervals",
        action="store_true",
        help="intervals of all values: items are drawn again and again",
    )
    parser.add_argument(
        "--resamples",
        type=positive,
        default=1000,
        metavar="N",
        help="samples behind an interval (default: 1000)",
    )
    parser.add_argument(
        "--confidence",
        type=_share,
        default=0.95,
        metavar="X",
        help="share of the samples inside an interval (default: 0.95)",
    )
    add_seed_option(parser)
    more = parser.add_argument_group("more tables")
    more.add_argument("--pairs", action="store_true", help="every pair of annotators")
    more.add_argument("--per-item", action="store_true", help="agreement on each item")
    more.add_argument(
        "--majority",
        action="store_true",
        help="agreement with the majority, counting selected or all concepts",
    )
    more.add_argument(
        "--groups", metavar="FILE", help="CSV annotator,group: each group, and merged groups"
    )
    more.add_argument("--map", metavar="FILE", help="write concept,agreement for the measure OS")
    more.add_argument(
        "--map-counting",
        choices=("all", "selected"),
        default="all",
        help="units of the map: all (default), or those where somebody selected the concept",
    )
    _add_quality_options(parser.add_argument_group("quality control"))
    _add_systems_options(parser.add_argument_group("whether it matters"))
    add_output_options(parser)
    return parser


def _add_quality_options(quality: argparse._ArgumentGroup) -> None:
    quality.add_argument("--quality", action="store_true", help="who should not count, and why")
    quality.add_argument("--gold", metavar="FILE", help="known answers (item,concept,value)")
    quality.add_argument(
        "--gold-minimum",
        type=_share,
        default=0.7,
        metavar="X",
        help="share of gold answers to get right (default: 0.7)",
    )
    quality.add_argument(
        "--fast",
        type=_share,
        default=1 / 3,
        metavar="X",
        help="too fast is below this part of the typical time (default: 1/3)",
    )
    quality.add_argument("--reward", type=float, metavar="X", help="pay for one form")
    quality.add_argument("--clean", metavar="FILE", help="write the log without the rejected")


def _add_systems_options(systems: argparse._ArgumentGroup) -> None:
    systems.add_argument(
        "--systems",
        nargs="+",
        metavar="RUN",
        help="rank annotation runs by each annotator's truth and correlate the rankings",
    )
    systems.add_argument(
        "-m",
        "--measures",
        default="EER AUC",
        metavar="NAMES",
        help="measures of annotation (default: EER AUC)",
    )
    systems.add_argument(
        "--costmap", metavar="FILE", help="costs of confusing concepts, for measures such as OS"
    )
    systems.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="X",
        help="confidence from which a run predicts a concept (default: 0.5)",
    )
    systems.add_argument(
        "--coverage",
        type=_share,
        default=0.5,
        metavar="X",
        help="share of the items that an annotator must have judged to have a truth of its own "
        "(default: 0.5)",
    )


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return number


def _check(args: argparse.Namespace) -> None:
    """Options that mean something only together."""
    if (args.gold or args.clean or args.reward is not None) and not args.quality:
        raise UsageError("--gold, --reward and --clean belong to --quality")
    if args.costmap and not args.systems:
        raise UsageError("--costmap belongs to --systems")
    if args.reward is not None and not 0 <= args.reward < float("inf"):
        raise UsageError(f"--reward {args.reward} is not a number from 0 on")


def _answer(
    args: argparse.Namespace,
    log: JudgementLog,
    forms: Forms | None,
    groups: Groups,
    beside: dict[str, Table],
    progress: Progress,
) -> Document:
    """The whole answer; tables for files of their own go into `beside`."""
    bootstrap = Bootstrap(args.resamples, args.confidence, args.seed) if args.intervals else None
    report = progress.part(READING_PART, 0.8)
    found = assess_agreement(log, args.coefficients, bootstrap=bootstrap, progress=report)
    payload = {"cranfield": __version__, "command": "agreement", "log": log_facts(log)}
    payload |= parts.agreement_payload(found, bootstrap)
    tables: list[Table] = parts.agreement_tables(found, log, bootstrap)
    chosen: list[Document] = []
    if groups and log.kind == "concept":
        questions = question_log(log, groups)
        chosen.append(parts.categories_part(questions, found, bootstrap))
    if args.pairs:
        chosen.append(parts.pairs_part(log, found, progress.part(0.8, 0.9)))
    if args.per_item:
        chosen.append(parts.items_part(log))
    if args.majority:
        chosen.append(parts.majority_part(log))
    if args.map:
        chosen.append(parts.map_part(log, args, beside))
    if args.groups:
        chosen.append(parts.groups_part(log, args.groups, args.coefficients))
    if args.quality:
        chosen.append(parts.quality_part(log, forms, args, beside))
    elif forms is not None:
        chosen.append(parts.forms_part(log, forms, None))
    if args.systems:
        from cranfield.cli._agreement_systems import systems_part

        chosen.append(systems_part(log, args, progress))
    progress.fraction = 1.0
    for part in chosen:
        payload |= part.payload
    # CSV and TSV hold one table: that of the first option that asks for more than the usual.
    more = next((p.machine or p.tables[0] for p in chosen if p.tables), None)
    return Document(
        payload,
        [*tables, *(table for part in chosen for table in part.tables)],
        [*_undefined(found), *(said for part in chosen for said in part.warnings)],
        more,
    )


def _undefined(found: Agreement) -> list[str]:
    missing = {
        name: int(np.isnan([row.values[name] for row in found.concepts]).sum())
        for name in found.coefficients
    }
    said = [f"{name} {count}" for name, count in missing.items() if count]
    if not said:
        return []
    return [
        "undefined for some concepts (all answers the same, or no unit judged twice): "
        + ", ".join(said)
    ]
