"""Scores with semantic costs: OS and HS (No 7.1-7.3), Semantic R-Precision (No 9.1-9.4)."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from cranfield import _core
from cranfield.data.labels import Floats
from cranfield.measures.base import Measure, Param
from cranfield.measures.labels.blocks import ItemBlock, LabelPlan, Matching, PerItem
from cranfield.measures.labels.example import NO_TRUE, VOCABULARY
from cranfield.references import Source

FAMILY = "annotation, semantic"
COST = Param(
    str, "", "the cost map: a name given with it, 'tree' for the ontology's own, or the default"
)
ALPHA = Param(float, 1, "forgiveness rate", low=0.0)
_EMPTY = "nothing true and nothing predicted: 1; nothing predicted: 0"


def score_of(cost: Floats, union: Floats, alpha: float) -> Floats:
    """(1 - cost / union) ** alpha; an empty union scores 1."""
    share = cost / np.where(union == 0, 1.0, union)
    scores: Floats = np.clip(1.0 - share, 0.0, 1.0) ** alpha
    return scores


def matching_of(measure: Measure) -> Matching:
    """How OS or HS matches label sets: HS knows neither rules nor agreements (No 8.3.1)."""
    complete = measure.name == "OS"
    rules = complete and bool(measure.value_of("rules"))
    return Matching(str(measure.value_of("cost")), rules=rules, agreement=complete)


def _score(measure: Measure) -> LabelPlan:
    matching, alpha = matching_of(measure), float(measure.value_of("alpha"))

    def values(block: ItemBlock) -> Floats:
        union = block.true + block.predicted - block.tp
        return score_of(block.match_cost(matching), union, alpha)

    return PerItem(values)


def _semantic_rprec(measure: Measure) -> LabelPlan:
    cost = str(measure.value_of("cost"))

    def values(block: ItemBlock) -> Floats:
        smallest = _core.ranked_assignment(
            block.truth, block.confidences, block.knowledge.costs(cost), block.jobs
        )
        return np.where(block.true > 0, block.true - smallest, np.nan) / np.maximum(block.true, 1)

    return PerItem(values, ranked=True)


def _written_os(measure: Measure) -> str:
    """With rules, the labels that break one pay 1 each beside the costs of the match."""
    score = r"\left(1-\frac{\mathrm{match}(Z_n,Y_n)}{|Z_n\cup Y_n|}\right)^{\alpha}"
    if not measure.value_of("rules"):
        return score
    return rf"{score}, \quad {_BREAKING}"


_BREAKING = r"\mathrm{cost}(z)=1 \text{ where } z\in Z_n \text{ breaks a rule}"

OS = Measure(
    name="OS",
    title="Ontology score",
    formula=r"\left(1-\frac{\mathrm{match}(Z_n,Y_n)}{|Z_n\cup Y_n|}\right)^{\alpha}, "
    rf"\quad {_BREAKING}",
    written=_written_os,
    source=Source(
        "nowak-thesis",
        "7.1-7.3",
        "a label that breaks a rule pays 1 and asks for no match of its own, but a missed label "
        "may still be matched with it; where several true labels are equally near, their mean "
        "agreement is paid; without a cost map every confusion costs 1",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"labels", "costs"}),
    plan=_score,
    family=FAMILY,
    summary="Wrong and missed labels pay their least cost to the other set, times the agreement of "
    "people on the true label; labels that break a rule of the ontology pay 1.",
    params=MappingProxyType(
        {
            "cost": COST,
            "alpha": ALPHA,
            "rules": Param(bool, True, "whether labels that break a rule of the ontology pay 1"),
        }
    ),
    ties="the mean agreement over equally near labels",
    undefined=_EMPTY,
    example="OS(cost='fts') OS(rules=False)",
)

HS = Measure(
    name="HS",
    title="Hierarchical score",
    formula=r"\left(1-\frac{\mathrm{match}(Z_n,Y_n)}{|Z_n\cup Y_n|}\right)^{\alpha}",
    source=Source("nowak-thesis", "7.1-7.3, sections 8.3.1 and 8.3.3"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"labels", "costs"}),
    plan=_score,
    family=FAMILY,
    summary="OS without rules and without agreements: costs alone. It rewards runs that predict "
    "too much: the thesis advises against it.",
    params=MappingProxyType({"cost": COST, "alpha": ALPHA}),
    ties="none: all nearest labels cost the same",
    undefined=_EMPTY,
    example="HS HS(cost='fts')",
)

SRP = Measure(
    name="SRP",
    title="Semantic R-precision",
    formula=r"\frac{1}{|Y_n|}\max_{\pi}\sum_{c\in Z_n^*}\bigl(1-\mathrm{cost}(c,\pi(c))\bigr)",
    source=Source("nowak-thesis", "9.1-9.4", "relatedness is 1 - cost, of any cost map"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"confidences", "costs"}),
    plan=_semantic_rprec,
    family=FAMILY,
    summary="The |Y| best ranked concepts are assigned one to one to the true ones; each pair "
    "counts with its relatedness.",
    params=MappingProxyType({"cost": COST}),
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="SRP(cost='fts')",
)

DECLARED = (OS, HS, SRP)
