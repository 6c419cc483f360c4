"""Graphs of rankings: effectiveness over all cutoffs, operating characteristics, generality, gain.

Chatzichristofis et al. 2; Rocchio 2B-D; SHREC: average (discounted) cumulated gain.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from cranfield.comparison.standings import mean_ranks
from cranfield.comparison.standings import rank_changes as changes_of
from cranfield.errors import UsageError
from cranfield.evaluation.precision_recall import (
    Curve,
    CutoffCounts,
    Mean,
    cutoff_curves,
    detection_curves,
    effectiveness_curves,
    generality_points,
    joint_points,
    operating_curves,
    topic_curves,
)
from cranfield.evaluation.scores import Scores
from cranfield.lab.growing_collections import Generality
from cranfield.lab.rank_curves import Curves
from cranfield.lab.study_input import any_measures
from cranfield.report.charts.curves import (
    MOST_BANDS,
    UNIT,
    curve_chart,
    measure_of,
    thin_points,
    values_of,
)
from cranfield.report.charts.layout import shorten_text
from cranfield.report.charts.model import (
    Axis,
    Band,
    Cell,
    Chart,
    Dot,
    Line,
    Panel,
    Ramp,
    Rule,
    Text,
    all_finite,
    chart,
)
from cranfield.validation import validate_params

RECALL, PRECISION = Axis("recall", "recall", UNIT), Axis("precision", "precision", UNIT)


@validate_params
def effectiveness(counts: CutoffCounts, *, mean: Mean = "macro") -> Chart:
    """Precision against recall over all cutoffs, not interpolated, with bands for few runs."""
    averaging = "mean of the topics" if mean == "macro" else "counts of all topics together"
    return curve_chart(
        [_thin(c) for c in effectiveness_curves(counts, mean=mean)],
        title=f"Precision against recall at {len(counts.cutoffs)} cutoffs, {mean}",
        description=f"{len(counts.runs)} runs on {len(counts.topics)} topics, not interpolated, "
        f"{averaging}; bands: 95 % intervals of precision.",
        x=RECALL,
        y=PRECISION,
    )


@validate_params
def topics(counts: CutoffCounts, run: str | None = None) -> Chart:
    """Precision against recall of every topic of a run, and their mean in bold."""
    name = counts.runs[counts.index_of(run)]
    curves = [_thin(c) for c in topic_curves(counts, run)]
    mean = next(c for c in effectiveness_curves(counts) if c.name == name)
    return chart(
        f"Precision against recall of every topic, {name}",
        f"{len(curves)} topics of {name}, not interpolated; the strong line is their mean.",
        RECALL,
        PRECISION,
        [
            [Line(c.points, "group", c.name, 1.0) for c in curves],
            [Line(_thin(mean).points, "ink", "mean of the topics", 3.0)],
        ],
    )


@validate_params
def cutoffs(counts: CutoffCounts) -> Chart:
    """Precision and recall against the cutoff, side by side."""
    precision, recall = (
        [_spread(c) for c in curves]
        for curves in (cutoff_curves(counts, "precision"), cutoff_curves(counts, "recall"))
    )
    return Chart(
        "Precision and recall against the cutoff",
        f"Means of {len(counts.runs)} runs over {len(counts.topics)} topics, precision left and "
        "recall right; bands: 95 % intervals.",
        _precision_and_recall(precision, recall, "cutoff", log=counts.cutoffs[-1] > 100),
        Axis("precision, recall", "value", UNIT),
        counts.runs,
    )


@validate_params
def thresholds(precision: Sequence[Curve], recall: Sequence[Curve]) -> Chart:
    """Precision and recall of what scores at least a threshold, side by side."""
    return Chart(
        "Precision and recall against the threshold",
        f"Means of {len(precision)} runs where those items are retrieved that score at least so "
        "far up from the lowest to the highest score of the topic, precision left and recall "
        "right; bands: 95 % intervals.",
        _precision_and_recall(precision, recall, "threshold", unit="% of the scores"),
        Axis("precision, recall", "value", UNIT),
        tuple(curve.name for curve in precision),
    )


def _precision_and_recall(
    precision: Sequence[Curve],
    recall: Sequence[Curve],
    across: str,
    *,
    unit: str = "",
    log: bool = False,
) -> tuple[Panel, ...]:
    """A panel for each, with bands where there are few runs."""
    panels = []
    for quantity, curves in (("precision", precision), ("recall", recall)):
        few = len(curves) <= MOST_BANDS
        bands = tuple(Band(c.band, i, c.name) for i, c in enumerate(curves) if c.band and few)
        lines = tuple(Line(c.points, i, c.name) for i, c in enumerate(curves))
        layers = (bands, lines) if bands else (lines,)
        title = f"{across}, {unit} ({quantity})" if unit else f"{across} ({quantity})"
        panels.append(Panel(Axis(title, across, log=log), layers, 0.75))
    return tuple(panels)


@validate_params
def joint(counts: CutoffCounts, cutoff: int, run: str | None = None) -> Chart:
    """Precision and recall of every topic at a cutoff: their joint distribution (Ro 2B)."""
    name = counts.runs[counts.index_of(run)]
    rows = joint_points(counts, cutoff, run)
    mean = [sum(r[1] for r in rows) / len(rows), sum(r[2] for r in rows) / len(rows)]
    few = len(rows) <= 25
    dots = [
        Dot(recall, precision, "accent", f"{t}: {precision:.4f}, {recall:.4f}", t if few else "")
        for t, precision, recall in rows
    ]
    return chart(
        f"Precision and recall of {len(rows)} topics at cutoff {cutoff}, {name}",
        f"A dot for each topic of {name}; the lines cross at the means, precision {mean[0]:.4f} "
        f"and recall {mean[1]:.4f}.",
        RECALL,
        PRECISION,
        [
            [
                Rule(mean[1], None, mean[1], None, "quiet", f"mean recall {mean[1]:.4f}", 1, True),
            ],
            [Rule(None, mean[0], None, mean[0], "quiet", f"mean {mean[0]:.4f}", 1, True)],
            dots,
        ],
        square=True,
    )


@validate_params
def operating(counts: CutoffCounts, *, mean: Mean = "macro") -> Chart:
    """Relative operating characteristic of rankings: recall against fallout, with areas."""
    curves = operating_curves(counts, mean=mean)
    return chart(
        f"Relative operating characteristic, {mean}",
        f"Recall against fallout of {len(curves)} runs in a collection of "
        f"{counts.collection_size} items over all cutoffs; items not retrieved come last.",
        Axis("fallout", "fallout", UNIT),
        RECALL,
        [
            [Rule(0, 0, 1, 1, "quiet", "by chance", 1, True)],
            [
                Line(tuple(thin_points(c.points)), i, f"{run}: area {c.auc:.4f}")
                for i, (run, c) in enumerate(curves.items())
            ],
        ],
        series=tuple(f"{run} (area {c.auc:.3f})" for run, c in curves.items()),
        square=True,
    )


@validate_params
def detections(counts: CutoffCounts) -> Chart:
    """Receiver operating characteristic in counts: detections against false alarms (Ch 2)."""
    return curve_chart(
        [_spread(c) for c in detection_curves(counts)],
        title="Detections against false alarms",
        description=f"Relevant and other items that {len(counts.runs)} runs have found at every "
        f"cutoff, means of {len(counts.topics)} topics.",
        x=Axis("false alarms", "false_alarms"),
        y=Axis("detections", "detections"),
    )


@validate_params
def generality(counts: CutoffCounts, run: str | None = None, *, scope: float = 1.0) -> Chart:
    """Precision and recall of every topic against its generality, at a normalised scope."""
    name = counts.runs[counts.index_of(run)]
    rows = generality_points(counts, run, scope=scope)
    same = scope == 1
    layers = [[Dot(p.generality, p.precision, 0, f"{p.topic}: {p.precision:.4f}") for p in rows]]
    if not same:
        layers.append([Dot(p.generality, p.recall, 1, f"{p.topic}: {p.recall:.4f}") for p in rows])
    names = ("precision = recall",) if same else ("precision", "recall")
    return chart(
        f"Precision and recall against generality at scope {scope:g}, {name}",
        f"{len(rows)} topics of {name}; {scope:g} times as many items as are relevant are looked "
        f"at, in a collection of {counts.collection_size}.",
        Axis("generality (relevant items / collection)", "generality", log=True),
        Axis("precision, recall", "value", UNIT),
        layers,
        series=names,
        of="part",
    )


@validate_params
def generality_sizes(study: Generality) -> Chart:
    """Measures against generality while the collection grows: a study with Generality in it.

    With Rprec this is the graph of Huijsmans and Sebe at normalised scope 1, where precision and
    recall are equal; every run has a line.
    """
    generality_column = study.measures.index("Generality")
    others = [(j, m) for j, m in enumerate(study.measures) if j != generality_column]
    curves = [
        Curve(
            f"{run}, {m}" if len(others) > 1 else run,
            tuple(
                (float(study.scores[k, i, generality_column]), float(study.scores[k, i, j]))
                for k in range(len(study.sizes))
            ),
        )
        for j, m in others
        for i, run in enumerate(study.runs)
    ]
    measure_names = ", ".join(m for _, m in others)
    sizes = ", ".join(f"{s:,}" for s in study.sizes)
    return curve_chart(
        curves,
        title=f"{measure_names} against generality",
        description=f"{len(study.runs)} runs in collections of {sizes} items.",
        x=Axis("generality (relevant items / collection)", "generality", log=True),
        y=Axis(measure_names, "value"),
    )


@validate_params
def gains(curves: Sequence[Curve], *, gain: str, against: str) -> Chart:
    """Average cumulated gain of runs against the rank, or against recall (SHREC)."""
    gain_names = {"CG": "cumulated gain", "DCG": "discounted cumulated gain"}
    gain_name = gain_names.get(gain.partition("(")[0], gain)
    x = Axis("rank", "rank") if against == "rank" else Axis("recall", "recall", UNIT)
    return curve_chart(
        curves,
        title=f"Average {gain_name} against {against}",
        description=f"The mean {gain_name} ({gain}) of {len(curves)} runs against {against}.",
        x=x,
        y=Axis(f"average {gain_name}", gain),
    )


def _thin(curve: Curve) -> Curve:
    """Fewer points where a curve in the unit square has more than can be seen."""
    points = tuple(thin_points(curve.points))
    if len(points) == len(curve.points):
        return curve
    xs = {p[0] for p in points}
    return Curve(curve.name, points, tuple(b for b in curve.band if b[0] in xs))


def _spread(curve: Curve, max_points: int = 200) -> Curve:
    """Fewer points of a long curve along the ranks: the first hundred, then ever fewer."""
    if len(curve.points) <= max_points:
        return curve
    last = len(curve.points) - 1
    ratio = (last / 100) ** (1 / (max_points - 100))
    positions = sorted(
        {*range(100), *(min(last, round(100 * ratio**k)) for k in range(max_points - 99))}
    )
    band = tuple(curve.band[k] for k in positions) if curve.band else ()
    return Curve(curve.name, tuple(curve.points[k] for k in positions), band)


MOST_LABELLED = 25  # dots of topics beyond that have no names
NAME_ROOM = 130  # for the name of a run at either end of its line


@validate_params
def rank_changes(scores: Scores, x: str, y: str) -> Chart:
    """The ranks of runs under two measures, joined by lines (No, Figure 9.1)."""
    changes = changes_of(scores, measure_of(scores, x), measure_of(scores, y))
    count = len(changes.runs)
    first, second = changes.measures
    lines = [
        Line(
            ((0.0, row.first - 1.0), (1.0, row.second - 1.0)),
            "good" if row.second < row.first else "bad" if row.second > row.first else "quiet",
            f"{row.run}: rank {row.first}, then {row.second}",
        )
        for row in changes.runs
    ]
    names = [
        Text(-0.03, row.first - 1.0, shorten_text(row.run, NAME_ROOM), "end")
        for row in changes.runs
    ]
    places = [
        Text(1.03, row.second - 1.0, shorten_text(row.run, NAME_ROOM)) for row in changes.runs
    ]
    return chart(
        f"Ranks of {count} runs by {first} and by {second}",
        f"Each line is a run; blue: a better rank under {second}, orange: a worse one. Kendall's "
        f"tau {changes.tau:.4f}.",
        Axis(f"{first} (left), {second} (right)", "measure", (-0.9, 1.9), marked=False),
        Axis("rank", "rank", names=tuple(str(k) for k in range(1, count + 1))),
        [lines, names, places],
    )


@validate_params
def critical_difference(
    scores: Scores, measure: str | None = None, *, alpha: float = 0.05
) -> Chart:
    """Mean ranks over topics; bars join runs that Nemenyi's test cannot tell apart."""
    m = measure_of(scores, measure)
    ranks = mean_ranks(scores, m, alpha=alpha)
    dots = [
        Dot(rank, k, "accent", f"{run}: mean rank {rank:.3f}")
        for k, (run, rank) in enumerate(ranks.runs)
    ]
    bars = [
        Rule(ranks.runs[a][1] - 0.02, k, ranks.runs[b][1] + 0.02, k, "ink", width=4)
        for a, b in ranks.groups
        for k in [(a + b) / 2]
    ]
    stems = [
        Rule(ranks.runs[e][1], e, ranks.runs[e][1], (a + b) / 2, "quiet", width=0.7)
        for a, b in ranks.groups
        for e in (a, b)
    ]
    return chart(
        f"Mean ranks by {m}, critical difference {ranks.difference:.3f}",
        f"{len(ranks.runs)} runs on {ranks.units} {scores.unit_of[m]}s, the best first. Runs "
        f"under one bar differ by less than {ranks.difference:.3f} and cannot be told apart "
        f"(Nemenyi, alpha {ranks.alpha:g}).",
        Axis("mean rank", "rank"),
        Axis("", "run", names=tuple(run for run, _ in ranks.runs)),
        [stems, bars, dots],
    )


