"""The score of one item, step by step, so that it can be checked by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Violation
from cranfield.errors import UsageError, suggest
from cranfield.measures._spec import Measure
from cranfield.measures.labels.blocks import ItemBlock, Knowledge, PerItem


@dataclass(frozen=True, slots=True)
class Step:
    """One label on its way into a score: what it was matched with and what that counts."""

    label: str
    role: str
    partner: str | None
    cost: float
    agreement: float
    counts: float


@dataclass(frozen=True, slots=True)
class Derivation:
    """How OS, HS or SRP of an item comes about."""

    measure: Measure
    steps: tuple[Step, ...]
    arithmetic: str
    value: float


@dataclass(frozen=True, slots=True)
class ItemExplanation:
    """Everything a reader needs to check the scores of one item of one run."""

    run: str
    item: str
    truth: tuple[str, ...]
    predicted: tuple[str, ...]
    confidences: dict[str, float] | None
    broken: tuple[Violation, ...]
    derivations: tuple[Derivation, ...]
    values: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "item": self.item,
            "truth": list(self.truth),
            "predicted": list(self.predicted),
            "confidences": self.confidences,
            "broken": [{"concept": v.concept, "rule": v.rule} for v in self.broken],
            "values": self.values,
            "derivations": [
                {
                    "measure": str(d.measure),
                    "steps": [
                        {
                            "label": s.label,
                            "role": s.role,
                            "matched_with": s.partner,
                            "cost": s.cost,
                            "agreement": s.agreement,
                            "counts": s.counts,
                        }
                        for s in d.steps
                    ],
                    "arithmetic": d.arithmetic,
                    "value": d.value,
                }
                for d in self.derivations
            ],
        }


def explain_item(
    item: str,
    truth: LabelMatrix,
    run: LabelMatrix,
    measures: tuple[Measure, ...],
    knowledge: Knowledge,
) -> ItemExplanation:
    """The scores of an item of a run that is aligned to the truth."""
    if item not in truth.items:
        raise UsageError(f"the truth has no item {item!r}.{suggest(item, truth.items)}")
    at = truth.items.index(item)
    block = ItemBlock(truth.rows(at, at + 1)[0], *run.rows(at, at + 1), knowledge)  # type: ignore[arg-type]
    true, predicted = _names(block.truth[0], truth), _names(block.labels[0], truth)
    rules = knowledge.ontology
    broken = tuple(rules.violations(predicted)) if rules is not None else ()
    derivations = []
    for measure in measures:
        if measure.name in ("OS", "HS"):
            derivations.append(_matching(measure, true, predicted, broken, knowledge))
        elif measure.name == "SRP" and true:
            derivations.append(_assignment(measure, block, knowledge))
    values = {}
    for measure in measures:
        plan = measure.plan(measure)
        if isinstance(plan, PerItem):
            values[str(measure)] = float(plan.values(block)[0])
    return ItemExplanation(
        run.name,
        item,
        true,
        predicted,
        None
        if run.is_binary
        else {c: float(v) for c, v in zip(truth.concepts, block.confidences[0], strict=True)},
        broken,
        tuple(derivations),
        values,
    )


def _names(flags: Any, truth: LabelMatrix) -> tuple[str, ...]:
    return tuple(truth.concepts[j] for j in np.flatnonzero(flags))


def _matching(
    measure: Measure,
    true: tuple[str, ...],
    predicted: tuple[str, ...],
    violations: tuple[Violation, ...],
    knowledge: Knowledge,
) -> Derivation:
    """The steps of No 7.1 to 7.3, one label at a time."""
    position = {c: j for j, c in enumerate(knowledge.concepts)}
    costs = knowledge.costs(str(measure.value_of("cost")))
    broken = {v.concept for v in violations} if measure.name == "OS" else set()
    kept = [y for y in true if y not in broken]
    steps = [Step(z, "breaks a rule", None, 1.0, 1.0, 1.0) for z in predicted if z in broken]

    def nearest(label: str, others: list[str]) -> tuple[str, float]:
        return min(
            ((o, float(costs[position[label], position[o]])) for o in others), key=lambda m: m[1]
        )

    for z in predicted:
        if z in true or z in broken:
            continue
        if not kept:
            steps.append(Step(z, "wrong", None, 1.0, 1.0, 1.0))
            continue
        partner, cost = nearest(z, kept)
        factor = float(knowledge.factors[position[partner]])
        steps.append(Step(z, "wrong", partner, cost, factor, cost * factor))
    for y in kept:
        if y in predicted:
            continue
        if not predicted:
            steps.append(Step(y, "missed", None, 1.0, 1.0, 1.0))
            continue
        partner, cost = nearest(y, list(predicted))
        factor = float(knowledge.factors[position[y]])
        steps.append(Step(y, "missed", partner, cost, factor, cost * factor))
    total, union = sum(s.counts for s in steps), len({*true, *predicted})
    alpha = float(measure.value_of("alpha"))
    value = max(1.0 - total / union, 0.0) ** alpha if union else 1.0
    power = "" if alpha == 1 else f" to the power {alpha:g}"
    arithmetic = (
        f"{measure} = 1 - {total:.4f} / {union}{power} = {value:.4f}"
        if union
        else f"{measure} = 1: nothing is true and nothing is predicted"
    )
    return Derivation(measure, tuple(steps), arithmetic, value)


def _assignment(measure: Measure, block: ItemBlock, knowledge: Knowledge) -> Derivation:
    """The best one-to-one assignment of the |Y| best ranked concepts (No 9.3)."""
    from scipy.optimize import linear_sum_assignment

    scores = block.confidences[0]
    wanted = np.flatnonzero(block.truth[0])
    ranked = np.argsort(-scores, kind="stable")[: len(wanted)]
    costs = knowledge.costs(str(measure.value_of("cost")))[np.ix_(ranked, wanted)]
    rows, columns = linear_sum_assignment(costs)
    steps = tuple(
        Step(
            knowledge.concepts[ranked[i]],
            f"rank {i + 1}",
            knowledge.concepts[wanted[j]],
            float(costs[i, j]),
            1.0,
            1.0 - float(costs[i, j]),
        )
        for i, j in zip(rows, columns, strict=True)
    )
    total = sum(s.counts for s in steps)
    value = total / len(wanted)
    arithmetic = f"{measure} = {total:.4f} / {len(wanted)} = {value:.4f}"
    return Derivation(measure, steps, arithmetic, value)
