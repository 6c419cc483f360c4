"""What the result of each study looks like: charts for its report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from cranfield.campaign.surveys.votes import Choices, Preferences
from cranfield.evaluation.precision_recall import Curve
from cranfield.lab.growing_collections import Generality
from cranfield.lab.measure_correlation import Correlations, Join
from cranfield.lab.measure_requirements import Requirements
from cranfield.lab.planning import CampaignPlan
from cranfield.lab.rank_curves import Curves
from cranfield.lab.ranking_stability import Stability
from cranfield.lab.reusability import Reusability
from cranfield.lab.synthetic_runs import RandomStudy
from cranfield.report.charts.curves import (
    Marks,
    curve_chart,
    dot_chart,
    grid_chart,
    line_chart,
    row_chart,
    tree_chart,
)
from cranfield.report.charts.model import Axis, Chart, Style
from cranfield.report.charts.rankings import (
    LOGARITHMIC_FROM,
    combined_ranks,
    one_relevant,
    surface,
)

MOST_SCATTERS = 10
MOST_RANKS = 60  # of a surface: beyond that its cells are too small
CHANGES = {
    "noise": ("Flipped truth", "share of the truth flipped, %"),
    "judgements": ("Incomplete truth", "share of the judgements dropped, %"),
    "units": ("Fewer topics, items or concepts", "share of them dropped, %"),
}
FILLS: dict[str, Style] = {"yes": "g11", "no": "g4", "people": "panel"}


@singledispatch
def figures(_: Any) -> Sequence[Chart]:
    """The charts of a study's result; one whose tables say it all has none."""
    return ()


def _build_chart(title: str, draw: Callable[..., Chart], *data: Any, **options: Any) -> Chart:
    return draw(*data, title=title, **options)


@figures.register
def _plan(result: CampaignPlan) -> Sequence[Chart]:
    return [power_chart(result)] if any(p.curve for p in result.plans) else ()


def power_chart(plan: CampaignPlan) -> Chart:
    """The power by the number of topics, a curve for each measure."""
    curves = [
        Curve(p.measure, tuple((float(c.topics), c.power) for c in p.curve)) for p in plan.plans
    ]
    last = max((x for curve in curves for x, _ in curve.points), default=1.0)
    return curve_chart(
        curves,
        title=f"Power to see a difference of {plan.difference:g}",
        description=f"The share of campaigns that find it, by {plan.test} with {plan.correction}.",
        x=Axis("topics or items", "topics", (0.0, last)),
        y=Axis("power", "power", (0.0, 1.0)),
        of="measure",
    )


@figures.register
def _correlations(result: Correlations) -> Sequence[Chart]:
    charts = []
    for tree, basis in (
        (result.tree, "by the ranking of runs"),
        (result.within_tree, "within runs, by the ranking of topics, items or concepts"),
    ):
        if tree:
            joins = [_join_tuple(join) for join in tree]
            title = f"Measures that are alike, {basis}"
            charts.append(_build_chart(title, tree_chart, joins, x="1 - tau (average linkage)"))
    column = {m: result.scores[:, j] for j, m in enumerate(result.measures)}
    shortened = len(result.pairs) > MOST_SCATTERS
    for number, pair in enumerate(result.pairs[:MOST_SCATTERS], 1):
        dots = list(zip(result.runs, column[pair.a], column[pair.b], strict=True))
        title = f"{pair.b} against {pair.a} (tau {pair.kendall:.3f})"
        title += f": pair {number} of {len(result.pairs)}" if shortened else ""
        charts.append(_build_chart(title, dot_chart, {"runs": dots}, x=pair.a, y=pair.b))
    return charts


def _join_tuple(join: Join) -> tuple[tuple[str, ...], tuple[str, ...], float]:
    return join.left, join.right, join.distance


@figures.register
def _stability(result: Stability) -> Sequence[Chart]:
    charts = []
    for change, (title, x) in CHANGES.items():
        stages = [s for s in result.stages if s.change == change]
        lines = []
        for measure in result.measures:
            of_measure = [s for s in stages if s.measure == measure]
            band = [(100 * s.share, *s.original_ends) for s in of_measure]
            lines.append(
                Curve(measure, tuple((100 * s.share, s.original) for s in of_measure), tuple(band))
            )
        if stages:
            lines = [line for line in lines if any(math.isfinite(p[1]) for p in line.points)]
            heading = f"{title}: tau to the original ranking, with the range of the repetitions"
            charts.append(_build_chart(heading, line_chart, lines, x=x, y="tau"))
    lines = [
        Curve(s.measure, tuple((start, wrong / count) for start, count, wrong in s.bins if count))
        for s in result.swaps
    ]
    if lines:
        title = "Swap rate by the difference seen in one half"
        charts.append(_build_chart(title, line_chart, lines, x="difference", y="share that swaps"))
    return charts


