"""Measures of novelty and diversity: judgements say which subtopics an item is relevant to."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from cranfield.errors import MeasureError, NeedsError
from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import MISSING_0, Context, KernelCall, cutoff_of
from cranfield.references import Source

FAMILY = "novelty and diversity"
NEEDS = frozenset({"ranking", "subtopics"})
_TIES = "score, then item id; ties='average' averages over orders"
_UNDEFINED = "no item relevant to a subtopic: topic left out; nothing retrieved: 0"
_ALPHA = Param(
    float, 0.5, "the chance that what was seen of a subtopic satisfies", low=0.0, high=1.0
)
_BETA = Param(float, 0.5, "the chance to go on to the next item", low=0.0, high=0.999999)
_NOVELTY = MappingProxyType({"alpha": _ALPHA})
_PATIENCE = MappingProxyType({"alpha": _ALPHA, "beta": _BETA})
# Without novelty the sum that divides has as many terms as the cutoff says.
_DEEPEST_WITHOUT_ALPHA = 10**6
_DISCOUNTS = {"logarithm": 0.0, "reciprocal": 1.0, "geometric": 2.0}
_NDEVAL = "as ndeval: divided by the sum of one new item in every subtopic at each rank"


def _checked(measure: Measure, context: Context) -> None:
    if context.judgements is None or context.judgements.subtopics is None:
        raise NeedsError(
            f"{measure} needs judgements with subtopics: lines of topic, subtopic, item and grade, "
            "where an item may stand once for each subtopic"
        )


def _novelty(discount: str, *, ideal: bool) -> Any:
    def plan(measure: Measure, context: Context) -> KernelCall:
        _checked(measure, context)
        alpha = float(measure.value_of("alpha"))
        if alpha == 0 and not ideal and measure.at and measure.at > _DEEPEST_WITHOUT_ALPHA:
            raise MeasureError(f"{measure}: with alpha=0 cutoffs reach to {_DEEPEST_WITHOUT_ALPHA}")
        beta = float(measure.value_of("beta")) if "beta" in measure.params else 0.0
        params = (cutoff_of(measure), alpha, _DISCOUNTS[discount], beta, float(ideal))
        return KernelCall("novelty", params)

    return plan


def _counted(kernel: str, *, cut: bool = True) -> Any:
    def plan(measure: Measure, context: Context) -> KernelCall:
        _checked(measure, context)
        return KernelCall(kernel, (cutoff_of(measure),) if cut else ())

    return plan


def _declared(name: str, **rest: Any) -> Measure:
    """What all of them share."""
    return Measure(
        name=name,
        range=(0.0, 1.0),
        higher_is_better=True,
        needs=NEEDS,
        family=FAMILY,
        ties=_TIES,
        missing=MISSING_0,
        undefined=_UNDEFINED,
        example=f"{name}@20" if rest.get("cutoff") == "required" else name,
        **rest,
    )


_CLARKE, _NRBP = "clarke-novelty", "clarke-nrbp"
_ALPHA_GAIN = r"g(i)=\sum_{s\in S(i)} (1-\alpha)^{r_s(i-1)}"

ALPHA_NDCG = _declared(
    "alpha_nDCG",
    title="Novelty-biased nDCG",
    summary="nDCG where an item gains for each subtopic, less each time that it was seen before; "
    "divided by that of a ranking that takes the best next item each time.",
    formula=rf"\frac{{\sum_{{i\le k}} g(i)/\log_2(i+1)}}{{\sum_{{i\le k}} g^*(i)/\log_2(i+1)}},\ "
    rf"{_ALPHA_GAIN}",
    source=Source(_CLARKE),
    plan=_novelty("logarithm", ideal=True),
    params=_NOVELTY,
    cutoff="required",
)
ALPHA_DCG = _declared(
    "alpha_DCG",
    title="Novelty-biased DCG",
    summary="The gains of alpha_nDCG, divided by what no topic with as many subtopics can exceed.",
    formula=rf"\frac{{\sum_{{i\le k}} g(i)/\log_2(i+1)}}"
    rf"{{m\sum_{{i\le k}}(1-\alpha)^{{i-1}}/\log_2(i+1)}},\ {_ALPHA_GAIN}",
    source=Source(_CLARKE, deviation=_NDEVAL),
    plan=_novelty("logarithm", ideal=False),
    params=_NOVELTY,
    cutoff="required",
)
ERR_IA = _declared(
    "ERR_IA",
    title="Intent-aware expected reciprocal rank",
    summary="Expected reciprocal rank averaged over the subtopics.",
    formula=rf"\frac{{\sum_{{i\le k}} g(i)/i}}{{m\sum_{{i\le k}}(1-\alpha)^{{i-1}}/i}},\ "
    rf"{_ALPHA_GAIN}",
    source=Source("chapelle-err", deviation=_NDEVAL),
    plan=_novelty("reciprocal", ideal=False),
    params=_NOVELTY,
    cutoff="required",
)
N_ERR_IA = _declared(
    "nERR_IA",
    title="Normalized intent-aware expected reciprocal rank",
    summary="ERR_IA divided by that of a ranking that takes the best next item each time.",
    formula=rf"\frac{{\sum_{{i\le k}} g(i)/i}}{{\sum_{{i\le k}} g^*(i)/i}},\ {_ALPHA_GAIN}",
    source=Source("chapelle-err", deviation="the ideal is greedy, as in ndeval"),
    plan=_novelty("reciprocal", ideal=True),
    params=_NOVELTY,
    cutoff="required",
)
NRBP = _declared(
    "NRBP",
    title="Novelty- and rank-biased precision",
    summary="The gains of alpha_nDCG for a user who goes on to the next item with probability "
    "beta.",
    formula=rf"\frac{{1-(1-\alpha)\beta}}{{m}}\sum_i \beta^{{i-1}} g(i),\ {_ALPHA_GAIN}",
    source=Source(_NRBP),
    plan=_novelty("geometric", ideal=False),
    params=_PATIENCE,
)
N_NRBP = _declared(
    "nNRBP",
    title="Normalized novelty- and rank-biased precision",
    summary="NRBP divided by that of a ranking that takes the best next item each time.",
    formula=rf"\frac{{\sum_i \beta^{{i-1}} g(i)}}{{\sum_i \beta^{{i-1}} g^*(i)}},\ {_ALPHA_GAIN}",
    source=Source(_NRBP, deviation="the ideal is greedy, as in ndeval"),
    plan=_novelty("geometric", ideal=True),
    params=_PATIENCE,
)
AP_IA = _declared(
    "AP_IA",
    mean_name="MAP_IA",
    title="Intent-aware average precision",
    summary="Average precision for each subtopic, averaged over the subtopics.",
    formula=r"\frac1m \sum_s AP_s",
    source=Source("agrawal-diversifying", deviation="subtopics are equally likely"),
    plan=_counted("intent_ap", cut=False),
)
P_IA = _declared(
    "P_IA",
    title="Intent-aware precision at a cutoff",
    summary="Precision at k for each subtopic, averaged over the subtopics.",
    formula=r"\frac1m \sum_s P_s@k",
    source=Source("agrawal-diversifying", deviation="subtopics are equally likely"),
    plan=_counted("intent_precision"),
    cutoff="required",
)
ST_RECALL = _declared(
    "StRecall",
    title="Subtopic recall at a cutoff",
    summary="The share of the subtopics that the first k items are relevant to.",
    formula=r"\frac{|\bigcup_{i\le k} S(i)|}{m}",
    source=Source("zhai-subtopics"),
    plan=_counted("subtopic_recall"),
    cutoff="required",
)

DECLARED = (
    ALPHA_NDCG,
    ALPHA_DCG,
    ERR_IA,
    N_ERR_IA,
    NRBP,
    N_NRBP,
    AP_IA,
    P_IA,
    ST_RECALL,
)
