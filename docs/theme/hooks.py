"""What MkDocs does beside rendering: tables that scroll, colours, and the index of the search.

The index is a script and not JSON, because a page that was opened from disk may load scripts and
nothing else.
"""

from __future__ import annotations

import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from cranfield.report.charts.model import ROLES, css_properties

HEADS = ("h1", "h2", "h3")
LEFT_OUT = ("math", "svg", "style")
BLOCKS = ("td", "th", "li", "p", "pre", "dd", "dt")
# Sections of the pages built so far: [address, page, section, text].
SECTIONS: list[list[str]] = []
SEARCH_TERMS: dict[str, str] = tomllib.loads(
    (Path(__file__).parent / "search_terms.toml").read_text(encoding="utf-8")
)


class _Sections(HTMLParser):
    """The text of a page by the heading above it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str], list[str]]] = [("", [], [])]
        self.inside = ""  # the heading whose words are read
        self.left_out = 0  # depth in a drawing, a formula or the link of a heading

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in HEADS and given.get("id"):
            self.found.append((str(given["id"]), [], []))
            self.inside = tag
        elif self.left_out or tag in LEFT_OUT or given.get("class") == "headerlink":
            self.left_out += 1

    def handle_endtag(self, tag: str) -> None:
        if self.left_out:
            self.left_out -= 1
        elif tag == self.inside:
            self.inside = ""
        elif tag in BLOCKS:
            self.found[-1][2].append(" ")

    def handle_data(self, data: str) -> None:
        if not self.left_out:
            self.found[-1][1 if self.inside else 2].append(data)


def sections(html: str, address: str, title: str, source: str = "") -> list[list[str]]:
    """What the search knows of a page; `source` is its file below docs."""
    reader = _Sections()
    reader.feed(html)
    rows = []
    for name, head, body in reader.found:
        text = " ".join("".join(body).split())
        section = "".join(head).strip()
        if section or text:
            first = section == title or not section
            rows.append(
                [address if first else f"{address}#{name}", title, "" if first else section, text]
            )
    if rows and source in SEARCH_TERMS:
        rows[0].append(SEARCH_TERMS[source])
    return rows


def on_pre_build(**_: Any) -> None:
    SECTIONS.clear()


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Give wide things an area that scrolls, and remember what is said where."""
    title = re.sub(r"<[^>]+>", "", page.title)
    SECTIONS.extend(sections(html, page.file.url, title, page.file.src_uri))
    html = re.sub(r"<table>.*?</table>", r'<div class="scroll">\g<0></div>', html, flags=re.DOTALL)
    return html.replace('<div class="codehilite">', '<div class="code">')


def on_post_build(config: Any, **_: Any) -> None:
    """Write the index and the colours beside the other assets."""
    assets = Path(config["site_dir"]) / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    rows = json.dumps(SECTIONS, ensure_ascii=False, separators=(",", ":"))
    (assets / "search-index.js").write_text(f"window.SEARCH_INDEX={rows};\n")
    (assets / "colours.css").write_text(css_properties(ROLES["light"]) + "\n")
