"""The interactive report: one HTML file with its data, style and script inside.

It asks the network for nothing and evaluates no text: the content-security policy allows this
one script and this one style, by their hashes, and pictures that are part of the page.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from cranfield._json import jsonable
from cranfield._version import __version__
from cranfield.report.charts.palette import css_classes, css_properties
from cranfield.report.charts.script import look
from cranfield.report.render import html_table
from cranfield.report.sections import Section

SCRIPTS = ("dom.js", "charts.js", "marks.js", "models.js", "drilldown.js", "report.js")


def report_page(
    title: str, sections: Sequence[Section], *, images: dict[str, Any] | None = None
) -> str:
    """The whole file."""
    style = css_properties() + css_classes() + _asset("report.css")
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"
    data = {
        "cranfield": __version__,
        "title": title,
        "sections": [s.to_dict() for s in sections],
        "images": images,
        "look": look(),
    }
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # Who has no script gets the tables as they stand.
    plain = "".join(
        f"<h2>{html.escape(s.title)}</h2>" + "".join(html_table(t) for t in s.tables[:1])
        for s in sections
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{style}</style></head>\n"
        f'<body><header><h1>{html.escape(title)}</h1><nav id="nav" aria-label="Parts"></nav>'
        f'</header><main id="report"><noscript>{plain}</noscript></main>'
        f"<footer>Made by Cranfield {__version__}. This file needs no network.</footer>\n"
        f'<script type="application/json" id="data">{_inside_script(data)}</script>\n'
        f"<script>{script}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return resources.files("cranfield.report").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _inside_script(data: Any) -> str:
    """JSON that cannot end the element it stands in, whatever names it holds."""
    text = json.dumps(jsonable(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
