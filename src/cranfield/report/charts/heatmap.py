"""Values of single topics, items or concepts: the heat map and differences to a baseline."""

from __future__ import annotations

from cranfield.evaluation.scores import Scores
from cranfield.report.charts.helpers import (
    best_first,
    column_axis,
    heat_ramp,
    measure_of,
    values_of,
)
from cranfield.report.charts.model import Axis, Bar, Cell, Chart, Rule, all_finite, chart
from cranfield.validation import validate_params


@validate_params
def heatmap(scores: Scores, measure: str | None = None) -> Chart:
    """Runs by topics: which topics are hard for all runs, and which runs succeed there?"""
    m = measure_of(scores, measure)
    values, unit = values_of(scores, m), scores.unit_of[m]
    order = best_first(scores, m)
    names, runs = scores.units[unit], [scores.runs[i] for i in order]
    rows = [values[i].tolist() for i in order]
    return chart(
        f"{m} of every {unit}",
        f"{m} of {len(order)} runs for {len(names)} {unit}s, runs by their mean.",
        column_axis(unit, names, unit),
        Axis("", "run", names=tuple(runs)),
        [
            [
                Cell(j, k, value, said=f"{run}, {name}: {value:.4f}")
                for k, (run, row) in enumerate(zip(runs, rows, strict=True))
                for j, (name, value) in enumerate(zip(names, row, strict=True))
            ]
        ],
        ramp=heat_ramp(str(m), (v for row in rows for v in row)),
    )


@validate_params
def differences(scores: Scores, run: str, baseline: str, measure: str | None = None) -> Chart:
    """The difference of a run to a baseline, topic by topic, from gain to loss."""
    m = measure_of(scores, measure)
    values, unit = values_of(scores, m), scores.unit_of[m]
    a, b = scores.index_of(run), scores.index_of(baseline)
    gaps = [
        (name, float(values[a, j]) - float(values[b, j]))
        for j, name in enumerate(scores.units[unit])
    ]
    ordered = sorted((g for g in gaps if all_finite(g[1])), key=lambda g: -g[1])
    sign = -1 if m.higher_is_better is False else 1
    return chart(
        f"{m}: {run} minus {baseline}",
        f"The difference in {m} between {run} and {baseline} for {len(ordered)} {unit}s, "
        "from the largest to the smallest; blue: better, orange: worse.",
        column_axis(unit, [name for name, _ in ordered], unit),
        Axis(f"difference in {m}", "difference"),
        [
            [
                Bar(k, gap, "good" if sign * gap > 0 else "bad", f"{name}: {gap:.4f}")
                for k, (name, gap) in enumerate(ordered)
            ],
            [Rule(None, 0, None, 0, width=1)],
        ],
    )
