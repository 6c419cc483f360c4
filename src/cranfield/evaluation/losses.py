"""Where the loss of a run comes from: broken rules, wrong labels and missed labels, and which ones.

A measure with costs says how far a run is from a perfect one, not why. Here what it lacks is
divided among the labels at fault, so that the parts sum to the loss.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from cranfield import _core
from cranfield.data.labels import Bools, Floats, LabelMatrix
from cranfield.data.ontology import Knowledge
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import ItemBlock, PerItem, item_blocks, reached
from cranfield.measures.labels.ontology import matching_of

BROKEN, WRONG, MISSED = "broken", "wrong", "missed"
KINDS = (BROKEN, WRONG, MISSED)
# What stands in the place of a concept that a wrong or missed label was not matched with.
NOTHING = ""


@dataclass(frozen=True, slots=True)
class LossPart:
    """What one reason adds to the loss of a run: a rule, or a pair of concepts.

    `true` and `assigned` are the concept that is true and the one that the run has in its place;
    one of them is empty where a label was matched with none. `times` counts the labels, and `items`
    those in which a rule is broken.
    """

    kind: str
    loss: float
    times: float
    rule: str = ""
    true: str = ""
    assigned: str = ""
    items: int = 0


@dataclass(frozen=True, slots=True)
class RunLoss:
    """The loss of a run under a measure, by reason.

    `loss` is how far its `value` is from that of a perfect run, and the sum of the losses of its
    `parts`.
    """

    run: str
    measure: str
    value: float
    loss: float
    items: int
    parts: tuple[LossPart, ...]

    def of(self, kind: str) -> float:
        """The loss by broken rules, wrong labels or missed labels."""
        return math.fsum(part.loss for part in self.parts if part.kind == kind)

    def labels(self, kind: str) -> float:
        """How many labels are at fault, a label that breaks several rules counted once."""
        return math.fsum(part.times for part in self.parts if part.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "parts": [asdict(part) for part in self.parts]}

    @classmethod
    def from_dict(cls, source: Mapping[str, Any]) -> RunLoss:
        """The loss as `to_dict` wrote it."""
        names = {field.name for field in fields(LossPart)}
        parts = tuple(
            LossPart(**{k: v for k, v in part.items() if k in names}) for part in source["parts"]
        )
        return cls(**{**source, "parts": parts})


# A reason: its kind, the rule, the true concept, the assigned one.
Reason: TypeAlias = "tuple[str, str, str, str]"


class _Sums:
    """What each reason adds over the items of a run."""

    def __init__(self) -> None:
        self.losses: dict[Reason, list[float]] = {}
        self.times: Counter[Reason] = Counter()
        self.items: Counter[str] = Counter()

    def add(self, reason: Reason, loss: float, times: float = 1.0) -> None:
        self.losses.setdefault(reason, []).append(loss)
        self.times[reason] += times  # type: ignore[assignment]

    def parts(self, items: int) -> tuple[LossPart, ...]:
        """Parts of the mean loss of so many items, the largest first."""
        parts = [
            LossPart(
                kind,
                math.fsum(losses) / items,
                float(self.times[kind, rule, true, assigned]),
                rule,
                true,
                assigned,
                self.items[rule] if rule else 0,
            )
            for (kind, rule, true, assigned), losses in self.losses.items()
        ]
        parts.sort(key=lambda p: (-p.loss, -p.times, p.kind, p.rule, p.true, p.assigned))
        return tuple(parts)


# Which labels of the items of a block are at fault, wrong and missed, and what each weighs.
Faults: TypeAlias = "tuple[Floats, Floats]"


def _of_sets(truth: Bools, labels: Bools) -> Faults:
    return (labels & ~truth).astype(float), (truth & ~labels).astype(float)


def _expanded_faults(measure: Measure, block: ItemBlock) -> Faults:
    """Wrong and missed labels of sets with all above (or below) them, as hP, hR and hF count.

    hP counts wrong ones alone, but where nothing is predicted it is missed labels that cost; hR
    the other way round. Where all items are pooled, that is seen when all have been counted.
    """
    truth, labels = block.expanded(str(measure.value_of("expand")))
    wrong, missed = _of_sets(truth, labels)
    if measure.value_of("average") == "macro":
        if measure.name == "hP":
            missed *= ~labels.any(axis=1, keepdims=True)
        if measure.name == "hR":
            wrong *= ~truth.any(axis=1, keepdims=True)
    return wrong, missed


def _first_faults(_: Measure, block: ItemBlock) -> Faults:
    """Labels at fault below none that is at fault, which alone HLoss counts."""
    at_fault = block.truth ^ block.labels
    first = at_fault & ~reached(at_fault, block.knowledge.above.T)
    return (first & block.labels).astype(float), (first & block.truth).astype(float)


def _weighted_faults(measure: Measure, block: ItemBlock) -> Faults:
    hierarchy, base = block.knowledge.hierarchy, float(measure.value_of("base"))
    weights = base ** np.array([hierarchy.depth(c) for c in block.knowledge.concepts], float)
    wrong, missed = _of_sets(block.truth, block.labels)
    return wrong * weights, missed * weights


_FAULTS: dict[str, Callable[[Measure, ItemBlock], Faults]] = {
    "hP": _expanded_faults,
    "hR": _expanded_faults,
    "hF": _expanded_faults,
    "HLoss": _first_faults,
    "MaxLoss": lambda _, block: _of_sets(*block.expanded("ancestors")),
    "WeightedEuclidean": _weighted_faults,
}
MATCHED, ASSIGNED = ("OS", "HS"), "SRP"


def has_parts(measure: Measure) -> bool:
    """Whether the loss under a measure can be divided among labels."""
    return measure.name in MATCHED or measure.name == ASSIGNED or measure.name in _FAULTS


def run_losses(
    truth: LabelMatrix, run: LabelMatrix, measures: Iterable[Measure], knowledge: Knowledge
) -> list[RunLoss]:
    """The loss of a run that is aligned to the truth, by reason, under each measure that has one.

    OS and HS: what each label pays in its match, rules first. SRP: what each of the best
    ranked concepts costs in place of the true one it is assigned to. Hierarchical measures: each
    label at fault by its weight, ancestors among them where the measure adds these.
    """
    losses = []
    for measure in measures:
        if measure.name in _FAULTS:
            losses.append(_by_labels(truth, run, measure, knowledge))
        elif has_parts(measure):
            losses.append(_by_matches(truth, run, measure, knowledge))
    return [loss for loss in losses if loss is not None]


def _by_matches(
    truth: LabelMatrix, run: LabelMatrix, measure: Measure, knowledge: Knowledge
) -> RunLoss | None:
    """The loss under OS, HS or SRP, by what labels pay."""
    plan, sums = measure.plan(measure), _Sums()
    values: list[float] = []
    for block in item_blocks(truth, run, knowledge, 1):
        scores = plan.values(block)
        values += scores[~np.isnan(scores)].tolist()
        for row in np.flatnonzero(scores < 1).tolist():
            loss = 1.0 - float(scores[row])
            if measure.name == ASSIGNED:
                _add_assigned(sums, measure, block, row)
            else:
                _add_matched(sums, measure, block, row, loss)
    if not values:
        return None
    value = math.fsum(values) / len(values)
    parts = sums.parts(len(values))
    return RunLoss(run.name, str(measure), value, 1.0 - value, len(values), parts)


def _add_matched(sums: _Sums, measure: Measure, block: ItemBlock, row: int, loss: float) -> None:
    """The loss of an item divided as the costs that its labels pay."""
    names = block.knowledge.concepts
    paid = [
        (names[concept], role, cost * agreement, [names[p] for p in partners])
        for concept, role, cost, agreement, partners in block.match_parts(matching_of(measure), row)
    ]
    total = math.fsum(cost for _, _, cost, _ in paid)
    rules = _rules_of(block, row) if any(role == BROKEN for _, role, _, _ in paid) else {}
    sums.items.update({rule for broken in rules.values() for rule in broken})
    for label, role, cost, partners in paid:
        share = loss * cost / total if total else 0.0
        reasons: Sequence[Reason]
        if role == BROKEN:
            reasons = [(BROKEN, rule, NOTHING, label) for rule in rules.get(label, [NOTHING])]
        elif role == WRONG:
            reasons = [(WRONG, "", partner, label) for partner in partners or [NOTHING]]
        else:
            reasons = [(MISSED, "", label, partner) for partner in partners or [NOTHING]]
        for reason in reasons:
            sums.add(reason, share / len(reasons), 1 / len(reasons))


def _rules_of(block: ItemBlock, row: int) -> dict[str, list[str]]:
    """The rules that each label of an item breaks."""
    names = [block.knowledge.concepts[j] for j in np.flatnonzero(block.labels[row])]
    rules: dict[str, list[str]] = {}
    for violation in block.knowledge.hierarchy.violations(names):
        rules.setdefault(violation.concept, []).append(violation.rule)
    return rules


def _add_assigned(sums: _Sums, measure: Measure, block: ItemBlock, row: int) -> None:
    """What each of the |Y| best ranked concepts costs in the place of a true one."""
    names = block.knowledge.concepts
    costs = block.knowledge.costs(str(measure.value_of("cost")))
    for ranked, true, cost in _core.assigned_pairs(block.truth, block.confidences, costs, row):
        if cost > 0:
            sums.add((WRONG, "", names[true], names[ranked]), cost / float(block.true[row]))


def _by_labels(
    truth: LabelMatrix, run: LabelMatrix, measure: Measure, knowledge: Knowledge
) -> RunLoss | None:
    """The loss under a hierarchical measure, by the labels at fault.

    Where a measure pools all items the whole loss is divided, else that of each item.
    """
    plan: PerItem = measure.plan(measure)
    perfect = 1.0 if measure.higher_is_better else 0.0
    pooled = plan.counts is not None and plan.total is not None
    totals: list[Floats] = []
    wrong_sums: list[Floats] = []
    missed_sums: list[Floats] = []
    times: list[Floats] = []
    values: list[float] = []
    for block in item_blocks(truth, run, knowledge, 1):
        wrong, missed = _FAULTS[measure.name](measure, block)
        times.append(np.array([(wrong > 0).sum(axis=0), (missed > 0).sum(axis=0)], dtype=float))
        if pooled and plan.counts is not None:
            totals.append(plan.counts(block).sum(axis=-1))
            weights = np.ones(len(wrong))
            values += [0.0] * len(wrong)
        else:
            scores = plan.values(block)
            wrong, missed = _shared_out(measure, block, wrong, missed)
            total = wrong.sum(axis=1) + missed.sum(axis=1)
            weights = np.abs(perfect - np.nan_to_num(scores, nan=perfect))
            weights = weights / np.where(total > 0, total, 1.0)
            values += scores[~np.isnan(scores)].tolist()
        wrong_sums.append(weights @ wrong)
        missed_sums.append(weights @ missed)
    if not values:
        return None
    wrong_loss, missed_loss = np.sum(wrong_sums, axis=0), np.sum(missed_sums, axis=0)
    value = math.fsum(values) / len(values)
    if pooled and plan.total is not None:
        counts = np.sum(totals, axis=0)
        value = plan.total(counts)
        if measure.name == "hP":
            missed_loss = missed_loss * (counts[1] == 0)
        if measure.name == "hR":
            wrong_loss = wrong_loss * (counts[2] == 0)
        if _is_arithmetic(measure):
            wrong_loss = wrong_loss / max(counts[1], 1.0)
            missed_loss = missed_loss / max(counts[2], 1.0)
        total = wrong_loss.sum() + missed_loss.sum()
        scale = abs(perfect - value) * len(values) / total if total else 0.0
        wrong_loss, missed_loss = wrong_loss * scale, missed_loss * scale
    names, (wrong_times, missed_times) = _names(measure, knowledge), np.sum(times, axis=0)
    sums = _Sums()
    for j, name in enumerate(names):
        if wrong_loss[j]:
            sums.add((WRONG, "", NOTHING, name), float(wrong_loss[j]), float(wrong_times[j]))
        if missed_loss[j]:
            sums.add((MISSED, "", name, NOTHING), float(missed_loss[j]), float(missed_times[j]))
    loss = abs(perfect - value)
    parts = sums.parts(len(values))
    return RunLoss(run.name, str(measure), value, loss, len(values), parts)


def _is_arithmetic(measure: Measure) -> bool:
    return "mean" in measure.params and measure.value_of("mean") == "arithmetic"


def _shared_out(
    measure: Measure, block: ItemBlock, wrong: Floats, missed: Floats
) -> tuple[Floats, Floats]:
    """The weights within each item: under the mean of hP and hR those of each as it counts them."""
    if not _is_arithmetic(measure):
        return wrong, missed
    truth, labels = block.expanded(str(measure.value_of("expand")))
    predicted, true = (np.maximum(m.sum(axis=1, keepdims=True), 1) for m in (labels, truth))
    return wrong / predicted, missed / true


def _names(measure: Measure, knowledge: Knowledge) -> Sequence[str]:
    """The names of the columns that a measure counts: concepts, or nodes of the hierarchy too."""
    if "expand" not in measure.params and measure.name != "MaxLoss":
        return knowledge.concepts
    hierarchy = knowledge.hierarchy
    kind = str(measure.value_of("expand")) if "expand" in measure.params else "ancestors"
    concept_at = {node: concept for concept, node in hierarchy.concept_nodes.items()}
    added = range(len(hierarchy.nodes)) if kind == "nodes" else hierarchy.left_out_nodes
    nodes = dict.fromkeys([*hierarchy.concept_nodes.values(), *added])
    return [concept_at.get(node, hierarchy.nodes[node]) for node in nodes]
