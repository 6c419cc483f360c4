"""A chart as a Vega-Lite specification: plain data, to be changed and drawn elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from cranfield.report.charts.layout import (
    Frame,
    Layout,
    lay_out,
    place_labels,
    shorten_text,
    text_width,
)
from cranfield.report.charts.model import (
    ROLES,
    Axis,
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
    Theme,
    all_finite,
    colour,
    dash,
    marker,
    ramp_colours,
    to_plain,
)

Spec: TypeAlias = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
MIME = "application/vnd.vegalite.v5+json"


def specification(chart: Chart, theme: Theme = "light") -> Spec:
    """The whole chart; `description` is what a screen reader says."""
    chart = _with_plain_fields(chart)
    layout = lay_out(chart)
    views = [
        _Writer(chart, panel, frame, layout, theme, first=k == 0).view()
        for k, (panel, frame) in enumerate(zip(chart.panels, layout.frames, strict=True))
    ]
    roles, line = ROLES[theme], ROLES[theme]["line"]
    look = {
        "labelColor": roles["quiet"],
        "titleColor": roles["quiet"],
        "titleFontWeight": "normal",
        "labelLimit": 220,
    }
    return {
        "$schema": SCHEMA,
        "title": {"text": list(layout.title), "fontWeight": "normal", "color": roles["ink"]},
        "description": chart.description,
        "background": roles["paper"],
        "config": {
            "font": "sans-serif",
            "axis": look | {"domain": False, "gridColor": line, "tickColor": line},
            "legend": look | {"symbolOpacity": 1, "symbolStrokeWidth": 2, "symbolLimit": 0},
            "text": {"color": roles["ink"]},
            "view": {"stroke": None},
        },
        **(views[0] if len(views) == 1 else {"hconcat": views, "spacing": 16}),
    }


def _with_plain_fields(chart: Chart) -> Chart:
    """The chart with names of fields that Vega does not take for a path within a row."""

    def own(axis: Axis) -> Axis:
        return replace(axis, field=_plain_field(axis.field))

    panels = tuple(replace(panel, x=own(panel.x)) for panel in chart.panels)
    return replace(chart, panels=panels, y=own(chart.y), of=_plain_field(chart.of))


def _plain_field(name: str) -> str:
    """A name without brackets, dots, quotes and backslashes.

    >>> _plain_field("DCG(discount='jk')"), _plain_field("nDCG@10")
    ('DCG_discount_jk', 'nDCG@10')
    """
    return re.sub(r"[^\w@ +-]+", "_", name).strip("_") or "value"


class _Writer:
    """One panel: its layers in the terms of Vega-Lite."""

    def __init__(
        self,
        chart: Chart,
        panel: Panel,
        frame: Frame,
        layout: Layout,
        theme: Theme,
        *,
        first: bool,
    ) -> None:
        self.chart, self.panel, self.frame, self.layout = chart, panel, frame, layout
        self.theme, self.first = theme, first
        self.named_x = bool(panel.x.names) and _whole(panel.layers, across=True)
        layers = [la for p in chart.panels for la in p.layers]
        self.named_y = bool(chart.y.names) and _whole(layers, across=False)
        self.key = panel.x.field if panel.x.field != chart.y.field else "x"

    def view(self) -> Spec:
        layers = [spec for layer in self.panel.layers for spec in self._layer(layer)]
        return {
            "width": round(self.frame.right - self.frame.left),
            "height": round(self.layout.bottom - self.layout.top),
            "layer": layers,
        }

    def _layer(self, layer: Layer) -> Iterable[Spec]:
        makers: dict[type[Any], Callable[[list[Any]], list[Spec]]] = {
            Line: self._lines,
            Band: self._bands,
            Dot: self._dots,
            Bar: self._bars,
            Cell: self._cells,
            Face: self._faces,
            Rule: self._rules,
            Region: self._regions,
            Text: self._texts,
        }
        return makers[type(layer[0])](list(layer))

    # ---- channels

    def x(self, name: str | None = None) -> Spec:
        axis = self.panel.x
        channel = self._axis(axis, self.frame.x.low, self.frame.x.high, by_name=self.named_x)
        channel["axis"] = self._ticks(axis, by_name=self.named_x, turned=True)
        return {"field": name or self.key, **channel}

    def y(self, name: str | None = None) -> Spec:
        axis = self.chart.y
        channel = self._axis(axis, self.layout.y.low, self.layout.y.high, by_name=self.named_y)
        channel["axis"] = self._ticks(axis, by_name=self.named_y) if self.first else None
        if axis.names and not self.named_y:
            channel["scale"] |= {"reverse": True}
        return {"field": name or axis.field, **channel}

    def _axis(self, axis: Axis, low: float, high: float, *, by_name: bool) -> Spec:
        title = axis.title or None
        if by_name:
            return {"type": "nominal", "title": title, "scale": {"domain": list(axis.names)}}
        scale: Spec = {"domain": [low, high], "nice": False, "zero": False}
        if axis.log:
            scale = {"type": "log", "domain": [10.0**low, 10.0**high], "nice": False}
        return {"type": "quantitative", "title": title, "scale": scale}

    def _ticks(self, axis: Axis, *, by_name: bool, turned: bool = False) -> Spec:
        ticks: Spec = {"orient": "top"} if axis.top else {}
        if not axis.marked:
            return ticks | {"grid": False, "labels": False, "ticks": False}
        if axis.names:
            ticks |= {"grid": False, "ticks": False, "labels": axis.shown}
            if turned and not axis.top:
                ticks["labelAngle"] = -50
            if not by_name:
                names = json.dumps([shorten_text(n, 200) for n in axis.names], ensure_ascii=False)
                ticks |= {"values": list(range(len(axis.names)))}
                ticks |= {"labelExpr": f"{names}[datum.value]", "labelOverlap": False}
        return ticks

    def place(self, axis: Axis, value: float | None, *, across: bool) -> Any:
        """A position as data has it: a name, or a number."""
        by_name = self.named_x if across else self.named_y
        if value is None or not all_finite(value):
            return None
        return axis.names[round(value)] if by_name else to_plain(float(value))

    def at(self, x: float | None, y: float | None) -> Spec:
        return {
            self.key: self.place(self.panel.x, x, across=True),
            self.chart.y.field: self.place(self.chart.y, y, across=False),
        }

    def name(self, style: Style) -> Spec:
        """What a mark belongs to: the series, and its colour where it is of none."""
        series = self.chart.series
        if isinstance(style, int) and style < len(series):
            return {self.chart.of: series[style]}
        return {"colour": colour(style, self.theme)}

    def hue(self, styles: Iterable[Style]) -> Spec:
        """The colour of marks by their series, or as it stands in the data."""
        series = self.chart.series
        if all(isinstance(s, int) and s < len(series) for s in styles) and series:
            scale = {
                "domain": list(series),
                "range": [colour(i, self.theme) for i in range(len(series))],
            }
            channel = {"field": self.chart.of, "type": "nominal", "sort": None, "scale": scale}
            return {"color": channel | {"title": None, "legend": self._legend()}}
        return {"color": {"field": "colour", "type": "nominal", "scale": None}}

    def _legend(self) -> Spec:
        legend = self.layout.legend
        # At full strength, whatever is drawn with it: bands are pale.
        spec: Spec = {"symbolOpacity": 1}
        if legend is None or legend.left > self.frame.right:
            return spec
        columns = -(-len(self.chart.series) // legend.rows)
        return spec | {"orient": "bottom", "columns": columns}

    # ---- marks

    def _lines(self, marks: list[Line]) -> list[Spec]:
        rows = [
            {**self.at(*p), **self.name(m.style), "line": k}
            for k, m in enumerate(marks)
            for p in m.points
            if all_finite(*p)
        ]
        encoding = {"x": self.x(), "y": self.y(), "detail": {"field": "line"}, **_order()}
        encoding |= self.hue([m.style for m in marks])
        by_series = encoding["color"]["field"] == self.chart.of
        mark: Spec = {"type": "line", "strokeWidth": marks[0].width}
        if marks[0].dashed:
            mark["strokeDash"] = [4, 4]
        elif by_series and len(self.chart.series) > 1:
            encoding["strokeDash"] = self._by_series(
                [[float(n) for n in dash(i).split()] for i in range(len(self.chart.series))]
            )
        rows = [r | {"step": k} for k, r in enumerate(rows)]
        specs = [_spec(rows, mark, encoding)]
        if by_series and all(m.dots for m in marks):
            fill = self.hue([m.style for m in marks])
            point = {"x": self.x(), "y": self.y(), **fill, **self._shapes()}
            specs.append(_spec(rows, {"type": "point", "filled": True, "opacity": 1}, point))
        return specs

    def _shapes(self) -> Spec:
        if len(self.chart.series) < 2:
            return {}
        return {"shape": self._by_series([marker(i) for i in range(len(self.chart.series))])}

    def _by_series(self, values: list[Any]) -> Spec:
        scale = {"domain": list(self.chart.series), "range": values}
        channel = {"field": self.chart.of, "type": "nominal", "sort": None, "scale": scale}
        return channel | {"title": None, "legend": self._legend()}

    def _bands(self, marks: list[Band]) -> list[Spec]:
        low, high = f"{self.chart.y.field}_low", f"{self.chart.y.field}_high"
        rows = [
            {
                self.key: self.place(self.panel.x, x, across=True),
                low: to_plain(a),
                high: to_plain(b),
                **self.name(m.style),
                "line": k,
            }
            for k, m in enumerate(marks)
            for x, a, b in m.points
            if all_finite(x, a, b)
        ]
        encoding = {"x": self.x(), "y": self.y(low), "y2": {"field": high}}
        encoding |= {"detail": {"field": "line"}}
        encoding |= self.hue([m.style for m in marks])
        return [_spec(rows, {"type": "area", "opacity": 0.13}, encoding)]

    def _dots(self, marks: list[Dot]) -> list[Spec]:
        rows = [{**self.at(m.x, m.y), **self.name(m.style), "said": m.said} for m in marks]
        for row, dot in zip(rows, marks, strict=True):
            if dot.label:
                row["label"] = dot.label
        encoding = {"x": self.x(), "y": self.y(), **_tooltip()}
        encoding |= self.hue([m.style for m in marks])
        if encoding["color"]["scale"]:
            encoding |= self._shapes()
        mark = {"type": "point", "filled": True, "size": 60, "opacity": 1}
        return [_spec(rows, mark, encoding), *self._labels(marks)]

    def _labels(self, marks: list[Dot]) -> list[Spec]:
        """Labels where the layout found room for them, as positions in the data."""
        labelled = [m for m in marks if m.label and all_finite(m.x, m.y)]
        if not labelled or self.named_x or self.named_y:
            return []
        x, y = self.frame.x, self.layout.y
        box = (self.frame.left, self.layout.top - 6, self.layout.width, self.layout.bottom + 6)
        texts = [shorten_text(m.label, 130) for m in labelled]
        dots = [(x(m.x), y(m.y), text_width(t)) for m, t in zip(labelled, texts, strict=True)]
        rows, leads = [], []
        for dot, text, place in zip(labelled, texts, place_labels(dots, box), strict=True):
            if place is None:
                continue
            rows.append({**self.at(x.back(place.x), y.back(place.y - 4)), "label": text})
            if place.led:
                end = place.x if place.x > x(dot.x) else place.x + text_width(text)
                label_end = x.back(end), y.back(place.y - 4)
                leads.append(Rule(dot.x, dot.y, *label_end, style="quiet", width=0.7))
        mark = {"type": "text", "align": "left", "baseline": "middle"}
        encoding = {"x": self.x(), "y": self.y(), "text": {"field": "label"}}
        return [*(self._rules(leads) if leads else []), _spec(rows, mark, encoding)]

    def _bars(self, marks: list[Bar]) -> list[Spec]:
        rows = [{**self.at(m.x, m.value), **self.name(m.style), "said": m.said} for m in marks]
        encoding = {"x": self.x(), "y": self.y(), **_tooltip()}
        encoding |= self.hue([m.style for m in marks])
        mark: Spec = {"type": "bar"}
        if not self.named_x:
            mark["width"] = max(1, round(0.86 * self.frame.x.step))
        return [_spec(rows, mark, encoding)]

    def _cells(self, marks: list[Cell]) -> list[Spec]:
        ramp = self.chart.ramp
        value = "value" if "value" not in (self.key, self.chart.y.field) else "cell"
        rows = []
        for m in marks:
            row = {**self.at(m.x, m.y), **self._box(m.x, m.y), "said": m.said, "text": m.text}
            if m.style == "":
                row[value] = to_plain(m.value)
            else:
                row["colour"] = colour(m.style, self.theme)
            rows.append(row)
        encoding = {**self._box_channels(), **_tooltip()}
        if ramp is not None:
            encoding["fill"] = _ramp(ramp, value, self.theme)
        else:
            encoding["fill"] = {"field": "colour", "type": "nominal", "scale": None}
        specs = [_spec(rows, {"type": "rect", "invalid": None}, encoding)]
        if any(m.text for m in marks):
            text = {"x": self.x(), "y": self.y(), "text": {"field": "text"}}
            specs.append(_spec(rows, {"type": "text", "baseline": "middle"}, text))
        return specs

    def _faces(self, marks: list[Face]) -> list[Spec]:
        rows = [
            {**self.at(*point), "value": to_plain(m.value), "face": k, "step": n, "said": m.said}
            for k, m in enumerate(marks)
            for n, point in enumerate(m.points)
        ]
        encoding = {"x": self.x(), "y": self.y(), "detail": {"field": "face"}, **_order()}
        encoding |= _tooltip()
        if self.chart.ramp is not None:
            encoding["fill"] = _ramp(self.chart.ramp, "value", self.theme)
        mark = {"type": "line", "interpolate": "linear-closed", "strokeWidth": 0.6}
        mark["stroke"] = colour("quiet", self.theme)
        return [_spec(rows, mark, encoding)]

    def _box(self, x: float, y: float) -> Spec:
        """The ends of a cell on axes whose names are numbers here: half a step to each side."""
        ends: Spec = {}
        if not self.named_x:
            ends |= {f"{self.key}_low": x - 0.5, f"{self.key}_high": x + 0.5}
        if not self.named_y:
            name = self.chart.y.field
            ends |= {f"{name}_low": y - 0.5, f"{name}_high": y + 0.5}
        return ends

    def _box_channels(self) -> Spec:
        channels: Spec = {"x": self.x(), "y": self.y()}
        if not self.named_x:
            channels |= {"x": self.x(f"{self.key}_low"), "x2": {"field": f"{self.key}_high"}}
        if not self.named_y:
            name = self.chart.y.field
            channels |= {"y": self.y(f"{name}_low"), "y2": {"field": f"{name}_high"}}
        return channels

    def _rules(self, marks: list[Rule]) -> list[Spec]:
        rows = []
        for m in marks:
            second = {f"{name}_end": value for name, value in self.at(m.x1, m.y1).items()}
            rows.append({**self.at(m.x0, m.y0), **second, **self.name(m.style), "said": m.said})
        encoding = {**self._ends(marks), **_tooltip()}
        encoding |= self.hue([m.style for m in marks])
        mark: Spec = {"type": "rule", "strokeWidth": marks[0].width}
        if marks[0].dashed:
            mark["strokeDash"] = [4, 4]
        return [_spec(rows, mark, encoding)]

    def _regions(self, marks: list[Region]) -> list[Spec]:
        rows = []
        for m in marks:
            row: Spec = {"colour": colour(m.style, self.theme), "said": m.said}
            if m.y0 is not None and m.y1 is not None:
                row[self.chart.y.field] = self.place(self.chart.y, (m.y0 + m.y1) / 2, across=False)
                row |= {f"{self.chart.y.field}_low": m.y0, f"{self.chart.y.field}_high": m.y1}
            if m.x0 is not None and m.x1 is not None:
                row[self.key] = self.place(self.panel.x, (m.x0 + m.x1) / 2, across=True)
                row |= {f"{self.key}_low": m.x0, f"{self.key}_high": m.x1}
            rows.append(row)
        channels = self._box_channels()
        spanned = {"x": self.key in rows[0], "y": self.chart.y.field in rows[0]}
        encoding = {name: c for name, c in channels.items() if spanned[name[0]]}
        encoding |= {"color": {"field": "colour", "type": "nominal", "scale": None}}
        return [_spec(rows, {"type": "rect"}, encoding)]

    def _texts(self, marks: list[Text]) -> list[Spec]:
        aligned = {"start": "left", "middle": "center", "end": "right"}
        rows = [{**self.at(m.x, m.y), "label": m.text} for m in marks]
        encoding = {"x": self.x(), "y": self.y(), "text": {"field": "label"}}
        mark = {"type": "text", "align": aligned[marks[0].anchor], "baseline": "middle"}
        return [_spec(rows, mark, encoding)]

    def _ends(self, marks: list[Rule]) -> Spec:
        """From where to where rules go; over the whole axis where neither end is given."""
        channels: Spec = {}
        if marks[0].x0 is not None:
            channels["x"] = self.x()
            if any(m.x0 != m.x1 for m in marks):
                channels["x2"] = {"field": f"{self.key}_end"}
        if marks[0].y0 is not None:
            channels["y"] = self.y()
            if any(m.y0 != m.y1 for m in marks):
                channels["y2"] = {"field": f"{self.chart.y.field}_end"}
        return channels


def _spec(rows: list[Spec], mark: Spec, encoding: Spec) -> Spec:
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def _order() -> Spec:
    return {"order": {"field": "step", "type": "quantitative"}}


def _tooltip() -> Spec:
    return {"tooltip": {"field": "said", "type": "nominal"}}


def _ramp(ramp: Ramp, field: str, theme: Theme) -> Spec:
    colours = ramp_colours(ramp.kind, theme)
    low, high = ramp.low, ramp.high
    if ramp.kind == "gap":
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    scale = {
        "type": "quantize",
        "domain": [low, high],
        "range": colours[::-1] if ramp.reverse else colours,
    }
    return {"field": field, "type": "quantitative", "title": ramp.title, "scale": scale}


def _whole(layers: Iterable[Layer], *, across: bool) -> bool:
    """Whether all positions on an axis are those of its names, none between them."""
    for layer in layers:
        for mark in layer:
            if isinstance(mark, Region):
                ends = (mark.x0, mark.x1) if across else (mark.y0, mark.y1)
                if None not in ends and not float((ends[0] + ends[1]) / 2).is_integer():  # type: ignore[operator]
                    return False
                continue
            if isinstance(mark, Line | Band | Face):
                values = [p[0] if across else p[1] for p in mark.points]
            elif isinstance(mark, Rule):
                rule_ends = (mark.x0, mark.x1) if across else (mark.y0, mark.y1)
                values = [v for v in rule_ends if v is not None]
            else:
                values = [mark.x if across else mark.value if isinstance(mark, Bar) else mark.y]
            if any(not float(v).is_integer() for v in values if all_finite(v)):
                return False
    return True