@validate_params
def against(scores: Scores, run: str, other: str, measure: str | None = None) -> Chart:
    """A run against another, a dot for each topic, item or concept."""
    m = measure_of(scores, measure)
    values, unit = values_of(scores, m), scores.unit_of[m]
    a, b = values[scores.index_of(run)], values[scores.index_of(other)]
    return _pairs(
        scores.units[unit],
        [(float(p), float(q)) for p, q in zip(b, a, strict=True)],
        f"{m} of {run} against {other}, {unit} by {unit}",
        (f"{m} of {other}", f"{m} of {run}"),
        f"Above the broken line {run} has the higher value.",
    )


@validate_params
def units(scores: Scores, x: str, y: str, runs: Sequence[str] = ()) -> Chart:
    """Topics, items or concepts under two measures, for some runs (No, Figures 9.4 and 9.5)."""
    first, second = measure_of(scores, x), measure_of(scores, y)
    unit = scores.unit_of[first]
    if scores.unit_of[second] != unit:
        raise UsageError(f"{first} is of {unit}s and {second} of {scores.unit_of[second]}s")
    selected = list(runs) or [scores.runs[0]]
    groups = []
    for k, run in enumerate(selected):
        i = scores.index_of(run)
        pairs = zip(
            scores.units[unit],
            values_of(scores, first)[i].tolist(),
            values_of(scores, second)[i].tolist(),
            strict=True,
        )
        groups.append([Dot(a, b, k, f"{run}, {n}: {a:.4f}, {b:.4f}") for n, a, b in pairs])
    count = len(scores.units[unit])
    return chart(
        f"{second} against {first} of {count} {unit}s",
        f"A dot for each {unit} of {', '.join(selected)}; on the broken line both measures agree.",
        Axis(str(first), "x", _unit_range(first.range, second.range)),
        Axis(str(second), "y", _unit_range(first.range, second.range)),
        [[_diagonal([v for group in groups for d in group for v in (d.x, d.y)])], *groups],
        series=tuple(selected),
        square=True,
    )


