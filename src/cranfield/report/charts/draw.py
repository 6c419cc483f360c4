"""A chart as a picture: SVG drawn here, PNG or PDF through vl-convert, or as Vega-Lite."""

from __future__ import annotations

import json
from pathlib import Path

from cranfield._system import address_limit
from cranfield.errors import MissingExtraError, UsageError, suggest
from cranfield.report.charts.model import Chart, Theme
from cranfield.validation import validate_params

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
