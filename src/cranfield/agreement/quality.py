"""Annotators whose answers should not count, and why.

Looked for are answers that hardly agree with those of others, one answer whatever the item, a
pattern that runs through the answers, agreement that falls half-way, answers faster than anybody
could look, and answers copied from another annotator; and, where gold answers are known, too
many of them missed. One kind of sign is a reason to look at somebody's answers; two different
kinds are a reason to leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.assess import Values, assess
from cranfield.agreement.collusion import find_copies, find_form_copies
from cranfield.agreement.consensus import consensus_of_others, skills
from cranfield.agreement.exclusive_labels import Forms, Ruled
from cranfield.agreement.spam_signals import (
    Sign,
    find_constant,
    find_fast,
    find_gold,
    find_patterns,
    find_silent,
    find_tired,
    find_weak,
    gold_hits,
    median_seconds,
)
from cranfield.agreement.truth_inference import known_answers
from cranfield.answers import Answer
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import UsageError
from cranfield.validation import validate_params

Verdict: TypeAlias = Literal["keep", "look at", "exclude"]


@dataclass(frozen=True, slots=True)
class AnnotatorQuality:
    """What is known of one annotator. NaN says that it cannot be known.

    `skill` is the kappa to the others (of grades with squared weights), `shift` how much higher
    than theirs the grades are.
    """

    annotator: str
    judgements: int
    skill: float
    shift: float
    gold_asked: int
    gold_correct: int
    seconds: float
    signs: tuple[Sign, ...]

    @property
    def verdict(self) -> Verdict:
        kinds = {sign.kind for sign in self.signs}
        return "exclude" if len(kinds) > 1 else "look at" if kinds else "keep"

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(sign.text for sign in self.signs)


@dataclass(frozen=True, repr=False, eq=False)
class Quality(Answer):
    """Who should not count, and why; what the rest agrees on; what the log took and cost.

    With `strict` also those to look at are left out.
    """

    command: ClassVar[str] = "agreement"
    annotators: tuple[AnnotatorQuality, ...]
    with_gold: bool
    with_times: bool
    strict: bool
    overall: Values
    effort: Mapping[str, float]
    paid: Mapping[str, Any]

    @property
    def rejected(self) -> tuple[str, ...]:
        """The annotators that are left out."""
        return tuple(p.annotator for p in self.annotators if self.is_rejected(p))

    def is_rejected(self, person: AnnotatorQuality) -> bool:
        """Whether the work of an annotator does not count."""
        return person.verdict == "exclude" or (self.strict and person.verdict == "look at")

    def clean(self, log: JudgementLog, rules: Ontology | Rules | None = None) -> JudgementLog:
        """The log without the rejected annotators, and without forms that break the rules."""
        kept = [p.annotator for p in self.annotators if not self.is_rejected(p)]
        return Ruled.of(log, rules).log.of_annotators(kept)

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "quality": {
                "annotators": [self._row(p) for p in self.annotators],
                "rejected": list(self.rejected),
                "overall_without_rejected": self.overall,
                "effort": dict(self.effort),
            }
        }

    def _row(self, person: AnnotatorQuality) -> dict[str, Any]:
        row: dict[str, Any] = {
            "annotator": person.annotator,
            "judgements": person.judgements,
            "kappa_to_others": person.skill,
            "median_seconds": person.seconds,
            "rejected": self.is_rejected(person),
            "reasons": list(person.reasons),
            "verdict": person.verdict,
            "shift": person.shift,
        }
        if self.with_gold:
            row |= {"gold_asked": person.gold_asked, "gold_correct": person.gold_correct}
        return row

    def headline(self) -> str:
        noticed = sum(p.verdict == "look at" for p in self.annotators)
        excluded = sum(p.verdict == "exclude" for p in self.annotators)
        return f"{len(self.annotators)} annotators: {excluded} to exclude, {noticed} to look at"


@validate_params
def check_quality(
    log: JudgementLog,
    *,
    gold: NDArray[np.int32] | None = None,
    gold_minimum: float = 0.7,
    fast: float = 1 / 3,
    strict: bool = False,
    coefficients: str = "standard",
    forms: Forms | None = None,
    reward: float | None = None,
    pay_rejected: bool = False,
) -> Quality:
    """What speaks against each annotator of the log.

    `gold` has known answers (items x concepts, -1 for unknown), of which an annotator should
    reach `gold_minimum`. Too fast is a median time below `fast` of the median annotator's.
    `coefficients` are of those who are left. `reward` is paid for each form (all that one
    annotator said about one item); forms that break a rule are not paid unless `pay_rejected`.
    """
    if reward is not None and not 0 <= reward < float("inf"):
        raise UsageError(f"reward {reward} is not a number from 0 on")
    if gold is not None:
        gold = known_answers(log, gold)
    people = quality_of(log, gold=gold, gold_minimum=gold_minimum, fast=fast)
    effort, paid = _effort(log, forms, reward, pay_rejected)
    found = Quality(people, gold is not None, log.seconds is not None, strict, {}, effort, paid)
    clean = found.clean(log)
    overall = assess(clean, coefficients).overall.values if len(clean) else {}
    return Quality(people, found.with_gold, found.with_times, strict, overall, effort, paid)


def quality_of(
    log: JudgementLog,
    *,
    gold: NDArray[np.int32] | None = None,
    gold_minimum: float = 0.7,
    fast: float = 1 / 3,
) -> tuple[AnnotatorQuality, ...]:
    """One row per annotator of the log, with what was noticed."""
    people = len(log.annotators)
    signs: list[list[Sign]] = [[] for _ in range(people)]
    judgements = np.bincount(log.annotator, minlength=people)
    others = consensus_of_others(log)
    right, asked = gold_hits(log, gold)
    find_gold(signs, right, asked, gold_minimum)
    seconds = median_seconds(log)
    find_fast(signs, seconds, judgements, fast)
    constant = find_constant(log, others, signs)
    habitual = find_silent(
        log, others, signs, constant | find_patterns(log, others, signs, constant)
    )
    found = skills(log, others)
    find_weak(signs, found)
    find_tired(log, others, signs)
    copiers = find_form_copies(log, signs, habitual)
    find_copies(log, others, signs, habitual, seconds, copiers)
    return tuple(
        AnnotatorQuality(
            name,
            int(judgements[a]),
            float(found.kappa[a]),
            float(found.shift[a]),
            int(asked[a]),
            int(right[a]),
            float(seconds[a]),
            tuple(signs[a]),
        )
        for a, name in enumerate(log.annotators)
        if judgements[a]
    )


def _effort(
    log: JudgementLog, forms: Forms | None, reward: float | None, pay_rejected: bool
) -> tuple[dict[str, float], dict[str, Any]]:
    """Time and cost of the log, per judgement and per form, and what forms were paid for."""
    key = log.annotator.astype(np.int64) * len(log.items) + log.item
    kept = int(np.unique(key).size)
    total = kept if forms is None else forms.total
    effort: dict[str, float] = {"forms": total, "judgements": len(log)}
    if log.seconds is not None:
        effort["seconds"] = float(log.seconds.sum())
        effort["seconds_per_judgement"] = float(log.seconds.mean())
        effort["seconds_per_form"] = float(log.seconds.sum()) / kept
    if reward is None:
        return effort, {}
    paid = total if pay_rejected else kept
    effort["cost"] = reward * paid
    effort["cost_per_judgement"] = reward * paid / len(log)
    effort["cost_per_kept_form"] = reward * paid / kept
    rejected = 0 if forms is None else forms.rejected
    return effort, {
        "reward": reward,
        "pay_rejected": pay_rejected,
        "cost": reward * paid,
        "cost_of_rejected": reward * rejected if pay_rejected else 0.0,
    }
