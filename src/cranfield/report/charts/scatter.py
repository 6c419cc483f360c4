"""Runs as points: one measure against another, a score against the density of labels."""

from __future__ import annotations

from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.report.charts._spec import BETTER, INK, Spec, field, frame, measure_of


def measures(scores: Scores, x: str, y: str) -> Spec:
    """Every run under two measures: do they agree on who is better?"""
    first, second = measure_of(scores, x), measure_of(scores, y)
    rows = [
        {"run": run, "x": float(scores.overall[first][i]), "y": float(scores.overall[second][i])}
        for i, run in enumerate(scores.runs)
    ]
    return frame(
        f"{second.mean_label} against {first.mean_label}",
        f"{len(rows)} runs by {first.mean_label} and {second.mean_label}.",
        rows,
        width=380,
        height=320,
        encoding={
            "x": field("x", "q", first.mean_label, scale={"zero": False}),
            "y": field("y", "q", second.mean_label, scale={"zero": False}),
        },
        layer=_points(),
    )


def density(scores: Scores, measure: str | None = None) -> Spec:
    """A score against how many labels a run gives; the line is the density of the truth."""
    m = measure_of(scores, measure)
    if "truth" not in scores.facts:
        raise UsageError("label density is a matter of annotation, not of ranked runs")
    rows = [
        {"run": run, "x": facts["label_density"], "y": float(scores.overall[m][i])}
        for i, (run, facts) in enumerate(zip(scores.runs, scores.run_facts, strict=True))
    ]
    true = scores.facts["truth"]["label_density"]
    return frame(
        f"{m.mean_label} against label density",
        f"{len(rows)} runs by label density and {m.mean_label}; the truth has {true:.4f}.",
        rows,
        width=380,
        height=320,
        encoding={
            "x": field("x", "q", "label density"),
            "y": field("y", "q", m.mean_label, scale={"zero": False}),
        },
        layer=[
            {
                "data": {"values": [{"x": true}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": INK},
                "encoding": {"x": field("x", "q", "label density"), "y": {}},
            },
            *_points(),
        ],
    )


def _points() -> list[Spec]:
    return [
        {
            "mark": {"type": "point", "filled": True, "size": 70, "color": BETTER},
            "encoding": {"tooltip": [field(k, "n") for k in ("run", "x", "y")]},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 7},
            "encoding": {"text": {"field": "run"}},
        },
    ]
