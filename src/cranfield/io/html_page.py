"""The shell of every page: one HTML file that asks the network for nothing and evaluates no text.

The content-security policy allows its one style and its one script, if there is one, by their
hashes, and pictures that are part of the page.
"""

from __future__ import annotations

import base64
import hashlib
import html
from functools import cache
from importlib import resources


def html_page(title: str, body: str, *, style: str, script: str = "") -> str:
    """The whole file: a plain title, a body of HTML, a style, and perhaps a script."""
    allowed = f"script-src '{_hash(script)}'; " if script else ""
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
