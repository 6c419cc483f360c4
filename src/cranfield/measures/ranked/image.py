"""Measures of image retrieval: 0 is perfect, 1 is bad."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias

from cranfield.errors import NeedsError
from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import (
    EVERY,
    MISSING,
    REL,
    Context,
    KernelCall,
    cutoff_of,
    ranks,
)
from cranfield.references import Source

Plan: TypeAlias = Callable[[Measure, Context], KernelCall]

FAMILY = "image retrieval"
_SOURCE = "chatzichristofis-mnro"
_TIES = "score, then item id; ties='average' gives tied items the mean of their ranks"
_LEFT_OUT = "no relevant item: topic left out"
_NO_MEAN = "a mean over topics says little, as it depends on the number of relevant items"


def _near(kernel: str) -> Plan:
    """A plan for a function of the ranks down to NMRR's K."""

    def plan(measure: Measure, context: Context) -> KernelCall:
        level = float(measure.value_of("rel"))
        largest, topic = context.most_relevant(level)
        gmt = measure.value_of("gmt") or context.gmt
        if gmt is not None and gmt < largest:
            raise NeedsError(
                f"{measure}: GMT {gmt} is smaller than the {largest} relevant items of topic "
                f"{topic!r}; it is the largest number of relevant items of any topic"
            )
        if gmt is not None:
            return KernelCall(kernel, (level, float(gmt)))
        return KernelCall(kernel, (level, float(largest)), largest=((1, level),))

    return plan


def _rank_of(measure: Measure, context: Context) -> KernelCall:
    call = ranks("rank_of", sized=False)(measure, context)
    return KernelCall(call.name, (*call.params, cutoff_of(measure)))


def _mnro(measure: Measure, context: Context) -> KernelCall:
    call = ranks("mnro", sized=True)(measure, context)
    printed = float(measure.value_of("generality") == "printed")
    if measure.value_of("depth") == "4NG":
        return KernelCall(call.name, (*call.params, printed, 0.0))
    level = float(measure.value_of("rel"))
    if context.gmt is not None:
        return KernelCall(call.name, (*call.params, printed, float(context.gmt)))
    largest = float(context.most_relevant(level)[0])
    place = len(call.params) + 1
    return KernelCall(call.name, (*call.params, printed, largest), largest=((place, level),))


def _written_mnro(measure: Measure) -> str:
    rare = r"0.04 N \cdot NG" if measure.value_of("generality") == "printed" else "0.04 N"
    usual = "4 NG" if measure.value_of("depth") == "4NG" else r"\min(X \cdot NG, 2\, GMT)"
    return (
        r"\frac{1}{NG} \sum_{k : Rank(k) > k} e^{-9.3668\, e^{-5.2074 (Rank(k)-1)/(K-1)}}, "
        rf"\quad K = {usual} \text{{ if }} NG/N \ge 0.01 \text{{ else }} {rare}"
    )


_NEAR = MappingProxyType(
    {
        "rel": REL,
        "gmt": Param(
            int,
            None,
            "the largest number of relevant items of any topic; unless given, that of "
            "the evaluation, or what the judgements have",
            low=1,
        ),
    }
)
_AT_K = "counted at 1.25 K, like items below rank K"

RANK = Measure(
    name="Rank",
    mean_note=_NO_MEAN,
    title="Rank of the k-th relevant item",
    summary="How many items have been looked at once k relevant ones are found.",
    formula=r"Rank(k)",
    source=Source(_SOURCE, equations="section 2"),
    range=(1.0, math.inf),
    higher_is_better=False,
    needs=EVERY,
    plan=_rank_of,
    params=MappingProxyType({"rel": REL, "missing": MISSING}),
    cutoff="required",
    family=FAMILY,
    ties=_TIES,
    missing="by the parameter missing; collection size only when relevant items are missing and "
    "missing is not 'optimist'",
    undefined="fewer than k relevant items: topic left out",
    example="Rank@1 Rank@5",
)

AVR = Measure(
    name="AVR",
    mean_note=_NO_MEAN,
    title="Average rank",
    summary="The mean rank of the relevant items, of which those below the first K count as at "
    "rank 1.25 K, with the K of NMRR.",
    formula=r"\mathrm{AVR}(q) = \frac{1}{NG} \sum_{k=1}^{NG} "
    r"\begin{cases} Rank(k) & Rank(k) \le K \\ 1.25 K & \text{else} \end{cases}",
    source=Source(_SOURCE, equations="5, 6"),
    range=(1.0, math.inf),
    higher_is_better=False,
    needs=EVERY,
    plan=_near("average_rank"),
    params=_NEAR,
    family=FAMILY,
    ties=_TIES,
    missing=_AT_K,
    undefined=f"{_LEFT_OUT}; nothing retrieved: 1.25 K",
    example="AVR AVR(gmt=20)",
)

