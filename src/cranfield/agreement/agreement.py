"""How far annotators agree, who should not count, and whether it matters.

The questions are asked of a judgement log, or of files; the answer has the coefficients and the
parts that were asked for, groups of annotators among them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

from cranfield.agreement.aggregation import (
    AggregatedTruth,
    adjudicated,
    aggregate_judgements,
    log_facts,
    note_log,
    read_decisions,
)
from cranfield.agreement.coefficients import (
    LEAST,
    AgreementFigures,
    AgreementRow,
    AnnotatorRow,
    Resampling,
    assess,
    nominal_names,
)
from cranfield.agreement.exclusive_labels import BrokenForm, CheckedLog, Forms, question_log
from cranfield.agreement.majority import (
    Counting,
    ItemAgreement,
    MajorityShare,
    MajorityShares,
    accuracy_per_item,
    majority_agreement,
    merged_log,
)
from cranfield.agreement.pairwise import AnnotatorPairs, pairwise
from cranfield.agreement.quality import Quality, check_quality
from cranfield.agreement.ranking_robustness import SystemsStudy, compare_rankings
from cranfield.agreement.truth_inference import Gold
from cranfield.answers import Answer
from cranfield.data.costmap import AgreementMap
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology, Rules, exclusive_groups
from cranfield.errors import UsageError
from cranfield.io.design import DesignForm, coerce_design
from cranfield.io.files import FileForm
from cranfield.io.judgement_log import (
    Duplicates,
    LogForm,
    coerce_log,
    read_annotator_groups,
    read_gold,
    read_judgement_log,
    read_weights,
)
from cranfield.io.labels import read_label_runs
from cranfield.io.ontology import read_rules_of
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import VoteTies
from cranfield.stats._resample import Ints
from cranfield.stats.design import unit_design
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The annotators of one group, or two groups (`b`) that speak by their majorities.

    `concepts` has the agreement on each concept, `categories` that on each exclusive group of
    concepts taken as one question.
    """

    a: str
    b: str
    annotators: int
    row: AgreementRow
    concepts: tuple[AgreementRow, ...]
    categories: tuple[AgreementRow, ...]

    @property
    def title(self) -> str:
        return f"{self.a} - {self.b} (merged)" if self.b else self.a


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Agreement within groups of annotators, then between every two of them."""

    coefficients: tuple[str, ...]
    within: tuple[GroupRow, ...]
    between: tuple[GroupRow, ...]


def group_agreement(
    log: JudgementLog,
    groups: Mapping[str, Sequence[str]],
    coefficients: str = "standard",
    *,
    questions: JudgementLog | None = None,
    ties: VoteTies = "lowest",
) -> GroupAgreement:
    """Agreement within groups and between merged groups (thesis, 6.4.3: "combined").

    `questions` is the log of the exclusive groups of concepts (thesis, Figure 6.5).
    """
    names = assess(log, coefficients).coefficients
    merged = merged_log(log, groups, ties=ties)
    merged_questions = None if questions is None else merged_log(questions, groups, ties=ties)
    within = tuple(
        _row(name, "", len(members), log, questions, members, names)
        for name, members in groups.items()
    )
    between = tuple(
        _row(a, b, 2, merged, merged_questions, (a, b), names) for a, b in combinations(groups, 2)
    )
    return GroupAgreement(names, within, between)


def _row(
    a: str,
    b: str,
    annotators: int,
    log: JudgementLog,
    questions: JudgementLog | None,
    members: Sequence[str],
    names: tuple[str, ...],
) -> GroupRow:
    assessment = assess(log.of_annotators(members), " ".join(names))
    categories: tuple[AgreementRow, ...] = ()
    nominal = nominal_names(names)
    if questions is not None and nominal:
        categories = assess(questions.of_annotators(members), " ".join(nominal)).concepts
    return GroupRow(a, b, annotators, assessment.overall, assessment.concepts, categories)


PAIR_KEYS = ("a", "b", "units", "accuracy", "cohen", "scott")


@dataclass(frozen=True, slots=True)
class FormsReport:
    """How many forms broke an exclusive group, which, and how long forms took."""

    total: int
    rejected: int
    seconds_kept: float
    seconds_rejected: float
    broken: tuple[BrokenForm, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "rejected": self.rejected,
            "seconds_per_kept_form": self.seconds_kept,
            "seconds_per_rejected_form": self.seconds_rejected,
        }


@dataclass(frozen=True, repr=False, eq=False)
class Agreement(Answer):
    """How far the annotators of a log agree.

    `found` has the coefficients, `row_kind` says what its rows are ("concept" or "category");
    `categories` are the exclusive groups of concepts, each as one question. The other parts
    are None unless they were asked for.
    """

    command: ClassVar[str] = "agreement"
    table_maker: ClassVar[str] = "cranfield.report.tables.agreement:document"
    log: Mapping[str, int]
    row_kind: str
    found: AgreementFigures
    resampling: Resampling | None = None
    categories: tuple[AgreementRow, ...] | None = None
    pairs: AnnotatorPairs | None = None
    items: tuple[ItemAgreement, ...] | None = None
    majority: MajorityShares | None = None
    groups: GroupAgreement | None = None
    quality: Quality | None = None
    forms: FormsReport | None = None
    systems: SystemsStudy | None = None

    @property
    def coefficients(self) -> tuple[str, ...]:
        return self.found.coefficients

    @property
    def overall(self) -> AgreementRow:
        return self.found.overall

    @property
    def concepts(self) -> tuple[AgreementRow, ...]:
        return self.found.concepts

    @property
    def annotators(self) -> tuple[AnnotatorRow, ...]:
        return self.found.annotators

    def payload(self, **_: object) -> dict[str, Any]:
        parts: dict[str, Any] = {"log": dict(self.log), **self._coefficients()}
        if self.categories is not None:
            parts["categories"] = [
                {"category": row.name, "units": row.units, **row.values} for row in self.categories
            ]
        if self.pairs is not None:
            parts["pairs"] = [
                dict(zip(PAIR_KEYS, row, strict=True)) for row in pair_rows(self.pairs)
            ]
            parts["cohen_mean_of_pairs"] = self.pairs.mean_cohen
        if self.items is not None:
            parts["per_item"] = [
                {
                    "item": i.item,
                    "judgements": i.judgements,
                    "accuracy": i.accuracy,
                    "accuracy_selected": i.selected,
                }
                for i in self.items
            ]
        if self.majority is not None:
            parts["majority"] = _majority(self.majority)
        if self.groups is not None:
            parts["groups"] = [
                {"group": g.a, "annotators": g.annotators, **_group(g)} for g in self.groups.within
            ]
            parts["between_groups"] = [
                {"a": g.a, "b": g.b, "units": g.row.units, **_group(g)} for g in self.groups.between
            ]
        if self.quality is not None:
            parts |= self.quality.payload()
        if self.forms is not None:
            parts["forms"] = self._forms(self.forms)
        if self.systems is not None:
            parts |= self.systems.payload()
        return parts

    def _coefficients(self) -> dict[str, Any]:
        assessment = self.found
        parts: dict[str, Any] = {
            "overall": assessment.overall.values,
            "concepts": _rows(assessment.concepts),
            "annotators": [
                {
                    "annotator": a.annotator,
                    "judgements": a.judgements,
                    "accuracy_to_majority": a.accuracy_to_majority,
                }
                for a in assessment.annotators
            ],
        }
        if self.resampling is not None:
            parts["intervals"] = {
                "resamples": self.resampling.resamples,
                "confidence": self.resampling.confidence,
                "seed": self.resampling.seed,
                "overall": assessment.overall.intervals,
                "concepts": [{"concept": row.name, **row.intervals} for row in assessment.concepts],
            }
        return parts

    def _forms(self, forms: FormsReport) -> dict[str, Any]:
        facts = forms.to_dict()
        if self.quality is not None and self.quality.paid:
            facts["cost"] = self.quality.paid["cost"]
            facts["cost_of_rejected"] = self.quality.paid["cost_of_rejected"]
        broken = [
            {
                "annotator": b.annotator,
                "item": b.item,
                "category": b.group,
                "answers": list(b.answers),
            }
            for b in forms.broken
        ]
        return facts | {"broken": broken}

    def headline(self) -> str:
        values = ", ".join(f"{n} {v:.4f}" for n, v in self.overall.values.items())
        return f"{self.log['annotators']} annotators, {self.log['items']} items: {values}"


def pair_rows(pairs: AnnotatorPairs) -> list[tuple[str, str, int, float, float, float]]:
    """The pairs of annotators with their names, as in PAIR_KEYS."""
    names = pairs.annotators
    columns = (pairs.first, pairs.second, pairs.units, pairs.accuracy, pairs.cohen, pairs.scott)
    return [
        (names[a], names[b], int(units), accuracy, cohen, scott)
        for a, b, units, accuracy, cohen, scott in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _rows(rows: Sequence[AgreementRow]) -> list[dict[str, Any]]:
    return [{"concept": row.name, **row.values} for row in rows]


def _group(group: GroupRow) -> dict[str, Any]:
    parts: dict[str, Any] = {**group.row.values, "concepts": _rows(group.concepts)}
    if group.categories:
        parts["categories"] = [{"category": r.name, **r.values} for r in group.categories]
    return parts


def _majority(majority: MajorityShares) -> dict[str, Any]:
    def rows(shares: Sequence[MajorityShare], name: str) -> list[dict[str, Any]]:
        return [{name: s.name, "selected": s.selected, "all": s.every} for s in shares]

    return {
        "mean": {
            "concepts": {c: majority.mean("concepts", c) for c in ("selected", "all")},
            "items": {c: majority.mean("items", c) for c in ("selected", "all")},
        },
        "concepts": rows(majority.concepts, "concept"),
        "items": rows(majority.items, "item"),
    }


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
    log: LogForm,
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
    progress: Watcher | None = None,
) -> Agreement:
    """Coefficients of agreement of a log, overall, per concept and per annotator.

    `log` is a JudgementLog, a file of one or an export of an annotation tool, or a data frame:
    annotator, item and category (concept and value), or crowd-kit's worker, task and label.
    Forms that break the exclusive groups of `rules` are left out, and each group is also
    assessed as one question. `resampling` asks for intervals; `pairs`, `per_item` and
    `majority` for the agreement of pairs of annotators, on each item and with the majority;
    `groups` (names of annotators by group) for that within and between groups; `quality` for
    who should not count; `systems` for whether the choice of the annotator changes a ranking.
    """
    watcher, notes = Progress.of(progress), Notes()
    ruled = CheckedLog.of(coerce_log(log), rules)
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


def _note_undefined(notes: Notes, assessment: AgreementFigures) -> None:
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


def _item_clusters(log: JudgementLog, design: DesignForm | None) -> Ints | None:
    """The cluster of each item of a log by a design."""
    if design is None:
        return None
    sampled = unit_design(coerce_design(design), log.items, "item")
    if sampled.is_weighted:
        raise UsageError("design=: items of a log have no weights, so no probabilities")
    return sampled.clusters


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
    design: DesignForm | None = None,
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
    if design is not None and not intervals:
        raise UsageError("design= belongs to intervals=")
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
        resampling=(
            Resampling(resamples, confidence, rng, _item_clusters(log, design))
            if intervals
            else None
        ),
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
) -> AggregatedTruth:
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