def _pairs(
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
    title: str,
    axes: tuple[str, str],
    remark: str,
) -> Chart:
    defined = [(n, a, b) for n, (a, b) in zip(names, points, strict=True) if all_finite(a, b)]
    few = len(defined) <= MOST_LABELLED
    return chart(
        title,
        f"{len(defined)} dots. {remark}",
        Axis(axes[0], "x"),
        Axis(axes[1], "y"),
        [
            [_diagonal([v for _, a, b in defined for v in (a, b)])],
            [
                Dot(a, b, "accent", f"{n}: {a:.4f}, {b:.4f}", n if few else "")
                for n, a, b in defined
            ],
        ],
        square=True,
    )


def _diagonal(values: Sequence[float]) -> Rule:
    """Where both are equal, from the least to the greatest of all values."""
    finite = [v for v in values if all_finite(v)] or [0.0, 1.0]
    return Rule(min(finite), min(finite), max(finite), max(finite), "quiet", "equal", 1, True)


def _unit_range(
    first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float] | None:
    return (-0.03, 1.03) if first == second == (0.0, 1.0) else None


LOGARITHMIC_FROM = 1000


def as_loss(name: str) -> tuple[str, float, float]:
    """How a measure is drawn so that low is good: its name, and value = a + b * original.

    >>> as_loss("AP"), as_loss("NMRR")
    (('1 - AP', 1.0, -1.0), ('NMRR', 0.0, 1.0))
    """
    (measure,) = any_measures(name)
    if measure.higher_is_better and measure.range == (0.0, 1.0):
        return f"1 - {name}", 1.0, -1.0
    return name, 0.0, 1.0


