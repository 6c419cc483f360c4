"""Measures that look at who was judged: incomplete judgements and their coverage."""

from __future__ import annotations

import math
from types import MappingProxyType

from cranfield.errors import NeedsError
from cranfield.measures.base import Measure
from cranfield.measures.ranked.kernel_calls import (
    EMPTY,
    EVERY,
    MEAN,
    MICRO,
    MISSING_0,
    NO_RELEVANT_0,
    REL,
    SEEN,
    Context,
    KernelCall,
    cutoff_of,
    kernel_call,
    skip_empty_topics,
)
from cranfield.references import Source

FAMILY = "incomplete judgements"
_EMPTY_SAMPLE = (
    "no relevant item in the sample: 0, though the pool may hold some; a note counts such topics, "
    "and says what the mean over the others is; empty='out' leaves them out, with the count"
)
_NEGATIVE = "a negative grade is an unjudged item of the pool, as in trec_eval"


def _judged_counts(measure: Measure, _: Context) -> tuple[KernelCall, KernelCall]:
    at = cutoff_of(measure)
    seen = KernelCall("counts", (0.0, at, -1.0, *SEEN.weights))
    return KernelCall("judged_count", (at,)), seen


def _stratified(measure: Measure, context: Context) -> KernelCall:
    if context.judgements is None or context.judgements.strata is None:
        raise NeedsError(
            f"{measure} needs judgements of a stratified sample: lines of five fields, topic "
            "iteration item stratum grade"
        )
    return KernelCall("extended_inferred_ap", (float(measure.value_of("rel")),))


BPREF = Measure(
    name="Bpref",
    title="Binary preference",
    summary="How seldom a judged item that is not relevant stands above a relevant one; items "
    f"outside the judgements are ignored; {_NEGATIVE}.",
    formula=r"\frac{1}{NG} \sum_{r} \left(1 - \frac{\min(n_r, NG)}{\min(NN, NG)}\right)",
    source=Source("buckley-voorhees-bpref"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=kernel_call("bpref", "rel"),
    params=MappingProxyType({"rel": REL, "mean": MEAN}),
    family=FAMILY,
    missing=MISSING_0,
    undefined=NO_RELEVANT_0,
    example="Bpref",
    trec_name="bpref",
)

INF_AP = Measure(
    name="infAP",
    title="Inferred average precision",
    summary=f"Average precision estimated from a judged sample of the pool; {_NEGATIVE}.",
    formula=r"\frac{1}{NG} \sum_r \left(\frac1r + \frac{r-1}{r} \cdot "
    r"\frac{|pool_{<r}|}{r-1} \cdot \frac{|rel_{<r}|+\epsilon}{|rel_{<r}|+|nonrel_{<r}|+"
    r"2\epsilon}\right)",
    source=Source("yilmaz-aslam-infap"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY,
    plan=skip_empty_topics(kernel_call("inferred_ap", "rel")),
    params=MappingProxyType({"rel": REL, "empty": EMPTY}),
    family=FAMILY,
    missing=MISSING_0,
    undefined=_EMPTY_SAMPLE,
    example="infAP",
    trec_name="infAP",
)

X_INF_AP = Measure(
    name="xinfAP",
    title="Extended inferred average precision",
    summary="Average precision estimated from a pool whose strata were sampled at different "
    "rates. The judgements have five columns: topic, iteration, item, stratum, grade, and grade "
    "-1 for items of the pool outside the sample.",
    formula=r"\frac{1}{\hat R} \sum_{r} \frac{N_{s(r)}}{n_{s(r)}} \cdot \frac1r \left(1 + \sum_s "
    r"N_s^{<r} \frac{R_s^{<r}+\epsilon}{n_s^{<r}+2\epsilon}\right), \quad "
    r"\hat R = \sum_s R_s \frac{N_s}{n_s}",
    source=Source("yilmaz-kanoulas-aslam-xinfap", equations="nowak-thesis section 3.3.3"),
    range=(0.0, math.inf),
    higher_is_better=True,
    needs=frozenset({"ranking", "strata"}),
    plan=skip_empty_topics(_stratified),
    params=MappingProxyType({"rel": REL, "empty": EMPTY}),
    family=FAMILY,
    missing=MISSING_0,
    undefined=_EMPTY_SAMPLE,
    example="xinfAP",
)

JUDGED = Measure(
    name="Judged",
    title="Share of judged items at a cutoff",
    summary="How many of the first k items occur in the judgements with any grade. A ranking "
    "shorter than k is asked about the items it has.",
    formula=r"\frac{|\{i \le k : judged(i)\}|}{\min(k, |Ret|)}",
    source=Source("trec_eval", deviation="as ir_measures defines it"),
    range=(0.0, 1.0),
    higher_is_better=None,
    needs=EVERY,
    plan=kernel_call("judged_at", "@"),
    ratio=_judged_counts,
    params=MappingProxyType({"mean": MICRO}),
    cutoff="optional",
    family=FAMILY,
    undefined="nothing retrieved: 0",
    example="Judged@10",
)

UNJUDGED = Measure(
    name="Unjudged",
    title="Share of unjudged items at a cutoff",
    summary="A warning sign: high values say that the judgements know little of this run; "
    f"{_NEGATIVE}. A ranking shorter than k counts as judged below its end.",
    formula=r"\frac{|\{i \le k : \neg judged(i)\}|}{k}",
    source=Source("trec_eval"),
    range=(0.0, 1.0),
    higher_is_better=None,
    needs=EVERY,
    plan=kernel_call("unjudged_at", "@"),
    cutoff="required",
    family=FAMILY,
    undefined="nothing retrieved: 0",
    example="Unjudged@10",
    trec_name="unj",
)

DECLARED = (BPREF, INF_AP, X_INF_AP, JUDGED, UNJUDGED)
