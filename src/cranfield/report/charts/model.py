"""A chart as plain data: what is drawn, on which axes, under which names.

Builders make it from answers in hand; `svg` and `vega` draw it, and the script of the report
draws the same model from its JSON. Positions on an axis with `names` are 0, 1, 2, ...
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cranfield.report.charts.palette import Style, Theme

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


Mark: TypeAlias = Line | Band | Dot | Bar | Cell | Rule | Region | Text
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
            most = max(abs(self.low), abs(self.high)) or 1.0
            return (-value if self.reverse else value) / most
        found = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return 1 - found if self.reverse else found


@dataclass(frozen=True, slots=True)
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
        from cranfield.report.charts.svg import draw

        return draw(self, standalone=standalone)

    def to_vega(self, theme: Theme = "light") -> dict[str, Any]:
        """The chart as a Vega-Lite specification."""
        from cranfield.report.charts.vega import specification

        return specification(self, theme)

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data, without what has its default; numbers unknown are None."""
        model: dict[str, Any] = plain(self)
        return model

    def save(self, path: str | Path) -> None:
        """Write .svg, .png, .pdf or .json (Vega-Lite), by the ending of the name."""
        from cranfield.io.files import write_whole
        from cranfield.report.charts.draw import draw, kind_of

        write_whole(Path(path), draw(self, kind_of(path)))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
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
    title: str, description: str, x: Axis, y: Axis, layers: Sequence[Sequence[Mark]], **more: Any
) -> Chart:
    """A chart of one panel; empty layers are left out."""
    kept = tuple(tuple(layer) for layer in layers if layer)
    return Chart(title, description, (Panel(x, kept),), y, **more)


def known(*values: float | None) -> bool:
    """Whether all are numbers that can be drawn."""
    return all(v is not None and math.isfinite(v) for v in values)


def plain(value: Any) -> Any:
    """A part of the model as JSON has it; a layer becomes its kind and its marks."""
    if isinstance(value, Panel):
        layers = [
            {"kind": type(layer[0]).__name__.lower(), "marks": [plain(m) for m in layer]}
            for layer in value.layers
        ]
        return {"x": plain(value.x), "layers": layers, "share": value.share}
    if hasattr(value, "__dataclass_fields__"):
        return {
            f.name: plain(own)
            for f in fields(value)
            if (own := getattr(value, f.name)) != f.default
        }
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
