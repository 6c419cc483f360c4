"""Measures per item over label sets (No 3.14-3.20), and the size of those sets (No 3.2, 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from cranfield import _core
from cranfield.data.labels import Floats
from cranfield.errors import MeasureError
from cranfield.measures.base import Measure, Param
from cranfield.measures.labels.blocks import ItemBlock, LabelPlan, PerItem
from cranfield.measures.labels.concept import (
    BETA,
    EMPTY_SETS,
    LABELS,
    f_measure,
    precision,
    ratio,
    recall,
)
from cranfield.references import Source

FAMILY = "annotation, per item"
NO_TRUE = "no true concept: item left out"
VOCABULARY = "vocabulary order"


def plain(formula: Callable[[ItemBlock], Floats]) -> Callable[[Measure], LabelPlan]:
    """The plan of a measure without parameters: one value per item."""
    return lambda _: PerItem(formula)


def ranked_precision(cutoff: int | None) -> LabelPlan:
    """Precision among the first concepts of a ranking, without a cutoff among |Y| of them."""

    def values(block: ItemBlock) -> Floats:
        return _core.item_precision(block.truth, block.confidences, cutoff or 0, block.jobs)

    return PerItem(values, ranked=True)


def ranked_recall(cutoff: int) -> LabelPlan:
    """The part of the true concepts that is among the first concepts of a ranking."""

    def values(block: ItemBlock) -> Floats:
        hits = cutoff * _core.item_precision(block.truth, block.confidences, cutoff, block.jobs)
        return hits / np.where(block.true == 0, np.nan, block.true)

    return PerItem(values, ranked=True)


def _recall_plan(measure: Measure) -> LabelPlan:
    return PerItem(_recall) if measure.at is None else ranked_recall(int(measure.at))


def _success_plan(measure: Measure) -> LabelPlan:
    cutoff = int(measure.at or 1)

    def values(block: ItemBlock) -> Floats:
        precision_there = _core.item_precision(block.truth, block.confidences, cutoff, block.jobs)
        return np.where(np.isnan(precision_there), np.nan, precision_there > 0)

    return PerItem(values, ranked=True)


def _precision_plan(measure: Measure) -> LabelPlan:
    return PerItem(_precision) if measure.at is None else ranked_precision(int(measure.at))


def _precision(block: ItemBlock) -> Floats:
    return precision(block.tp, block.predicted, block.true)


def _recall(block: ItemBlock) -> Floats:
    return recall(block.tp, block.predicted, block.true)


def jaccard(block: ItemBlock) -> Floats:
    union = block.true + block.predicted - block.tp
    return ratio(block.tp, union, union)


def _f(measure: Measure) -> LabelPlan:
    if measure.value_of("mean") == "arithmetic":
        return PerItem(lambda block: (_precision(block) + _recall(block)) / 2)
    beta = float(measure.value_of("beta"))
    return PerItem(lambda block: f_measure(block.tp, block.predicted, block.true, beta))


def _written_f(measure: Measure) -> str:
    if measure.value_of("mean") == "arithmetic":
        return r"\frac12\left(\frac{|Y_n\cap Z_n|}{|Z_n|}+\frac{|Y_n\cap Z_n|}{|Y_n|}\right)"
    if measure.value_of("beta") != 1:
        return r"\frac{(1+\beta^2)|Y_n\cap Z_n|}{\beta^2|Y_n|+|Z_n|}"
    return r"\frac{2|Y_n\cap Z_n|}{|Y_n|+|Z_n|}"


def _alpha(measure: Measure) -> LabelPlan:
    alpha = float(measure.value_of("alpha"))
    missed, false = float(measure.value_of("missed")), float(measure.value_of("false"))
    if max(missed, false) < 1:
        raise MeasureError(
            f"{measure}: of the weights missed and false one is 1, or no score could reach 0"
        )

    def values(block: ItemBlock) -> Floats:
        union = block.true + block.predicted - block.tp
        forgiven = (1 - missed) * (block.true - block.tp) + (1 - false) * (
            block.predicted - block.tp
        )
        scores: Floats = ratio(block.tp + forgiven, union, union) ** alpha
        return scores

    return PerItem(values)


def _hamming(block: ItemBlock) -> Floats:
    return (block.true + block.predicted - 2 * block.tp) / block.width


def _exact(block: ItemBlock) -> Floats:
    same = (block.tp == block.true) & (block.tp == block.predicted)
    return np.asarray(same, dtype=np.float64)


P = Measure(
    name="P.example",
    title="Precision per item",
    formula=r"\frac{|Y_n\cap Z_n|}{|Z_n|}",
    source=Source("nowak-thesis", "3.14"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_precision_plan,
    family=FAMILY,
    summary="Of the concepts predicted for an item, the part that is true; P@k.example: of its k "
    "concepts with the highest confidence.",
    cutoff="optional",
    ties=f"P@k.example: {VOCABULARY}",
    undefined=f"{EMPTY_SETS}; P@k.example: {NO_TRUE}",
    example="P.example P@5.example",
)

R = Measure(
    name="R.example",
    title="Recall per item",
    formula=r"\frac{|Y_n\cap Z_n|}{|Y_n|}",
    source=Source("nowak-thesis", "3.15"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_recall_plan,
    family=FAMILY,
    summary="Of the true concepts of an item, the part that was predicted; R@k.example: the part "
    "among its k concepts with the highest confidence.",
    cutoff="optional",
    ties=f"R@k.example: {VOCABULARY}",
    undefined=f"{EMPTY_SETS}; R@k.example: {NO_TRUE}",
    example="R.example R@5.example",
)

SUCCESS = Measure(
    name="Success.example",
    title="Success per item",
    formula=r"[Y_n\cap Z_n^k \neq \emptyset]",
    source=Source(
        "scikit-learn",
        equations="top_k_accuracy_score",
        deviation="an item may have several true concepts: one of them is enough",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"confidences"}),
    plan=_success_plan,
    family=FAMILY,
    summary="1 when a true concept of an item is among its k concepts with the highest confidence "
    "(without a cutoff: its best); of items with one true concept each the mean is the top-k "
    "accuracy.",
    cutoff="optional",
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="Success@1.example Success@5.example",
)

F = Measure(
    name="F.example",
    title="F-measure per item",
    formula=r"\frac{2|Y_n\cap Z_n|}{|Y_n|+|Z_n|}",
    written=_written_f,
    source=Source(
        "nowak-thesis", "3.16", "Table 7.1 prints the arithmetic mean: mean='arithmetic'"
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_f,
    family=FAMILY,
    summary="Harmonic mean of precision and recall of an item's labels.",
    params=MappingProxyType(
        {
            "mean": Param(str, "harmonic", "mean of P and R", ("harmonic", "arithmetic")),
            "beta": BETA,
        }
    ),
    ties="none",
    undefined=EMPTY_SETS,
    example="F.example",
)

ACCURACY = Measure(
    name="Accuracy.example",
    title="Accuracy per item",
    formula=r"\frac{|Y_n\cap Z_n|}{|Y_n\cup Z_n|}",
    source=Source("nowak-thesis", "3.17"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=plain(jaccard),
    family=FAMILY,
    summary="Labels that are true and predicted as a part of those that are either.",
    ties="none",
    undefined=EMPTY_SETS,
    example="Accuracy.example",
)

HAMMING = Measure(
    name="HammingLoss",
    title="Hamming loss",
    formula=r"\frac{|Y_n\,\triangle\,Z_n|}{C}",
    source=Source("nowak-thesis", "3.18"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=LABELS,
    plan=plain(_hamming),
    family=FAMILY,
    summary="The part of all concepts that is wrong for an item.",
    ties="none",
    undefined="always defined",
    example="HammingLoss",
)

EXACT = Measure(
    name="ExactMatch",
    title="Exact match",
    formula=r"[Y_n = Z_n]",
    source=Source("nowak-thesis", "3.3.4", "1 - the zero-one loss named in section 4.4.2.1"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=plain(_exact),
    family=FAMILY,
    summary="1 when every label of an item is right, else 0.",
    ties="none",
    undefined="always defined",
    example="ExactMatch",
)

ALPHA = Measure(
    name="Alpha",
    title="Alpha evaluation",
    formula=r"\left(1-\frac{\beta|Y_n\setminus Z_n|+\gamma|Z_n\setminus Y_n|}"
    r"{|Y_n\cup Z_n|}\right)^{\alpha}",
    source=Source("nowak-thesis", "3.19, 3.20; the weights as in Shen et al. (2004)"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=LABELS,
    plan=_alpha,
    family=FAMILY,
    summary="Accuracy per item with a forgiveness rate: below 1 forgives partly wrong sets. Missed "
    "and false labels may weigh less than 1, one of the two at a time.",
    params=MappingProxyType(
        {
            "alpha": Param(float, 1, "forgiveness rate", low=0.0),
            "missed": Param(float, 1, "weight (beta) of a missed label", low=0.0, high=1.0),
            "false": Param(float, 1, "weight (gamma) of a false label", low=0.0, high=1.0),
        }
    ),
    ties="none",
    undefined=EMPTY_SETS,
    example="Alpha(alpha=0.5) Alpha(missed=0.25)",
)

CARDINALITY = Measure(
    name="LabelCardinality",
    title="Label cardinality of the run",
    formula=r"|Z_n|",
    source=Source("nowak-thesis", "3.2"),
    range=(0.0, float("inf")),
    higher_is_better=None,
    needs=LABELS,
    plan=plain(lambda block: block.predicted),
    family=FAMILY,
    summary="How many concepts a run predicts for an item.",
    ties="none",
    undefined="always defined",
    example="LabelCardinality",
)

DENSITY = Measure(
    name="LabelDensity",
    title="Label density of the run",
    formula=r"\frac{|Z_n|}{C}",
    source=Source("nowak-thesis", "3.3"),
    range=(0.0, 1.0),
    higher_is_better=None,
    needs=LABELS,
    plan=plain(lambda block: block.predicted / block.width),
    family=FAMILY,
    summary="The part of all concepts that a run predicts for an item.",
    ties="none",
    undefined="always defined",
    example="LabelDensity",
)

DECLARED = (P, R, SUCCESS, F, ACCURACY, HAMMING, EXACT, ALPHA, CARDINALITY, DENSITY)
