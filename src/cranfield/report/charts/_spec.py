"""What all charts share: the frame of a Vega-Lite specification, colours, numbers as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from cranfield.errors import UsageError, suggest
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure

Spec: TypeAlias = dict[str, Any]
Rows: TypeAlias = Sequence[Mapping[str, Any]]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
MIME = "application/vnd.vegalite.v5+json"
# Blue and orange of Okabe and Ito: told apart by everyone, also in print.
BETTER, WORSE, INK, SHADE = "#0072b2", "#d55e00", "#333333", "#56b4e9"
ROW_HEIGHT = 22


def frame(title: str, description: str, rows: Rows, **parts: Any) -> Spec:
    """A specification with its data inside; `description` is what a screen reader says."""
    return {
        "$schema": SCHEMA,
        "title": title,
        "description": description,
        "data": {"values": [{k: number(v) for k, v in row.items()} for row in rows]},
        "background": "white",
        "config": {
            "font": "sans-serif",
            "axis": {"labelLimit": 220},
            "legend": {"labelLimit": 220},
            "view": {"stroke": None},
        },
        **parts,
    }


def number(value: Any) -> Any:
    """A value as JSON has it: NaN and infinities are null."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def field(name: str, kind: str, title: str | None = None, **more: Any) -> Spec:
    """An encoding channel; `kind` is quantitative, nominal, ordinal, or its first letter."""
    kinds = {"q": "quantitative", "n": "nominal", "o": "ordinal"}
    shown = name if title is None else title or None
    return {"field": name, "type": kinds.get(kind, kind), "title": shown, **more}


def measure_of(scores: Scores, measure: str | None) -> Measure:
    """A measure of the scores by name; the first one without a name."""
    if measure is None:
        return scores.measures[0]
    for known in scores.measures:
        if str(known) == measure:
            return known
    names = [str(m) for m in scores.measures]
    raise UsageError(f"no scores for {measure!r}.{suggest(measure, names)}")


def values_of(scores: Scores, measure: Measure) -> Any:
    """The values per topic, item or concept, or a UsageError where there are none."""
    if measure not in scores.values or scores.unit_of[measure] == "whole":
        raise UsageError(f"{measure} has no values per topic, item or concept to draw")
    return scores.values[measure]


def best_first(scores: Scores, measure: Measure) -> list[int]:
    """Positions of the runs, the best mean first; runs without a value come last."""
    sign = -1.0 if measure.higher_is_better is False else 1.0
    means = [float(v) for v in scores.overall[measure]]
    return sorted(
        range(len(means)), key=lambda i: (math.isnan(means[i]), -sign * means[i], scores.runs[i])
    )
