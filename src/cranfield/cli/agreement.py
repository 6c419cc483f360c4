"""`cranfield agreement`: how far annotators agree, and who should not count."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cranfield.agreement.answer import Agreement
from cranfield.agreement.assess import Resampling
from cranfield.agreement.majority import Counting
from cranfield.agreement.study import QualityCheck, SystemsCheck, agreement_map, assess_agreement
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
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import UsageError
from cranfield.io.judgement_log import read_annotator_groups, read_gold
from cranfield.io.labels import read_label_runs
from cranfield.report.document import Table
from cranfield.report.tables.agreement import log_table, map_table

EPILOG = """
coefficients: accuracy fleiss free_marginal krippendorff krippendorff_ordinal
krippendorff_interval gwet_ac1 gwet_ac2 gwet_ac2_linear gwet_ac2_ordinal; `standard` are the
nominal ones, `all` every one that the answers allow. Cohen and Scott come with --pairs.
A coefficient that does not exist (nobody shares a unit, or all answers are the same) is null.
"""


@dataclass(frozen=True, slots=True)
class _Asked:
    log: LogInput
    options: dict[str, Any]
    groups: str | None
    quality: dict[str, Any] | None
    gold: str | None
    systems: dict[str, Any] | None
    runs: list[str]
    threshold: float
    map: str | None
    map_counting: Counting
    clean: str | None
    output: Output


def main(argv: Sequence[str]) -> int:
    asked = _asked(make_parser().parse_args(argv))
    with working("agreement", asked.output) as progress:
        log, rules = asked.log.read(progress)
        quality, systems = asked.quality, asked.systems
        answer = assess_agreement(
            log,
            rules=rules,
            groups=read_annotator_groups(asked.groups, log) if asked.groups else None,
            quality=None if quality is None else QualityCheck(_gold(asked, log), **quality),
            systems=None
            if systems is None
            else SystemsCheck(read_label_runs(asked.runs, asked.threshold), **systems),
            progress=progress.part(READING_PART, 1.0),
            **asked.options,
        )
    write_tables(_beside(asked, answer, log, rules), quiet=asked.output.quiet)
    show(answer, asked.output)
    return 0


def _gold(asked: _Asked, log: JudgementLog) -> Any:
    return read_gold(asked.gold, log) if asked.gold else None


def _beside(
    asked: _Asked, answer: Agreement, log: JudgementLog, rules: Ontology | Rules | None
) -> dict[str, Table]:
    """The files that were asked for beside the answer."""
    tables = {}
    if asked.map:
        found = agreement_map(log, rules=rules, counting=asked.map_counting)
        absent = int(answer.log["concepts"]) - len(found.agreement)
        if absent and not asked.output.quiet:
            said = f"{absent} concepts that nobody selected are not in the map"
            sys.stderr.write(f"warning: {asked.map}: {said}\n")
        tables[asked.map] = map_table(found.agreement)
    if asked.clean and answer.quality is not None:
        tables[asked.clean] = log_table(answer.quality.clean(log, rules))
    return tables


def _asked(args: argparse.Namespace) -> _Asked:
    if (args.gold or args.clean or args.reward is not None) and not args.quality:
        raise UsageError("--gold, --reward and --clean belong to --quality")
    for name in ("costmap", "agreement"):
        if getattr(args, name) and not args.systems:
            raise UsageError(f"--{name} belongs to --systems")
    checks = ("gold_minimum", "fast", "strict", "reward", "pay_rejected")
    ranked = ("measures", "coverage", "costmap", "agreement")
    return _Asked(
        LogInput.of(args),
        {
            "coefficients": args.coefficients,
            "resampling": Resampling(args.resamples, args.confidence, args.seed)
            if args.intervals
            else None,
            "pairs": args.pairs,
            "per_item": args.per_item,
            "majority": args.majority,
        },
        args.groups,
        {name: getattr(args, name) for name in checks} if args.quality else None,
        args.gold,
        {name: getattr(args, name) for name in ranked} if args.systems else None,
        args.systems or [],
        args.threshold,
        args.map,
        args.map_counting,
        args.clean,
        Output.of(args),
    )


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
    quality.add_argument(
        "--strict", action="store_true", help="reject also annotators who are to be looked at"
    )
    quality.add_argument("--reward", type=float, metavar="X", help="pay for one form")
    quality.add_argument(
        "--pay-rejected", action="store_true", help="forms that break a rule are paid, too"
    )
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
        "--agreement",
        metavar="FILE",
        help="CSV concept,agreement for OS (default: the log's own, where an ontology is given)",
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
