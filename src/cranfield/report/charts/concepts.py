"""Concepts: how well they are found, and how frequent they are in the truth."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.calibration import concept_curves
from cranfield.evaluation.calibration import reliability as reliabilities
from cranfield.evaluation.precision_recall import Curve
from cranfield.evaluation.scores import Scores
from cranfield.options import RELIABILITY_BINS
from cranfield.relatedness.cost_maps import CostMapView
from cranfield.report.charts.curves import UNIT, Join, tree_lines
from cranfield.report.charts.helpers import (
    column_axis,
    curve_chart,
    measure_of,
    thin_points,
    values_of,
)
from cranfield.report.charts.model import Axis, Bar, Cell, Chart, Line, Panel, Ramp, Rule, chart
from cranfield.validation import validate_params


@validate_params
def concepts(
    scores: Scores, truth: LabelMatrix, run: str | None = None, measure: str | None = None
) -> Chart:
    """A bar per concept for the best (or a given) run, with the truth frequency as a line."""
    m = measure_of(scores, measure)
    if scores.unit_of[m] != "concept":
        raise UsageError(f"{m} has no value per concept; choose one such as AP.concept")
    values = values_of(scores, m)
    run_index = None if run is None else scores.index_of(run)
    sign = -1 if m.higher_is_better is False else 1
    rows = [
        (
            name,
            float(
                values[run_index, j]
                if run_index is not None
                else sign * max(sign * v for v in values[:, j])
            ),
            share,
        )
        for j, (name, share) in enumerate(truth_frequency(truth).items())
    ]
    rows.sort(key=lambda row: (row[1] != row[1], -sign * row[1]))
    run_label = run or "the best run of each concept"
    return chart(
        f"{m} of {run_label}",
        f"{m} of {run_label} for {len(rows)} concepts; lines: the share of items that have each.",
        column_axis("concept", [name for name, _, _ in rows], "concept"),
        Axis(f"{m}, and frequency (lines)", "value"),
        [
            [
                Bar(k, value, "accent", f"{name}: {value:.4f}; frequency {share:.4f}")
                for k, (name, value, share) in enumerate(rows)
            ],
            [
                Rule(k - 0.4, share, k + 0.4, share, width=2, said=f"{name}: frequency {share:.4f}")
                for k, (name, _, share) in enumerate(rows)
            ],
        ],
    )


def truth_frequency(truth: LabelMatrix) -> dict[str, float]:
    """The share of items that have each concept."""
    labels = truth.rows(0, len(truth.items))[0]
    shares = np.asarray(labels, dtype=float).mean(axis=0)
    return dict(zip(truth.concepts, shares.tolist(), strict=True))


@validate_params
def concept_precision_recall(truth: LabelMatrix, run: LabelMatrix) -> Chart:
    """Precision against recall of every concept of a run that is aligned to the truth."""
    curves = [Curve(c.name, tuple(thin_points(c.points))) for c in concept_curves(truth, run)]
    return curve_chart(
        curves,
        title=f"Precision against recall of {len(curves)} concepts, {run.name}",
        description=f"{len(truth.items)} items of {run.name} over all thresholds, not "
        "interpolated.",
        x=Axis("recall", "recall", UNIT),
        y=Axis("precision", "precision", UNIT),
        of="concept",
    )


@validate_params
def reliability(
    truth: LabelMatrix, runs: Iterable[LabelMatrix], *, bins: int = RELIABILITY_BINS
) -> Chart:
    """The share of true labels against the confidence, and the expected error of each run."""
    curves = reliabilities(truth, runs, bins=bins)
    lines = [
        Line(
            tuple((sure, share) for sure, share, _ in run.bins),
            i,
            f"{run.name}: expected error {run.error:.4f}",
            dots=True,
        )
        for i, run in enumerate(curves)
    ]
    return chart(
        "Reliability of confidences",
        f"The share of true labels in {bins} bins of confidence for {len(curves)} runs; on the "
        "broken line confidences are right. In brackets the expected error.",
        Axis("confidence", "confidence", UNIT),
        Axis("share that is true", "share", UNIT),
        [[Rule(0, 0, 1, 1, "quiet", "right", 1, True)], lines],
        series=tuple(f"{run.name} ({run.error:.3f})" for run in curves),
        square=True,
    )


@validate_params
def cost_map(view: CostMapView) -> Chart:
    """The heat map, strong in colour where concepts are near, with the dendrogram at its right."""
    concepts, rows = view.costs.concepts, view.costs.costs.tolist()
    names = tuple(concepts[i] for i in view.order)
    cells = tuple(
        Cell(column, row, rows[i][j], said=f"{concepts[i]}, {concepts[j]}: {rows[i][j]:.3f}")
        for row, i in enumerate(view.order)
        for column, j in enumerate(view.order)
    )
    groups: list[tuple[str, ...]] = [(concept,) for concept in concepts]
    joins: list[Join] = []
    for first, second, cost in view.merges:
        joins.append((groups[first], groups[second], cost))
        groups.append((*groups[first], *groups[second]))
    heat = Panel(Axis("", "other", names=names, top=True), (cells,))
    tree = Panel(Axis("average cost", "cost", (0.0, 1.0)), (tuple(tree_lines(joins, names)),), 0.45)
    return Chart(
        view.costs.name,
        f"The costs between {len(names)} concepts, strong in colour where they are near; the tree "
        "joins them at their average cost.",
        (heat, tree) if joins else (heat,),
        Axis("", "concept", names=names),
        ramp=Ramp("cost", 0.0, 1.0, "heat", reverse=True),
    )
