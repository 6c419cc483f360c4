"""Charts as SVG text, for pages without a script: lines, dots, rows of marks, trees, grids."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

# Okabe and Ito, as in the interactive report: told apart by everyone.
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7a5195", "#8c8c8c")
DASHES = ("", "6 3", "2 3")
LEFT, TOP, WIDE, HIGH, BOTTOM = 64, 16, 420, 260, 48
ROW = 24
NAME = 22
Point: TypeAlias = tuple[float, float]
Scale: TypeAlias = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; a band (x, low, high) lies behind it, or stands alone, with its
    ends drawn."""

    name: str
    points: Sequence[Point] = ()
    band: Sequence[tuple[float, float, float]] = ()


@dataclass(frozen=True, slots=True)
class Marks:
    """A row of a chart: one mark for each of its values, and an interval where there is one."""

    name: str
    values: Sequence[float]
    interval: tuple[float, float] | None = None


def line_chart(
    lines: Sequence[Line], *, title: str, x: str, y: str, logarithmic: bool = False
) -> str:
    """Lines over a common axis, named at the right."""
    across = [p[0] for one in lines for p in (*one.points, *one.band)]
    heights = [p[1] for one in lines for p in one.points]
    heights += [end for one in lines for b in one.band for end in b[1:]]
    at, marks = _across(across, logarithmic)
    up, grid = _upward(heights)
    parts = _axes(at, marks, up, grid, x, y)
    for i, one in enumerate(lines):
        hue, dash = HUES[i % len(HUES)], DASHES[i // len(HUES) % len(DASHES)]
        band = [b for b in one.band if _known(*b)]
        if band:
            ends = [(b[0], b[2]) for b in band] + [(b[0], b[1]) for b in reversed(band)]
            parts.append(f'<path d="{_path(ends, at, up)}Z" fill="{hue}" opacity=".13"/>')
        points = [p for p in one.points if _known(*p)]
        for strokes in [points] if points else [[(b[0], b[k]) for b in band] for k in (1, 2)]:
            parts.append(
                f'<path d="{_path(strokes, at, up)}" fill="none" stroke="{hue}" stroke-width="2" '
                f'stroke-dasharray="{dash}"><title>{html.escape(one.name)}</title></path>'
            )
        if len(points) <= 30:
            parts += [
                f'<circle cx="{at(a):.1f}" cy="{up(b):.1f}" r="3" fill="{hue}"><title>'
                f"{html.escape(one.name)}: {a:g}, {b:.4g}</title></circle>"
                for a, b in points
            ]
    parts += _legend([one.name for one in lines], dashed=True)
    return _picture(title, LEFT + WIDE + 190, max(TOP + HIGH + BOTTOM, 30 + 18 * len(lines)), parts)


def dot_chart(
    groups: Mapping[str, Sequence[tuple[str, float, float]]], *, title: str, x: str, y: str
) -> str:
    """Named dots in groups: (name, x, y)."""
    dots = [d for group in groups.values() for d in group]
    at, marks = _across([d[1] for d in dots], False)
    up, grid = _upward([d[2] for d in dots])
    parts = _axes(at, marks, up, grid, x, y)
    # The first group is the one to look at: it lies on top.
    for i, group in reversed(list(enumerate(groups.values()))):
        parts += [
            _mark(i, at(a), up(b), f"{name}: {a:.4g}, {b:.4g}")
            for name, a, b in group
            if _known(a, b)
        ]
    parts += _legend(list(groups) if len(groups) > 1 else [])
    wide = LEFT + WIDE + (190 if len(groups) > 1 else 24)
    return _picture(title, wide, TOP + HIGH + BOTTOM, parts)


def row_chart(rows: Sequence[Marks], *, title: str, x: str, marks: Sequence[str] = ("",)) -> str:
    """A row for each name, with marks along one axis and an interval as a line."""
    values = [v for r in rows for v in (*r.values, *(r.interval or ()))]
    left, bottom = 170, TOP + ROW * len(rows)
    low, high = _ends(values)
    ticks = _ticks(low, high)
    at = _scale(low, high, left, left + WIDE)
    parts = [_tick_x(at(t), t, TOP, bottom) for t in ticks]
    parts.append(_text(left + WIDE / 2, bottom + 34, x, "middle"))
    for k, row in enumerate(rows):
        height = TOP + ROW * (k + 0.5)
        parts.append(_text(left - 10, height + 4, row.name, "end"))
        if row.interval is not None and _known(*row.interval):
            parts.append(
                f'<path d="M{at(row.interval[0]):.1f} {height}H{at(row.interval[1]):.1f}" '
                'stroke="currentColor" stroke-width="2"/>'
            )
        for i, value in enumerate(row.values):
            if _known(value):
                said = f"{row.name}{', ' + marks[i] if marks[i] else ''}: {value:.4g}"
                parts.append(_mark(i, at(value), height, said))
    named = [m for m in marks if m]
    parts += _legend(named, left + WIDE + 20)
    return _picture(title, left + WIDE + (190 if named else 24), bottom + BOTTOM, parts)


def tree_chart(
    joins: Sequence[tuple[Sequence[str], Sequence[str], float]], *, title: str, x: str
) -> str:
    """A dendrogram: every join has its two groups of names and the distance between them."""
    last = joins[-1]
    order = _leaf_order(joins, (*last[0], *last[1]))
    left, bottom = 170, TOP + ROW * len(order)
    most = max(max(j[2] for j in joins), 1e-12)
    ticks = _ticks(0.0, most)
    at = _scale(0.0, most, left, left + WIDE)
    parts = [_tick_x(at(t), t, TOP, bottom) for t in ticks]
    parts.append(_text(left + WIDE / 2, bottom + 34, x, "middle"))
    stems: dict[frozenset[str], Point] = {}
    for k, name in enumerate(order):
        height = TOP + ROW * (k + 0.5)
        stems[frozenset([name])] = (float(left), height)
        parts.append(_text(left - 10, height + 4, name, "end"))
    for first, second, distance in joins:
        (x0, y0), (x1, y1) = stems[frozenset(first)], stems[frozenset(second)]
        here = at(distance)
        parts.append(
            f'<path d="M{x0:.1f} {y0:.1f}H{here:.1f}V{y1:.1f}H{x1:.1f}" fill="none" '
            f'stroke="{HUES[0]}" stroke-width="2"><title>{distance:.4f}</title></path>'
        )
        stems[frozenset((*first, *second))] = (here, (y0 + y1) / 2)
    return _picture(title, left + WIDE + 24, bottom + BOTTOM, parts)


def grid_chart(
    rows: Mapping[str, Sequence[str]],
    columns: Sequence[str],
    fills: Mapping[str, str],
    *,
    title: str,
) -> str:
    """A table of words in coloured cells; `fills` has the colour of each word."""
    left, cell = 170, 64
    parts = [_text(left + cell * (k + 0.5), TOP + 10, c, "middle") for k, c in enumerate(columns)]
    for r, (name, words) in enumerate(rows.items()):
        top = TOP + ROW * (r + 1)
        parts.append(_text(left - 10, top + 16, name, "end"))
        for k, word in enumerate(words):
            parts.append(
                f'<rect x="{left + cell * k}" y="{top}" width="{cell - 2}" height="{ROW - 2}" '
                f'fill="{fills[word]}"/>' + _text(left + cell * (k + 0.5), top + 16, word, "middle")
            )
    return _picture(title, left + cell * len(columns) + 24, TOP + ROW * (len(rows) + 1) + 8, parts)


def _leaf_order(
    joins: Sequence[tuple[Sequence[str], Sequence[str], float]], group: Sequence[str]
) -> list[str]:
    """The names of a group so that no two branches of the tree cross."""
    if len(group) == 1:
        return list(group)
    first, second = next((j[0], j[1]) for j in joins if {*j[0], *j[1]} == set(group))
    return _leaf_order(joins, first) + _leaf_order(joins, second)


def _known(*values: float) -> bool:
    return all(math.isfinite(v) for v in values)


def _ends(values: Sequence[float]) -> Point:
    known = [v for v in values if math.isfinite(v)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low == high:
        return low - 0.5, high + 0.5
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    raw = (high - low) / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(s for s in (power, 2 * power, 5 * power, 10 * power) if s >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    return lambda v: start + (v - low) / (high - low) * (end - start)


def _across(values: Sequence[float], logarithmic: bool) -> tuple[Scale, list[float]]:
    if logarithmic:
        low, high = _ends([math.log10(v) for v in values])
        inner = _scale(low, high, LEFT, LEFT + WIDE)
        decades = range(math.ceil(low), math.floor(high) + 1)
        return (lambda v: inner(math.log10(v))), [10.0**k for k in decades]
    low, high = _ends(values)
    return _scale(low, high, LEFT, LEFT + WIDE), _ticks(low, high)


def _upward(values: Sequence[float]) -> tuple[Scale, list[float]]:
    low, high = _ends(values)
    return _scale(low, high, TOP + HIGH, TOP), _ticks(low, high)


def _axes(at: Scale, marks: list[float], up: Scale, grid: list[float], x: str, y: str) -> list[str]:
    bottom = TOP + HIGH
    parts = [_tick_x(at(t), t, TOP, bottom) for t in marks]
    parts += [
        f'<path d="M{LEFT} {up(t):.1f}h{WIDE}" stroke="currentColor" opacity=".15"/>'
        + _text(LEFT - 6, up(t) + 4, _short(t), "end")
        for t in grid
    ]
    parts.append(_text(LEFT + WIDE / 2, bottom + 36, x, "middle"))
    turn = f' transform="rotate(-90 14 {TOP + HIGH / 2})"'
    parts.append(_text(14, TOP + HIGH / 2, y, "middle", turn))
    return parts


def _tick_x(at: float, value: float, top: float, bottom: float) -> str:
    line = f'<path d="M{at:.1f} {top}V{bottom}" stroke="currentColor" opacity=".15"/>'
    return line + _text(at, bottom + 16, _short(value), "middle")


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{round(value, 10):g}"


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    shown = text if len(text) <= 2 * NAME else text[: 2 * NAME - 1] + "…"
    if anchor == "end" and len(text) > NAME:
        shown = text[: NAME - 1] + "…"
    full = "" if shown == text else f"<title>{html.escape(text)}</title>"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor"{more}>'
        f"{html.escape(shown)}{full}</text>"
    )


def _legend(
    names: Sequence[str], x: float = LEFT + WIDE + 20, *, dashed: bool = False
) -> list[str]:
    parts = []
    for i, name in enumerate(names):
        y, hue = TOP + 8 + 18 * i, HUES[i % len(HUES)]
        if dashed:
            dash = DASHES[i // len(HUES) % len(DASHES)]
            parts.append(
                f'<path d="M{x - 4} {y}h18" stroke="{hue}" stroke-width="2" '
                f'stroke-dasharray="{dash}"/>'
            )
        else:
            parts.append(_mark(i, x + 4, y, name))
        parts.append(_text(x + 20, y + 4, name, "start"))
    return parts


def _mark(kind: int, x: float, y: float, said: str) -> str:
    """A mark that differs from those of other kinds in shape as well as in hue."""
    hue, inside = HUES[kind % len(HUES)], f"<title>{html.escape(said)}</title>"
    if kind == 0:
        place = f'cx="{x:.1f}" cy="{y:.1f}" r="5"'
        return f'<circle {place} fill="{hue}" opacity=".8">{inside}</circle>'
    cross, square, triangle = "m-5-5l10 10m0-10l-10 10", "m-4-4h8v8h-8z", "m0-5l5 9h-10z"
    shape = (cross, square, triangle)[(kind - 1) % 3]
    return (
        f'<path d="M{x:.1f} {y:.1f}{shape}" fill="none" stroke="{hue}" stroke-width="2" '
        f'opacity=".8">{inside}</path>'
    )


def _path(points: Sequence[Point], at: Scale, up: Scale) -> str:
    return "M" + "L".join(f"{at(a):.1f} {up(b):.1f}" for a, b in points)


def _picture(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    said = html.escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="system-ui,sans-serif" '
        f'font-size="12" role="img" aria-label="{said}">{"".join(parts)}</svg>'
    )
