"""Pages of the report: the shell of every page, with the palette in its style."""

from __future__ import annotations

from cranfield.io.html_page import html_page
from cranfield.report.charts.model import css_classes, css_properties


def html_file(title: str, body: str, *, style: str, script: str = "") -> str:
    """The whole file: a plain title, a body of HTML, a style to which the palette is added."""
    return html_page(title, body, style=css_properties() + css_classes() + style, script=script)
