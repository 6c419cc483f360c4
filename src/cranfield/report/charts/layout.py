"""Where values stand on an axis: domains, ticks, and their places in a picture.

Where the parts of a chart stand: title, axes, plots, legend, and labels that do not collide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cranfield.report.charts.model import (
    Axis,
    Band,
    Bar,
    Cell,
    Chart,
    Dot,
    Face,
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
    if isinstance(mark, Line | Band | Face):
        return [p[0] for p in mark.points if all_finite(*p)]
    if isinstance(mark, Rule | Region):
        return [v for v in (mark.x0, mark.x1) if v is not None and math.isfinite(v)]
    return [mark.x] if math.isfinite(mark.x) else []


def _upward(mark: Mark) -> Iterable[float]:
    if isinstance(mark, Line | Band | Face):
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


LINE = 18  # height of a line of text
ROW, CLOSE_ROW = 24, 19  # height of a named row, and of one among many
PLOT, TALL, SQUARE = 460, 300, 360  # a plot's natural size
GAP = 16  # between panels, and between the plot and its legend
EDGE = 14  # what stays free at the right and at the bottom
NAME, ENTRY = 190, 240  # the widest name of a row, and of an entry of the legend
FARTHEST = 220  # how far from its dot a label may stand
NARROW = 520
MANY, LARGER = 20, 1.5  # beyond so many series a chart is that much larger
RAMP = 92  # the colours of a ramp and their numbers
MARK = 16  # width of a column of marks beside a chart
STEEP = 13  # columns closer than this have their names upright
NARROW_LETTERS = "fijlrt.,:;|!'()[] -"
WIDE_LETTERS = "mwMWGOQCDHNU@%—"
LETTER_SIZES = (4.5, 7.6, 10.2)  # narrow, other, wide: of a wide font, so that none is too long


@dataclass(frozen=True, slots=True)
class Frame:
    """The place of a panel and its scale across."""

    left: float
    right: float
    x: Scale


@dataclass(frozen=True, slots=True)
class Legend:
    """Entries in columns, each `column` wide, `rows` to a column."""

    left: float
    top: float
    column: float
    rows: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole picture: its size, the panels, the common scale upward."""

    width: float
    height: float
    top: float
    bottom: float
    frames: tuple[Frame, ...]
    y: Scale
    title: tuple[str, ...]
    legend: Legend | None
    name_width: float


def _panel_widths(chart: Chart, across: list[float], room: float) -> list[float]:
    """The widths of panels in the room there is.

    Columns of marks keep theirs, so that their letters can be read; the others share the rest.
    """
    keeps = [panel.share < 1 and bool(panel.x.names) for panel in chart.panels]
    fixed = sum(width for width, keep in zip(across, keeps, strict=True) if keep)
    squeezed = min(1.0, room / 2 / fixed) if fixed else 1.0
    growth = (room - fixed * squeezed) / ((sum(across) - fixed) or 1)
    return [w * (squeezed if keep else growth) for w, keep in zip(across, keeps, strict=True)]


