"""Graphs of rankings: effectiveness over all cutoffs, operating characteristics, generality, gain.

Chatzichristofis et al. 2; Rocchio 2B-D; SHREC: average (discounted) cumulated gain.
"""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.evaluation.curves import Curve
from cranfield.evaluation.cutoffs import (
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
from cranfield.lab.studies.generality import Generality
from cranfield.report.charts.curves import UNIT
from cranfield.report.charts.model import Axis, Band, Chart, Dot, Line, Panel, Rule, chart
from cranfield.report.charts.parts import MOST_BANDS, curve_chart, thinned
from cranfield.validation import validate_params

RECALL, PRECISION = Axis("recall", "recall", UNIT), Axis("precision", "precision", UNIT)


@validate_params
def effectiveness(counts: CutoffCounts, *, mean: Mean = "macro") -> Chart:
    """Precision against recall over all cutoffs, not interpolated, with bands for few runs."""
    how = "mean of the topics" if mean == "macro" else "counts of all topics together"
    return curve_chart(
        [_thin(c) for c in effectiveness_curves(counts, mean=mean)],
        title=f"Precision against recall at {len(counts.cutoffs)} cutoffs, {mean}",
        description=f"{len(counts.runs)} runs on {len(counts.topics)} topics, not interpolated, "
        f"{how}; bands: 95 % intervals of precision.",
        x=RECALL,
        y=PRECISION,
    )


@validate_params
def topics(counts: CutoffCounts, run: str | None = None) -> Chart:
    """Precision against recall of every topic of a run, and their mean in bold."""
    name = counts.runs[counts.index_of(run)]
    own = [_thin(c) for c in topic_curves(counts, run)]
    mean = next(c for c in effectiveness_curves(counts) if c.name == name)
    return chart(
        f"Precision against recall of every topic, {name}",
        f"{len(own)} topics of {name}, not interpolated; the strong line is their mean.",
        RECALL,
        PRECISION,
        [
            [Line(c.points, "group", c.name, 1.0) for c in own],
            [Line(_thin(mean).points, "ink", "mean of the topics", 3.0)],
        ],
    )


@validate_params
def cutoffs(counts: CutoffCounts) -> Chart:
    """Precision and recall against the cutoff, side by side."""
    deep = counts.cutoffs[-1] > 100
    few = len(counts.runs) <= MOST_BANDS
    panels = []
    for what in ("precision", "recall"):
        curves = cutoff_curves(counts, "precision" if what == "precision" else "recall")
        kept = [_spread(c) for c in curves]
        bands = tuple(Band(c.band, i, c.name) for i, c in enumerate(kept) if c.band and few)
        lines = tuple(Line(c.points, i, c.name) for i, c in enumerate(kept))
        layers = (bands, lines) if bands else (lines,)
        panels.append(Panel(Axis(f"cutoff ({what})", "cutoff", log=deep), layers, 0.75))
    return Chart(
        "Precision and recall against the cutoff",
        f"Means of {len(counts.runs)} runs over {len(counts.topics)} topics, precision left and "
        "recall right; bands: 95 % intervals.",
        tuple(panels),
        Axis("precision, recall", "value", UNIT),
        counts.runs,
    )


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
                Line(tuple(thinned(c.points)), i, f"{run}: area {c.auc:.4f}")
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
    at = study.measures.index("Generality")
    others = [(j, m) for j, m in enumerate(study.measures) if j != at]
    curves = [
        Curve(
            f"{run}, {m}" if len(others) > 1 else run,
            tuple(
                (float(study.scores[k, i, at]), float(study.scores[k, i, j]))
                for k in range(len(study.sizes))
            ),
        )
        for j, m in others
        for i, run in enumerate(study.runs)
    ]
    shown = ", ".join(m for _, m in others)
    sizes = ", ".join(f"{s:,}" for s in study.sizes)
    return curve_chart(
        curves,
        title=f"{shown} against generality",
        description=f"{len(study.runs)} runs in collections of {sizes} items.",
        x=Axis("generality (relevant items / collection)", "generality", log=True),
        y=Axis(shown, "value"),
    )


@validate_params
def gains(curves: Sequence[Curve], *, gain: str, against: str) -> Chart:
    """Average cumulated gain of runs against the rank, or against recall (SHREC)."""
    named = {"CG": "cumulated gain", "DCG": "discounted cumulated gain"}
    what = named.get(gain.partition("(")[0], gain)
    x = Axis("rank", "rank") if against == "rank" else Axis("recall", "recall", UNIT)
    return curve_chart(
        curves,
        title=f"Average {what} against {against}",
        description=f"The mean {what} ({gain}) of {len(curves)} runs against {against}.",
        x=x,
        y=Axis(f"average {what}", gain),
    )


def _thin(curve: Curve) -> Curve:
    """Fewer points where a curve in the unit square has more than can be seen."""
    points = tuple(thinned(curve.points))
    if len(points) == len(curve.points):
        return curve
    kept = {p[0] for p in points}
    return Curve(curve.name, points, tuple(b for b in curve.band if b[0] in kept))


def _spread(curve: Curve, most: int = 200) -> Curve:
    """Fewer points of a long curve along the ranks: the first hundred, then ever fewer."""
    if len(curve.points) <= most:
        return curve
    last = len(curve.points) - 1
    ratio = (last / 100) ** (1 / (most - 100))
    kept = sorted({*range(100), *(min(last, round(100 * ratio**k)) for k in range(most - 99))})
    band = tuple(curve.band[k] for k in kept) if curve.band else ()
    return Curve(curve.name, tuple(curve.points[k] for k in kept), band)
