"""Measures over rankings: of the concepts of an item (No 3.21-3.25), of the items of a concept.

The latter are of annotations of which only some cells were judged (No 3.3.3, TRECVID): each concept
is a topic whose items a run ranks by confidence, and measures of rankings for incomplete judgements
are computed there, under names that say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import LabelPlan, PerItem
from cranfield.measures.labels.concept import CONFIDENCES, NO_POSITIVE
from cranfield.measures.labels.example import FAMILY, NO_TRUE, VOCABULARY, ranked_precision
from cranfield.measures.ranked.incomplete import BPREF, INF_AP, X_INF_AP
from cranfield.references import Source

PESSIMISTIC = "the worst rank of a tied group"


def _column(column: int) -> Callable[[Measure], LabelPlan]:
    return lambda _: PerItem(lambda block: block.ranked[:, column], ranked=True)


ONE_ERROR = Measure(
    name="OneError",
    title="One-error",
    formula=r"[\mathrm{arg}\max_c f(z_{nc}) \notin Y_n]",
    source=Source("nowak-thesis", "3.21"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=CONFIDENCES,
    plan=_column(0),
    family=FAMILY,
    summary="1 when the concept with the highest confidence is wrong.",
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="OneError",
)

COVERAGE = Measure(
    name="Coverage",
    title="Coverage",
    formula=r"\max_{c\in Y_n}\mathrm{rank}\,f(z_{nc}) - |Y_n|",
    source=Source("nowak-thesis", "3.22"),
    range=(0.0, float("inf")),
    higher_is_better=False,
    needs=CONFIDENCES,
    plan=_column(1),
    family=FAMILY,
    summary="How far below the number of true concepts the last true one is ranked.",
    ties=PESSIMISTIC,
    undefined=NO_TRUE,
    example="Coverage",
)

RANKING_LOSS = Measure(
    name="RankingLoss",
    title="Ranking loss",
    formula=r"\frac{|\{(c,c')\in Y_n\times\overline{Y_n}: f(z_{nc})\le f(z_{nc'})\}|}"
    r"{|Y_n||\overline{Y_n}|}",
    source=Source("nowak-thesis", "3.23"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=CONFIDENCES,
    plan=_column(2),
    family=FAMILY,
    summary="The part of the pairs of a true and a wrong concept that is not in the right order.",
    ties="a tied pair is an error",
    undefined="no true or no wrong concept: item left out",
    example="RankingLoss",
)

AP = Measure(
    name="AP.example",
    mean_name="MAP.example",
    title="Average precision per item",
    formula=r"\frac{1}{|Y_n|}\sum_{r} P(r)\,\mathrm{rel}(r)",
    source=Source("nowak-thesis", "3.24"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=CONFIDENCES,
    plan=_column(3),
    family=FAMILY,
    summary="Mean precision at the ranks of the true concepts (label ranking average precision).",
    ties=PESSIMISTIC,
    undefined=NO_TRUE,
    example="AP.example",
)

RPREC = Measure(
    name="Rprec.example",
    title="R-precision per item",
    formula=r"\frac{|Y_n\cap Z_n^*|}{|Y_n|}",
    source=Source("nowak-thesis", "3.25"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=CONFIDENCES,
    plan=lambda _: ranked_precision(None),
    family=FAMILY,
    summary="Of the |Y| best ranked concepts, the part that is true.",
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="Rprec.example",
)

DECLARED = (ONE_ERROR, COVERAGE, RANKING_LOSS, AP, RPREC)


def _per_concept(ranked: Measure) -> Measure:
    name = f"{ranked.name}.concept"
    params = dict(ranked.params)
    undefined = ranked.undefined.replace("topics", "concepts")
    if "empty" in params:
        # As under AP.concept: what has no relevant item has no value.
        params["empty"] = params["empty"]._replace(default="out")
        undefined = f"{NO_POSITIVE} (with empty='0': 0)"
    return replace(
        ranked,
        name=name,
        title=f"{ranked.title} per concept",
        summary=f"Each concept's items by confidence, as a ranking. {ranked.summary}",
        family="annotation, per concept",
        needs=(ranked.needs - {"ranking", "judgements"}) | {"cells"},
        params=MappingProxyType(params),
        undefined=undefined,
        example=name,
        trec_name="",
    )


RANKED_AS = {_per_concept(m): m for m in (INF_AP, X_INF_AP, BPREF)}


def as_ranked(measure: Measure) -> Measure:
    """The measure of rankings that computes a measure of judged cells; others are their own."""
    for cell_measure, ranked in RANKED_AS.items():
        if cell_measure.name == measure.name:
            values = {name: measure.value_of(name) for name in measure.params}
            return ranked.bind(at=measure.at, **values)
    return measure
