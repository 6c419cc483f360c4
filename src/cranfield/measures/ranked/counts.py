"""Counts of items: retrieved, relevant, judged; and the utility that weighs them."""

from __future__ import annotations

import math
from types import MappingProxyType

from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import EVERY, REL, Context, KernelCall, kernel_call
from cranfield.references import Source

FAMILY = "counts"
_REL = MappingProxyType({"rel": REL})
_ANY = (0.0, math.inf)


def _utility(measure: Measure, context: Context) -> KernelCall:
    weights = tuple(float(measure.value_of(w)) for w in ("hit", "false", "miss", "reject"))
    size = float(context.size_for(measure)) if weights[3] else 0.0
    return KernelCall("utility", (float(measure.value_of("rel")), *weights, size))


NUM_RET = Measure(
    name="NumRet",
    title="Number of items retrieved",
    summary="Summed over topics.",
    formula="|Ret|",
    source=Source("trec_eval"),
    range=_ANY,
    higher_is_better=None,
    needs=EVERY,
    plan=kernel_call("num_ret"),
    family=FAMILY,
    aggregate="sum",
    ties="of no effect",
    undefined="nothing retrieved: 0",
    example="NumRet",
    trec_name="num_ret",
)

NUM_REL = Measure(
    name="NumRel",
    title="Number of relevant items",
    summary="How many items the judgements call relevant, summed over topics.",
    formula="NG = |Rel|",
    source=Source("trec_eval"),
    range=_ANY,
    higher_is_better=None,
    needs=EVERY,
    plan=kernel_call("num_rel", "rel"),
    params=_REL,
    family=FAMILY,
    aggregate="sum",
    ties="of no effect",
    undefined="no relevant item: 0",
    example="NumRel",
    trec_name="num_rel",
)

NUM_REL_RET = Measure(
    name="NumRelRet",
    title="Number of relevant items retrieved",
    summary="Summed over topics.",
    formula=r"|Ret \cap Rel|",
    source=Source("trec_eval"),
    range=_ANY,
    higher_is_better=True,
    needs=EVERY,
    plan=kernel_call("num_rel_ret", "rel"),
    params=_REL,
    family=FAMILY,
    aggregate="sum",
    ties="of no effect",
    undefined="no relevant item: 0",
    example="NumRelRet",
    trec_name="num_rel_ret",
)

NUM_NONREL_JUDGED_RET = Measure(
    name="NumNonrelJudgedRet",
    title="Number of items retrieved that were judged not relevant",
    summary="Items with a negative grade count as not judged here, as in trec_eval. Summed over "
    "topics.",
    formula=r"|\{i \in Ret : 0 \le grade(i) < rel\}|",
    source=Source("trec_eval"),
    range=_ANY,
    higher_is_better=False,
    needs=EVERY,
    plan=kernel_call("num_nonrel_judged_ret", "rel"),
    params=_REL,
    family=FAMILY,
    aggregate="sum",
    ties="of no effect",
    undefined="nothing retrieved: 0",
    example="NumNonrelJudgedRet",
    trec_name="num_nonrel_judged_ret",
)

UTILITY = Measure(
    name="Utility",
    title="Set utility",
    summary="A weighted sum of relevant items retrieved, other items retrieved, relevant items "
    "missed and other items rejected. The last weight needs the size of the collection.",
    formula=r"a|Ret \cap Rel| + b|Ret \setminus Rel| + c|Rel \setminus Ret| + "
    r"d|\overline{Ret \cup Rel}|",
    source=Source("trec_eval"),
    range=(-math.inf, math.inf),
    higher_is_better=True,
    needs=EVERY,
    plan=_utility,
    params=MappingProxyType(
        {
            "rel": REL,
            "hit": Param(float, 1, "worth of a relevant item retrieved"),
            "false": Param(float, -1, "worth of another item retrieved"),
            "miss": Param(float, 0, "worth of a relevant item missed"),
            "reject": Param(float, 0, "worth of another item rejected"),
        }
    ),
    family=FAMILY,
    ties="of no effect",
    undefined="nothing retrieved: only missed items count",
    example="Utility(hit=2, false=-1)",
    trec_name="utility",
)

DECLARED = (NUM_RET, NUM_REL, NUM_REL_RET, NUM_NONREL_JUDGED_RET, UTILITY)
