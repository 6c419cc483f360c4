"""Extensions of ours: measures of the sources under graded and under incomplete judgements.

No source defines them: Chatzichristofis et al. (section 6) and Rocchio (section 4A) name them as
what could be done. A graded form is the mean of the binary one over the grades from which an item
may count as relevant: what it is worth on average to people who draw that line at any grade alike.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import (
    EVERY,
    MISSING,
    REL,
    Context,
    KernelCall,
    kernel_call,
    ranks,
)
from cranfield.references import Source

FAMILY = "extensions of ours"
_TIES = "score, then item id; ties='average' gives tied items the mean of their ranks"
_LEFT_OUT = "no relevant item: topic left out"
_LEVELS = Param(int, 2, "the largest grade; an item may count as relevant from rel up to it", low=1)
_GRADED = EVERY | {"grades"}


def _nmrr(measure: Measure, context: Context) -> KernelCall:
    last = int(context.check_grades(measure, "levels"))
    first = float(measure.value_of("rel"))
    lines = [first + step for step in range(max(int(last - first), 0) + 1)]
    largest = (float(max(context.most_relevant(line)[0], 1)) for line in lines)
    places = tuple((place, line) for place, line in enumerate(lines, 1))
    return KernelCall("graded_nmrr", (first, *largest), largest=places)


def _levelled(kernel: str) -> Any:
    base_plan = ranks(kernel, sized=True)

    def plan(measure: Measure, context: Context) -> KernelCall:
        call: KernelCall = base_plan(measure, context)
        return KernelCall(call.name, (*call.params, context.check_grades(measure, "levels")))

    return plan


GRADED_NMRR = Measure(
    name="GradedNMRR",
    title="NMRR over grades",
    summary="The mean of NMRR over the grades from which an item counts as relevant, each with "
    "the GMT of that grade: highly relevant items below marginal ones cost something.",
    formula=r"\frac{1}{G}\sum_{g=1}^{G}\mathrm{NMRR}_{rel \ge g}",
    source=Source("cranfield-extensions", "after Ch 6"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=_GRADED,
    plan=_nmrr,
    params=MappingProxyType({"rel": REL, "levels": _LEVELS}),
    family=FAMILY,
    ties=_TIES,
    missing="counted at 1.25 K, like items below rank K",
    undefined=f"{_LEFT_OUT}; a grade that no item has is not counted",
    example="GradedNMRR GradedNMRR(levels=3)",
)

GRADED_MNRO = Measure(
    name="GradedMNRO",
    title="MNRO over grades",
    summary="The mean of MNRO over the grades from which an item counts as relevant.",
    formula=r"\frac{1}{G}\sum_{g=1}^{G}\mathrm{MNRO}_{rel \ge g}",
    source=Source("cranfield-extensions", "after Ch 6"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=_GRADED | {"collection_size"},
    plan=_levelled("graded_mnro"),
    params=MappingProxyType({"rel": REL, "levels": _LEVELS, "missing": MISSING}),
    family=FAMILY,
    ties=_TIES,
    missing="by the parameter missing",
    undefined=f"{_LEFT_OUT}; a grade that no item has is not counted",
    example="GradedMNRO",
)

GRADED_NORM_RECALL = Measure(
    name="GradedNormRecall",
    title="Normalized recall over grades",
    summary="The mean of NormRecall over the grades from which an item counts as relevant: 1 when "
    "every item stands above all items of lower grades, as Rocchio's partial order asks.",
    formula=r"\frac{1}{G}\sum_{g=1}^{G} r_n(rel \ge g)",
    source=Source("cranfield-extensions", "after Ro 4A"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_GRADED | {"collection_size"},
    plan=_levelled("graded_norm_recall"),
    params=MappingProxyType({"rel": REL, "levels": _LEVELS, "missing": MISSING}),
    family=FAMILY,
    ties=_TIES,
    missing="by the parameter missing",
    undefined=f"{_LEFT_OUT}; a grade that no item has is not counted",
    example="GradedNormRecall",
)

GRADED_NORM_PRECISION = Measure(
    name="GradedNormPrecision",
    title="Normalized precision over grades",
    summary="The mean of NormPrecision over the grades from which an item counts as relevant: 1 "
    "when every item stands above all items of lower grades, and the top of the ranking weighs "
    "more than in GradedNormRecall.",
    formula=r"\frac{1}{G}\sum_{g=1}^{G} p_n(rel \ge g)",
    source=Source("cranfield-extensions", "after Ro 4A"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_GRADED | {"collection_size"},
    plan=_levelled("graded_norm_precision"),
    params=MappingProxyType({"rel": REL, "levels": _LEVELS, "missing": MISSING}),
    family=FAMILY,
    ties=f"{_TIES}, which can take a tie at the very end a hair below 0",
    missing="by the parameter missing",
    undefined=f"{_LEFT_OUT}; a grade that no item has is not counted",
    example="GradedNormPrecision",
)

JUDGED_MNRO = Measure(
    name="JudgedMNRO",
    title="MNRO of judged items",
    summary="MNRO of the ranking without the unjudged items, in a collection of the "
    "judged ones: for incomplete judgements, as Bpref is for AP.",
    formula=r"\mathrm{MNRO}\text{ of the judged items, } N=|\text{judged}|",
    source=Source("cranfield-extensions", "after Ch 6"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=EVERY,
    plan=kernel_call("judged_mnro", "rel"),
    params=MappingProxyType({"rel": REL}),
    family=FAMILY,
    missing="on the last ranks of the judged items",
    undefined=f"{_LEFT_OUT}; all judged items relevant: 0",
    example="JudgedMNRO",
)

DECLARED = (GRADED_NMRR, GRADED_MNRO, GRADED_NORM_RECALL, GRADED_NORM_PRECISION, JUDGED_MNRO)
