"""Rocchio's indices of a whole ranking, as the SMART system used them: no cutoff, 1 is perfect."""

from __future__ import annotations

import math
from types import MappingProxyType

from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import EVERY, MISSING, REL, ranks
from cranfield.references import Source

FAMILY = "whole ranking (SMART)"
_SOURCE = "rocchio-evaluation"
_TIES = "score, then item id; ties='average' gives tied items the mean of their ranks"
_MISSING = "by the parameter missing"
_LEFT_OUT = "no relevant item: topic left out; all items relevant: 1"
_NO_ERROR = "no relevant item: topic left out; all items relevant: 0"
_NO_MEAN = "a mean over topics says little, as it depends on the number of relevant items"
_RANKS = MappingProxyType({"rel": REL, "missing": MISSING})
_OPEN = "collection size only when relevant items are missing and missing is not 'optimist'"


def _expanded(*, scale: float = 1.0, **_: object) -> tuple[float, float]:
    return 1.0 - scale, 1.0


NORM_RECALL = Measure(
    name="NormRecall",
    title="Normalized recall",
    summary="One minus the area between the recall curve and the best one, brought to [0, 1]; a "
    "random order has 0.5 on average. scale=5 spreads the values near 1 that occur in practice.",
    formula=r"1 - s \cdot \frac{\bar\rho - \frac{n_0+1}{2}}{N - n_0}",
    source=Source(_SOURCE, equations="5.18-5.20, section 4B for the scale"),
    range=(0.0, 1.0),
    ranged=_expanded,
    higher_is_better=True,
    needs=EVERY | {"collection_size"},
    plan=ranks("norm_recall", sized=True, names=("scale",)),
    params=MappingProxyType(
        {
            "rel": REL,
            "scale": Param(
                float,
                1,
                "expansion of the scale below 1 (SMART: 5); values reach down to 1 - scale",
                low=1,
                high=1e6,
            ),
            "missing": MISSING,
        }
    ),
    family=FAMILY,
    ties=_TIES,
    missing=_MISSING,
    undefined=_LEFT_OUT,
    example="NormRecall NormRecall(scale=5)",
)

NORM_PRECISION = Measure(
    name="NormPrecision",
    title="Normalized precision",
    summary="One minus the area between the precision curve and the best one over the "
    "logarithm of rank, brought to [0, 1]: it weighs the top of the ranking more.",
    formula=r"1 - \frac{\ln \prod_i \varphi(i) - \ln n_0!}{\ln \binom{N}{n_0}}",
    source=Source(
        _SOURCE,
        equations="5.21-5.23",
        deviation="the greatest error is printed with N - (i + 1); it is N - (i - 1)",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"collection_size"},
    plan=ranks("norm_precision", sized=True),
    params=_RANKS,
    family=FAMILY,
    ties=f"{_TIES}, which can take a tie at the very end a hair below 0",
    missing=_MISSING,
    undefined=_LEFT_OUT,
    example="NormPrecision",
)

RECALL_ERROR = Measure(
    name="RecallError",
    mean_note=_NO_MEAN,
    title="Recall error",
    summary="The area between the recall curve and the best one: how far the relevant items stand "
    "below their best places on average, in ranks.",
    formula=r"\bar\rho - \frac{n_0+1}{2}",
    source=Source(_SOURCE, equations="5.16, 5.18"),
    range=(0.0, math.inf),
    higher_is_better=False,
    needs=EVERY,
    plan=ranks("recall_error", sized=False),
    params=_RANKS,
    family=FAMILY,
    ties=_TIES,
    missing=f"{_MISSING}; {_OPEN}",
    undefined=_NO_ERROR,
    example="RecallError",
)

PRECISION_ERROR = Measure(
    name="PrecisionError",
    mean_note=_NO_MEAN,
    title="Precision error",
    summary="The area between the precision curve and the best one.",
    formula=r"\ln \prod_i \varphi(i) - \ln n_0!",
    source=Source(_SOURCE, equations="5.17, 5.21"),
    range=(0.0, math.inf),
    higher_is_better=False,
    needs=EVERY,
    plan=ranks("precision_error", sized=False),
    params=_RANKS,
    family=FAMILY,
    ties=_TIES,
    missing=f"{_MISSING}; {_OPEN}",
    undefined=_NO_ERROR,
    example="PrecisionError",
)

RANK_RECALL = Measure(
    name="RankRecall",
    mean_note=_NO_MEAN,
    title="Rank recall",
    summary="The mean rank that the relevant items would have in a perfect ranking divided by "
    "the one they have. To compare rankings of one topic, not means over topics.",
    formula=r"\frac{(n_0+1)/2}{\bar\rho}",
    source=Source(_SOURCE, equations="section 4B"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=ranks("rank_recall", sized=False),
    params=_RANKS,
    family=FAMILY,
    ties=_TIES,
    missing=f"{_MISSING}; {_OPEN}",
    undefined=_LEFT_OUT,
    example="RankRecall",
)

LOG_PRECISION = Measure(
    name="LogPrecision",
    mean_note=_NO_MEAN,
    title="Log precision",
    summary="The logarithm of the product of the best ranks divided by that of the ranks the "
    "relevant items have. To compare rankings of one topic, as RankRecall.",
    formula=r"\frac{\ln n_0!}{\ln \prod_i \varphi(i)}",
    source=Source(_SOURCE, equations="section 4B"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=ranks("log_precision", sized=False),
    params=_RANKS,
    family=FAMILY,
    ties=_TIES,
    missing=f"{_MISSING}; {_OPEN}",
    undefined=f"{_LEFT_OUT}; one relevant item: 1 at rank 1, else 0",
    example="LogPrecision",
)

DECLARED = (
    NORM_RECALL,
    NORM_PRECISION,
    RECALL_ERROR,
    PRECISION_ERROR,
    RANK_RECALL,
    LOG_PRECISION,
)
