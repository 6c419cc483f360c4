"""Curves and values: recall, ROC, behaviour along ranks, heat maps; and what builders share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError, suggest
from cranfield.evaluation.category_votes import UncertainScores
from cranfield.evaluation.precision_recall import (
    Curve,
    Roc,
    behaviour_curves,
    recall_curves,
    roc_curves,
)
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure
from cranfield.report.charts.layout import MANY
from cranfield.report.charts.model import (
    Axis,
    Band,
    Bar,
    Cell,
    Chart,
    Dot,
    Line,
    Ramp,
    Rule,
    Style,
    all_finite,
    chart,
)
from cranfield.validation import validate_params

MOST_POINTS = 200
MOST_DOTS = 30  # on a line: beyond that they run together
MOST_NAMES = 80  # of columns: beyond that there is no room for names
MOST_BANDS = 12  # beyond that they hide each other


def measure_of(scores: Scores, measure: str | None) -> Measure:
    """A measure of the scores by name; the first one without a name."""
    if measure is None:
        return scores.measures[0]
    for known_measure in scores.measures:
        if str(known_measure) == measure:
            return known_measure
    names = [str(m) for m in scores.measures]
    raise UsageError(f"no scores for {measure!r}.{suggest(measure, names)}")


def values_of(scores: Scores, measure: Measure) -> Any:
    """The values per topic, item or concept, or a UsageError where there are none."""
    if measure not in scores.values or scores.unit_of[measure] == "whole":
        raise UsageError(f"{measure} has no values per topic, item or concept to draw")
    return scores.values[measure]


def thin_points(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `MOST_POINTS` points of a curve in the unit square, spread evenly, ends included."""
    if len(points) <= MOST_POINTS:
        return list(points)
    selected, step = [points[0]], 2 / (MOST_POINTS - 2)
    for point in points[1:-1]:
        if abs(point[0] - selected[-1][0]) + abs(point[1] - selected[-1][1]) >= step:
            selected.append(point)
    return [*selected, points[-1]]


def column_axis(title: str, names: Iterable[str], field: str) -> Axis:
    """Names across; where they are too many the title says how many there are."""
    labels = tuple(names)
    readable = len(labels) <= MOST_NAMES
    count = "" if readable else f" ({len(labels)})"
    return Axis(f"{title}{count}", field, names=labels, shown=readable)


