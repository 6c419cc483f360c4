"""What a study of agreement answers with: coefficients, and the parts that were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cranfield.agreement.annotator_groups import GroupAgreement, GroupRow
from cranfield.agreement.assess import AgreementRow, AnnotatorRow, Assessed, Resampling
from cranfield.agreement.exclusive_labels import BrokenForm
from cranfield.agreement.majority import ItemAgreement, MajorityShare, MajorityShares
from cranfield.agreement.pairwise import AnnotatorPairs
from cranfield.agreement.quality import Quality
from cranfield.agreement.ranking_robustness import SystemsStudy
from cranfield.answers import Answer

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
    log: Mapping[str, int]
    row_kind: str
    found: Assessed
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

    def payload(self, **_: Any) -> dict[str, Any]:
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
