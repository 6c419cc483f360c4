"""Runs as points: one measure against another, a score against the density of labels."""

from __future__ import annotations

from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.report.charts.model import Axis, Chart, Rule, chart
from cranfield.report.charts.parts import measure_of, named_dots
from cranfield.validation import validate_params


@validate_params
def measures(scores: Scores, x: str, y: str) -> Chart:
    """Every run under two measures: do they agree on who is better?"""
    first, second = measure_of(scores, x), measure_of(scores, y)
    return chart(
        f"{second.mean_label} against {first.mean_label}",
        f"{len(scores.runs)} runs by {first.mean_label} and {second.mean_label}.",
        Axis(first.mean_label, "x"),
        Axis(second.mean_label, "y"),
        [named_dots(scores.runs, scores.overall[first], scores.overall[second])],
    )


@validate_params
def density(scores: Scores, measure: str | None = None) -> Chart:
    """A score against how many labels a run gives; the line is the density of the truth."""
    m = measure_of(scores, measure)
    if "truth" not in scores.facts:
        raise UsageError("label density is a matter of annotation, not of ranked runs")
    true = scores.facts["truth"]["label_density"]
    densities = [facts["label_density"] for facts in scores.run_facts]
    return chart(
        f"{m.mean_label} against label density",
        f"{len(scores.runs)} runs by label density and {m.mean_label}; the truth has {true:.4f}.",
        Axis("label density (broken line: the truth)", "label_density"),
        Axis(m.mean_label, "y"),
        [
            [Rule(true, None, true, None, dashed=True, said=f"truth: {true:.4f}")],
            named_dots(scores.runs, densities, scores.overall[m]),
        ],
    )
