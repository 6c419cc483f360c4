"""The shell of every page: one HTML file that asks the network for nothing and evaluates no text.

The content-security policy allows its one style and its one script, if there is one, by their
hashes, and pictures that are part of the page.
"""

from __future__ import annotations

import base64
import hashlib
import html


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
        f"<title>{html.escape(title)}</title><style>{style}</style></head>\n"
        f"<body>{body}{scripts}</body></html>\n"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
