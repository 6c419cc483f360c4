"""Groups of annotators, such as experts and crowd: within each, and between their majorities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cranfield.agreement.assess import Row, assess_agreement
from cranfield.agreement.majority import Ties, vote
from cranfield.data.judgement_log import JudgementLog


@dataclass(frozen=True, slots=True)
class Within:
    """The agreement of the annotators of one group."""

    name: str
    annotators: int
    row: Row
    concepts: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The agreement of two groups, each speaking with the voice of its majority."""

    a: str
    b: str
    row: Row
    concepts: tuple[Row, ...]


@dataclass(frozen=True, eq=False)
class GroupAgreement:
    coefficients: tuple[str, ...]
    within: tuple[Within, ...]
    between: tuple[Between, ...]


def group_agreement(
    log: JudgementLog,
    groups: Mapping[str, Sequence[str]],
    coefficients: str = "standard",
    *,
    ties: Ties = "lowest",
) -> GroupAgreement:
    """Agreement within groups and between merged groups (thesis, 6.4.3: "combined")."""
    within, names = [], tuple[str, ...]()
    for name, members in groups.items():
        found = assess_agreement(log.of_annotators(members), coefficients)
        names = found.coefficients
        within.append(Within(name, len(members), found.overall, found.concepts))
    merged = merged_log(log, groups, ties=ties)
    between = []
    for a, b in combinations(groups, 2):
        found = assess_agreement(merged.of_annotators((a, b)), coefficients)
        between.append(Between(a, b, found.overall, found.concepts))
    return GroupAgreement(names, tuple(within), tuple(between))


def merged_log(
    log: JudgementLog, groups: Mapping[str, Sequence[str]], *, ties: Ties = "lowest"
) -> JudgementLog:
    """A log in which each group is one annotator, who says what its majority says."""
    columns: list[list[np.ndarray[tuple[int], np.dtype[np.int32]]]] = [[], [], [], []]
    for code, members in enumerate(groups.values()):
        votes = vote(log.of_annotators(members), ties=ties)
        decided = votes.winner >= 0
        who = np.full(int(decided.sum()), code)
        told = (who, votes.item[decided], votes.concept[decided], votes.winner[decided])
        for column, values in zip(columns, told, strict=True):
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
