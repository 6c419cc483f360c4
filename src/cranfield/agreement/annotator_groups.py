"""Groups of annotators, such as experts and crowd: within each, and between their majorities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cranfield.agreement.assess import AgreementRow, assess
from cranfield.agreement.choices import Ties
from cranfield.agreement.coefficients import nominal_names
from cranfield.agreement.majority import vote
from cranfield.data.judgement_log import JudgementLog


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
    ties: Ties = "lowest",
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


def merged_log(
    log: JudgementLog, groups: Mapping[str, Sequence[str]], *, ties: Ties = "lowest"
) -> JudgementLog:
    """A log in which each group is one annotator, who says what its majority says."""
    columns: list[list[np.ndarray[tuple[int], np.dtype[np.int32]]]] = [[], [], [], []]
    for code, members in enumerate(groups.values()):
        votes = vote(log.of_annotators(members), ties=ties)
        decided = votes.winner >= 0
        annotators = np.full(int(decided.sum()), code)
        judgements = (
            annotators,
            votes.item[decided],
            votes.concept[decided],
            votes.winner[decided],
        )
        for column, values in zip(columns, judgements, strict=True):
            column.append(values.astype(np.int32))
    annotator, item, concept, value = (np.concatenate(c) for c in columns)
    return JudgementLog(
        log.kind,
        tuple(groups),
        log.items,
        log.concepts,
        log.values,
        annotator,
        item,
        concept,
        value,
        allowed=log.allowed,
        source=log.source,
    )
