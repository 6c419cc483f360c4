"""The interactive report: one HTML file with its data, style and script inside."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from cranfield._json import jsonable
from cranfield._version import __version__
from cranfield.io.html_page import html_page
from cranfield.report.charts.js_constants import look
from cranfield.report.charts.model import css_classes, css_properties
from cranfield.report.render import html_table
from cranfield.report.sections import Section


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
    text = json.dumps(jsonable(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