@validate_params
def one_relevant(studies: Sequence[Curves], *, low_is_good: bool = True) -> Chart:
    """Values against the rank of one relevant item (Figures 1 and 5); several sizes: Figure 6."""
    _check(studies, 1)
    sizes = [s.size for s in studies]
    curves = []
    for study in studies:
        for j, name in enumerate(study.measures):
            measure_label, a, b = as_loss(name) if low_is_good else (name, 0.0, 1.0)
            label = measure_label if len(studies) == 1 else f"{measure_label}, N = {study.size:,}"
            points = ((float(r[0]), a + b * float(study.values[k, j])) for k, r in _rows(study))
            curves.append(Curve(label, tuple(points)))
    among = ", ".join(f"{size:,}" for size in sizes)
    return curve_chart(
        curves,
        title=f"One relevant item among {among}",
        description=f"The values of measures when the one relevant item of {among} stands at "
        "each rank.",
        x=Axis("rank of the relevant item", "rank", log=max(sizes) > LOGARITHMIC_FROM),
        y=Axis("value" + (", low is good" if low_is_good else ""), "value"),
        of="measure",
    )


@validate_params
def combined_ranks(study: Curves, *, low_is_good: bool = True) -> Chart:
    """Values of all placements of two items in the order of the paper (Figures 2 and 7).

    The combined rank counts the pairs (j, i) by the rank i of the later item, then by j.
    """
    _check([study], 2)
    curves = []
    for column, name in enumerate(study.measures):
        label, a, b = as_loss(name) if low_is_good else (name, 0.0, 1.0)
        ordered = sorted((r[1], r[0], float(study.values[k, column])) for k, r in _rows(study))
        points = tuple((float(n), a + b * v) for n, (_, _, v) in enumerate(ordered, 1))
        curves.append(Curve(label, points))
    return curve_chart(
        curves,
        title=f"Two relevant items among {study.size:,}: every combined rank",
        description=f"The values of measures at the {len(study.ranks)} placements of two relevant "
        f"items among {study.size:,}.",
        x=Axis("combined rank", "combined_rank"),
        y=Axis("value" + (", low is good" if low_is_good else ""), "value"),
        of="measure",
    )


