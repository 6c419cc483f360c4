"""Measures per concept that allow for chance and for classes of different sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cranfield.data.labels import Floats
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import ItemBlock, LabelPlan, PerConcept
from cranfield.measures.labels.concept import AVERAGING, FAMILY, LABELS, ONE_CLASS
from cranfield.references import Source


def _counts(block: ItemBlock) -> Floats:
    """Rows: true and predicted, predicted, true, all items; one column per concept."""
    all_items = np.full((1, block.width), float(len(block.truth)))
    return np.vstack([block.concept_counts, all_items])


def _divided(above: Floats, below: Floats, otherwise: float) -> Floats:
    nothing = below == 0
    return np.where(nothing, otherwise, above / np.where(nothing, 1.0, below))


def _mcc(tp: Floats, predicted: Floats, true: Floats, items: Floats) -> Floats:
    margins = (predicted, items - predicted, true, items - true)
    # Roots one by one: the product of four counts may have more digits than a number holds.
    below = np.prod([np.sqrt(margin) for margin in margins], axis=0)
    one_class = (true == 0) | (true == items)
    return np.where(one_class, np.nan, _divided(items * tp - predicted * true, below, 0.0))


def _kappa(tp: Floats, predicted: Floats, true: Floats, items: Floats) -> Floats:
    agreed = items - predicted - true + 2 * tp
    by_chance = (predicted * true + (items - predicted) * (items - true)) / items
    return _divided(agreed - by_chance, items - by_chance, np.nan)


def _balanced(tp: Floats, predicted: Floats, true: Floats, items: Floats) -> Floats:
    rejected = items - predicted - true + tp
    return (_divided(tp, true, np.nan) + _divided(rejected, items - true, np.nan)) / 2


def _specificity(tp: Floats, predicted: Floats, true: Floats, items: Floats) -> Floats:
    return _divided(items - predicted - true + tp, items - true, np.nan)


def _plan(formula: Callable[..., Floats]) -> Callable[[Measure], LabelPlan]:
    def plan(measure: Measure) -> LabelPlan:
        pooled = measure.value_of("mean") == "micro"
        return PerConcept(
            sums=_counts,
            finish=lambda sums, _: formula(*sums),
            total=(lambda sums: float(formula(*sums.sum(axis=1)))) if pooled else None,
        )

    return plan


def _declared(name: str, computed: Callable[..., Floats], **rest: Any) -> Measure:
    return Measure(
        name=f"{name}.concept",
        higher_is_better=True,
        needs=LABELS,
        plan=_plan(computed),
        family=FAMILY,
        params=AVERAGING,
        ties="none",
        example=f"{name}.concept",
        **rest,
    )


MCC = _declared(
    "MCC",
    _mcc,
    title="Matthews correlation per concept",
    formula=r"\frac{TP\cdot TN-FP\cdot FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}",
    source=Source("scikit-learn", equations="matthews_corrcoef"),
    range=(-1.0, 1.0),
    summary="The correlation of true and predicted decisions of a concept: 0 is chance, whatever "
    "the share of items that have it.",
    undefined=f"{ONE_CLASS}; the run gives it to all or to none: 0",
)

KAPPA = _declared(
    "Kappa",
    _kappa,
    title="Cohen's kappa per concept",
    formula=r"\frac{p_o-p_e}{1-p_e}",
    source=Source("cohen-1960", equations="cohen_kappa_score of scikit-learn"),
    range=(-1.0, 1.0),
    summary="Agreement of truth and run on a concept beyond what their shares give by chance.",
    undefined="truth and run have the same one class only: concept left out",
)

BALANCED = _declared(
    "BalancedAccuracy",
    _balanced,
    title="Balanced accuracy per concept",
    formula=r"\tfrac12\left(\frac{TP}{TP+FN}+\frac{TN}{TN+FP}\right)",
    source=Source("scikit-learn", equations="balanced_accuracy_score"),
    range=(0.0, 1.0),
    summary="The mean of the recall of items that have the concept and of those that have not.",
    undefined=ONE_CLASS,
)

SPECIFICITY = _declared(
    "Specificity",
    _specificity,
    title="Specificity per concept",
    formula=r"\frac{TN(c)}{TN(c)+FP(c)}",
    source=Source("scikit-learn", equations="recall_score with pos_label=0"),
    range=(0.0, 1.0),
    summary="Of the items that do not have a concept, the part that did not get it.",
    undefined="every item has the concept: concept left out",
)

DECLARED = (MCC, KAPPA, BALANCED, SPECIFICITY)
