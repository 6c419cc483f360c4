"""The graded family of the SHREC contest: grade 2 is highly relevant, grade 1 relevant."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import (
    EVERY,
    FOUND,
    MICRO,
    MISSING_0,
    REL,
    SEEN,
    Context,
    KernelCall,
    counted,
    kernel_call,
)
from cranfield.references import Source

FAMILY = "SHREC"
_LEFT_OUT = "no relevant item: topic left out; nothing retrieved: 0"
_EXPECTED = "score, then item id; ties='average' gives the expected value over all orders"
_LEVEL = MappingProxyType({"rel": REL, "mean": MICRO})


def _tier(multiple: int) -> Any:
    def plan(measure: Measure, _: Context) -> KernelCall:
        return KernelCall("tier", (float(measure.value_of("rel")), float(multiple)))

    return plan


def _tier_counts(multiple: int) -> Any:
    def ratio(measure: Measure, _: Context) -> tuple[KernelCall, KernelCall]:
        return counted(measure, FOUND, multiple), counted(measure, SEEN, multiple)

    return ratio


def _adr(measure: Measure, context: Context) -> KernelCall:
    return KernelCall("adr", (context.check_grades(measure, "levels"),))


FIRST_TIER = Measure(
    name="FirstTier",
    title="First tier",
    summary="The share of relevant items among as many first items as there are relevant ones, "
    "or among all when fewer were retrieved. rel=2 asks for highly relevant items.",
    formula=r"\frac{|\{i \le d : rel(i)\}|}{d}, \quad d = \min(|Ret|, NG)",
    source=Source(
        "shrec-2006",
        deviation="the page prints percent, and Ch for Cr in the depth for relevant items",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=_tier(1),
    ratio=_tier_counts(1),
    params=_LEVEL,
    family=FAMILY,
    ties=_EXPECTED,
    missing=MISSING_0,
    undefined=_LEFT_OUT,
    example="FirstTier FirstTier(rel=2)",
)

SECOND_TIER = Measure(
    name="SecondTier",
    title="Second tier",
    summary="The share of relevant items among twice as many first items as there are relevant "
    "ones, or among all when fewer were retrieved. A perfect ranking has 0.5 unless it is short.",
    formula=r"\frac{|\{i \le d : rel(i)\}|}{d}, \quad d = \min(|Ret|, 2 NG)",
    source=Source(
        "shrec-2006",
        deviation="the page prints percent, and Ch for Cr in the depth for relevant items",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=_tier(2),
    ratio=_tier_counts(2),
    params=_LEVEL,
    family=FAMILY,
    ties=_EXPECTED,
    missing=MISSING_0,
    undefined=_LEFT_OUT,
    example="SecondTier SecondTier(rel=2)",
)

SHREC_AP = Measure(
    name="ShrecAP",
    mean_name="ShrecMAP",
    title="Average precision over retrieved relevant items",
    summary="The mean of the precision at the rank of each relevant item that was retrieved. "
    "Unlike AP it does not punish relevant items that are missing.",
    formula=r"\frac{1}{|Ret \cap Rel|} \sum_{i : rel(i)} P@i",
    source=Source("shrec-2006"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=kernel_call("shrec_ap", "rel"),
    params=MappingProxyType({"rel": REL}),
    family=FAMILY,
    ties=_EXPECTED,
    missing="relevant items that were not retrieved are ignored",
    undefined=_LEFT_OUT,
    example="ShrecAP ShrecAP(rel=2)",
)

ADR = Measure(
    name="ADR",
    title="Average dynamic recall",
    summary="The mean, over ranks 1 to NG, of the share found of what a perfect ranking shows "
    "down to that rank: highly relevant items while those last, then all relevant ones.",
    formula=r"\frac{1}{NG} \sum_{i=1}^{NG} \frac{|\{j \le i : grade(j) \ge grade^*(i)\}|}{i}",
    source=Source(
        "shrec-2006",
        equations="after Typke, Veltkamp and Wiering (2006)",
        deviation="some fractions of the page's example are misprinted; its decimals are right",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_adr,
    params=MappingProxyType(
        {"levels": Param(int, 2, "the largest grade; every grade from 1 on is a level", low=1)}
    ),
    family=FAMILY,
    ties=_EXPECTED,
    missing=MISSING_0,
    undefined=_LEFT_OUT,
    example="ADR",
)

DECLARED = (FIRST_TIER, SECOND_TIER, SHREC_AP, ADR)

# The means over queries that the page lists, without the cumulated gains at several ranks.
MEAN_MEASURES = (
    *(
        f"{name}{level}"
        for name in ("ShrecAP", "FirstTier", "SecondTier")
        for level in ("(rel=2)", "")
    ),
    "ADR",
    *(f"{name}@25(empty='out')" for name in ("CG", "nCG")),
    *(f"{name}@25(discount='jk', empty='out')" for name in ("DCG", "nDCG")),
)
_NAMES = {
    "ShrecAP": "Mean Average Precision",
    "FirstTier": "Mean First Tier",
    "SecondTier": "Mean Second Tier",
    "ADR": "Mean Average Dynamic Recall",
    "CG": "Mean Cumulated Gain",
    "DCG": "Mean Cumulated Discounted Gain",
    "nCG": "Mean Normalized Cumulated Gain",
    "nDCG": "Mean Normalized Cumulated Discounted Gain",
}


def shrec_name(measure: Measure) -> str:
    """What SHREC 2006 calls the mean of a measure; nothing where it has no name for it.

    >>> shrec_name(FIRST_TIER)
    'Mean First Tier(relevant)'
    """
    name = _NAMES.get(measure.name, "")
    if not name or measure.name == "ADR":
        return name
    if measure.at is not None:
        return f"{name} @ {measure.at:g}"
    level = "highly relevant" if measure.value_of("rel") == 2 else "relevant"
    return f"{name}({level})" if measure.name not in ("CG", "DCG", "nCG", "nDCG") else name
