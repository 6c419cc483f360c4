"""Ranks and pairs: change of rank, critical differences, a run or measure against another."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.comparison.ranks import mean_ranks
from cranfield.comparison.ranks import rank_changes as changes_of
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.report.charts.layout import brief
from cranfield.report.charts.model import Axis, Chart, Dot, Line, Rule, Text, chart, known
from cranfield.report.charts.parts import measure_of, values_of
from cranfield.validation import validate_params

LABELLED = 25  # dots of topics beyond that have no names
ROOM = 130  # for the name of a run at either end of its line


@validate_params
def rank_changes(scores: Scores, x: str, y: str) -> Chart:
    """The ranks of runs under two measures, joined by lines (No, Figure 9.1)."""
    found = changes_of(scores, measure_of(scores, x), measure_of(scores, y))
    most = len(found.runs)
    first, second = found.measures
    lines = [
        Line(
            ((0.0, row.first - 1.0), (1.0, row.second - 1.0)),
            "good" if row.second < row.first else "bad" if row.second > row.first else "quiet",
            f"{row.run}: rank {row.first}, then {row.second}",
        )
        for row in found.runs
    ]
    names = [Text(-0.03, row.first - 1.0, brief(row.run, ROOM), "end") for row in found.runs]
    places = [Text(1.03, row.second - 1.0, brief(row.run, ROOM)) for row in found.runs]
    return chart(
        f"Ranks of {most} runs by {first} and by {second}",
        f"Each line is a run; blue: a better rank under {second}, orange: a worse one. Kendall's "
        f"tau {found.tau:.4f}.",
        Axis(f"{first} (left), {second} (right)", "measure", (-0.9, 1.9), marked=False),
        Axis("rank", "rank", names=tuple(str(k) for k in range(1, most + 1))),
        [lines, names, places],
    )


@validate_params
def critical_difference(
    scores: Scores, measure: str | None = None, *, alpha: float = 0.05
) -> Chart:
    """Mean ranks over topics; bars join runs that Nemenyi's test cannot tell apart."""
    m = measure_of(scores, measure)
    found = mean_ranks(scores, m, alpha=alpha)
    dots = [
        Dot(rank, k, "accent", f"{run}: mean rank {rank:.3f}")
        for k, (run, rank) in enumerate(found.runs)
    ]
    bars = [
        Rule(found.runs[a][1] - 0.02, k, found.runs[b][1] + 0.02, k, "ink", width=4)
        for a, b in found.groups
        for k in [(a + b) / 2]
    ]
    stems = [
        Rule(found.runs[e][1], e, found.runs[e][1], (a + b) / 2, "quiet", width=0.7)
        for a, b in found.groups
        for e in (a, b)
    ]
    return chart(
        f"Mean ranks by {m}, critical difference {found.difference:.3f}",
        f"{len(found.runs)} runs on {found.units} {scores.unit_of[m]}s, the best first. Runs "
        f"under one bar differ by less than {found.difference:.3f} and cannot be told apart "
        f"(Nemenyi, alpha {found.alpha:g}).",
        Axis("mean rank", "rank"),
        Axis("", "run", names=tuple(run for run, _ in found.runs)),
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
    chosen = list(runs) or [scores.runs[0]]
    groups = []
    for k, run in enumerate(chosen):
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
        f"A dot for each {unit} of {', '.join(chosen)}; on the broken line both measures agree.",
        Axis(str(first), "x", _unit_range(first.range, second.range)),
        Axis(str(second), "y", _unit_range(first.range, second.range)),
        [[_diagonal([v for group in groups for d in group for v in (d.x, d.y)])], *groups],
        series=tuple(chosen),
        square=True,
    )


def _pairs(
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
    title: str,
    axes: tuple[str, str],
    said: str,
) -> Chart:
    shown = [(n, a, b) for n, (a, b) in zip(names, points, strict=True) if known(a, b)]
    few = len(shown) <= LABELLED
    return chart(
        title,
        f"{len(shown)} dots. {said}",
        Axis(axes[0], "x"),
        Axis(axes[1], "y"),
        [
            [_diagonal([v for _, a, b in shown for v in (a, b)])],
            [Dot(a, b, "accent", f"{n}: {a:.4f}, {b:.4f}", n if few else "") for n, a, b in shown],
        ],
        square=True,
    )


def _diagonal(values: Sequence[float]) -> Rule:
    """Where both are equal, from the least to the greatest of all values."""
    held = [v for v in values if known(v)] or [0.0, 1.0]
    return Rule(min(held), min(held), max(held), max(held), "quiet", "equal", 1, True)


def _unit_range(
    first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float] | None:
    return (-0.03, 1.03) if first == second == (0.0, 1.0) else None
