"""Questions on judgement logs asked of files: the log, its rules, and what else they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cranfield.agreement.adjudication import adjudicated, read_decisions
from cranfield.agreement.aggregation import Aggregated, aggregate_judgements
from cranfield.agreement.answer import Agreement
from cranfield.agreement.assess import Resampling
from cranfield.agreement.majority import Counting
from cranfield.agreement.study import QualityCheck, SystemsCheck, agreement_map, assess_agreement
from cranfield.data.costmap import AgreementMap
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.ontology import Ontology, Rules, exclusive_groups
from cranfield.errors import UsageError
from cranfield.io.files import FileForm
from cranfield.io.judgement_log import (
    Duplicates,
    read_annotator_groups,
    read_gold,
    read_judgement_log,
    read_weights,
)
from cranfield.io.labels import read_label_runs
from cranfield.io.ontology import read_rules_of
from cranfield.notes import Progress, Watcher

# How much of the work is reading the log.
READING_PART = 0.4
QUALITY_OPTIONS = ("gold_minimum", "fast", "strict", "reward", "pay_rejected")
SYSTEMS_OPTIONS = ("measures", "coverage", "costmap", "agreement")


@dataclass(frozen=True, slots=True)
class RuledLog:
    """A judgement log and the rules that its forms keep."""

    log: JudgementLog
    rules: Ontology | Rules | None


def read_ruled_log(
    judgements: FileForm,
    *,
    values: Sequence[str] | None = None,
    duplicates: Duplicates = "error",
    rules: str | None = None,
    ontology: str | None = None,
    progress: Progress | None = None,
) -> RuledLog:
    """A log, and the rules of a TOML file, of an ontology or of both; see `read_judgement_log`."""
    rule_set = read_rules_of(rules=rules, ontology=ontology)
    log = read_judgement_log(
        judgements,
        values=values,
        groups=None if rule_set is None else exclusive_groups(rule_set),
        duplicates=duplicates,
        progress=progress,
    )
    return RuledLog(log, rule_set)


@dataclass(frozen=True, slots=True)
class AssessedLog:
    """The agreement of a log with all that can be written beside it."""

    answer: Agreement
    ruled: RuledLog

    def map(self, counting: Counting = "all") -> tuple[AgreementMap, int]:
        """The agreement on each concept, and how many concepts are not in it."""
        agreement = agreement_map(self.ruled.log, rules=self.ruled.rules, counting=counting)
        return agreement, int(self.answer.log["concepts"]) - len(agreement.agreement)

    def clean(self) -> JudgementLog:
        """The log without the annotators that the quality check rejects."""
        if self.answer.quality is None:
            raise UsageError("only a log whose quality= was checked can be cleaned")
        return self.answer.quality.clean(self.ruled.log, self.ruled.rules)


def assess_log(
    judgements: FileForm,
    *,
    values: Sequence[str] | None = None,
    duplicates: Duplicates = "error",
    rules: str | None = None,
    ontology: str | None = None,
    groups: FileForm | None = None,
    intervals: bool = False,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: int = 0,
    quality: bool = False,
    gold: FileForm | None = None,
    systems: Sequence[str | Path] | None = None,
    threshold: float = 0.5,
    progress: Watcher | None = None,
    **options: Any,
) -> AssessedLog:
    """`assess_agreement` of files: the log, its rules, groups, known answers and runs.

    `options` are those of `assess_agreement`, `QualityCheck` and `SystemsCheck`.
    """
    watcher = Progress.of(progress)
    checks = {name: options.pop(name) for name in QUALITY_OPTIONS if name in options}
    ranked = {name: options.pop(name) for name in SYSTEMS_OPTIONS if name in options}
    if (gold or checks.get("reward") is not None) and not quality:
        raise UsageError("gold= and reward= belong to quality=")
    foreign = [name for name in ("costmap", "agreement") if ranked.get(name) and not systems]
    if foreign:
        raise UsageError(f"{foreign[0]}= belongs to systems=")
    ruled = read_ruled_log(
        judgements,
        values=values,
        duplicates=duplicates,
        rules=rules,
        ontology=ontology,
        progress=watcher.part(0.0, READING_PART),
    )
    log = ruled.log
    answer = assess_agreement(
        log,
        rules=ruled.rules,
        resampling=Resampling(resamples, confidence, rng) if intervals else None,
        groups=read_annotator_groups(groups, log) if groups else None,
        quality=QualityCheck(read_gold(gold, log) if gold else None, **checks) if quality else None,
        systems=SystemsCheck(read_label_runs(systems, threshold), **ranked) if systems else None,
        progress=watcher.part(READING_PART, 1.0),
        **options,
    )
    return AssessedLog(answer, ruled)


def aggregate_log(
    judgements: FileForm,
    *,
    values: Sequence[str] | None = None,
    duplicates: Duplicates = "error",
    rules: str | None = None,
    ontology: str | None = None,
    weights: FileForm | None = None,
    gold: FileForm | None = None,
    decisions: FileForm | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> Aggregated:
    """`aggregate_judgements` of files: the log, its rules, weights, known answers, decisions."""
    watcher = Progress.of(progress)
    ruled = read_ruled_log(
        judgements,
        values=values,
        duplicates=duplicates,
        rules=rules,
        ontology=ontology,
        progress=watcher.part(0.0, READING_PART),
    )
    truth = aggregate_judgements(
        ruled.log,
        rules=ruled.rules,
        weights=read_weights(weights, ruled.log) if weights else None,
        gold=read_gold(gold, ruled.log) if gold else None,
        progress=watcher.part(READING_PART, 1.0),
        **options,
    )
    return truth if decisions is None else adjudicated(truth, read_decisions(decisions))
