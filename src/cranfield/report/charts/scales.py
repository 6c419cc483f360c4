"""Where values stand on an axis: domains, ticks, and their places in a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from cranfield.report.charts.model import (
    Axis,
    Band,
    Bar,
    Cell,
    Chart,
    Dot,
    Line,
    Mark,
    Panel,
    Region,
    Rule,
    all_finite,
)

PAD = 0.04


@dataclass(frozen=True, slots=True)
class Scale:
    """A domain on a stretch of the picture, from `start` to `end` (which may lie before it)."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        share = (self._inner(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def back(self, place: float) -> float:
        """The value at a place."""
        value = self.low + (place - self.start) / (self.end - self.start) * (self.high - self.low)
        return float(10.0**value) if self.log else value

    def _inner(self, value: float) -> float:
        # Nothing lies at or below 0 on a logarithmic axis; it is drawn at the edge.
        return math.log10(value) if self.log and value > 0 else self.low if self.log else value

    @property
    def step(self) -> float:
        """The length of one unit."""
        return abs(self.end - self.start) / (self.high - self.low)


def x_scale(panel: Panel, start: float, end: float) -> Scale:
    values = (v for layer in panel.layers for mark in layer for v in _across(mark))
    return _scale(panel.x, values, start, end)


def y_scale(chart: Chart, top: float, bottom: float) -> Scale:
    marks = (m for panel in chart.panels for layer in panel.layers for m in layer)
    values = (v for mark in marks for v in _upward(mark))
    # Names are read from the top down.
    ends = (top, bottom) if chart.y.names else (bottom, top)
    return _scale(chart.y, values, *ends)


def _scale(axis: Axis, values: Iterable[float], start: float, end: float) -> Scale:
    if axis.names:
        return Scale(-0.5, len(axis.names) - 0.5, start, end)
    if axis.domain is not None:
        low, high = axis.domain
        if axis.log:
            low, high = math.log10(low), math.log10(high)
        return Scale(low, high, start, end, axis.log)
    known_values = [math.log10(v) if axis.log else v for v in values if not axis.log or v > 0]
    low, high = (min(known_values), max(known_values)) if known_values else (0.0, 1.0)
    if high - low < 1e-12 * max(abs(low), 1.0):
        return Scale(low - 0.5, high + 0.5, start, end, axis.log)
    padding = PAD * (high - low)
    return Scale(low - padding, high + padding, start, end, axis.log)


def _across(mark: Mark) -> Iterable[float]:
    if isinstance(mark, Line | Band):
        return [p[0] for p in mark.points if all_finite(*p)]
    if isinstance(mark, Rule | Region):
        return [v for v in (mark.x0, mark.x1) if v is not None and math.isfinite(v)]
    return [mark.x] if math.isfinite(mark.x) else []


def _upward(mark: Mark) -> Iterable[float]:
    if isinstance(mark, Line | Band):
        return [v for p in mark.points if all_finite(*p) for v in p[1:]]
    if isinstance(mark, Rule | Region):
        return [v for v in (mark.y0, mark.y1) if v is not None and math.isfinite(v)]
    if isinstance(mark, Bar):
        return [0.0, mark.value] if math.isfinite(mark.value) else []
    if isinstance(mark, Cell | Dot) and not all_finite(mark.y):
        return []
    return [mark.y]


def ticks(scale: Scale, count: int = 6) -> list[float]:
    """Round values within the domain, some `count` of them."""
    if scale.log:
        decades = range(math.ceil(scale.low - 1e-9), math.floor(scale.high + 1e-9) + 1)
        marks = [10.0**k for k in decades]
        if len(marks) < 3:
            wider = range(math.floor(scale.low), math.ceil(scale.high) + 1)
            values = (m * 10.0**k for k in wider for m in (1, 2, 5))
            marks = [v for v in values if scale.low <= math.log10(v) <= scale.high]
        # Within less than a decade round numbers are those of a plain axis.
        return marks if len(marks) >= 3 else _round(10**scale.low, 10**scale.high, count)
    return _round(scale.low, scale.high, count)


def _round(low: float, high: float, count: int) -> list[float]:
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s for s in (power, 2 * power, 5 * power, 10 * power) if s >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_label(value: float) -> str:
    """A tick as people read it."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{round(value, 10):g}"
