"""Counts of items, and the contingency table of retrieval and relevance with its ratios."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import (
    EMPTY,
    EVERY,
    FALSE,
    FOUND,
    MICRO,
    MISSED,
    ONE,
    REL,
    RELEVANT,
    Context,
    KernelCall,
    counted,
    kernel_call,
    skip_empty_topics,
)
from cranfield.references import Source

FAMILY = "contingency table"
_ANY = (0.0, math.inf)
_TIES = "score, then item id; ties='average' gives the expected value over all orders"
_COUNT = MappingProxyType(
    {
        "rel": REL,
        "empty": EMPTY,
        "mean": Param(
            str,
            "arithmetic",
            "over topics: the 'arithmetic' mean, or the 'sum'",
            choices=("arithmetic", "sum"),
        ),
    }
)
_RATIO = MappingProxyType({"rel": REL, "mean": MICRO})
_SHORT = "A ranking shorter than k counts with the items it has; without a cutoff all count."


def _rejected(size: float) -> Any:
    return size * ONE - RELEVANT - FALSE


def _cell(cell: Any) -> Any:
    return skip_empty_topics(lambda measure, _: counted(measure, cell))


def _true_negatives(measure: Measure, context: Context) -> KernelCall:
    return counted(measure, _rejected(float(context.size_for(measure))))


def _quotient(cells: Any) -> dict[str, Any]:
    """The plan and the two counts of a ratio of cells, which may depend on the collection."""

    def ratio(measure: Measure, context: Context) -> tuple[KernelCall, KernelCall]:
        above, below = cells(measure, context)
        return counted(measure, above), counted(measure, below)

    def plan(measure: Measure, context: Context) -> KernelCall:
        above, below = ratio(measure, context)
        return KernelCall("counts_ratio", (*above.params, *below.params[3:]))

    return {"plan": plan, "ratio": ratio}


def _fallout(measure: Measure, context: Context) -> tuple[Any, Any]:
    return FALSE, float(context.size_for(measure)) * ONE - RELEVANT


def _correct_rejection(measure: Measure, context: Context) -> tuple[Any, Any]:
    size = float(context.size_for(measure))
    return _rejected(size), size * ONE - RELEVANT


def _share_of(cell: Any) -> Any:
    """A cell as a share of the collection; the size also makes up the cell of the rejected."""

    def cells(measure: Measure, context: Context) -> tuple[Any, Any]:
        size = float(context.size_for(measure))
        return _rejected(size) if cell is None else cell, size * ONE

    return _quotient(cells)


def _generality(measure: Measure, context: Context) -> tuple[Any, Any]:
    above = RELEVANT if measure.at is None else FOUND
    return above, float(context.size_for(measure)) * ONE


TP = Measure(
    name="TP",
    title="True positives at a cutoff",
    summary=f"Relevant items among the first k. {_SHORT}",
    formula=r"n_1 = A_k",
    source=Source("rocchio-evaluation", equations="5.1; chatzichristofis-mnro section 2"),
    range=_ANY,
    higher_is_better=True,
    needs=EVERY,
    plan=_cell(FOUND),
    params=_COUNT,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="no relevant item: 0",
    example="TP@10 TP TP@10(mean='sum')",
)

FP = Measure(
    name="FP",
    title="False positives at a cutoff",
    summary=f"Items among the first k that are not relevant. {_SHORT}",
    formula=r"n_2 = \min(k, |Ret|) - A_k",
    source=Source("rocchio-evaluation", equations="5.2; chatzichristofis-mnro section 2"),
    range=_ANY,
    higher_is_better=False,
    needs=EVERY,
    plan=_cell(FALSE),
    params=_COUNT,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="nothing retrieved: 0",
    example="FP@10",
)

FN = Measure(
    name="FN",
    title="False negatives at a cutoff",
    summary="Relevant items that are not among the first k.",
    formula=r"n_3 = NG - A_k",
    source=Source("rocchio-evaluation", equations="5.3; chatzichristofis-mnro section 2"),
    range=_ANY,
    higher_is_better=False,
    needs=EVERY,
    plan=_cell(MISSED),
    params=_COUNT,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="no relevant item: 0",
    example="FN@10",
)

TN = Measure(
    name="TN",
    title="True negatives at a cutoff",
    summary=f"Items of the collection that are neither relevant nor among the first k. {_SHORT}",
    formula=r"n_4 = N - NG - n_2",
    source=Source("rocchio-evaluation", equations="5.4; chatzichristofis-mnro section 2"),
    range=_ANY,
    higher_is_better=True,
    needs=EVERY | {"collection_size"},
    plan=skip_empty_topics(_true_negatives),
    params=_COUNT,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="all items relevant: 0",
    example="TN@10",
)

FALLOUT = Measure(
    name="Fallout",
    title="Fallout at a cutoff",
    summary=f"The share of the items that are not relevant which is retrieved. {_SHORT}",
    formula=r"\frac{n_2}{n_2 + n_4}",
    source=Source("rocchio-evaluation", equations="5.6"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=EVERY | {"collection_size"},
    **_quotient(_fallout),
    params=_RATIO,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="all items relevant: topic left out",
    example="Fallout@10 Fallout@10(mean='micro')",
)

MISS = Measure(
    name="Miss",
    title="Miss rate at a cutoff",
    summary="The share of the relevant items that is not among the first k.",
    formula=r"\frac{n_3}{n_1 + n_3}",
    source=Source("rocchio-evaluation", equations="5.7"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=EVERY,
    **_quotient(lambda *_: (MISSED, RELEVANT)),
    params=_RATIO,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="no relevant item: topic left out; nothing retrieved: 1",
    example="Miss@10",
)

CORRECT_REJECTION = Measure(
    name="CorrectRejection",
    title="Correct rejection at a cutoff",
    summary=f"The share of the items that are not relevant which is not retrieved. {_SHORT}",
    formula=r"\frac{n_4}{n_2 + n_4}",
    source=Source("rocchio-evaluation", equations="5.8"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=EVERY | {"collection_size"},
    **_quotient(_correct_rejection),
    params=_RATIO,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="all items relevant: topic left out; nothing retrieved: 1",
    example="CorrectRejection@10",
)

GENERALITY = Measure(
    name="Generality",
    title="Generality",
    summary="The share of the collection that is relevant: how hard the topic is for a random "
    "order. With a cutoff, the relevant items found so far over the size of the collection.",
    formula=r"\frac{NG}{N}, \quad g_k = \frac{A_k}{N}",
    source=Source("chatzichristofis-mnro", equations="section 2"),
    range=(0.0, 1.0),
    higher_is_better=None,
    needs=EVERY | {"collection_size"},
    **_quotient(_generality),
    params=_RATIO,
    cutoff="optional",
    family=FAMILY,
    ties=_TIES,
    undefined="no relevant item: 0",
    example="Generality",
)


def _share(number: int, name: str, noun: str, cell: Any, better: bool) -> Measure:
    return Measure(
        name=name,
        title=f"Probability of {noun}",
        summary=f"The share of the collection that is {noun} at the cutoff. {_SHORT}",
        formula=rf"p_{number} = \frac{{n_{number}}}{{N}}",
        source=Source("rocchio-evaluation", equations=f"5.{number}, section 2B"),
        range=(0.0, 1.0),
        higher_is_better=better,
        needs=EVERY | {"collection_size"},
        **_share_of(cell),
        params=_RATIO,
        cutoff="optional",
        family=FAMILY,
        ties=_TIES,
        undefined="always defined",
        example=f"{name}@10",
    )


SHARES = (
    _share(1, "ShareTP", "retrieved and relevant", FOUND, True),
    _share(2, "ShareFP", "retrieved and not relevant", FALSE, False),
    _share(3, "ShareFN", "relevant and not retrieved", MISSED, False),
    _share(4, "ShareTN", "neither retrieved nor relevant", None, True),
)

COUNTS_FAMILY = "counts"
_REL = MappingProxyType({"rel": REL})


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
    family=COUNTS_FAMILY,
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
    family=COUNTS_FAMILY,
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
    family=COUNTS_FAMILY,
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
    family=COUNTS_FAMILY,
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
    family=COUNTS_FAMILY,
    ties="of no effect",
    undefined="nothing retrieved: only missed items count",
    example="Utility(hit=2, false=-1)",
    trec_name="utility",
)

DECLARED = (
    *(NUM_RET, NUM_REL, NUM_REL_RET, NUM_NONREL_JUDGED_RET, UTILITY),
    *(TP, FP, FN, TN, FALLOUT, MISS, CORRECT_REJECTION, GENERALITY, *SHARES),
)
