"""People as pictures: agreement per concept, item and group, and how forms came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from cranfield.agreement.agreement import Agreement, GroupAgreement, GroupRow
from cranfield.agreement.coefficients import nominal_names
from cranfield.agreement.majority import MajorityShare
from cranfield.campaign.responses import FormResponses, Tally
from cranfield.evaluation.precision_recall import Curve
from cranfield.report.charts.curves import Marks, row_chart
from cranfield.report.charts.helpers import column_axis, curve_chart
from cranfield.report.charts.model import Axis, Bar, Chart, all_finite, chart

# Rows of one chart; of longer lists those with the least agreement.
MOST_ROWS = 60
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
    ordered = sorted(defined, key=attrgetter("every"))[:MOST_ROWS]
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
            marks = [Marks(n, tuple(v[n] for v in values)) for n in names[:MOST_ROWS]]
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
