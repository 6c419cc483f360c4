"""A chart as SVG: static, accessible, light and dark, without a script and without other files."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from cranfield.report.charts.layout import (
    LINE,
    NAME,
    STEEP,
    Frame,
    Layout,
    Legend,
    Scale,
    lay_out,
    needs_rotation,
    place_labels,
    shorten_text,
    slope,
    text_width,
    tick_label,
    ticks,
)
from cranfield.report.charts.model import (
    STEPS,
    Band,
    Bar,
    Cell,
    Chart,
    Dot,
    Face,
    Layer,
    Line,
    Panel,
    Ramp,
    Region,
    Rule,
    Style,
    Text,
    all_finite,
    colour,
    colour_class,
    css_classes,
    css_properties,
    dash,
    marker,
    step,
)

MOST_LABELLED = 80
BROKEN = "4 4"
SHAPES = {
    "square": "m-4-4h8v8h-8z",
    "triangle-up": "m0-5l5 9h-10z",
    "diamond": "m0-6l5 6l-5 6l-5-6z",
    "cross": "m-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    "triangle-down": "m0 5l5-9h-10z",
    "triangle-left": "m-5 0l9-5v10z",
    "triangle-right": "m5 0l-9-5v10z",
}


# Names that are turned need so much room, in pixels.
LEAST_STEP = 9.9


def draw(chart: Chart, *, standalone: bool = True) -> str:
    """The picture; as a file of its own it has a title and brings its colours along."""
    layout = lay_out(chart, titled=standalone)
    parts = list(_contents(chart, layout))
    labels = html.escape(chart.title), html.escape(chart.description)
    head = f"<title>{labels[0]}</title><desc>{labels[1]}</desc>"
    size = f'width="{layout.width:.0f}" height="{layout.height:.0f}"'
    if standalone:
        titles = [
            _text(layout.width / 2, 24 + 20 * k, line, "middle", attributes=' font-size="14"')
            for k, line in enumerate(layout.title)
        ]
        parts = [f"<rect {size} {_fill('paper')}/>", *titles, *parts]
    body = "".join(parts)
    style = f"<style>{_style(body)}</style>" if standalone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" '
        f'viewBox="0 0 {layout.width:.0f} {layout.height:.0f}" {size} '
        f'font-family="system-ui,sans-serif" font-size="12" role="img" '
        f'aria-label="{labels[0]}">{head}{style}{body}</svg>'
    )


def _style(body: str) -> str:
    classes = set(re.findall(r"[fk]-\w+", body))
    return css_properties({name[2:] for name in classes}, "svg") + css_classes(classes)


def _contents(chart: Chart, layout: Layout) -> Iterator[str]:
    for panel, frame in zip(chart.panels, layout.frames, strict=True):
        behind = [la for la in panel.layers if isinstance(la[0], Region)]
        for layer in behind:
            yield from _regions(layer, frame, layout)
        yield from _x_axis(panel, frame, layout)
        if frame is layout.frames[0]:
            yield from _y_axis(chart, layout)
        elif not chart.y.names and chart.y.marked:
            yield from _y_grid(layout, frame)
        for layer in panel.layers:
            if layer not in behind:
                yield from _layer(layer, chart, frame, layout)
    if layout.legend is not None:
        yield from _legend(chart, layout.legend)
    if chart.ramp is not None:
        yield from _ramp(chart.ramp, layout)


# ---- axes


def _x_axis(panel: Panel, frame: Frame, layout: Layout) -> Iterator[str]:
    axis, top, bottom = panel.x, layout.top, layout.bottom
    if axis.names:
        yield from _x_names(panel, frame, layout)
    else:
        count = 6 if frame.right - frame.left > 200 else 3
        for t in ticks(frame.x, count) if axis.marked else ():
            yield _path(f"M{frame.x(t):.1f} {top:.1f}V{bottom:.1f}", "line", 1)
            y = top - 6 if axis.top else bottom + 16
            yield _text(frame.x(t), y, tick_label(t), "middle", "quiet")
    if axis.title:
        depth = text_depth(panel, frame)
        y = top - depth - 8 if axis.top else bottom + depth + 16
        room = frame.right - frame.left
        if text_width(axis.title) > room and frame is layout.frames[-1]:
            # A narrow panel at the end: its title reaches over what stands before it.
            yield _text(layout.width - 6, y, axis.title, "end", "quiet")
            return
        middle, title = (frame.left + frame.right) / 2, shorten_text(axis.title, max(room, 150))
        yield _text(middle, y, title, "middle", "quiet", axis.title)


def text_depth(panel: Panel, frame: Frame) -> float:
    """How far the labels of an x-axis reach from the plot."""
    if not panel.x.names:
        return LINE
    if not panel.x.shown:
        return 0
    if not needs_rotation(panel, frame.x.step):
        return LINE
    longest = max(text_width(shorten_text(n, NAME * 0.8)) for n in panel.x.names)
    return slope(frame.x.step) * longest + 8


def _x_names(panel: Panel, frame: Frame, layout: Layout) -> Iterator[str]:
    if not panel.x.shown:
        return
    turn = needs_rotation(panel, frame.x.step)
    steep = frame.x.step < STEEP
    # Where they would lie over each other, every second name or fewer.
    stride = 1 if frame.x.step > LEAST_STEP else math.ceil(LINE * 0.75 / frame.x.step)
    for k, name in list(enumerate(panel.x.names))[::stride]:
        x, y = frame.x(k), layout.top - 6 if panel.x.top else layout.bottom + 14
        if not turn:
            yield _text(x, y, name, "middle")
            continue
        angle = -90 if steep else -50
        shift = 4 if steep else 3
        y = layout.top - 6 if panel.x.top else layout.bottom + (8 if steep else 10)
        rotation = f' transform="rotate({angle} {x + shift:.1f} {y:.1f})"'
        anchor = "start" if panel.x.top else "end"
        yield _text(
            x + shift, y, shorten_text(name, NAME * 0.8), anchor, tooltip=name, attributes=rotation
        )


def _y_axis(chart: Chart, layout: Layout) -> Iterator[str]:
    frame = layout.frames[0]
    if chart.y.names:
        for k, name in enumerate(chart.y.names if chart.y.shown else ()):
            text = shorten_text(name, layout.name_width)
            yield _text(frame.left - 8, layout.y(k) + 4, text, "end", tooltip=name)
    elif chart.y.marked:
        yield from _y_grid(layout, frame)
        for t in ticks(layout.y):
            yield _text(frame.left - 6, layout.y(t) + 4, tick_label(t), "end", "quiet")
    if chart.y.title:
        middle = (layout.top + layout.bottom) / 2
        rotation = f' transform="rotate(-90 14 {middle:.1f})"'
        room = max(layout.bottom - layout.top, 150)
        text = shorten_text(chart.y.title, room)
        yield _text(14, middle, text, "middle", "quiet", chart.y.title, rotation)


def _y_grid(layout: Layout, frame: Frame) -> Iterator[str]:
    for t in ticks(layout.y):
        yield _path(f"M{frame.left:.1f} {layout.y(t):.1f}H{frame.right:.1f}", "line", 1)


# ---- marks


def _layer(layer: Layer, chart: Chart, frame: Frame, layout: Layout) -> Iterable[str]:
    x, y = frame.x, layout.y
    first = layer[0]
    if isinstance(first, Dot):
        return _dots([m for m in layer if isinstance(m, Dot)], frame, layout)
    if isinstance(first, Cell):
        return (_cell(m, chart.ramp, x, y) for m in layer if isinstance(m, Cell))
    if isinstance(first, Region):
        return _regions(layer, frame, layout)
    elements: list[str] = []
    for mark in layer:
        if isinstance(mark, Line):
            elements += _line(mark, x, y)
        elif isinstance(mark, Band):
            elements += _band(mark, x, y)
        elif isinstance(mark, Bar):
            elements += _bar(mark, x, y)
        elif isinstance(mark, Face):
            elements.append(_face(mark, chart.ramp, x, y))
        elif isinstance(mark, Rule):
            elements += _rule(mark, frame, layout)
        elif isinstance(mark, Text):
            elements.append(_text(x(mark.x), y(mark.y) + 4, mark.text, mark.anchor, mark.style))
    return elements


def _line(mark: Line, x: Scale, y: Scale) -> Iterator[str]:
    points = [p for p in mark.points if all_finite(*p)]
    if not points:
        return
    series = mark.style if isinstance(mark.style, int) else 0
    pattern = BROKEN if mark.dashed else dash(series)
    yield _path(_through(points, x, y), mark.style, mark.width, pattern, mark.said)
    if mark.dots:
        for a, b in points:
            yield _marker(mark.style, x(a), y(b), f"{mark.said}: {a:g}, {b:.4g}", small=True)


def _band(mark: Band, x: Scale, y: Scale) -> Iterator[str]:
    points = [p for p in mark.points if all_finite(*p)]
    if points:
        ends = [(p[0], p[2]) for p in points] + [(p[0], p[1]) for p in reversed(points)]
        title = _title(mark.said)
        yield f'<path d="{_through(ends, x, y)}Z" {_fill(mark.style)} opacity=".13">{title}</path>'


def _dots(dots: Sequence[Dot], frame: Frame, layout: Layout) -> Iterator[str]:
    x, y = frame.x, layout.y
    defined = [d for d in dots if all_finite(d.x, d.y)]
    texts = [shorten_text(d.label, NAME * 0.7) for d in defined]
    if len(defined) <= MOST_LABELLED and any(texts):
        box = (frame.left, layout.top - 6, layout.width, layout.bottom + 6)
        wide = [(x(d.x), y(d.y), text_width(t)) for d, t in zip(defined, texts, strict=True)]
        for dot, text, place in zip(defined, texts, place_labels(wide, box), strict=True):
            if place is None:
                continue
            if place.led:
                end = place.x if place.x > x(dot.x) else place.x + text_width(text)
                path = f"M{x(dot.x):.1f} {y(dot.y):.1f}L{end:.1f} {place.y - 4:.1f}"
                yield _path(path, "quiet", 0.7)
            yield _text(place.x, place.y, text, "start", tooltip=dot.label)
    for dot in defined:
        yield _marker(dot.style, x(dot.x), y(dot.y), dot.said)


def _marker(style: Style, x: float, y: float, tooltip: str, *, small: bool = False) -> str:
    """A mark that differs from those of other series in shape as well as in hue."""
    shape = marker(style) if isinstance(style, int) else "circle"
    inside = _title(tooltip)
    if shape == "circle":
        size = 3 if small else 4.5
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {_fill(style)}>{inside}</circle>'
    scale = f"translate({x:.1f} {y:.1f})" + (" scale(.7)" if small else "")
    return f'<path d="M0 0{SHAPES[shape]}" transform="{scale}" {_fill(style)}>{inside}</path>'


def _bar(mark: Bar, x: Scale, y: Scale) -> Iterator[str]:
    if all_finite(mark.value):
        wide = max(x.step - 1, 1.5) if x.step < 12 else x.step * 0.86
        ends = sorted((y(0.0), y(mark.value)))
        yield (
            f'<rect x="{x(mark.x) - wide / 2:.1f}" y="{ends[0]:.1f}" width="{wide:.1f}" '
            f'height="{max(ends[1] - ends[0], 0.5):.1f}" {_fill(mark.style)}>'
            f"{_title(mark.said)}</rect>"
        )


def _cell(mark: Cell, ramp: Ramp | None, x: Scale, y: Scale) -> str:
    style: Style = mark.style
    if style == "":
        if ramp is None or mark.value is None or not math.isfinite(mark.value):
            return ""
        style = step(ramp.share(mark.value), ramp.kind)
    gap = 1 if x.step > 8 else 0
    wide, high = x.step - gap, y.step - (1 if y.step > 8 else 0)
    place = f'x="{x(mark.x) - x.step / 2:.1f}" y="{y(mark.y) - y.step / 2:.1f}"'
    element = (
        f'<rect {place} width="{wide:.1f}" height="{high:.1f}" {_fill(style)}>'
        f"{_title(mark.said)}</rect>"
    )
    if mark.text:
        ink = f"{style}t" if mark.style == "" else "ink"
        element += _text(x(mark.x), y(mark.y) + 4, mark.text, "middle", ink)
    return element


def _face(mark: Face, ramp: Ramp | None, x: Scale, y: Scale) -> str:
    if ramp is None or not all_finite(mark.value, *(v for point in mark.points for v in point)):
        return ""
    style = step(ramp.share(mark.value), ramp.kind)
    return (
        f'<path d="{_through(mark.points, x, y)}Z" class="f-{style} k-quiet" '
        f'fill="{colour(style)}" stroke="{colour("quiet")}" stroke-width=".6" '
        f'stroke-linejoin="round">{_title(mark.said)}</path>'
    )


def _rule(mark: Rule, frame: Frame, layout: Layout) -> Iterator[str]:
    x0, y0, x1, y1 = _corners(mark, frame, layout)
    if all_finite(x0, y0, x1, y1):
        pattern = BROKEN if mark.dashed else ""
        path = f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"
        yield _path(path, mark.style, mark.width, pattern, mark.said)


def _regions(layer: Layer, frame: Frame, layout: Layout) -> Iterator[str]:
    for mark in layer:
        if isinstance(mark, Region):
            x0, y0, x1, y1 = _corners(mark, frame, layout)
            yield (
                f'<rect x="{min(x0, x1):.1f}" y="{min(y0, y1):.1f}" width="{abs(x1 - x0):.1f}" '
                f'height="{abs(y1 - y0):.1f}" {_fill(mark.style)}>{_title(mark.said)}</rect>'
            )


def _corners(mark: Rule | Region, frame: Frame, layout: Layout) -> tuple[float, ...]:
    return (
        frame.left if mark.x0 is None else frame.x(mark.x0),
        layout.bottom if mark.y0 is None else layout.y(mark.y0),
        frame.right if mark.x1 is None else frame.x(mark.x1),
        layout.top if mark.y1 is None else layout.y(mark.y1),
    )


# ---- legends


def _legend(chart: Chart, legend: Legend) -> Iterator[str]:
    lines = any(True for _ in chart.marks(Line)) or any(True for _ in chart.marks(Band))
    dots = any(True for _ in chart.marks(Dot)) or any(m.dots for m in chart.marks(Line))
    for i, name in enumerate(chart.series):
        x = legend.left + (i // legend.rows) * legend.column
        y = legend.top + (i % legend.rows) * LINE
        if lines:
            yield _path(f"M{x:.1f} {y:.1f}h24", i, 2, dash(i))
        if dots or not lines:
            yield _marker(i, x + 12, y, name, small=lines)
        label = shorten_text(name, legend.column - 44)
        yield _text(x + 30, y + 4, label, "start", tooltip=name)


def _ramp(ramp: Ramp, layout: Layout) -> Iterator[str]:
    """The colours of a ramp, high above low, beside the plot."""
    x, top, step_height = layout.width - 84, layout.top + 24, 7
    low, high = ramp.low, ramp.high
    if ramp.kind == "gap":
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    for k in range(STEPS[ramp.kind]):
        share = 1 - (k + 0.5) / STEPS[ramp.kind]
        value = low + share * (high - low)
        fill = step(ramp.share(value), ramp.kind)
        size = f'width="14" height="{step_height}"'
        yield f'<rect x="{x:.1f}" y="{top + k * step_height:.1f}" {size} {_fill(fill)}/>'
    bottom = top + step_height * STEPS[ramp.kind]
    yield _text(x, top - 10, shorten_text(ramp.title, 84), "start", "quiet", ramp.title)
    for y, value in ((top + 8, high), (bottom, low)):
        yield _text(x + 20, y, f"{value:.3g}", "start", "quiet")


# ---- pieces of SVG


def _fill(style: Style) -> str:
    return f'class="f-{colour_class(style)}" fill="{colour(style)}"'


def _path(path: str, style: Style, width: float, dashes: str = "", tooltip: str = "") -> str:
    broken = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path d="{path}" fill="none" class="k-{colour_class(style)}" '
        f'stroke="{colour(style)}" stroke-width="{width:g}"{broken}>{_title(tooltip)}</path>'
    )


def _through(points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> str:
    return "M" + "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points)


def _title(tooltip: str) -> str:
    return f"<title>{html.escape(tooltip)}</title>" if tooltip else ""


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str,
    style: Style = "ink",
    tooltip: str = "",
    attributes: str = "",
) -> str:
    full = _title(tooltip) if tooltip and tooltip != text else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {_fill(style)}{attributes}>'
        f"{html.escape(text)}{full}</text>"
    )
