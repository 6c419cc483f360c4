"""Values of single topics, items or concepts: the heat map and differences to a baseline."""

from __future__ import annotations

from typing import Any

from cranfield.evaluation.scores import Scores
from cranfield.report.charts._spec import (
    BETTER,
    ROW_HEIGHT,
    WORSE,
    Spec,
    best_first,
    field,
    frame,
    measure_of,
    number,
    values_of,
)


def heatmap(scores: Scores, measure: str | None = None) -> Spec:
    """Runs by topics: where is everyone bad, and who is good where others fail?"""
    m = measure_of(scores, measure)
    values, unit = values_of(scores, m), scores.unit_of[m]
    order = best_first(scores, m)
    names = scores.units[unit]
    rows: list[dict[str, Any]] = [
        {"run": scores.runs[i], unit: name, "value": float(values[i, j])}
        for i in order
        for j, name in enumerate(names)
    ]
    return frame(
        f"{m} of every {unit}",
        f"{m} of {len(order)} runs for {len(names)} {unit}s, runs by their mean.",
        rows,
        width=max(300, min(1000, 12 * len(names))),
        height={"step": ROW_HEIGHT},
        mark={"type": "rect", "invalid": None},
        encoding={
            "x": field(unit, "n", sort=None, axis={"labels": len(names) <= 80, "ticks": False}),
            "y": field("run", "n", "", sort=[scores.runs[i] for i in order]),
            "color": field("value", "q", str(m), scale={"scheme": "viridis"}),
            "tooltip": [field(k, "n") for k in ("run", unit, "value")],
        },
    )


def differences(scores: Scores, run: str, baseline: str, measure: str | None = None) -> Spec:
    """The difference of a run to a baseline, topic by topic, from gain to loss."""
    m = measure_of(scores, measure)
    values, unit = values_of(scores, m), scores.unit_of[m]
    a, b = scores.index_of(run), scores.index_of(baseline)
    gaps: list[dict[str, Any]] = [
        {unit: name, "difference": float(values[a, j]) - float(values[b, j])}
        for j, name in enumerate(scores.units[unit])
    ]
    shown = [g for g in gaps if number(g["difference"]) is not None]
    shown.sort(key=lambda g: -g["difference"])
    good = "<" if m.higher_is_better is False else ">"
    return frame(
        f"{m}: {run} minus {baseline}",
        f"The difference in {m} between {run} and {baseline} for {len(shown)} {unit}s, "
        "from the largest to the smallest.",
        shown,
        width=max(300, min(1000, 10 * len(shown))),
        height=240,
        mark="bar",
        encoding={
            "x": field(unit, "n", sort=None, axis={"labels": len(shown) <= 80, "ticks": False}),
            "y": field("difference", "q", f"difference in {m}"),
            "color": {
                "condition": {"test": f"datum.difference {good} 0", "value": BETTER},
                "value": WORSE,
            },
            "tooltip": [field(k, "n") for k in (unit, "difference")],
        },
    )
