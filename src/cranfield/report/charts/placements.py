"""Measures when one or two relevant items stand at every rank: Ch, Figures 1 to 8."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from cranfield.errors import UsageError
from cranfield.evaluation.curves import Curve
from cranfield.lab.names import any_measures
from cranfield.lab.studies.curves import Curves
from cranfield.report.charts.model import Axis, Cell, Chart, Line, Ramp, Text, chart
from cranfield.report.charts.parts import curve_chart
from cranfield.validation import validate_params

LOGARITHMIC_FROM = 1000


def turned(name: str) -> tuple[str, float, float]:
    """How a measure is drawn so that low is good: its name, and value = a + b * original.

    >>> turned("AP"), turned("NMRR")
    (('1 - AP', 1.0, -1.0), ('NMRR', 0.0, 1.0))
    """
    (known,) = any_measures(name)
    if known.higher_is_better and known.range == (0.0, 1.0):
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
            shown, a, b = turned(name) if low_is_good else (name, 0.0, 1.0)
            label = shown if len(studies) == 1 else f"{shown}, N = {study.size:,}"
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
        shown, a, b = turned(name) if low_is_good else (name, 0.0, 1.0)
        ordered = sorted((r[1], r[0], float(study.values[k, column])) for k, r in _rows(study))
        points = tuple((float(n), a + b * v) for n, (_, _, v) in enumerate(ordered, 1))
        curves.append(Curve(shown, points))
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
    _check([study], 2)
    chosen = name or study.measures[0]
    if chosen not in study.measures:
        raise UsageError(f"no values of {chosen!r} (measures: {', '.join(study.measures)})")
    column = study.measures.index(chosen)
    shown, a, b = turned(chosen) if low_is_good else (chosen, 0.0, 1.0)
    ranks = sorted({rank for pair in study.ranks for rank in pair})
    at = {rank: k for k, rank in enumerate(ranks)}
    values = {r: a + b * float(study.values[k, column]) for k, r in _rows(study)}
    names = tuple(map(str, ranks))
    last = len(ranks) - 1
    cells = [
        Cell(at[i], at[j], value, said=f"ranks {j} and {i}: {value:.4f}")
        for (j, i), value in values.items()
    ]
    best = tuple((float(k + 1), float(k)) for k in range(last))
    worst = tuple((float(last), float(k)) for k in range(last))
    return chart(
        f"{shown} of two relevant items among {study.size:,}",
        f"The value of {shown} where one relevant item stands at rank j and the other at rank i. "
        "Curve A: i = j + 1; curve B: i is the last rank.",
        Axis("rank of the later item, i", "i", names=names),
        Axis("rank of the earlier item, j", "j", names=names[:-1]),
        [
            cells,
            [Line(best, "bad", "A: i = j + 1"), Line(worst, "bad", "B: i is the last rank")],
            [Text(last / 2, last / 2 + 0.6, "A"), Text(last + 0.7, last / 2, "B")],
        ],
        ramp=Ramp(shown, 0.0, 1.0),
    )


@validate_params
def surface_edges(study: Curves, *, low_is_good: bool = True) -> Chart:
    """The values along curves A and B of the surface against the rank of the earlier item."""
    _check([study], 2)
    ranks = sorted({rank for pair in study.ranks for rank in pair})
    rows = {r: k for k, r in _rows(study)}
    curves = []
    for column, name in enumerate(study.measures):
        shown, a, b = turned(name) if low_is_good else (name, 0.0, 1.0)
        edges = {
            "A": list(itertools.pairwise(ranks)),
            "B": [(j, ranks[-1]) for j in ranks[:-1]],
        }
        for letter, pairs in edges.items():
            points = ((float(j), a + b * float(study.values[rows[j, i], column])) for j, i in pairs)
            curves.append(Curve(f"{shown}, curve {letter}", tuple(points)))
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
        shown, a, b = turned(name) if low_is_good else (name, 0.0, 1.0)
        edges = {
            f"j = {ranks[0]}": [(ranks[0], i) for i in ranks[1:]],
            "j right before i": list(itertools.pairwise(ranks)),
        }
        for words, pairs in edges.items():
            points = ((float(i), a + b * float(study.values[rows[j, i], column])) for j, i in pairs)
            curves.append(Curve(f"{shown}, {words}", tuple(points)))
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
