"""Measures per concept: label sets (No 3.4-3.12) and rankings of items (No 3.3.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MappingProxyType

import numpy as np

from cranfield.data.labels import Floats
from cranfield.measures.base import Measure, Param
from cranfield.measures.labels.blocks import LabelPlan, PerConcept, PerRankedConcept
from cranfield.references import Source

FAMILY = "annotation, per concept"
LABELS, CONFIDENCES = frozenset({"labels"}), frozenset({"confidences"})
TIES_AS_ONE = "equal confidences are one step of the curve"
NO_POSITIVE = "no item has the concept: concept left out"
ONE_CLASS = "every item or no item has the concept: concept left out"
EMPTY_SETS = "nothing true and nothing predicted: 1; only one of them empty: 0"

TRUE_WEIGHTS = "average over concepts, pool them ('micro'), or weigh each by the items that have it"
AVERAGING = MappingProxyType(
    {"mean": Param(str, "macro", "average over concepts, or pool them", ("macro", "micro"))}
)
_WEIGHABLE = MappingProxyType(
    {
        "mean": Param(
            str,
            "macro",
            TRUE_WEIGHTS,
            ("macro", "micro", "weighted"),
        )
    }
)
BETA = Param(float, 1, "how many times recall counts as much as precision", low=0.0)
_WITH_BETA = MappingProxyType({**_WEIGHABLE, "beta": BETA})


def ratio(part: Floats, total: Floats, counterpart: Floats) -> Floats:
    """part / whole; where whole is 0: 1 when other is 0 as well, else 0."""
    empty = total == 0
    return np.where(empty, (counterpart == 0) * 1.0, part / np.where(empty, 1.0, total))


def precision(tp: Floats, predicted: Floats, true: Floats) -> Floats:
    return ratio(tp, predicted, true)


def recall(tp: Floats, predicted: Floats, true: Floats) -> Floats:
    return ratio(tp, true, predicted)


def f_measure(tp: Floats, predicted: Floats, true: Floats, beta: float = 1.0) -> Floats:
    square = beta * beta
    total = predicted + square * true
    # With beta = 0, which is precision, a true label alone leaves nothing to divide by.
    return ratio((1 + square) * tp, total, predicted + true)


def jaccard_index(tp: Floats, predicted: Floats, true: Floats) -> Floats:
    union = predicted + true - tp
    return ratio(tp, union, union)


def written_f(measure: Measure) -> str:
    """The formula of an F-measure over concepts with its beta."""
    if measure.value_of("beta") == 1:
        return r"\frac{2\,TP(c)}{2\,TP(c)+FP(c)+FN(c)}"
    return r"\frac{(1+\beta^2)\,TP(c)}{(1+\beta^2)\,TP(c)+FP(c)+\beta^2\,FN(c)}"


def _f_plan(measure: Measure) -> LabelPlan:
    beta = float(measure.value_of("beta"))
    return _of_counts(partial(f_measure, beta=beta))(measure)


def _of_counts(formula: Callable[[Floats, Floats, Floats], Floats]) -> Callable[..., LabelPlan]:
    def plan(measure: Measure) -> LabelPlan:
        if measure.at is not None:
            cutoff = int(measure.at)
            return PerRankedConcept(lambda block: block.precision_at(cutoff), cutoff=cutoff)
        totals: dict[str, Callable[[Floats], float]] = {
            "micro": lambda sums: float(formula(*sums.sum(axis=1))),
            "weighted": lambda sums: weighted_mean(formula(*sums), sums[2]),
        }
        return PerConcept(
            sums=lambda block: block.concept_counts,
            finish=lambda sums, _: formula(*sums),
            total=totals.get(str(measure.value_of("mean"))),
        )

    return plan


def weighted_mean(values: Floats, weights: Floats) -> float:
    """The mean by weights of what has a value."""
    weights = np.where(np.isnan(values), 0.0, weights)
    total = float(weights.sum())
    return float(np.nan_to_num(values) @ weights) / total if total else float("nan")


def _accuracy(_: Measure) -> LabelPlan:
    def finish(sums: Floats, items: float) -> Floats:
        tp, predicted, true = sums
        return np.asarray(1.0 - (predicted + true - 2 * tp) / items)

    # Every concept has as many decisions, so the pooled value is the mean of the values.
    return PerConcept(sums=lambda block: block.concept_counts, finish=finish)


def _ranked(column: int) -> Callable[[Measure], LabelPlan]:
    def plan(measure: Measure) -> LabelPlan:
        return PerRankedConcept(
            lambda block: block.ranked[:, column],
            average=str(measure.value_of("mean")) if "mean" in measure.params else "macro",
            column=column,
        )

    return plan


P = Measure(
    name="P.concept",
    title="Precision per concept",
    formula=r"\frac{TP(c)}{TP(c)+FP(c)}",
    source=Source(
        "nowak-thesis",
        "3.4-3.8, 3.12",
        "a concept that is neither true nor predicted of any item has the value 1",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_of_counts(precision),
    family=FAMILY,
    summary="Of the items that got a concept, the part that has it; P@k.concept: of the k items "
    "with the highest confidence.",
    params=_WEIGHABLE,
    cutoff="optional",
    ties="P@k.concept: confidence, then item id (larger first)",
    undefined=f"{EMPTY_SETS}; P@k.concept: {NO_POSITIVE}",
    example="P.concept(mean='micro')",
)

R = Measure(
    name="R.concept",
    title="Recall per concept",
    formula=r"\frac{TP(c)}{TP(c)+FN(c)}",
    source=Source("nowak-thesis", "3.4-3.9"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_of_counts(recall),
    family=FAMILY,
    summary="Of the items that have a concept, the part that got it. A run that predicts "
    "everything has recall 1.",
    params=_WEIGHABLE,
    ties="none",
    undefined=EMPTY_SETS,
    example="R.concept",
)

F = Measure(
    name="F.concept",
    title="F-measure per concept",
    formula=r"\frac{2\,TP(c)}{2\,TP(c)+FP(c)+FN(c)}",
    written=written_f,
    source=Source("nowak-thesis", "3.10"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_f_plan,
    family=FAMILY,
    summary="Harmonic mean of precision and recall of a concept. Random runs with many labels "
    "get average values (No 7.5).",
    params=_WITH_BETA,
    ties="none",
    undefined=EMPTY_SETS,
    example="F.concept(mean='micro') F.concept(mean='weighted') F.concept(beta=2)",
)

JACCARD = Measure(
    name="Jaccard.concept",
    title="Jaccard index per concept",
    formula=r"\frac{TP(c)}{TP(c)+FP(c)+FN(c)}",
    source=Source("scikit-learn", equations="jaccard_score"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_of_counts(jaccard_index),
    family=FAMILY,
    summary="Items that have a concept and got it, of those that have it or got it; also called "
    "intersection over union.",
    params=_WEIGHABLE,
    ties="none",
    undefined=EMPTY_SETS,
    example="Jaccard.concept Jaccard.concept(mean='micro')",
)

ACCURACY = Measure(
    name="Accuracy.concept",
    title="Accuracy per concept",
    formula=r"\frac{TP(c)+TN(c)}{N}",
    source=Source("nowak-thesis", "3.11"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_accuracy,
    family=FAMILY,
    summary="The part of all items that is right about a concept, absent ones included; the mean "
    "is 1 - HammingLoss.",
    params=AVERAGING,
    ties="none",
    undefined="always defined",
    example="Accuracy.concept",
)

AUC = Measure(
    name="AUC",
    title="Area under the ROC curve",
    formula=r"\int_0^1 \mathrm{TPR}\,d\,\mathrm{FPR}",
    source=Source(
        "nowak-thesis",
        "section 3.3.3",
        "equal confidences are joined by a straight line, so a constant run has 0.5",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=CONFIDENCES,
    plan=_ranked(0),
    family=FAMILY,
    summary="How often an item with the concept has a higher confidence than one without.",
    params=_WEIGHABLE,
    ties=TIES_AS_ONE,
    undefined=ONE_CLASS,
    example="AUC AUC(mean='micro')",
)

EER = Measure(
    name="EER",
    title="Equal error rate",
    formula=r"\mathrm{FPR}(t) \text{ where } \mathrm{FPR}(t) = 1-\mathrm{TPR}(t)",
    source=Source("nowak-thesis", "section 3.3.3", "linear between the points of the curve"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=CONFIDENCES,
    plan=_ranked(1),
    family=FAMILY,
    summary="The error at the threshold where wrong assignments are as frequent as missed ones.",
    ties=TIES_AS_ONE,
    undefined=ONE_CLASS,
    example="EER",
)

AP = Measure(
    name="AP.concept",
    mean_name="MAP",
    title="Average precision per concept",
    formula=r"\frac{1}{R_c}\sum_{r} P(r)\,\mathrm{rel}(r)",
    source=Source("nowak-thesis", "3.13", TIES_AS_ONE),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=CONFIDENCES,
    plan=_ranked(2),
    family=FAMILY,
    summary="Mean precision at the items that have the concept.",
    params=_WEIGHABLE,
    ties=TIES_AS_ONE,
    undefined=NO_POSITIVE,
    example="AP.concept AP.concept(mean='micro')",
)

IAP = Measure(
    name="iAP.concept",
    mean_name="MiAP",
    title="Interpolated average precision per concept",
    formula=r"\frac{1}{11}\sum_{k=0}^{10} \max_{R(r)\ge k/10} P(r)",
    source=Source("nowak-thesis", "section 3.3.3"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=CONFIDENCES,
    plan=_ranked(3),
    family=FAMILY,
    summary="Mean of the best precision at or beyond the recall levels 0, 0.1, ..., 1; the "
    "measure of ImageCLEF 2010 and 2011.",
    ties=TIES_AS_ONE,
    undefined=NO_POSITIVE,
    example="iAP.concept",
)

RPREC = Measure(
    name="Rprec.concept",
    title="R-precision per concept",
    formula=r"P(R_c)",
    source=Source("nowak-thesis", "section 3.3.3"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=CONFIDENCES,
    plan=_ranked(4),
    family=FAMILY,
    summary="Precision among as many items as have the concept.",
    ties="confidence, then item id (larger first)",
    undefined=NO_POSITIVE,
    example="Rprec.concept",
)

DECLARED = (P, R, F, JACCARD, ACCURACY, AUC, EER, AP, IAP, RPREC)
