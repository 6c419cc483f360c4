"""Cumulated gain, rank-biased precision and expected reciprocal rank: graded relevance."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import (
    DISCOUNT,
    EMPTY,
    EVERY,
    GAIN,
    MISSING_0,
    REL,
    Context,
    KernelCall,
    cutoff_of,
    gain_pairs,
    gain_params,
    kernel_call,
    skip_empty_topics,
)
from cranfield.references import Source

FAMILY = "graded relevance"
_GAINS = MappingProxyType({"gain": GAIN, "discount": DISCOUNT, "empty": EMPTY})
_CUMULATED = MappingProxyType({"gain": GAIN, "empty": EMPTY})
_PLAIN_GAINS = MappingProxyType({"gain": GAIN})
_NO_GAIN = "no item with a gain: 0, or topic left out with empty='out'; nothing retrieved: 0"
_JK = Source("jarvelin-kekalainen", deviation="the discount is log2(rank+1) unless discount='jk'")
_EXPERIMENTAL = Source("trec_eval", deviation="called experimental there")


def _gain(kernel: str, discount: str = "") -> Any:
    def plan(measure: Measure, context: Context) -> KernelCall:
        discount_name = discount or str(measure.value_of("discount"))
        params = gain_params(measure, discount_name)
        return KernelCall(kernel, context.check_gains(measure, params))

    return plan


def _with_gains(kernel: str, discount: str = "") -> Any:
    """The same for topics that have an item with a gain, or for all, as `empty` says."""

    def any_gain(measure: Measure, _: Context) -> KernelCall:
        return KernelCall("ideal_dcg", (math.inf, *gain_params(measure, "none")[1:]))

    return skip_empty_topics(_gain(kernel, discount), any_gain)


def _rndcg(measure: Measure, context: Context) -> KernelCall:
    params = context.check_gains(measure, gain_params(measure, "log2"))
    return KernelCall("rndcg", (float(measure.value_of("rel")), *params))


def _rbp(measure: Measure, _: Context) -> KernelCall:
    persistence, gain = float(measure.value_of("p")), str(measure.value_of("gain"))
    if gain == "binary":
        level = float(measure.value_of("rel"))
        return KernelCall("rbp", (level, persistence, cutoff_of(measure)))
    pairs = () if gain == "grade" else gain_pairs(measure.name, gain, ("binary", "grade"))
    return KernelCall("rbp_graded", (persistence, cutoff_of(measure), *pairs))


def _err(measure: Measure, context: Context) -> KernelCall:
    return KernelCall("err", (cutoff_of(measure), context.check_grades(measure, "max_grade")))


def _discounted(gain: str, measure: Measure) -> str:
    """The sum of gains that the bound measure discounts."""
    divisor = {
        "log2": r"\log_2(i+1)",
        "jk": r"\max(1, \log_2 i)",
        "none": "",
    }[str(measure.value_of("discount"))]
    term = rf"\frac{{{gain}}}{{{divisor}}}" if divisor else gain
    return rf"\sum_{{i \le k}} {term}"


def _written_dcg(measure: Measure) -> str:
    return _discounted("g(i)", measure)


def _written_ideal(measure: Measure) -> str:
    return _discounted("g^*(i)", measure)


def _written_ndcg(measure: Measure) -> str:
    return rf"\frac{{{_written_dcg(measure)}}}{{{_written_ideal(measure)}}}"


NDCG = Measure(
    name="nDCG",
    title="Normalized discounted cumulated gain",
    summary="Gains of the grades, discounted by rank, summed and divided by the sum of the best "
    "possible ranking.",
    formula=r"\frac{\sum_{i \le k} \frac{g(i)}{\log_2(i+1)}}"
    r"{\sum_{i \le k} \frac{g^*(i)}{\log_2(i+1)}}",
    written=_written_ndcg,
    source=_JK,
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_with_gains("ndcg"),
    params=_GAINS,
    cutoff="optional",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_GAIN,
    example="nDCG@10 nDCG@10(gain='exp')",
    trec_name="ndcg",
)

DCG = Measure(
    name="DCG",
    title="Discounted cumulated gain",
    summary="Gains of the grades, discounted by rank and summed, not normalized.",
    formula=r"\sum_{i \le k} \frac{g(i)}{\log_2(i+1)}",
    written=_written_dcg,
    source=_JK,
    range=(0.0, math.inf),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_with_gains("dcg"),
    params=_GAINS,
    cutoff="optional",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_GAIN,
    example="DCG@10",
    trec_name="dcg",
)

IDEAL_DCG = Measure(
    name="IdealDCG",
    title="Discounted cumulated gain of the best ranking",
    summary="What DCG would be if the judged items stood in order of their gain.",
    formula=r"\sum_{i \le k} \frac{g^*(i)}{\log_2(i+1)}",
    written=_written_ideal,
    source=_JK,
    range=(0.0, math.inf),
    higher_is_better=None,
    needs=EVERY | {"grades"},
    plan=_gain("ideal_dcg"),
    params=MappingProxyType({"gain": GAIN, "discount": DISCOUNT}),
    cutoff="optional",
    family=FAMILY,
    ties="of no effect",
    undefined="no item with a gain: 0",
    example="IdealDCG@10",
    trec_name="ideal_dcg",
)

CG = Measure(
    name="CG",
    title="Cumulated gain",
    summary="The sum of the gains of the first k items.",
    formula=r"\sum_{i \le k} g(i)",
    source=Source("shrec-2006"),
    range=(0.0, math.inf),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_with_gains("dcg", "none"),
    params=_CUMULATED,
    cutoff="required",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_GAIN,
    example="CG@10",
)

NCG = Measure(
    name="nCG",
    title="Normalized cumulated gain",
    summary="The sum of the gains of the first k items divided by the best possible sum.",
    formula=r"\frac{\sum_{i \le k} g(i)}{\sum_{i \le k} g^*(i)}",
    source=Source("shrec-2006"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_with_gains("ndcg", "none"),
    params=_CUMULATED,
    cutoff="required",
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_GAIN,
    example="nCG@10",
)

NDCG_REL = Measure(
    name="nDCGrel",
    title="nDCG averaged over relevant items",
    summary="nDCG at the rank of each item with a gain; those not retrieved count with nDCG at "
    "the end of the ranking.",
    formula=r"\frac{1}{NG} \sum_{r} nDCG@r",
    source=_EXPERIMENTAL,
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_gain("ndcg_rel", "log2"),
    params=_PLAIN_GAINS,
    family=FAMILY,
    missing="counted with nDCG of the whole ranking",
    undefined=_NO_GAIN,
    example="nDCGrel",
    trec_name="ndcg_rel",
)

RNDCG = Measure(
    name="RnDCG",
    title="nDCG averaged over levels of gain",
    summary="nDCG at the ranks where the best possible ranking changes from one gain to the "
    "next, and at the end; 0 for a topic without an item of the grade rel.",
    formula=r"\frac{1}{|B|} \sum_{b \in B} nDCG@b",
    source=_EXPERIMENTAL,
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_rndcg,
    params=MappingProxyType({"rel": REL, "gain": GAIN}),
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_GAIN,
    example="RnDCG",
    trec_name="Rndcg",
)

G = Measure(
    name="G",
    title="Normalized gain",
    summary="Each gain is divided by the logarithm of how far the ranking is behind the best one "
    "at that rank.",
    formula=r"\frac{1}{\sum g^*} \sum_i \frac{g(i)}{\log_2(2 + G^*(i) - G(i))}",
    source=_EXPERIMENTAL,
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_gain("normalized_g", "none"),
    params=_PLAIN_GAINS,
    family=FAMILY,
    missing=MISSING_0,
    undefined=_NO_GAIN,
    example="G",
    trec_name="G",
)

BIN_G = Measure(
    name="BinG",
    title="Normalized gain for binary relevance",
    summary="Each relevant item brings one divided by the logarithm of the other items above it.",
    formula=r"\frac{1}{NG} \sum_{r} \frac{1}{\log_2(2 + r - n_r)}",
    source=_EXPERIMENTAL,
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=kernel_call("binary_g", "rel"),
    params=MappingProxyType({"rel": REL}),
    family=FAMILY,
    missing=MISSING_0,
    undefined="no relevant item: 0; nothing retrieved: 0",
    example="BinG",
    trec_name="binG",
)

_P = Param(float, 0.8, "persistence: the chance to go on to the next item", low=0, high=1)

RBP = Measure(
    name="RBP",
    title="Rank-biased precision",
    summary="The rate of gain of a user who goes on to the next item with probability p.",
    formula=r"(1-p) \sum_i g(i)\, p^{i-1}",
    source=Source("moffat-zobel-rbp"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=_rbp,
    params=MappingProxyType(
        {
            "p": _P,
            "rel": REL,
            "gain": Param(
                str,
                "binary",
                "'binary', 'grade' (brought to [0, 1] by the topic's largest grade above 1) or "
                "pairs of a grade and its gain",
            ),
        }
    ),
    cutoff="optional",
    family=FAMILY,
    missing=MISSING_0,
    undefined="no relevant item: 0; nothing retrieved: 0",
    example="RBP(p=0.95)",
    trec_name="rbp",
)

RBP_RESIDUAL = Measure(
    name="RBPResidual",
    title="Residual of rank-biased precision",
    summary="What RBP could still gain if every unjudged item, and all below the "
    "ranking, were relevant; 0 when all retrieved items are judged.",
    formula=r"p^{|Ret|} + (1-p) \sum_{i : \neg judged(i)} p^{i-1}",
    source=Source(
        "moffat-zobel-rbp",
        deviation="0 when all retrieved items are judged, as trec_eval has it; the paper's "
        "residual is p^|Ret| then, and 1 when nothing is retrieved",
    ),
    range=(0.0, 1.0),
    higher_is_better=None,
    needs=EVERY,
    plan=kernel_call("rbp_residual", "p"),
    params=MappingProxyType({"p": _P}),
    family=FAMILY,
    undefined="nothing retrieved: 0",
    example="RBPResidual(p=0.95)",
    trec_name="rbp_resid",
)

ERR = Measure(
    name="ERR",
    title="Expected reciprocal rank",
    summary="The expected reciprocal rank at which a user is satisfied who stops at an item with "
    "a chance that grows with its grade.",
    formula=r"\sum_{i \le k} \frac1i R_i \prod_{j<i} (1-R_j), \quad "
    r"R_i = \frac{2^{grade(i)}-1}{2^{max}}",
    source=Source("chapelle-err"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"grades"},
    plan=_err,
    params=MappingProxyType(
        {
            "max_grade": Param(
                float, 4, "the largest grade of the scale (gdeval: 4)", low=0, high=1000
            )
        }
    ),
    cutoff="optional",
    family=FAMILY,
    missing=MISSING_0,
    undefined="no item with a grade above 0: 0; nothing retrieved: 0",
    example="ERR@20",
)

DECLARED = (NDCG, DCG, IDEAL_DCG, CG, NCG, RBP, RBP_RESIDUAL, ERR, NDCG_REL, RNDCG, G, BIN_G)
