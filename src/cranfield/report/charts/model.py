"""A chart as plain data: what is drawn, on which axes, under which names.

Builders make it from answers in hand; `svg` and `vega` draw it, and the script of the report
draws the same model from its JSON. Positions on an axis with `names` are 0, 1, 2, ...
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cranfield._system import address_limit
from cranfield.errors import MissingExtraError, UsageError, suggest
from cranfield.validation import validate_params

Theme: TypeAlias = Literal["light", "dark"]
# A series by its number, or a role by its name.
Style: TypeAlias = int | str

# After Okabe and Ito: told apart by everyone, each at least 3 to 1 against its paper.
HUES: dict[Theme, tuple[str, ...]] = {
    "light": (
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#c0619a",
        "#a67c00",
        "#3b94cc",
        "#7a5195",
        "#737373",
    ),
    "dark": (
        "#4da8e0",
        "#ff8a3d",
        "#2ec79a",
        "#e39cc6",
        "#dcb83a",
        "#8fd0f5",
        "#b596d3",
        "#b0b0b0",
    ),
}
ROLES: dict[Theme, dict[str, str]] = {
    "light": {
        "ink": "#1c1f23",
        "quiet": "#59616b",
        "paper": "#ffffff",
        "panel": "#f6f7f9",
        "line": "#d5d9df",
        "accent": "#0072b2",
        "good": "#0072b2",
        "bad": "#b34700",
        "shade": "#ddeffa",
        "group": "#56b4e9",
    },
    "dark": {
        "ink": "#e8eaed",
        "quiet": "#aab2bd",
        "paper": "#16181c",
        "panel": "#1f2329",
        "line": "#3a4048",
        "accent": "#6cc0ff",
        "good": "#6cc0ff",
        "bad": "#ff9d5c",
        "shade": "#20384a",
        "group": "#3d8fc0",
    },
}
# With eight hues: more than sixty lines and as many kinds of dots that differ.
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "16 3 6 3", "9 2 2 2 2 2")
MARKERS = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-left",
    "triangle-right",
)
# Numbers as colours: from nothing to much, and from worse over equal to better.
HEAT_ENDS: dict[Theme, tuple[str, str]] = {
    "light": ("#f7fbff", "#08306b"),
    "dark": ("#20262e", "#b9e0ff"),
}
GAP_ENDS: dict[Theme, tuple[str, str, str]] = {
    "light": ("#b34700", "#fafafa", "#005f96"),
    "dark": ("#ff9d5c", "#262b31", "#6cc0ff"),
}
STEPS = {"heat": 16, "gap": 15}
_LETTER = {"heat": "h", "gap": "g"}


def dash(series: int) -> str:
    """The dash pattern of a line, as SVG writes it."""
    return DASHES[series // len(HUES["light"]) % len(DASHES)]


def marker(series: int) -> str:
    """The shape of a dot; it differs from its neighbours in hue and from its namesakes in hue."""
    hues = len(HUES["light"])
    return MARKERS[(series + series // hues) % len(MARKERS)]


def colour_class(style: Style) -> str:
    """The name of a style in classes and properties: "s3", "ink"."""
    return f"s{style % len(HUES['light'])}" if isinstance(style, int) else style


def colour(style: Style, theme: Theme = "light") -> str:
    """The colour of a series, a role, or a step ("h3", "g7")."""
    if isinstance(style, int):
        return HUES[theme][style % len(HUES[theme])]
    return ROLES[theme].get(style) or properties(theme)[style]


def step(share: float, ramp: str) -> str:
    """The class of the step on a ramp for a share: 0 to 1 of "heat", -1 to 1 of "gap"."""
    count = STEPS[ramp]
    position = share if ramp == "heat" else (share + 1) / 2
    return f"{_LETTER[ramp]}{min(max(int(position * count), 0), count - 1)}"


def ramp_colours(ramp: str, theme: Theme = "light") -> list[str]:
    """The steps of a ramp, from low to high."""
    count = STEPS[ramp]
    if ramp == "heat":
        low, high = HEAT_ENDS[theme]
        return [_mix_colours(low, high, k / (count - 1)) for k in range(count)]
    bad, middle, good = GAP_ENDS[theme]
    shares = [2 * k / (count - 1) - 1 for k in range(count)]
    return [_mix_colours(middle, good if s > 0 else bad, abs(s)) for s in shares]


@cache
def properties(theme: Theme) -> dict[str, str]:
    """Every colour of a theme by the name of its custom property, without the dashes.

    A step has a second one for text on it: "h3t".
    """
    colours = dict(ROLES[theme])
    colours |= {f"s{k}": hue for k, hue in enumerate(HUES[theme])}
    for ramp, letter in _LETTER.items():
        for k, fill in enumerate(ramp_colours(ramp, theme)):
            colours[f"{letter}{k}"] = fill
            black_or_white = sorted(("#000000", "#ffffff"), key=lambda ink: contrast(ink, fill))
            colours[f"{letter}{k}t"] = black_or_white[-1]
    return colours


def css_properties(only: Collection[str] | None = None, root: str = ":root") -> str:
    """The custom properties as a style sheet, dark where the reader's screen is; print is light."""

    def block(theme: Theme) -> str:
        colours = properties(theme)
        selected = {k: v for k, v in colours.items() if only is None or k in only}
        return f"{root}{{{';'.join(f'--{k}:{v}' for k, v in selected.items())}}}"

    return f"{block('light')}@media screen and (prefers-color-scheme:dark){{{block('dark')}}}"


