"""The interactive report: one HTML file with its data, style and script inside."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import Any

from cranfield._json import jsonable
from cranfield._version import __version__
from cranfield.report.charts import curves, layout, model, svg
from cranfield.report.charts.model import css_classes, css_properties
from cranfield.report.render import html_table
from cranfield.report.sections import Section


def html_page(title: str, body: str, *, style: str, script: str = "") -> str:
    """The whole file: a plain title, a body of HTML, a style, and perhaps a script."""
    allowed = f"script-src '{_hash(script)}'; " if script else ""
    if "<audio" in body or "<video" in body:
        allowed += "media-src data:; "
    policy = (
        f"default-src 'none'; {allowed}style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    scripts = f"<script>{script}</script>" if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title>"
        f'<link rel="icon" href="data:image/svg+xml;base64,{base64.b64encode(icon()).decode()}">'
        f"<style>{style}</style></head>\n"
        f"<body>{body}{scripts}</body></html>\n"
    )


@cache
def icon() -> bytes:
    """The picture that browsers show beside the title, as SVG."""
    return resources.files("cranfield").joinpath("site", "static", "icon.svg").read_bytes()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


SIZES: tuple[str, ...] = (
    "LINE",
    "ROW",
    "CLOSE_ROW",
    "PLOT",
    "TALL",
    "SQUARE",
    "GAP",
    "EDGE",
    "NAME",
    "ENTRY",
)
SIZES += ("NARROW", "RAMP", "MARK", "STEEP", "MANY", "LARGER", "FARTHEST")


def look() -> dict[str, Any]:
    """Sizes, dashes, markers and steps; colours are in the style sheet."""
    sizes = {name: getattr(layout, name) for name in SIZES}
    sizes |= {"PAD": layout.PAD, "MOST_LABELLED": svg.MOST_LABELLED}
    sizes["MOST_NAMES"] = curves.MOST_NAMES
    return {
        "sizes": sizes,
        "dashes": model.DASHES,
        "markers": model.MARKERS,
        "shapes": svg.SHAPES,
        "hues": len(model.HUES["light"]),
        "steps": model.STEPS,
        "letters": {
            "narrow": layout.NARROW_LETTERS,
            "wide": layout.WIDE_LETTERS,
            "sizes": layout.LETTER_SIZES,
        },
    }


def html_file(title: str, body: str, *, style: str, script: str = "") -> str:
    """The whole file: a plain title, a body of HTML, a style to which the palette is added."""
    return html_page(title, body, style=css_properties() + css_classes() + style, script=script)


SCRIPTS = ("dom.js", "charts.js", "marks.js", "models.js", "drilldown.js", "report.js")


def report_page(
    title: str,
    sections: Sequence[Section],
    *,
    images: dict[str, Any] | None = None,
    about: Mapping[str, str] | None = None,
) -> str:
    """The whole file; `about` stands on top: what the page is of, a line each."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"
    data = {
        "cranfield": __version__,
        "title": title,
        "sections": [s.to_dict() for s in sections],
        "images": images,
        "look": look(),
    }
    # Readers without JavaScript see the tables.
    static_tables = "".join(
        f"<h2>{html.escape(s.title)}</h2>"
        + "".join(f"<p>{html.escape(line)}</p>" for line in s.data.get("verdict", ()))
        + "".join(html_table(t) for t in s.tables[:1])
        for s in sections
    )
    lines = "".join(
        f"<div><dt>{html.escape(label)}</dt><dd>{html.escape(text)}</dd></div>"
        for label, text in (about or {}).items()
    )
    about_list = f"<dl class=about>{lines}</dl>" if lines else ""
    body = (
        f'<header><h1>{html.escape(title)}</h1>{about_list}<nav id="nav" aria-label="Parts"></nav>'
        f'</header><main id="report"><noscript>{static_tables}</noscript></main>'
        f"<footer>Made by Cranfield {__version__}. This file needs no network.</footer>\n"
        f'<script type="application/json" id="data">{_inside_script(data)}</script>\n'
    )
    return html_file(title, body, style=_asset("report.css"), script=script)


def _asset(name: str) -> str:
    return resources.files("cranfield.report").joinpath("assets", name).read_text("utf-8")


def _inside_script(data: Any) -> str:
    """JSON that cannot end the element it stands in, whatever names it holds."""
    dump = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text = dump(data)
    except ValueError:  # there are NaN or infinities, which JSON does not have
        text = dump(jsonable(data))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
