"""From judgements to a truth that a task can use, and what people decide on the way.

Units on which people disagree are put before an adjudicator, the most disputed ones first and
without names; what is decided stands above any vote. A screening pass looks at one concept at a
time: first at the items that are said to show it, then at the others (thesis, 10.3.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from cranfield.agreement.adaptive_overlap import (
    AdaptiveOverlap,
    estimate_answers,
    expected_opinions,
    opinions_per_item,
)
from cranfield.agreement.aggregation import (
    AggregatedTruth,
    Decision,
    adjudicated,
    aggregate_judgements,
    recommended_method,
)
from cranfield.agreement.majority import unit_rows
from cranfield.campaign.batches import Plan
from cranfield.data.judgement_log import JudgementLog
from cranfield.data.labels import LabelMatrix, dense
from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import UsageError, suggest
from cranfield.options import AggregationMethod


@dataclass(frozen=True, slots=True)
class Dispute:
    """A unit on which people disagree: how many said what, and how sure a majority is.

    `margin` is the share of the most frequent answer above the next one: 0 for a tie.
    `probability` is that of each answer under a model that weighs who said it.
    """

    item: str
    concept: str
    votes: Mapping[str, int]
    majority: str
    margin: float
    probability: Mapping[str, float] = field(default_factory=dict)


def disputes(log: JudgementLog, decided: Iterable[Decision] = ()) -> tuple[Dispute, ...]:
    """The units on which people disagree and that are not decided yet, the most disputed first."""
    settled = {(d.item, d.concept) for d in decided}
    units, row = unit_rows(log)
    counts = np.zeros((units.size, len(log.values)), dtype=np.int64)
    np.add.at(counts, (row, log.value), 1)
    open_disputes = []
    for unit, votes in zip(units.tolist(), counts, strict=True):
        item, concept = divmod(int(unit), len(log.concepts))
        name = (log.items[item], log.concepts[concept])
        ordered = np.sort(votes)[::-1]
        if name in settled or ordered[0] == votes.sum():
            continue
        votes_of = {log.values[v]: int(n) for v, n in enumerate(votes.tolist()) if n}
        best = log.values[int(votes.argmax())]
        margin = float(ordered[0] - ordered[1]) / float(votes.sum())
        open_disputes.append(Dispute(*name, votes_of, best, margin))
    return tuple(sorted(open_disputes, key=lambda d: (d.margin, -sum(d.votes.values()))))


def weigh_disputes(log: JudgementLog, open_disputes: Sequence[Dispute]) -> tuple[Dispute, ...]:
    """Disputes with the probability of each answer that was given, by Dawid and Skene's model."""
    if not open_disputes:
        return ()
    model = aggregate_judgements(log, "dawid-skene")
    units = zip(model.item.tolist(), model.concept.tolist(), strict=True)
    row_of = {(model.items[i], model.concepts[c]): k for k, (i, c) in enumerate(units)}
    code = {value: v for v, value in enumerate(model.values)}
    return tuple(
        replace(
            dispute,
            probability={
                value: float(model.probability[row_of[dispute.item, dispute.concept], code[value]])
                for value in dispute.votes
            },
        )
        for dispute in open_disputes
    )


def wanted_opinions(log: JudgementLog, plan: Plan) -> dict[str, int]:
    """The opinions that each judged item wants: one more than it has while answers are unsure.

    The model is the one that `recommended_method` names: votes until people are known.
    """
    rule = AdaptiveOverlap(plan.certainty, plan.overlap, plan.least)
    estimate = estimate_answers(log, recommended_method(log)[0])
    is_open = rule.open_items(log, estimate)
    opinions = opinions_per_item(log)
    return {
        item: max(plan.least, opinion + 1) if wants else opinion
        for item, wants, opinion in zip(log.items, is_open.tolist(), opinions.tolist(), strict=True)
    }


def expected_forms(log: JudgementLog | None, plan: Plan) -> tuple[int, int, float]:
    """Forms of a batch under adaptive overlap: the fewest, the most, and as it went so far.

    The last number takes the items that are closed for typical ones; NaN while there are none.
    """
    units = sum(unit not in plan.gold_units for unit in plan.units)
    mean = math.nan
    if log is not None:
        mean = expected_opinions(log, AdaptiveOverlap(plan.certainty, plan.overlap, plan.least))
    return units * plan.least, units * plan.overlap, units * mean


def make_truth(
    log: JudgementLog,
    method: str = "majority",
    *,
    decisions: Sequence[Decision] = (),
    rules: Ontology | Rules | None = None,
    **options: Any,
) -> AggregatedTruth:
    """One truth out of a log, in which decisions stand above votes and models.

    `method` and `options` are those of `cranfield.aggregate_judgements`.
    """
    # A method of a page or a file is checked where it is used.
    checked = cast("AggregationMethod", method)
    aggregated = aggregate_judgements(log, checked, rules=rules, **options)
    return adjudicated(aggregated, decisions) if decisions else aggregated


@dataclass(frozen=True, slots=True)
class Screening:
    """The items that are said to show a concept, and those that are said not to."""

    concept: str
    shown: tuple[str, ...]
    others: tuple[str, ...]


def screening(truth: LabelMatrix, concept: str) -> Screening:
    """What a screening pass of one concept looks at."""
    has = dense(truth.labels)[:, _column(truth, concept)].astype(bool).tolist()
    item_labels = list(zip(truth.items, has, strict=True))
    return Screening(
        concept,
        tuple(item for item, shows in item_labels if shows),
        tuple(item for item, shows in item_labels if not shows),
    )


def apply_screening(truth: LabelMatrix, concept: str, wrong: Sequence[str]) -> LabelMatrix:
    """The truth after a pass in which the label of some items was found to be wrong."""
    row_of = {item: i for i, item in enumerate(truth.items)}
    unknown = [item for item in wrong if item not in row_of]
    if unknown:
        raise UsageError(f"the truth has no item {unknown[0]!r}.{suggest(unknown[0], row_of)}")
    labels = dense(truth.labels).astype(bool).copy()
    column = _column(truth, concept)
    for item in set(wrong):
        labels[row_of[item], column] ^= True
    return LabelMatrix.of(labels, items=truth.items, concepts=truth.concepts, name=truth.name)


def _column(truth: LabelMatrix, concept: str) -> int:
    if concept not in truth.concepts:
        raise UsageError(f"the truth has no concept {concept!r}.{suggest(concept, truth.concepts)}")
    return truth.concepts.index(concept)