def css_classes(only: Collection[str] | None = None) -> str:
    """Rules by which drawings take their colours from the properties."""
    rules: Iterator[tuple[str, str]] = (
        (kind, name) for name in properties("light") for kind in ("f", "k")
    )
    return "".join(
        f".{kind}-{name}{{{'fill' if kind == 'f' else 'stroke'}:var(--{name})}}"
        for kind, name in rules
        if only is None or f"{kind}-{name}" in only
    )


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours as accessibility guidelines define it: 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _channels(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def _mix_colours(start: str, end: str, share: float) -> str:
    pairs = zip(_channels(start), _channels(end), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _luminance(colour: str) -> float:
    shares = [c / 255 for c in _channels(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


Number: TypeAlias = float | None  # None: as far as the plot reaches


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: `field` names its values in data, `title` says what they are to people.

    Without a `domain` the axis spans what is drawn, and a little more. `names` are those of the
    positions 0, 1, ...; they stand from left to right, or from the top down. With `shown` off
    the names are left out where there is no room for them, with `marked` off numbers and grid.
    """

    title: str = ""
    field: str = "value"
    domain: tuple[float, float] | None = None
    log: bool = False
    names: tuple[str, ...] = ()
    shown: bool = True
    top: bool = False
    marked: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; unknown ones are left out. With `dots` each has a marker."""

    points: tuple[tuple[float, float], ...]
    style: Style = 0
    said: str = ""
    width: float = 2.0
    dashed: bool = False
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """What lies between two values along the x-axis: (x, low, high)."""

    points: tuple[tuple[float, float, float], ...]
    style: Style = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot; its `label` stands where it covers no other, with a line to it if need be."""

    x: float
    y: float
    style: Style = "accent"
    said: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar over a position of the x-axis, from 0."""

    x: float
    value: float
    style: Style = "accent"
    said: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell at the crossing of two names, coloured by its value on the ramp, or by a style."""

    x: float
    y: float
    value: float | None = None
    text: str = ""
    said: str = ""
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Face:
    """A part of a surface: the ground between points, coloured by its value on the ramp."""

    points: tuple[tuple[float, float], ...]
    value: float
    said: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line between two places; an end that is None lies at the edge of the plot."""

    x0: Number
    y0: Number
    x1: Number
    y1: Number
    style: Style = "ink"
    said: str = ""
    width: float = 1.5
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A shaded part of the plot; an end that is None lies at its edge."""

    x0: Number
    y0: Number
    x1: Number
    y1: Number
    style: Style = "shade"
    said: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Words at a place of the plot."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    style: Style = "ink"


Mark: TypeAlias = Line | Band | Dot | Bar | Cell | Face | Rule | Region | Text
# Marks of one kind; layers lie upon each other in their order.
Layer: TypeAlias = tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Layers over one x-axis. `share` is its part of the width beside other panels."""

    x: Axis
    layers: tuple[Layer, ...]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Ramp:
    """How the values of cells become colours: "heat" from low to high, "gap" about 0.

    With `reverse` low values are the strong (heat) or the good (gap) ones.
    """

    title: str
    low: float
    high: float
    kind: Literal["heat", "gap"] = "heat"
    reverse: bool = False

    def share(self, value: float) -> float:
        """Where a value stands: 0 to 1 ("heat") or -1 to 1 ("gap")."""
        if self.kind == "gap":
            extent = max(abs(self.low), abs(self.high)) or 1.0
            return (-value if self.reverse else value) / extent
        position = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return 1 - position if self.reverse else position


@dataclass(frozen=True, slots=True, repr=False)
class Chart:
    """A picture of one or more panels beside each other over one y-axis.

    `series` are the names of the styles 0, 1, ... for the legend, and `of` is what they are
    ("run"). `width` and `height` are those of the whole picture; without them it takes what its
    contents need. `description` says in a sentence or two what there is to see.
    """

    title: str
    description: str
    panels: tuple[Panel, ...]
    y: Axis
    series: tuple[str, ...] = ()
    of: str = "run"
    ramp: Ramp | None = None
    square: bool = False
    width: int | None = None
    height: int | None = None

    def __repr__(self) -> str:
        return f"<Chart {self.title!r}>"

    def sized(
        self, *, title: str | None = None, width: int | None = None, height: int | None = None
    ) -> Chart:
        """The same chart under another title or in another size."""
        return replace(
            self,
            title=self.title if title is None else title,
            width=width or self.width,
            height=height or self.height,
        )

    def to_svg(self, *, standalone: bool = True) -> str:
        """The picture as SVG; `standalone` brings its colours along, a page has them already."""
        from cranfield.report.charts import svg

        return svg.draw(self, standalone=standalone)

    def to_vega(self, theme: Theme = "light") -> dict[str, Any]:
        """The chart as a Vega-Lite specification."""
        from cranfield.report.charts.vega import specification

        return specification(self, theme)

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data, without what has its default; numbers unknown are None."""
        model: dict[str, Any] = to_plain(self)
        return model

    def save(self, path: str | Path) -> None:
        """Write .svg, .png, .pdf or .json (Vega-Lite), by the ending of the name."""
        from cranfield.io.files import write_atomic

        write_atomic(Path(path), draw(self, kind_of(path)))

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        from cranfield.report.charts.vega import MIME

        return {
            "text/plain": f"{self.title}: {self.description}",
            "image/svg+xml": self.to_svg(),
            MIME: self.to_vega(),
        }

    def marks(self, kind: type[Any]) -> Iterator[Any]:
        """All marks of a kind, in the order in which they are drawn."""
        for panel in self.panels:
            for layer in panel.layers:
                for mark in layer:
                    if isinstance(mark, kind):
                        yield mark


def chart(
    title: str, description: str, x: Axis, y: Axis, layers: Sequence[Sequence[Mark]], **options: Any
) -> Chart:
    """A chart of one panel; empty layers are left out."""
    filled_layers = tuple(tuple(layer) for layer in layers if layer)
    return Chart(title, description, (Panel(x, filled_layers),), y, **options)


def all_finite(*values: float | None) -> bool:
    """Whether all are numbers that can be drawn."""
    return all(v is not None and math.isfinite(v) for v in values)


def to_plain(value: Any) -> Any:
    """A part of the model as JSON has it; a layer becomes its kind and its marks."""
    if isinstance(value, Panel):
        layers = [
            {"kind": type(layer[0]).__name__.lower(), "marks": [to_plain(m) for m in layer]}
            for layer in value.layers
        ]
        return {"x": to_plain(value.x), "layers": layers, "share": value.share}
    if hasattr(value, "__dataclass_fields__"):
        return {
            f.name: to_plain(field_value)
            for f in fields(value)
            if (field_value := getattr(value, f.name)) != f.default
        }
    if isinstance(value, tuple | list):
        return [to_plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


PNG_SCALE = 2.0
# A version that every vl-convert we ask for brings along.
VEGA_LITE = "5.20"
KINDS = ("svg", "png", "pdf", "json")
# The program within vl-convert reserves so many addresses, and ends the process where it may not.
ADDRESSES = 76 << 30


@validate_params
def kind_of(path: str | Path) -> str:
    """The kind of picture that a file name asks for."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in KINDS:
        raise UsageError(
            f"{path}: a chart is written as .svg, .png, .pdf or .json (a Vega-Lite "
            f"specification).{suggest(kind, KINDS)}"
        )
    return kind


@validate_params
def draw(chart: Chart, kind: str, *, theme: Theme = "light") -> bytes:
    """The picture; 'svg' and 'json' need nothing installed, and SVG has both themes."""
    if kind == "svg":
        return (chart.to_svg() + "\n").encode()
    spec = chart.to_vega(theme)
    if kind == "json":
        return (json.dumps(spec, ensure_ascii=False, indent=1) + "\n").encode()
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise MissingExtraError("vl-convert-python", "report", f"a chart as {kind}") from None
    limit = address_limit()
    if limit is not None and limit < ADDRESSES:
        raise UsageError(
            f"a chart as {kind} cannot be drawn where the memory of a process has a limit "
            "(ulimit -v); draw it as .svg, or without that limit"
        )
    if kind == "png":
        png: bytes = vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=PNG_SCALE)
        return png
    pdf: bytes = vl_convert.vegalite_to_pdf(spec, vl_version=VEGA_LITE)
    return pdf
