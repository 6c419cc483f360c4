"""How far annotators agree, who should not count, and whether it matters: one question each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cranfield.agreement.aggregation import log_facts, note_log
from cranfield.agreement.annotator_groups import group_agreement
from cranfield.agreement.answer import Agreement, FormsReport
from cranfield.agreement.assess import Assessed, Resampling, assess
from cranfield.agreement.coefficients import LEAST, nominal_names
from cranfield.agreement.exclusive_labels import CheckedLog, Forms, question_log
from cranfield.agreement.majority import Counting, accuracy_per_item, majority_agreement
from cranfield.agreement.pairwise import pairwise
from cranfield.agreement.quality import Quality, check_quality
from cranfield.agreement.ranking_robustness import SystemsStudy, compare_rankings
from cranfield.agreement.truth_inference import Gold
from cranfield.data.costmap import AgreementMap
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import UsageError
from cranfield.notes import Notes, Progress, with_progress
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """How annotators are checked; see `check_quality` for the names."""

    gold: Gold | None = None
    gold_minimum: float = 0.7
    fast: float = 1 / 3
    strict: bool = False
    reward: float | None = None
    pay_rejected: bool = False


@dataclass(frozen=True, slots=True)
class SystemsCheck:
    """Runs that are ranked by every truth; see `compare_rankings` for the names.

    Without an `agreement` map and with rules from an ontology, the log's own agreement on each
    concept stands in for it.
    """

    runs: Sequence[LabelMatrix]
    measures: str = "EER AUC"
    coverage: float = 0.5
    costmap: Any = None
    agreement: Any = None


@validate_params
@with_progress
def assess_agreement(
    log: JudgementLog,
    coefficients: str = "standard",
    *,
    rules: Ontology | Rules | None = None,
    resampling: Resampling | None = None,
    pairs: bool = False,
    per_item: bool = False,
    majority: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
    quality: QualityCheck | None = None,
    systems: SystemsCheck | None = None,
    progress: Progress | Callable[[float], None] | None = None,
) -> Agreement:
    """Coefficients of agreement of a log, overall, per concept and per annotator.

    Forms that break the exclusive groups of `rules` are left out, and each group is also
    assessed as one question. `resampling` asks for intervals; `pairs`, `per_item` and
    `majority` for the agreement of pairs of annotators, on each item and with the majority;
    `groups` (names of annotators by group) for that within and between groups; `quality` for
    who should not count; `systems` for whether the choice of the annotator changes a ranking.
    """
    watcher, notes = Progress.of(progress), Notes()
    ruled = CheckedLog.of(log, rules)
    valid = ruled.log
    exclusive = {} if ruled.book is None else ruled.book.groups()
    if rules is not None and not exclusive:
        if not isinstance(rules, Ontology):
            raise UsageError("the rules have no exclusive group (exactly_one)")
        notes.add("the ontology has no exclusive group of these concepts: no form is rejected")
    assessment = assess(valid, coefficients, resampling=resampling, progress=watcher.part(0.0, 0.7))
    note_log(notes, valid, ruled.forms)
    _note_undefined(notes, assessment)
    questions = question_log(valid, exclusive) if exclusive and valid.kind == "concept" else None
    nominal = nominal_names(assessment.coefficients)
    categories = None
    if questions is not None and nominal:
        categories = assess(questions, " ".join(nominal), resampling=resampling).concepts
    ranked = None
    if systems is not None:
        ranked = _ranked(valid, systems, groups, rules, watcher.part(0.8, 1.0))
        notes.extend(ranked.notes)
    answer = Agreement(
        log_facts(valid),
        "category" if valid.kind == "category" and valid.allowed is None else "concept",
        assessment,
        resampling,
        categories,
        pairwise(valid, watcher.part(0.7, 0.8)) if pairs else None,
        accuracy_per_item(valid) if per_item else None,
        majority_agreement(valid) if majority else None,
        group_agreement(valid, groups, coefficients, questions=questions) if groups else None,
        None if quality is None else _checked(valid, quality, coefficients, ruled.forms),
        None if ruled.forms is None else _forms_report(ruled.forms),
        ranked,
        notes=notes.lines("annotator"),
    )
    watcher(1.0)
    return answer


def _checked(
    log: JudgementLog, quality: QualityCheck, coefficients: str, forms: Forms | None
) -> Quality:
    return check_quality(
        log,
        gold=quality.gold,
        gold_minimum=quality.gold_minimum,
        fast=quality.fast,
        strict=quality.strict,
        coefficients=coefficients,
        forms=forms,
        reward=quality.reward,
        pay_rejected=quality.pay_rejected,
    )


def _ranked(
    log: JudgementLog,
    systems: SystemsCheck,
    groups: Mapping[str, Sequence[str]] | None,
    rules: Ontology | Rules | None,
    progress: Progress,
) -> SystemsStudy:
    ontology = rules if isinstance(rules, Ontology) else None
    weights = systems.agreement
    if weights is None and ontology is not None and log.kind == "concept":
        weights = majority_agreement(log).agreement_map()
    return compare_rankings(
        log,
        systems.runs,
        systems.measures,
        groups=groups,
        coverage=systems.coverage,
        ontology=ontology,
        costmap=systems.costmap,
        agreement=weights,
        progress=progress,
    )


def _note_undefined(notes: Notes, assessment: Assessed) -> None:
    missing = {
        name: sum(math.isnan(row.values[name]) for row in assessment.concepts)
        for name in assessment.coefficients
    }
    undefined = [f"{name} {count}" for name, count in missing.items() if count]
    if undefined:
        notes.add(
            "undefined for some concepts (all answers the same, or no unit judged twice): "
            + ", ".join(undefined)
        )
    overall = assessment.overall.values.get("fleiss", 0.0)
    if math.isnan(overall):
        notes.add(
            "Fleiss' kappa has no value overall: all answers are the same, or no unit was judged "
            "twice"
        )
    elif overall < LEAST:
        notes.add(
            "Fleiss' kappa is below -1 overall, and says nothing of agreement: too few units were "
            "judged twice"
        )


def _forms_report(forms: Forms) -> FormsReport:
    return FormsReport(
        forms.total, forms.rejected, forms.seconds_kept, forms.seconds_rejected, forms.broken
    )


@validate_params
def agreement_map(
    log: JudgementLog, *, rules: Ontology | Rules | None = None, counting: Counting = "all"
) -> AgreementMap:
    """The agreement with the majority on each concept, by which the Ontology Score weighs errors.

    It is over all units, or with counting="selected" over those where an annotator selected
    the concept; a concept that no annotator selected is then not in the map.
    """
    shares = majority_agreement(CheckedLog.of(log, rules).log)
    return AgreementMap(shares.agreement_map(counting), log.source)