@figures.register
def _random(result: RandomStudy) -> Sequence[Chart]:
    charts = []
    kinds = [k for k in ("real", "random", "over") if any(r.kind == k for r in result.runs)]
    labels = {"real": "real runs", "random": "random runs", "over": "real, labels added"}
    with_density = all(r.density is not None for r in result.runs)
    for j, measure in enumerate(result.measures):
        of_kind = {
            kind: [
                (r, float(s))
                for r, s in zip(result.runs, result.scores[:, j], strict=True)
                if r.kind == kind
            ]
            for kind in kinds
        }
        if with_density:
            groups = {
                labels[k]: [(r.name, r.density, s) for r, s in scored]
                for k, scored in of_kind.items()
            }
            title = f"{measure} against label density"
            charts.append(_build_chart(title, dot_chart, groups, x="label density", y=measure))
        else:
            rows = [Marks(r.name, [s]) for scored in of_kind.values() for r, s in scored]
            title = f"{measure} of real runs and of random ones"
            charts.append(_build_chart(title, row_chart, rows, x=measure))
    return charts


@figures.register
def _generality(result: Generality) -> Sequence[Chart]:
    lines = [Curve(m, _points(result.sizes, result.deviation(m))) for m in result.measures]
    wide = result.sizes[-1] >= 5 * result.sizes[0]
    title = "Deviation from the smallest collection"
    return [_build_chart(title, line_chart, lines, x="items", y="deviation, %", logarithmic=wide)]


def _points(across: Sequence[float], up: Sequence[float]) -> tuple[tuple[float, float], ...]:
    return tuple((float(a), float(b)) for a, b in zip(across, up, strict=True))


@figures.register
def _curves(result: Curves) -> Sequence[Chart]:
    if len(result.ranks[0]) == 1:
        return [one_relevant([result], low_is_good=False)]
    wide = result.size > LOGARITHMIC_FROM
    lines = [Curve(m, (), result.envelope(m)) for m in result.measures]
    title = f"Two relevant items among {result.size:,}: between the lowest and the highest value"
    axes = {"x": "rank of the last one", "y": "value", "logarithmic": wide}
    charts = [_build_chart(title, line_chart, lines, **axes), combined_ranks(result)]
    if len({rank for pair in result.ranks for rank in pair}) <= MOST_RANKS:
        charts += [surface(result, name) for name in result.measures]
    return charts


@figures.register
def _requirements(result: Requirements) -> Sequence[Chart]:
    words = {True: "yes", False: "no", None: "people"}
    numbers = result.numbers
    rows = {m: [words[result.of(m, n).holds] for n in numbers] for m in result.measures}
    return [
        _build_chart("Requirements that hold", grid_chart, rows, [str(n) for n in numbers], FILLS)
    ]


@figures.register
def _choices(result: Choices) -> Sequence[Chart]:
    rows = [Marks(c.option, [c.share], c.interval) for c in result.choices]
    return [
        _build_chart("Share of the votes, with its interval", row_chart, rows, x="share of votes")
    ]


@figures.register
def _preferences(result: Preferences) -> Sequence[Chart]:
    rows = [
        Marks(a.measure, [a.agreed / a.decided if a.decided else np.nan], a.interval)
        for a in result.agreements
    ]
    title = "Questions in which a measure agrees with most people"
    return [_build_chart(title, row_chart, rows, x="share of the decided questions")]


@figures.register
def _pool(result: Reusability) -> Sequence[Chart]:
    charts = []
    for measure in dict.fromkeys(r.measure for r in result.runs):
        rows = [
            Marks(r.run, [r.score, r.score_without]) for r in result.runs if r.measure == measure
        ]
        charts.append(
            _build_chart(
                f"{measure} with and without a run's own items in the pool",
                row_chart,
                rows,
                x=measure,
                marks=("in the pool", "left out"),
            )
        )
    return charts
