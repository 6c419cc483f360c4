"""Runs by their mean, with intervals, and which of them can be told apart."""

from __future__ import annotations

from cranfield.comparison.answer import Comparison
from cranfield.errors import UsageError, suggest
from cranfield.report.charts._spec import BETTER, INK, ROW_HEIGHT, SHADE, Spec, field, frame


def leaderboard(comparison: Comparison, measure: str | None = None) -> Spec:
    """Dots with confidence intervals; a column per group of runs that cannot be told apart."""
    name = _measure(comparison, measure)
    standings = [s for s in comparison.standings if s.measure == name]
    order = [s.run for s in standings]
    rows = [
        {
            "run": s.run,
            "mean": s.mean,
            "low": s.ci[0],
            "high": s.ci[1],
            "rank": s.rank,
            "group": s.group,
            "best": s.rank == 1,
        }
        for s in standings
    ]
    share = f"{100 * (1 - comparison.alpha):g} %"
    y = field("run", "n", "", sort=order)
    dots: Spec = {
        "width": 420,
        "height": {"step": ROW_HEIGHT},
        "encoding": {"y": y},
        "layer": [
            {
                "transform": [{"filter": "datum.best"}],
                "mark": {"type": "rect", "color": SHADE, "opacity": 0.2},
            },
            {
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1.5},
                "encoding": {
                    "x": field("low", "q", name, scale={"zero": False}),
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "color": BETTER},
                "encoding": {
                    "x": field("mean", "q", name, scale={"zero": False}),
                    "tooltip": [field(k, "n") for k in ("run", "mean", "low", "high", "rank")],
                },
            },
        ],
    }
    letters = {
        "width": {"step": 14},
        "height": {"step": ROW_HEIGHT},
        "transform": [
            {"calculate": _SPLIT, "as": "letter"},
            {"flatten": ["letter"]},
        ],
        "mark": {"type": "rect", "color": SHADE, "opacity": 0.6},
        "encoding": {
            "x": field("letter", "n", "cannot be told apart", axis={"orient": "top"}),
            "y": field("run", "n", sort=order, axis=None),
        },
    }
    return frame(
        f"{name}: means and {share} intervals",
        f"Means of {len(order)} runs under {name} with {share} confidence intervals, best first. "
        "Shaded: not significantly worse than the best. Runs with a mark in one column on the "
        "right cannot be told apart.",
        rows,
        hconcat=[dots, letters],
    )


# Letters stand side by side while one each is enough, and between commas beyond that.
_SPLIT = "indexof(datum.group, ',') >= 0 ? split(datum.group, ',') : split(datum.group, '')"


def significance(comparison: Comparison, measure: str | None = None) -> Spec:
    """Every tested pair: the difference as colour, stars for what is significant."""
    name = _measure(comparison, measure)
    order = [s.run for s in comparison.standings if s.measure == name]
    pairs = [p for p in comparison.pairs if p.measure == name]
    rows = [
        {
            "a": p.a,
            "b": p.b,
            "difference": p.difference,
            "p_corrected": p.p_corrected,
            "stars": p.stars,
        }
        for p in pairs
    ]
    if comparison.tail == "two":
        rows += [
            {
                "a": p.b,
                "b": p.a,
                "difference": -p.difference,
                "p_corrected": p.p_corrected,
                "stars": p.stars,
            }
            for p in pairs
        ]
    scale = {"scheme": "blueorange", "domainMid": 0, "reverse": True}
    return frame(
        f"{name}: row minus column",
        f"Differences in {name} between runs, the row minus the column; stars mark p < 0.05, "
        "0.01 and 0.001 after correction.",
        rows,
        width={"step": 34},
        height={"step": 26},
        encoding={
            "x": field("b", "n", "", sort=order, axis={"labelAngle": -40}),
            "y": field("a", "n", "", sort=order),
        },
        layer=[
            {
                "mark": "rect",
                "encoding": {
                    "color": field("difference", "q", scale=scale),
                    "tooltip": [field(k, "n") for k in ("a", "b", "difference", "p_corrected")],
                },
            },
            {
                "mark": {"type": "text", "baseline": "middle"},
                "encoding": {"text": {"field": "stars"}},
            },
        ],
    )


def _measure(comparison: Comparison, measure: str | None) -> str:
    names = [str(m["name"]) for m in comparison.measures]
    if measure is None:
        return names[0]
    if measure not in names:
        raise UsageError(f"no comparison under {measure!r}.{suggest(measure, names)}")
    return measure
