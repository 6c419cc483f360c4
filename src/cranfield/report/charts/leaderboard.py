"""Runs by their mean, with intervals, and which of them can be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.comparison.answer import Comparison, Standing
from cranfield.errors import UsageError, suggest
from cranfield.report.charts.model import (
    Axis,
    Cell,
    Chart,
    Dot,
    Panel,
    Ramp,
    Region,
    Rule,
    all_finite,
    chart,
)
from cranfield.validation import validate_params


@validate_params
def leaderboard(comparison: Comparison, measure: str | None = None) -> Chart:
    """Dots with confidence intervals; a column per group of runs that cannot be told apart."""
    name = _measure(comparison, measure)
    standings = [s for s in comparison.standings if s.measure == name]
    share = f"{100 * (1 - comparison.alpha):g} %"
    means = Panel(
        Axis(name, "mean", _limits(comparison, name)),
        tuple(
            layer
            for layer in (
                tuple(Region(None, k - 0.5, None, k + 0.5) for k in _best(standings)),
                tuple(rule for k, s in enumerate(standings) for rule in _rules(k, s)),
                tuple(
                    Dot(s.mean, k, "accent", f"{s.run}: {s.mean:.4f}, rank {s.rank}")
                    for k, s in enumerate(standings)
                ),
            )
            if layer
        ),
    )
    letters = list(dict.fromkeys(x for s in standings for x in letters_of(s.group)))
    groups = Panel(
        Axis("cannot be told apart", "group", names=tuple(letters), top=True),
        (
            tuple(
                Cell(letters.index(x), k, style="group", said=f"{s.run}: group {x}")
                for k, s in enumerate(standings)
                for x in letters_of(s.group)
            ),
        ),
        share=0.2,
    )
    return Chart(
        f"{name}: means and {share} intervals",
        f"Means of {len(standings)} runs under {name} with {share} confidence intervals, best "
        f"first. {_interval_note(comparison, standings)}Shaded: not significantly worse than the "
        "best. Runs with a mark in one column on the right cannot be told apart.",
        (means, groups) if letters else (means,),
        Axis("", "run", names=tuple(s.run for s in standings)),
    )


def _limits(comparison: Comparison, name: str) -> tuple[float, float] | None:
    """The range of a measure, where it has two ends: the axis of its means."""
    low, high = next(m for m in comparison.measures if m["name"] == name).get("range", (None, None))
    return None if low is None or high is None else (low, high)


def _rules(k: int, s: Standing) -> Iterator[Rule]:
    """The interval of a run; where the truth is a part of it three lines: topics, both, truth."""
    lines = [(s.ci, float(k), "", 1.5)]
    if s.truth_ci is not None and s.both_ci is not None:
        lines = [
            (s.ci, k - 0.25, ", topics", 1.0),
            (s.both_ci, float(k), ", both", 2.0),
            (s.truth_ci, k + 0.25, ", truth", 1.0),
        ]
    for (low, high), y, suffix, width in lines:
        if all_finite(low, high):
            tooltip = f"{s.run}{suffix}: {low:.4f} to {high:.4f}"
            yield Rule(low, y, high, y, said=tooltip, width=width)


def _interval_note(comparison: Comparison, standings: Sequence[Standing]) -> str:
    if not any(s.truth_ci for s in standings):
        return ""
    return f"Three lines in a row, from above: topics, both, truth. {comparison.interval_parts()} "


def _best(standings: Sequence[Standing]) -> list[int]:
    return [k for k, s in enumerate(standings) if s.rank == 1]


def letters_of(group: str) -> list[str]:
    """The groups of a run, a letter each."""
    return list(group)


@validate_params
def significance(comparison: Comparison, measure: str | None = None) -> Chart:
    """Every tested pair: the difference as colour, stars for what is significant."""
    name = _measure(comparison, measure)
    return significance_of(
        comparison, name, [s.run for s in comparison.standings if s.measure == name]
    )


def significance_of(comparison: Comparison, name: str, order: Sequence[str]) -> Chart:
    """The tested pairs of some runs, in their order."""
    position = {run: k for k, run in enumerate(order)}
    pairs = list(comparison.pairs.where(name).among(position))
    rows = [(p.a, p.b, p.difference, p) for p in pairs]
    if comparison.tail != "one":
        rows += [(p.b, p.a, -p.difference, p) for p in pairs]
    cells = [
        Cell(
            position[b],
            position[a],
            gap,
            p.stars,
            f"{a} minus {b}: {gap:.4f}, p corrected {p.p_corrected:.4f}",
        )
        for a, b, gap, p in rows
    ]
    largest = max((abs(c.value) for c in cells if all_finite(c.value)), default=1.0)  # type: ignore[arg-type]
    lower_is_better = any(
        m["name"] == name and m.get("higher_is_better") is False for m in comparison.measures
    )
    return chart(
        f"{name}: row minus column",
        f"Differences in {name} between runs, the row minus the column; blue: the row is better, "
        "orange: worse; stars mark a p of at most 0.05, 0.01 and 0.001 after correction.",
        Axis("", "column", names=tuple(order)),
        Axis("", "row", names=tuple(order)),
        [cells],
        ramp=Ramp("difference", -largest, largest, "gap", reverse=lower_is_better),
    )


def _measure(comparison: Comparison, measure: str | None) -> str:
    names = [str(m["name"]) for m in comparison.measures]
    if measure is None:
        return names[0]
    if measure not in names:
        raise UsageError(f"no comparison under {measure!r}.{suggest(measure, names)}")
    return measure
