"""Are the confidences of a run probabilities? Brier score, log loss and calibration error."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from cranfield.data.labels import Floats
from cranfield.measures.base import Measure, Param
from cranfield.measures.labels.blocks import ItemBlock, LabelPlan, PerConcept
from cranfield.measures.labels.concept import AVERAGING, FAMILY
from cranfield.references import Source

NEEDS = frozenset({"confidences", "probabilities"})
# Confidences of 0 and 1 are moved by so much, so that a wrong one has a finite loss.
SMALLEST = float(np.finfo(np.float64).eps)
_ALWAYS = "always defined"
BINS = Param(int, 15, "how many bins of equal width", low=1, high=10_000)


def _mean_over_items(sums: Floats, items: float) -> Floats:
    # Every concept has as many items, so the pooled value is the mean of the values.
    return np.asarray(sums / items)


def _squares(block: ItemBlock) -> Floats:
    return np.asarray(((block.confidences - block.truth) ** 2).sum(axis=0))


def _log_losses(block: ItemBlock) -> Floats:
    chances = np.clip(block.confidences, SMALLEST, 1 - SMALLEST)
    of_the_truth = np.where(block.truth, chances, 1 - chances)
    return np.asarray(-np.log(of_the_truth).sum(axis=0))


def _calibration(measure: Measure) -> LabelPlan:
    bins = int(measure.value_of("bins"))

    def sums(block: ItemBlock) -> Floats:
        """[bin, concept]: the sum of confidences less the number of true cells."""
        # A confidence on the edge of two bins is in the upper one, 1 in the last.
        at = np.minimum((block.confidences * bins).astype(np.intp), bins - 1)
        columns = np.broadcast_to(np.arange(block.width), at.shape)
        cells = (at * block.width + columns).ravel()
        gaps = (block.confidences - block.truth).ravel()
        counted = np.bincount(cells, weights=gaps, minlength=bins * block.width)
        items = np.full((1, block.width), float(len(block.truth)))
        return np.vstack([counted.reshape(bins, block.width), items])

    def error(totals: Floats) -> Floats:
        return np.asarray(np.abs(totals[:-1]).sum(axis=0) / totals[-1])

    pooled = measure.value_of("mean") == "micro"
    return PerConcept(
        sums=sums,
        finish=lambda totals, _: error(totals),
        total=(lambda totals: float(error(totals.sum(axis=1)))) if pooled else None,
    )


BRIER = Measure(
    name="Brier",
    title="Brier score",
    formula=r"\frac1N\sum_n (f_{nc}-y_{nc})^2",
    source=Source("brier-1950", deviation="half of the original, which adds up both outcomes"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=NEEDS,
    plan=lambda _: PerConcept(_squares, _mean_over_items),
    family=FAMILY,
    summary="The mean squared distance of a confidence to 0 or 1, whichever is true: calibration "
    "and discrimination in one. Equal to scikit-learn's brier_score_loss of each concept.",
    ties="none",
    undefined=_ALWAYS,
    example="Brier",
)

LOG_LOSS = Measure(
    name="LogLoss",
    title="Log loss",
    formula=r"-\frac1N\sum_n \bigl(y_{nc}\ln f_{nc}+(1-y_{nc})\ln(1-f_{nc})\bigr)",
    source=Source("scikit-learn", equations="log_loss"),
    range=(0.0, float("inf")),
    higher_is_better=False,
    needs=NEEDS,
    plan=lambda _: PerConcept(_log_losses, _mean_over_items),
    family=FAMILY,
    summary="The mean negative logarithm of the confidence in what is true; confidences of 0 and "
    "1 are moved by 2.2e-16, so that a wrong one costs 36.04.",
    ties="none",
    undefined=_ALWAYS,
    example="LogLoss",
)

ECE = Measure(
    name="ECE",
    title="Expected calibration error",
    formula=r"\sum_b \frac{n_b}{N}\,\bigl|\overline{f_b}-\overline{y_b}\bigr|",
    source=Source("guo-2017", equations="3", deviation="of the two classes of each concept"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=NEEDS,
    plan=_calibration,
    family=FAMILY,
    summary="How far the confidences of a bin are from the share of its cells that are true. "
    "Biased upwards: a perfectly calibrated run has a value above 0, the larger the fewer items "
    "there are in a bin; compare values with the same items and bins only.",
    params=MappingProxyType({**AVERAGING, "bins": BINS}),
    ties="none",
    undefined=_ALWAYS,
    example="ECE ECE(mean='micro') ECE(bins=10)",
)

DECLARED = (BRIER, LOG_LOSS, ECE)