@validate_params
def surface(study: Curves, name: str | None = None, *, low_is_good: bool = True) -> Chart:
    """The value of a measure for both ranks as colour (Figures 3 and 8), with curves A and B.

    A is the best case, the later item right behind the earlier; B the worst, the later item last.
    """
    label, values = surface_values(study, name, low_is_good=low_is_good)
    ranks = sorted({rank for pair in study.ranks for rank in pair})
    position = {rank: k for k, rank in enumerate(ranks)}
    names = tuple(map(str, ranks))
    last = len(ranks) - 1
    cells = [
        Cell(position[i], position[j], value, said=f"ranks {j} and {i}: {value:.4f}")
        for (j, i), value in values.items()
    ]
    best = tuple((float(k + 1), float(k)) for k in range(last))
    worst = tuple((float(last), float(k)) for k in range(last))
    return chart(
        f"{label} of two relevant items among {study.size:,}",
        f"The value of {label} where one relevant item stands at rank j and the other at rank i. "
        "Curve A: i = j + 1; curve B: i is the last rank.",
        Axis("rank of the later item, i", "i", names=names),
        Axis("rank of the earlier item, j", "j", names=names[:-1]),
        [
            cells,
            [Line(best, "bad", "A: i = j + 1"), Line(worst, "bad", "B: i is the last rank")],
            [Text(last / 2, last / 2 + 0.6, "A"), Text(last + 0.7, last / 2, "B")],
        ],
        ramp=Ramp(label, min(0.0, *values.values()), max(1.0, *values.values())),
    )


