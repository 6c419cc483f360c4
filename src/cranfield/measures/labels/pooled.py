"""Measures of annotations of which only some cells were judged (No 3.3.3, TRECVID).

Each concept is a topic whose items a run ranks by confidence; what is computed there are the
measures of rankings for incomplete judgements, under names that say so.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from cranfield.measures.base import Measure
from cranfield.measures.labels.concept import NO_POSITIVE
from cranfield.measures.ranked.incomplete import BPREF, INF_AP, X_INF_AP


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
