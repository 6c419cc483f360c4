"""Precision, recall and what is made of them: measures of binary relevance."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import (
    DEPTH,
    EMPTY,
    EVERY,
    FOUND,
    IN_PLACES,
    IN_SEEN,
    MEAN,
    MICRO,
    MISSING_0,
    NO_RELEVANT_0,
    REL,
    RELEVANT,
    SEEN,
    Cell,
    Context,
    KernelCall,
    counted,
    cutoff_of,
    kernel_call,
    ratio_of,
    skip_empty_topics,
)
from cranfield.references import Source

FAMILY = "precision and recall"
_REL = MappingProxyType({"rel": REL})
_TOPICS = MappingProxyType({"rel": REL, "empty": EMPTY})
_RATIO = MappingProxyType({"rel": REL, "mean": MICRO, "empty": EMPTY})
_BETA = Param(float, 1, "weight of recall", low=0)
_F = MappingProxyType({"rel": REL, "beta": _BETA, "mean": MICRO, "empty": EMPTY})
_NO_RELEVANT = "no relevant item: 0, or topic left out with empty='out'; nothing retrieved: 0"
_VERSION = Param(
    int,
    None,
    "the version of trec_eval whose rounding of recall levels is used; unless given, a level is "
    "reached when the share found is at least as large",
    choices=(9, 10),
)
_POINTS = tuple(i / 10 for i in range(11))


def _written_ip(measure: Measure) -> str:
    """The level in relevant items, as a version of trec_eval counts them, or by its definition."""
    reached = {
        9: r"n(i) \ge \lfloor r\, NG + 0.9 \rfloor",
        10: r"n(i) \ge \mathrm{round}(r\, NG)",
    }.get(measure.value_of("version"), r"R(i) \ge r")
    return rf"iP@r = \max_{{i : {reached}}} P(i)"


def _with_level(mean: str) -> Callable[[Measure], str]:
    """A mean of iP, with what it is where a version of trec_eval rounds the levels."""

    def written(measure: Measure) -> str:
        if measure.value_of("version") is None:
            return mean
        return rf"{mean}, \quad {_written_ip(measure)}"

    return written


def _f_weights(beta: float) -> tuple[float, float]:
    """How recall and precision weigh in F: squares of beta that stay among the numbers."""
    if beta <= 1:
        return beta * beta / (1 + beta * beta), 1 / (1 + beta * beta)
    # Never quite 0: a topic without relevant items has F = 0 whatever beta is.
    inverse = max((1 / beta) ** 2, sys.float_info.min)
    return 1 / (1 + inverse), inverse / (1 + inverse)


def _f_cells(measure: Measure, places: Cell) -> tuple[KernelCall, KernelCall]:
    recall, precision = _f_weights(float(measure.value_of("beta")))
    return counted(measure, FOUND), counted(measure, recall * RELEVANT + precision * places)


def _f_at(measure: Measure, _: Context) -> KernelCall:
    above, below = _f_cells(measure, DEPTH)
    return KernelCall("counts_ratio", (*above.params, *below.params[3:]))


def _f_counts(measure: Measure, _: Context) -> tuple[KernelCall, KernelCall]:
    return _f_cells(measure, SEEN)


def _set_f(measure: Measure, _: Context) -> KernelCall:
    beta = float(measure.value_of("beta"))
    return KernelCall("set_f", (float(measure.value_of("rel")), beta * beta))


def _set_f_counts(measure: Measure, _: Context) -> tuple[KernelCall, KernelCall]:
    beta = float(measure.value_of("beta"))
    square = beta * beta
    if math.isinf(square):
        return counted(measure, FOUND), counted(measure, RELEVANT)
    return counted(measure, (1 + square) * FOUND), counted(measure, square * RELEVANT + SEEN)


def _r_prec_counts(measure: Measure, _: Context) -> tuple[KernelCall, KernelCall]:
    multiple = float(measure.value_of("multiple"))
    return counted(measure, FOUND, multiple), counted(measure, DEPTH, multiple)


def _points(points: tuple[float, ...]) -> Any:
    def plan(measure: Measure, _: Context) -> KernelCall:
        params = (float(measure.value_of("rel")), _version_of(measure), *points)
        return KernelCall("interpolated_mean", params)

    return plan


def _interpolated(measure: Measure, _: Context) -> KernelCall:
    params = (float(measure.value_of("rel")), cutoff_of(measure), _version_of(measure))
    return KernelCall("interpolated_at", params)


def _version_of(measure: Measure) -> float:
    """As the kernels have it: 0 stands for the definition."""
    return float(measure.value_of("version") or 0)


P = Measure(
    name="P",
    title="Precision at a cutoff",
    summary="The share of the first k items that is relevant. A ranking shorter than k is filled "
    "up with items that are not; mean='micro' counts only the items it has.",
    formula=r"P@k = \frac{|\{i \le k : rel(i)\}|}{k}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("precision_at", "rel", "@")),
    ratio=ratio_of(FOUND, SEEN),
    params=_RATIO,
    cutoff="required",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="P@10 P@10(mean='micro')",
    trec_name="P",
)

R = Measure(
    name="R",
    title="Recall at a cutoff",
    summary="The share of the relevant items that stands among the first k.",
    formula=r"R@k = \frac{|\{i \le k : rel(i)\}|}{NG}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("recall_at", "rel", "@")),
    ratio=ratio_of(FOUND, RELEVANT),
    params=_RATIO,
    cutoff="required",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="R@1000",
    trec_name="recall",
)

F = Measure(
    name="F",
    title="F at a cutoff",
    summary="The weighted harmonic mean of precision and recall at k; beta > 1 favours recall. "
    "mean='micro' counts only the items that a ranking shorter than k has.",
    formula=r"\frac{(1+\beta^2)\, P@k\, R@k}{\beta^2 P@k + R@k}",
    source=Source(
        "chatzichristofis-mnro",
        equations="2",
        deviation="the paper prints (1+beta)^2",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(_f_at),
    ratio=_f_counts,
    params=_F,
    cutoff="required",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="F@10 F@10(beta=2)",
)

SUCCESS = Measure(
    name="Success",
    title="Success at a cutoff",
    summary="1 when a relevant item stands among the first k, else 0.",
    formula=r"Success@k = [\exists i \le k : rel(i)]",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("success_at", "rel", "@")),
    params=_TOPICS,
    cutoff="required",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="Success@5",
    trec_name="success",
)

RELATIVE_P = Measure(
    name="RelativeP",
    title="Relative precision at a cutoff",
    summary="Precision at k divided by the best precision that k items can reach.",
    formula=r"\frac{|\{i \le k : rel(i)\}|}{\min(k, NG)}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("relative_precision_at", "rel", "@")),
    ratio=ratio_of(FOUND, IN_PLACES),
    params=_RATIO,
    cutoff="required",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="RelativeP@10",
    trec_name="relative_P",
)

RR = Measure(
    name="RR",
    mean_name="MRR",
    title="Reciprocal rank",
    summary="One divided by the rank of the first relevant item, 0 when there is none (or none "
    "within the cutoff).",
    formula=r"RR = \frac{1}{\min\{i : rel(i)\}}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("reciprocal_rank", "rel", "@")),
    params=_TOPICS,
    cutoff="optional",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="RR@10",
    trec_name="recip_rank",
)

AP = Measure(
    name="AP",
    mean_name="MAP",
    title="Average precision",
    summary="The mean of the precision at the rank of each relevant item; relevant items that "
    "were not retrieved count with precision 0.",
    formula=r"AP = \frac{1}{NG} \sum_{i : rel(i)} P@i",
    source=Source("trec_eval", equations="also chatzichristofis-mnro eq. 3, nowak-thesis eq. 3.13"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("average_precision", "rel", "@")),
    params=MappingProxyType({"rel": REL, "mean": MEAN, "empty": EMPTY}),
    cutoff="optional",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="AP AP@100 AP(mean='geometric')",
    trec_name="map",
)

R_PREC = Measure(
    name="Rprec",
    title="R-precision",
    summary="Precision after as many items as there are relevant ones, or a multiple of that.",
    formula=r"Rprec = P@NG",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("r_precision", "rel", "multiple")),
    ratio=_r_prec_counts,
    params=MappingProxyType(
        {
            "rel": REL,
            "multiple": Param(float, 1, "look at this many times NG items", low=0),
            "mean": MICRO,
            "empty": EMPTY,
        }
    ),
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="Rprec",
    trec_name="Rprec",
)

SET_P = Measure(
    name="SetP",
    title="Set precision",
    summary="The share of all retrieved items that is relevant, whatever their order.",
    formula=r"\frac{|Ret \cap Rel|}{|Ret|}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("set_precision", "rel")),
    ratio=ratio_of(FOUND, SEEN),
    params=_RATIO,
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="SetP",
    trec_name="set_P",
)

SET_R = Measure(
    name="SetR",
    title="Set recall",
    summary="The share of the relevant items that was retrieved at any rank.",
    formula=r"\frac{|Ret \cap Rel|}{|Rel|}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("set_recall", "rel")),
    ratio=ratio_of(FOUND, RELEVANT),
    params=_RATIO,
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="SetR",
    trec_name="set_recall",
)

SET_F = Measure(
    name="SetF",
    title="Set F",
    summary="The weighted harmonic mean of set precision and set recall; beta > 1 favours recall.",
    formula=r"\frac{(1+\beta^2) P R}{\beta^2 P + R}",
    source=Source(
        "chatzichristofis-mnro",
        equations="2",
        deviation="the paper prints (1+beta)^2; trec_eval's set_F takes beta squared",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(_set_f),
    ratio=_set_f_counts,
    params=_F,
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="SetF(beta=2)",
    trec_name="set_F",
)

SET_AP = Measure(
    name="SetAP",
    title="Set average precision",
    summary="Set precision times set recall: average precision when all retrieved items share "
    "one precision.",
    formula=r"\frac{|Ret \cap Rel|^2}{|Ret| \cdot |Rel|}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=kernel_call("set_ap", "rel"),
    params=_REL,
    family=FAMILY,
    missing=MISSING_0,
    undefined=NO_RELEVANT_0,
    example="SetAP",
    trec_name="set_map",
)

SET_RELATIVE_P = Measure(
    name="SetRelativeP",
    title="Relative set precision",
    summary="Set precision divided by the best that this many items can reach.",
    formula=r"\frac{|Ret \cap Rel|}{\min(|Ret|, |Rel|)}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("set_relative_precision", "rel")),
    ratio=ratio_of(FOUND, IN_SEEN),
    params=_RATIO,
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_RELEVANT,
    example="SetRelativeP",
    trec_name="set_relative_P",
)

IP = Measure(
    name="iP",
    title="Interpolated precision at a recall level",
    summary="The best precision at any rank from where this share of the relevant items is found.",
    formula=r"iP@r = \max_{i : R(i) \ge r} P(i)",
    written=_written_ip,
    source=Source(
        "trec_eval",
        equations="nowak-thesis section 3.3.3",
        deviation="trec_eval 10 rounds r times NG (version=10), versions before it cut off r times "
        "NG + 0.9 (version=9)",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=_interpolated,
    params=MappingProxyType({"rel": REL, "version": _VERSION}),
    cutoff="recall",
    family=FAMILY,
    missing=MISSING_0,
    undefined=NO_RELEVANT_0,
    example="iP@0.2 iP@0.2(version=10)",
    trec_name="iprec_at_recall",
)

IAP = Measure(
    name="iAP",
    mean_name="MiAP",
    title="Eleven-point interpolated average precision",
    summary="The mean of the interpolated precision at recall 0.0, 0.1, ..., 1.0.",
    formula=r"iAP = \frac{1}{11} \sum_{j=0}^{10} iP@\tfrac{j}{10}",
    written=_with_level(r"iAP = \frac{1}{11} \sum_{j=0}^{10} iP@\tfrac{j}{10}"),
    source=Source("nowak-thesis", equations="section 3.3.3; trec_eval's 11pt_avg"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=_points(_POINTS),
    params=MappingProxyType({"rel": REL, "version": _VERSION}),
    family=FAMILY,
    missing=MISSING_0,
    undefined=NO_RELEVANT_0,
    example="iAP",
    trec_name="11pt_avg",
)

AP3 = Measure(
    name="AP3",
    mean_name="MAP3",
    title="Three-point interpolated average precision",
    summary="The mean of the interpolated precision at recall 0.2, 0.5 and 0.8.",
    formula=r"AP3 = \tfrac13 (iP@0.2 + iP@0.5 + iP@0.8)",
    written=_with_level(r"AP3 = \tfrac13 (iP@0.2 + iP@0.5 + iP@0.8)"),
    source=Source("trec_eval", equations="3-pt average of versions up to 8"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=_points((0.2, 0.5, 0.8)),
    params=MappingProxyType({"rel": REL, "version": _VERSION}),
    family=FAMILY,
    missing=MISSING_0,
    undefined=NO_RELEVANT_0,
    example="AP3",
)

YAAP = Measure(
    name="YAAP",
    title="Yet another average precision",
    summary="Robertson's log-odds form of average precision, which averages better over topics.",
    formula=r"\ln \frac{1 + S}{1 + NG - S}, \quad S = \sum_{i : rel(i)} P@i",
    source=Source("robertson-yaap"),
    range=(-math.inf, math.inf),
    higher_is_better=True,
    needs=EVERY,
    plan=kernel_call("yaap", "rel"),
    params=_REL,
    family=FAMILY,
    missing=MISSING_0,
    undefined="no relevant item: 0",
    example="YAAP",
    trec_name="yaap",
)

DECLARED = (
    AP,
    P,
    R,
    F,
    RR,
    SUCCESS,
    R_PREC,
    RELATIVE_P,
    IP,
    IAP,
    AP3,
    SET_P,
    SET_R,
    SET_F,
    SET_AP,
    SET_RELATIVE_P,
    YAAP,
)

__all__ = ["DECLARED"]