def surface_values(
    study: Curves, name: str | None, *, low_is_good: bool
) -> tuple[str, dict[tuple[int, int], float]]:
    """What a surface shows, and its value for each (earlier rank, later rank)."""
    _check([study], 2)
    measure = name or study.measures[0]
    if measure not in study.measures:
        raise UsageError(f"no values of {measure!r} (measures: {', '.join(study.measures)})")
    column = study.measures.index(measure)
    label, a, b = as_loss(measure) if low_is_good else (measure, 0.0, 1.0)
    pairs = ((r[0], r[1]) for r in study.ranks)
    values = a + b * study.values[:, column]
    return label, dict(zip(pairs, map(float, values), strict=True))


@validate_params
def surface_edges(study: Curves, *, low_is_good: bool = True) -> Chart:
    """The values along curves A and B of the surface against the rank of the earlier item."""
    _check([study], 2)
    ranks = sorted({rank for pair in study.ranks for rank in pair})
    rows = {r: k for k, r in _rows(study)}
    curves = []
    for column, name in enumerate(study.measures):
        label, a, b = as_loss(name) if low_is_good else (name, 0.0, 1.0)
        edges = {
            "A": list(itertools.pairwise(ranks)),
            "B": [(j, ranks[-1]) for j in ranks[:-1]],
        }
        for letter, pairs in edges.items():
            points = ((float(j), a + b * float(study.values[rows[j, i], column])) for j, i in pairs)
            curves.append(Curve(f"{label}, curve {letter}", tuple(points)))
    return curve_chart(
        curves,
        title=f"Best and worst case of two relevant items among {study.size:,}",
        description="Curve A: the later item right behind the earlier one; curve B: the later "
        "item at the last rank.",
        x=Axis("rank of the earlier item, j", "j"),
        y=Axis("value" + (", low is good" if low_is_good else ""), "value"),
        of="measure",
    )


@validate_params
def envelope(study: Curves, *, low_is_good: bool = True) -> Chart:
    """The values against the rank of the later item, the earlier one first or right before it.

    These are the two curves of Figure 4, between which all placements lie.
    """
    _check([study], 2)
    ranks = sorted({rank for pair in study.ranks for rank in pair})
    rows = {r: k for k, r in _rows(study)}
    curves = []
    for column, name in enumerate(study.measures):
        label, a, b = as_loss(name) if low_is_good else (name, 0.0, 1.0)
        edges = {
            f"j = {ranks[0]}": [(ranks[0], i) for i in ranks[1:]],
            "j right before i": list(itertools.pairwise(ranks)),
        }
        for words, pairs in edges.items():
            points = ((float(i), a + b * float(study.values[rows[j, i], column])) for j, i in pairs)
            curves.append(Curve(f"{label}, {words}", tuple(points)))
    return curve_chart(
        curves,
        title=f"Two relevant items among {study.size:,}: between which values all lie",
        description="The values of measures against the rank i of the later item, where the "
        "earlier one stands first, and where it stands right before the later one.",
        x=Axis("rank of the later item, i", "i"),
        y=Axis("value" + (", low is good" if low_is_good else ""), "value"),
        of="measure",
    )


def _check(studies: Sequence[Curves], relevant: int) -> None:
    if not studies or any(len(s.ranks[0]) != relevant for s in studies):
        raise UsageError(f"this chart is of {relevant} relevant items: curves(relevant={relevant})")


def _rows(study: Curves) -> list[tuple[int, tuple[int, ...]]]:
    return list(enumerate(study.ranks))
