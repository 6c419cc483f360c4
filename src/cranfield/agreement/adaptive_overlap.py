"""Which items have opinions enough, and whose opinion is worth most next.

An item is closed when a model of the annotators is sure enough of every answer about it (after
Welinder and Perona 2010), or when it has as many opinions as it may get.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.aggregation import recommended_method
from cranfield.agreement.truth_inference import (
    Estimate,
    Fitting,
    ModelName,
    mean_estimate,
    model_estimate,
    vote_estimate,
)
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.errors import UsageError
from cranfield.notes import Notes, Progress
from cranfield.options import AggregationMethod

# An annotator counts as a usual one for so many judgements before the own ones.
USUAL_JUDGEMENTS = 4.0
# What closes an item need not be exact: the next opinion moves it by more.
_TOLERANCE, _ITERATIONS = 1e-3, 60


@dataclass(frozen=True, slots=True)
class AdaptiveOverlap:
    """When an item has opinions enough: `sure` of every answer, or `most` opinions.

    No item is closed before it has `least` opinions.
    """

    sure: float
    most: int
    least: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.sure < 1:
            raise UsageError(f"sure={self.sure} is not above 0 and below 1")
        if not 1 <= self.least <= self.most:
            raise UsageError(f"least={self.least} is not from 1 to most={self.most}")

    def open_items(self, log: JudgementLog, estimate: Estimate) -> NDArray[np.bool_]:
        """The items that want another opinion."""
        opinions = opinions_per_item(log)
        unsure = item_confidence(log, estimate) < self.sure
        return (opinions < self.least) | (unsure & (opinions < self.most))


def estimate_answers(log: JudgementLog, method: AggregationMethod = "dawid-skene") -> Estimate:
    """Probabilities of the answers, as exact as a decision about the next opinion needs them."""
    if method == "majority":
        return vote_estimate(log)
    fitting = Fitting("dawid-skene", iterations=_ITERATIONS, tolerance=_TOLERANCE)
    models = [cast(ModelName, name) for name in method.split("+")]
    return mean_estimate(
        [
            model_estimate(log, replace(fitting, model=model), None, Notes(), Progress.of(None))
            for model in models
        ]
    )


def item_confidence(log: JudgementLog, estimate: Estimate) -> Floats:
    """The probability of the least certain answer about each item; 0 where nobody judged."""
    confidence = np.ones(len(log.items))
    np.minimum.at(confidence, estimate.item, estimate.probability.max(axis=1, initial=0.0))
    confidence[opinions_per_item(log) == 0] = 0.0
    return confidence


def opinions_per_item(log: JudgementLog) -> NDArray[np.int64]:
    """How many people judged each item."""
    if len(log.concepts) == 1:
        return np.bincount(log.item, minlength=len(log.items))
    pairs = np.unique(log.item.astype(np.int64) * len(log.annotators) + log.annotator)
    return np.bincount(pairs // len(log.annotators), minlength=len(log.items))


def annotator_reliability(estimate: Estimate) -> Floats:
    """The expected share of right answers of each annotator, shrunk towards the crowd's."""
    usual = float(estimate.right.sum() / max(estimate.given.sum(), 1.0))
    shrunk = (estimate.right + USUAL_JUDGEMENTS * usual) / (estimate.given + USUAL_JUDGEMENTS)
    return np.asarray(shrunk)


def expected_opinions(log: JudgementLog, rule: AdaptiveOverlap) -> float:
    """The mean number of opinions of the items that the rule has closed; NaN where none is."""
    closed = ~rule.open_items(log, estimate_answers(log, recommended_method(log)[0]))
    opinions = opinions_per_item(log)[closed]
    return float(opinions.mean()) if opinions.size else float("nan")


def winners(log: JudgementLog, estimate: Estimate) -> NDArray[np.int64]:
    """The most probable answer to each cell (items x concepts), -1 where nobody judged."""
    table = np.full((len(log.items), len(log.concepts)), -1, dtype=np.int64)
    table[estimate.item, estimate.concept] = estimate.probability.argmax(axis=1)
    return table


def form_codes(log: JudgementLog) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Forms (a person on an item): the first judgement of each, and the form of every judgement."""
    key = log.item.astype(np.int64) * len(log.annotators) + log.annotator
    _, first, form = np.unique(key, return_index=True, return_inverse=True)
    return first, form