def heat_ramp(title: str, values: Iterable[float], *, reverse: bool = False) -> Ramp:
    """A ramp from the least to the greatest value."""
    finite = [v for v in values if all_finite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    return Ramp(title, low, high, "heat", reverse)


def curve_chart(
    curves: Sequence[Curve],
    *,
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    of: str = "run",
    bands: bool = True,
    **options: Any,
) -> Chart:
    """Curves in one plot, named in a legend; bands where they are few enough to be seen."""
    with_bands = bands and len(curves) <= MOST_BANDS
    dotted = len(curves) <= MANY and all(len(c.points) <= MOST_DOTS for c in curves)
    return chart(
        title,
        description,
        x,
        y,
        [
            [Band(c.band, i, c.name) for i, c in enumerate(curves) if c.band] if with_bands else [],
            [Line(c.points, i, c.name, dots=dotted) for i, c in enumerate(curves)],
        ],
        series=tuple(c.name for c in curves),
        of=of,
        **options,
    )


def named_dots(names: Sequence[str], xs: Iterable[float], ys: Iterable[float]) -> list[Dot]:
    """A labelled dot for each name."""
    return [
        Dot(float(a), float(b), "accent", f"{name}: {a:.4g}, {b:.4g}", name)
        for name, a, b in zip(names, xs, ys, strict=True)
    ]


UNIT = (0.0, 1.0)


@validate_params
def precision_recall(scores: Scores, *, confidence: float = 0.95) -> Chart:
    """Interpolated precision at eleven levels of recall, with a band for each run.

    The scores are those of `RECALL_MEASURES`; the band is Student's interval of each mean.
    """
    return recall_chart(recall_curves(scores, confidence=confidence), confidence=confidence)


def recall_chart(
    curves: Sequence[Curve], *, confidence: float = 0.95, topic: str | None = None
) -> Chart:
    """Curves of precision over recall in one plot, of means or of one topic."""
    about = "Mean interpolated" if topic is None else f"Topic {topic}: interpolated"
    bands = f", with bands of {100 * confidence:g} %" if any(c.band for c in curves) else ""
    return curve_chart(
        curves,
        title="Precision at eleven levels of recall" + ("" if topic is None else f", {topic}"),
        description=f"{about} precision of {len(curves)} runs at eleven levels of recall{bands}.",
        x=Axis("recall", "recall", UNIT),
        y=Axis("precision", "precision", UNIT),
    )


def vote_charts(scores: UncertainScores) -> tuple[Chart, ...]:
    """Expected precision and recall by depth under votes, with bands of nine tenths."""
    charts = []
    for what in ("precision", "recall"):
        rows = [(b.run, b.k, *getattr(b, what)) for b in scores.bands]
        curves = [
            Curve(
                run,
                tuple((float(k), mean) for name, k, mean, *_ in rows if name == run),
                tuple((float(k), low, high) for name, k, _, low, high in rows if name == run),
            )
            for run in scores.runs
        ]
        chart_of = curve_chart(
            curves,
            title=f"Expected {what} by depth",
            description=f"Expected {what} of {len(curves)} runs in the first items under the votes "
            "of people, means over topics, with bands of nine tenths of the chances.",
            x=Axis("items looked at", "k"),
            y=Axis(what, what),
        )
        charts.append(chart_of)
    return tuple(charts)


@validate_params
def roc(truth: LabelMatrix, runs: Iterable[LabelMatrix], concept: str | None = None) -> Chart:
    """ROC of runs that are aligned to the truth: one concept, or all decisions pooled."""
    scope = f"concept {concept}" if concept else "all items and concepts pooled"
    return roc_chart(roc_curves(truth, runs, concept), scope)


def roc_chart(curves: Mapping[str, Roc], scope: str) -> Chart:
    """ROC curves in one square, with the points of equal error as dots."""
    return chart(
        f"ROC, {scope}",
        f"True against false positives of {len(curves)} runs over all thresholds, {scope}; the "
        "dots are the points of equal error.",
        Axis("false positive rate", "fpr", UNIT),
        Axis("true positive rate", "tpr", UNIT),
        [
            [Rule(0, 1, 1, 0, dashed=True, width=1, style="quiet")],
            [
                Line(tuple(thin_points(c.points)), i, f"{run}: area {c.auc:.4f}")
                for i, (run, c) in enumerate(curves.items())
            ],
            [
                Dot(c.eer, 1 - c.eer, i, f"{run}: equal error rate {c.eer:.4f}")
                for i, (run, c) in enumerate(curves.items())
            ],
        ],
        series=tuple(f"{run} (EER {c.eer:.3f})" for run, c in curves.items()),
        square=True,
    )


@validate_params
def behaviour(
    measures: str | Iterable[str | Measure], *, size: int = 100, relevant: int = 1
) -> Chart:
    """What measures say when one relevant item moves over all ranks of a collection."""
    others = "" if relevant == 1 else f"; {relevant - 1} more not retrieved"
    return curve_chart(
        behaviour_curves(measures, size=size, relevant=relevant),
        title="A measure against the rank of one relevant item",
        description=f"The value of each measure when one relevant item stands at rank 1 to "
        f"{size + 1 - relevant} of {size}{others}.",
        x=Axis("rank of the relevant item", "rank"),
        y=Axis("value", "value"),
        of="measure",
    )


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


MOST_LABELLED = 60  # dots
Join: TypeAlias = tuple[Sequence[str], Sequence[str], float]


@dataclass(frozen=True, slots=True)
class Marks:
    """A row of a chart: one mark for each of its values, and an interval where there is one."""

    name: str
    values: Sequence[float]
    interval: tuple[float, float] | None = None


def line_chart(
    curves: Sequence[Curve], *, title: str, x: str, y: str, logarithmic: bool = False, of: str = ""
) -> Chart:
    """Lines over a common axis; a band without a line has its ends drawn."""
    return curve_chart(
        [c if c.points else _ends_of_band(c) for c in curves],
        title=title,
        description=f"{y} against {x}: {', '.join(c.name for c in curves)}.",
        x=Axis(x, "x", log=logarithmic),
        y=Axis(y, "y"),
        of=of or "line",
    )


def _ends_of_band(curve: Curve) -> Curve:
    """The outline of a band as one line: there along its lower end, back along the upper."""
    known_band = [p for p in curve.band if all_finite(*p)]
    lower = [(p[0], p[1]) for p in known_band]
    upper = [(p[0], p[2]) for p in reversed(known_band)]
    return Curve(curve.name, (*lower, *upper), curve.band)


def dot_chart(
    groups: Mapping[str, Sequence[tuple[str, float, float]]], *, title: str, x: str, y: str
) -> Chart:
    """Named dots in groups: (name, x, y)."""
    count = sum(len(g) for g in groups.values())
    # Beside other groups, or among many, names would hide what there is to see.
    with_labels = len(groups) == 1 and count <= MOST_LABELLED
    layers = [
        [
            Dot(float(a), float(b), i, f"{name}: {a:.4g}, {b:.4g}", name if with_labels else "")
            for name, a, b in group
        ]
        for i, group in enumerate(groups.values())
    ]
    return chart(
        title,
        f"{y} against {x} of {count} runs.",
        Axis(x, "x"),
        Axis(y, "y"),
        layers[::-1],  # the first group is the one to look at: it lies on top
        series=tuple(groups) if len(groups) > 1 else (),
        of="group",
    )


def row_chart(rows: Sequence[Marks], *, title: str, x: str, marks: Sequence[str] = ("",)) -> Chart:
    """A row for each name, with marks along one axis and an interval as a line."""
    series = tuple(m for m in marks if m)
    return chart(
        title,
        f"{x} of {', '.join(r.name for r in rows)}.",
        Axis(x, "value"),
        Axis("", "name", names=tuple(r.name for r in rows)),
        [
            [
                Rule(r.interval[0], k, r.interval[1], k)
                for k, r in enumerate(rows)
                if r.interval is not None and all_finite(*r.interval)
            ],
            [
                Dot(float(v), k, i, f"{r.name}{', ' + marks[i] if marks[i] else ''}: {v:.4g}")
                for k, r in enumerate(rows)
                for i, v in enumerate(r.values)
            ],
        ],
        series=series,
        of="mark",
    )


def tree_chart(joins: Sequence[Join], *, title: str, x: str) -> Chart:
    """A dendrogram: every join has its two groups of names and the distance between them."""
    last = joins[-1]
    order = leaf_order(joins, (*last[0], *last[1]))
    return chart(
        title,
        f"{len(order)} names, joined by {x}.",
        Axis(x, "distance", (0.0, 1.04 * max(*(j[2] for j in joins), 1e-12))),
        Axis("", "name", names=tuple(order)),
        [tree_lines(joins, order)],
    )


def tree_lines(joins: Sequence[Join], order: Sequence[str]) -> list[Line]:
    """The lines of a dendrogram, distances across, leaves at 0, 1, ... upward."""
    stems = {frozenset([name]): (0.0, float(k)) for k, name in enumerate(order)}
    lines = []
    for first, second, distance in joins:
        (x0, y0), (x1, y1) = stems[frozenset(first)], stems[frozenset(second)]
        path = ((x0, y0), (distance, y0), (distance, y1), (x1, y1))
        lines.append(Line(path, "accent", f"{distance:.4f}"))
        stems[frozenset((*first, *second))] = (distance, (y0 + y1) / 2)
    return lines


def leaf_order(joins: Sequence[Join], group: Sequence[str]) -> list[str]:
    """The names of a group so that no two branches of the tree cross."""
    parts = {frozenset((*j[0], *j[1])): (j[0], j[1]) for j in joins}
    order, waiting = [], [tuple(group)]
    while waiting:
        names = waiting.pop()
        if len(names) == 1:
            order.append(names[0])
            continue
        first, second = parts[frozenset(names)]
        waiting += [tuple(second), tuple(first)]
    return order


def grid_chart(
    rows: Mapping[str, Sequence[str]],
    columns: Sequence[str],
    fills: Mapping[str, Style],
    *,
    title: str,
) -> Chart:
    """A table of words in coloured cells; `fills` has the style of each word."""
    return chart(
        title,
        f"{', '.join(fills)} for {', '.join(rows)}.",
        Axis("", "column", names=tuple(columns), top=True),
        Axis("", "name", names=tuple(rows)),
        [
            [
                Cell(k, r, text=word, style=fills[word], said=f"{name}, {columns[k]}: {word}")
                for r, (name, words) in enumerate(rows.items())
                for k, word in enumerate(words)
            ]
        ],
    )


@validate_params
def heatmap(scores: Scores, measure: str | None = None) -> Chart:
    """Runs by topics: which topics are hard for all runs, and which runs succeed there?"""
    m = measure_of(scores, measure)
    values, unit = values_of(scores, m), scores.unit_of[m]
    order = scores.best_first(m)
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
