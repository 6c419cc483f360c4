"""Charts of annotation: concepts, boxes, agreement, and how forms came back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.agreement.coefficients import nominal_names
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.calibration import concept_curves
from cranfield.evaluation.calibration import reliability as reliabilities
from cranfield.evaluation.precision_recall import Curve
from cranfield.evaluation.regions import LEVELS, RegionCurves
from cranfield.evaluation.scores import Scores
from cranfield.options import RELIABILITY_BINS
from cranfield.relatedness.cost_maps import CostMapView
from cranfield.report.charts.curves import (
    UNIT,
    Join,
    Marks,
    column_axis,
    curve_chart,
    measure_of,
    row_chart,
    thin_points,
    tree_lines,
    values_of,
)
from cranfield.report.charts.model import (
    Axis,
    Bar,
    Cell,
    Chart,
    Dot,
    Line,
    Panel,
    Ramp,
    Rule,
    all_finite,
    chart,
)
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.agreement.agreement import Agreement, GroupAgreement, GroupRow
    from cranfield.agreement.majority import MajorityShare
    from cranfield.campaign.responses import FormResponses, Tally


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


Points = tuple[tuple[float, float], ...]


@validate_params
def box_recall(curves: Sequence[RegionCurves], *, iou: float = 0.5, concept: str = "") -> Chart:
    """Precision at 101 levels of recall; the mean of a curve is the average precision."""
    scope = concept or "mean over concepts"
    return curve_chart(
        [
            Curve(
                f"{c.run} (AP {float(c.precision.mean()):.3f})",
                tuple(zip(LEVELS, c.precision.tolist(), strict=True)),
            )
            for c in curves
        ],
        title=f"Precision against recall of boxes, {scope}",
        description=f"The best precision at each of 101 levels of recall or beyond, of "
        f"{len(curves)} runs at an overlap of {iou:g}, {scope}. In brackets the average precision.",
        x=Axis("recall", "recall", UNIT),
        y=Axis("precision", "precision", UNIT),
    )


@validate_params
def box_errors(
    curves: Sequence[RegionCurves],
    *,
    iou: float = 0.5,
    concept: str = "",
    run: str | None = None,
) -> Chart:
    """The localisation recall precision error by the confidence from which boxes count.

    Several runs have a line each, whose dot is where the error is least; one alone, or `run`, has
    the three parts of the error as well.
    """
    scope = concept or "mean over concepts"
    chosen = [c for c in curves if run in (None, c.run)]
    title = f"Errors of boxes by confidence, {scope}"
    about = f"at an overlap of {iou:g}, {scope}; the dots are the least errors"
    if len(chosen) == 1:
        one = chosen[0]
        parts = (
            ("LRP error", one.error),
            ("badly placed", one.misplaced),
            ("wrong boxes", one.wrong),
            ("missed", one.missed),
        )
        names = tuple(name for name, _ in parts)
        lines = [
            Line(_points(one.confidences, values), i, name)
            for i, (name, values) in enumerate(parts)
        ]
        title, of = f"{title}, {one.run}", "error"
        description = f"The error of {one.run} and its parts by the least confidence, {about}."
    else:
        names = tuple(f"{c.run} ({float(c.error[c.best]):.3f})" for c in chosen)
        lines = [
            Line(_points(c.confidences, c.error), i, f"{c.run}: {float(c.error[c.best]):.4f}")
            for i, c in enumerate(chosen)
        ]
        of = "run"
        description = f"The error of {len(chosen)} runs by the least confidence, {about}."
    dots = [
        Dot(
            float(c.confidences[c.best]),
            float(c.error[c.best]),
            i,
            f"{c.run}: {float(c.error[c.best]):.4f} at a confidence of "
            f"{float(c.confidences[c.best]):.3g}",
        )
        for i, c in enumerate(chosen)
    ]
    return chart(
        title,
        description,
        Axis("confidence from which boxes count", "confidence"),
        Axis("error", "error", UNIT),
        [lines, dots],
        series=names,
        of=of,
    )


def _points(confidences: np.ndarray, values: np.ndarray) -> Points:
    """The points of a curve from the least confidence on, without those that do not exist."""
    pairs = zip(confidences[::-1].tolist(), values[::-1].tolist(), strict=True)
    return tuple((x, y) for x, y in pairs if y == y)


# Rows of one chart; of longer lists those with the least agreement.
MOST_AGREEMENT_ROWS = 60
# The coefficient that is drawn where several are known: the one of the thesis first.
COEFFICIENT_ORDER = ("free_marginal", "fleiss", "krippendorff", "accuracy")


def agreement_figures(answer: Agreement) -> Sequence[Chart]:
    """Figures 6.4 to 6.6 of the thesis, of the parts that were asked for."""
    figures = []
    if answer.majority is not None:
        for rows, unit in (
            (answer.majority.concepts, "concept"),
            (answer.majority.items, "item"),
        ):
            figures.append(majority_chart(rows, unit))
    if answer.groups is not None:
        figures += group_charts(answer.groups)
    elif answer.categories:
        name = _main_coefficient(nominal_names(answer.coefficients))
        marks = [Marks(r.name, (r.values[name],)) for r in answer.categories if name in r.values]
        figures.append(row_chart(marks, title="Agreement per exclusive group", x=name))
    return figures


def majority_chart(shares: Sequence[MajorityShare], unit: str) -> Chart:
    """The share of annotators on the side of the majority, in both ways of counting."""
    defined = [s for s in shares if all_finite(s.every)]
    ordered = sorted(defined, key=attrgetter("every"))[:MOST_AGREEMENT_ROWS]
    rows = [
        Marks(s.name, (s.every, s.selected) if all_finite(s.selected) else (s.every,))
        for s in ordered
    ]
    return row_chart(
        rows,
        title=f"Agreement with the majority per {unit}",
        x="share of annotators",
        marks=("all", "selected only"),
    )


def agreement_over_time(moments: Sequence[Mapping[str, Any]]) -> Chart:
    """Agreement after so many forms, with a band of its intervals."""
    curve = Curve(
        "Fleiss' kappa",
        tuple((float(m["forms"]), float(m["fleiss"])) for m in moments),
        tuple((float(m["forms"]), float(m["low"]), float(m["high"])) for m in moments),
    )
    last = max((float(m["forms"]) for m in moments), default=1.0)
    lowest = min((float(m["low"]) for m in moments if all_finite(m["low"])), default=0.0)
    return curve_chart(
        [curve],
        title="Agreement over time",
        description=f"Fleiss' kappa of all forms so far, {len(moments)} times, with intervals.",
        x=Axis("forms handed in", "forms", (0.0, last)),
        y=Axis("agreement", "fleiss", (min(0.0, lowest), 1.0)),
    )


def group_charts(groups: GroupAgreement) -> list[Chart]:
    """A mark per group of annotators, and per two groups that speak by their majorities."""
    name = _main_coefficient(groups.coefficients)
    rows = (*groups.within, *groups.between)
    parts = [("Agreement per exclusive group", [g.categories for g in rows])]
    parts.append(("Agreement per concept", [g.concepts for g in rows]))
    figures = []
    for title, tables in parts:
        values = [{r.name: r.values.get(name, float("nan")) for r in table} for table in tables]
        names = [n for n in values[0] if all(all_finite(v.get(n, float("nan"))) for v in values)]
        if names:
            marks = [Marks(n, tuple(v[n] for v in values)) for n in names[:MOST_AGREEMENT_ROWS]]
            figures.append(row_chart(marks, title=title, x=name, marks=_titles(rows)))
    return figures


def _titles(rows: Sequence[GroupRow]) -> tuple[str, ...]:
    return tuple(g.title for g in rows)


def _main_coefficient(names: Sequence[str]) -> str:
    return next((n for n in COEFFICIENT_ORDER if n in names), names[0])


def collected_figures(answer: FormResponses) -> Sequence[Chart]:
    """Figure 6.3 of the thesis: rejections per item, and items per annotator."""
    bad = sorted((i for i in answer.items if i.rejected), key=lambda i: (-i.rejected, i.name))
    figures = [tally_chart(bad, "rejected", "Rejections per item", "item")] if bad else []
    return [*figures, tally_chart(answer.people, "forms", "Items per annotator", "annotator")]


def tally_chart(tallies: Sequence[Tally], count: str, title: str, unit: str) -> Chart:
    """A bar for each name."""
    values = [(t.name, int(getattr(t, count))) for t in tallies]
    return chart(
        title,
        f"{count} of {len(values)} {unit}s, the largest first.",
        column_axis(unit, [name for name, _ in values], unit),
        Axis(count, count),
        [[Bar(k, n, 0, f"{name}: {n}") for k, (name, n) in enumerate(values)]],
    )