MODIFIED_RANK = Measure(
    name="ModifiedRank",
    mean_note=_NO_MEAN,
    title="Modified retrieval rank",
    summary="The average rank less that of a perfect ranking: MRR(q) of MPEG-7, which is not the "
    "mean reciprocal rank. NMRR divides it by the worst it can be.",
    formula=r"\mathrm{AVR}(q)-\tfrac12(1+NG)",
    source=Source(_SOURCE, equations="7"),
    range=(0.0, math.inf),
    higher_is_better=False,
    needs=EVERY,
    plan=_near("modified_rank"),
    params=_NEAR,
    family=FAMILY,
    ties=_TIES,
    missing=_AT_K,
    undefined=f"{_LEFT_OUT}; nothing retrieved: 1.25 K - (1 + NG) / 2",
    example="ModifiedRank ModifiedRank(gmt=20)",
)

NMRR = Measure(
    name="NMRR",
    mean_name="ANMRR",
    title="Normalized modified retrieval rank",
    summary="MPEG-7's mean rank of the relevant items, brought to [0, 1]. Only the first K items "
    "are looked at, where K = min(X NG, 2 GMT), X = 4 (2 when NG > 50) and GMT is the largest NG "
    "of the data set: one for all runs, whichever topics they have.",
    formula=r"\frac{\mathrm{AVR}(q)-\tfrac12(1+NG)}{1.25K-\tfrac12(1+NG)}",
    source=Source(_SOURCE, equations="5-9"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=EVERY,
    plan=_near("nmrr"),
    params=_NEAR,
    family=FAMILY,
    ties=_TIES,
    missing=_AT_K,
    undefined=f"{_LEFT_OUT}; nothing retrieved: 1",
    example="NMRR NMRR(gmt=20)",
)

NAR = Measure(
    name="NAR",
    mean_name="ANAR",
    title="Normalized average rank",
    summary="How far the relevant items stand below their best places on average, in units of "
    "the collection's size.",
    formula=r"\frac{1}{N \cdot NG} \left(\sum_{i=1}^{NG} Rank(i) - \sum_{i=1}^{NG} i\right)",
    source=Source(
        _SOURCE, equations="10, 11", deviation="NormRecall divides by N - NG where NAR divides by N"
    ),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=EVERY | {"collection_size"},
    plan=ranks("nar", sized=True),
    params=MappingProxyType({"rel": REL, "missing": MISSING}),
    family=FAMILY,
    ties=_TIES,
    missing="by the parameter missing",
    undefined=f"{_LEFT_OUT}; all items relevant: 0",
    example="NAR NAR(missing='average')",
)

MNRO = Measure(
    name="MNRO",
    mean_name="AMNRO",
    title="Mean normalized retrieval order",
    summary="Each relevant item below its place costs a sigmoid of its rank that reaches 0.5 "
    "half-way to rank K and 0.95 there; K grows with the collection when relevant items are rare.",
    formula=r"\frac{1}{NG} \sum_{k : Rank(k) > k} e^{-9.3668\, e^{-5.2074 (Rank(k)-1)/(K-1)}}, "
    r"\quad K = 4 NG \text{ if } NG/N \ge 0.01 \text{ else } 0.04 N",
    written=_written_mnro,
    source=Source(
        _SOURCE,
        equations="13-19",
        deviation="eq. 14 and 15 multiply by NG twice, so that K jumps at NG/N = 0.01; "
        "generality='printed' keeps their letter. The text below them adopts NMRR's K, which is "
        "2 NG for more than 50 relevant items: depth='nmrr'",
    ),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=EVERY | {"collection_size"},
    plan=_mnro,
    params=MappingProxyType(
        {
            "rel": REL,
            "generality": Param(
                str,
                "continuous",
                "how K follows the generality: 'continuous' at NG/N = 0.01, or as 'printed'",
                choices=("continuous", "printed"),
            ),
            "depth": Param(
                str,
                "4NG",
                "K where relevant items are not rare: '4NG' of eq. 14, or 'nmrr', min(X NG, 2 GMT) "
                "with X = 4 (2 when NG > 50), which the text adopts",
                choices=("4NG", "nmrr"),
            ),
            "missing": MISSING,
        }
    ),
    family=FAMILY,
    ties=_TIES,
    missing="by the parameter missing",
    undefined=f"{_LEFT_OUT}; all items relevant: 0",
    example="MNRO MNRO(generality='printed') MNRO(depth='nmrr')",
)

DECLARED = (RANK, AVR, MODIFIED_RANK, NMRR, NAR, MNRO)