def lay_out(chart: Chart, *, titled: bool = True) -> Layout:
    """Measure the parts and put them in their places."""
    narrow = chart.width is not None and chart.width < NARROW
    name_width = NAME if chart.width is None else min(NAME, chart.width * 0.34)
    margin_left = _left_margin(chart, name_width)
    across = [_natural_width(p, chart) for p in chart.panels]
    entry = _entry_width(chart, ENTRY if chart.width is None else min(ENTRY, chart.width * 0.5))
    tall = _natural_height(chart)
    beside = bool(chart.series) and not narrow and len(chart.series) * LINE <= max(tall, SQUARE)
    margin_right = (GAP + entry if beside else 0) + EDGE + (RAMP if chart.ramp else 0)
    gaps = GAP * (len(across) - 1)
    width = chart.width or margin_left + sum(across) + gaps + margin_right
    title = tuple(_wrap_lines(chart.title, (width - 8) / 1.18)) if titled else ()
    top = 10 + (20 * len(title) + 6 if title else 0) + max(_above(p) for p in chart.panels)
    below = max(_below(p, _step(p, w)) for p, w in zip(chart.panels, across, strict=True))
    columns = max(1, int((width - 8) // entry)) if chart.series else 1
    rows = -(-len(chart.series) // columns)
    under = (rows * LINE + GAP) if chart.series and not beside else 0
    if chart.height:
        tall = max(chart.height - top - below - under - EDGE, 60)
    room = max(width - margin_left - gaps - margin_right, 60)
    if chart.square and not chart.height:
        tall = min(room, tall)
    frames, x = [], margin_left
    for panel, panel_width in zip(chart.panels, _panel_widths(chart, across, room), strict=True):
        frames.append(Frame(x, x + panel_width, x_scale(panel, x, x + panel_width)))
        x += panel_width + GAP
    bottom = top + tall
    legend = None
    if chart.series and beside:
        legend = Legend(frames[-1].right + GAP, top + 8, entry, len(chart.series))
    elif chart.series:
        legend = Legend(8, bottom + below + GAP, entry, rows)
    height = bottom + below + under + EDGE
    if legend is not None and beside:
        height = max(height, legend.top + LINE * legend.rows + EDGE)
    scale = y_scale(chart, top, bottom)
    return Layout(width, height, top, bottom, tuple(frames), scale, title, legend, name_width)


def text_width(text: str) -> float:
    """About how wide a text is at the usual size."""
    narrow, medium, wide = LETTER_SIZES
    narrow_ones = sum(c in NARROW_LETTERS for c in text)
    wide_ones = sum(c in WIDE_LETTERS for c in text)
    return narrow * narrow_ones + wide * wide_ones + medium * (len(text) - narrow_ones - wide_ones)


def shorten_text(text: str, max_width: float) -> str:
    """A text that is no wider than this, with an ellipsis where it was cut."""
    if text_width(text) <= max_width:
        return text
    shortened = text[:200]
    while shortened and text_width(shortened) + 10 > max_width:
        shortened = shortened[:-1]
    return shortened + "…"


def _left_margin(chart: Chart, name_width: float) -> float:
    title = LINE if chart.y.title else 0
    if chart.y.names:
        names = [shorten_text(n, name_width) for n in chart.y.names] if chart.y.shown else []
        return title + 18 + max(map(text_width, names), default=0)
    if not chart.y.marked:
        return title + EDGE
    labels = [tick_label(t) for t in ticks(y_scale(chart, 0, 1))]
    return title + 16 + max(map(text_width, labels), default=0)


def _natural_width(panel: Panel, chart: Chart) -> float:
    if panel.x.names and panel.share < 1:
        return MARK * len(panel.x.names)
    if panel.x.names:
        longest = max((len(m.text) for m in _cells(panel)), default=0)
        min_step = 12 if any(True for _ in _cells(panel)) else 10
        step = max(
            min(34, PLOT / len(panel.x.names) * 1.8), min_step, 9 * longest + 6 if longest else 0
        )
        if len(panel.x.names) > 80:
            step = max(3, 960 / len(panel.x.names))
        return max(step * len(panel.x.names), 60)
    return (SQUARE if chart.square else PLOT) * panel.share * _growth(chart)


def _growth(chart: Chart) -> float:
    """A chart of many series, or with many names in its plot, needs more room."""
    label_count = sum(bool(dot.label) for dot in chart.marks(Dot))
    return LARGER if len(chart.series) > MANY or label_count > MANY else 1.0


def _cells(panel: Panel) -> Iterator[Cell]:
    return (m for layer in panel.layers for m in layer if isinstance(m, Cell))


def _natural_height(chart: Chart) -> float:
    if chart.y.names:
        rows = len(chart.y.names)
        return rows * (ROW if rows <= 30 else CLOSE_ROW)
    return (SQUARE if chart.square else TALL) * _growth(chart)


def _step(panel: Panel, width: float) -> float:
    return width / max(len(panel.x.names), 1)


def needs_rotation(panel: Panel, step: float) -> bool:
    """Whether the names across need to be turned to have room."""
    return any(text_width(n) > step - 4 for n in panel.x.names)


def _names_depth(panel: Panel, step: float) -> float:
    """How much room the names across take above or below the plot."""
    if not panel.x.names or not panel.x.shown:
        return 4
    if not needs_rotation(panel, step):
        return LINE
    longest = max(text_width(shorten_text(n, NAME * 0.8)) for n in panel.x.names)
    return slope(step) * longest + 12


def slope(step: float) -> float:
    """How much of its length a turned name takes upward: all of it where names stand steep."""
    return 1.0 if step < STEEP else 0.8


def _above(panel: Panel) -> float:
    if not panel.x.top:
        return 2
    natural = MARK if panel.share < 1 else 24
    return _names_depth(panel, natural) + (LINE if panel.x.title else 0) + 4


def _below(panel: Panel, step: float) -> float:
    if panel.x.top:
        return 4
    names = _names_depth(panel, step) if panel.x.names else LINE
    return names + (LINE + 4 if panel.x.title else 0) + 2


def _entry_width(chart: Chart, max_width: float) -> float:
    return 46 + max(
        (text_width(shorten_text(s, max_width)) for s in (*chart.series, "")), default=0
    )


def _wrap_lines(text: str, width: float) -> Iterator[str]:
    """A text in lines of at most this width."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and text_width(longer) > width:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield shorten_text(line, width)


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """A label beside its dot: its left end and base line, and whether a line leads to it."""

    x: float
    y: float
    led: bool


def place_labels(
    dots: Sequence[tuple[float, float, float]], box: tuple[float, float, float, float]
) -> list[LabelPlace | None]:
    """Where the label of each dot (x, y, width of its label; 0 for none) covers nothing.

    Each tries the places around its dot, ring by ring, within the box (left, top, right, bottom);
    None where there is no room at all.
    """
    occupied = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in dots]
    places: list[LabelPlace | None] = []
    for x, y, width in dots:
        place = None
        for label_x, base, led in _places(x, y, width) if width else ():
            area = (label_x - 3, base - 10, label_x + width + 3, base + 3)
            if _within(area, box) and not any(
                _overlap(area, area_taken) for area_taken in occupied
            ):
                place = LabelPlace(label_x, base, led)
                occupied.append(area)
                break
        places.append(place)
    return places


def _places(x: float, y: float, width: float) -> Iterator[tuple[float, float, bool]]:
    for label_x, base in ((x + 8, y + 4), (x - 8 - width, y + 4)):
        yield label_x, base, False
    for base in (y - 9, y + 18):
        yield x - width / 2, base, False
    for ring in range(20, FARTHEST, 12):
        for side in (1, -1):
            for rise in (0.35, -0.35, 0.8, -0.8):
                label_x = x + ring * 0.9 if side > 0 else x - ring * 0.9 - width
                yield label_x, y + 4 + ring * rise, True
        for base in (y - ring, y + ring + 8):
            yield x - width / 2, base, True


def _within(
    area: tuple[float, float, float, float], box: tuple[float, float, float, float]
) -> bool:
    return area[0] >= box[0] and area[1] >= box[1] and area[2] <= box[2] and area[3] <= box[3]


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
