"""Measures of annotations of which only some cells were judged (No 3.3.3, TRECVID).

Each concept is a topic whose items a run ranks by confidence; what is computed there are the
measures of rankings for incomplete judgements, under names that say so.
"""

from __future__ import annotations

from dataclasses import replace

from cranfield.measures.base import Measure
from cranfield.measures.ranked.incomplete import BPREF, INF_AP, X_INF_AP


def _per_concept(ranked: Measure) -> Measure:
    name = f"{ranked.name}.concept"
    return replace(
        ranked,
        name=name,
        title=f"{ranked.title} per concept",
        summary=f"Each concept's items by confidence, as a ranking. {ranked.summary}",
        family="annotation, per concept",
        needs=(ranked.needs - {"ranking", "judgements"}) | {"cells"},
        undefined=ranked.undefined.replace("topics", "concepts"),
        example=name,
        trec_name="",
    )


RANKED_AS = {_per_concept(m): m for m in (INF_AP, X_INF_AP, BPREF)}


def as_ranked(measure: Measure) -> Measure:
    """The measure of rankings that computes a measure of judged cells; others are their own."""
    for cell_measure, ranked in RANKED_AS.items():
        if cell_measure.name == measure.name:
            return ranked.bind(at=measure.at, **measure.bound)
    return measure
