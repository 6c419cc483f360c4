"""Addresses of pages: one form for files on a disk, one for pages that a server gives."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlencode

_SAFE_CHARACTER = re.compile(r"[A-Za-z0-9._-]")
_LONGEST_SLUG = 80


@lru_cache(maxsize=10_000)
def slug(name: str) -> str:
    """A name as one part of an address and of a file: letters, digits, `.`, `_` and `-` stay.

    Different names have different slugs, whatever they hold.

    >>> slug("F.example"), slug("a/b"), slug("..")
    ('F.example', 'a~2fb', '~2e.')
    """
    encoded = "".join(
        c
        if _SAFE_CHARACTER.match(c)
        else "".join(f"~{b:02x}" for b in c.encode("utf-8", "surrogatepass"))
        for c in name
    )
    if encoded.startswith((".", "-")):
        encoded = f"~{ord(encoded[0]):02x}{encoded[1:]}"
    if len(encoded) > _LONGEST_SLUG:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{encoded[: _LONGEST_SLUG - 18]}~~{digest}"
    return encoded or "~"


@dataclass(frozen=True)
class Address:
    """A page below the results of a task: a path such as `run/a.b`, and what is chosen on it."""

    path: str = ""
    query: Mapping[str, str] = field(default_factory=dict)

    def file(self, ending: str = "html") -> str:
        """The name of the page as a file, such as `index--measure-AP.html`."""
        suffix = "".join(f"--{k}-{slug(v)}" for k, v in sorted(self.query.items()))
        return f"{self.path or 'index'}{suffix}.{ending}"


class Links(Protocol):
    """How pages refer to one another, to their style and to their data."""

    def page(self, origin: Address, target: Address, /, ending: str = "html") -> str:
        """From one page of a task to another, or to its data."""
        ...

    def task(self, origin: Address, task: str, /) -> str:
        """From a page to the first page of a task."""
        ...

    def root(self, origin: Address, path: str, /) -> str:
        """From a page to what all tasks share: the front page, the style, pictures, files."""
        ...


@dataclass(frozen=True)
class StaticLinks:
    """Files in a folder, which may lie anywhere: every link is relative.

    The pages of a task are in a folder of their own, two levels below the site.
    """

    def page(self, origin: Address, target: Address, /, ending: str = "html") -> str:
        return self._up(origin) + target.file(ending)

    def task(self, origin: Address, task: str, /) -> str:
        return f"{self._up(origin)}../{slug(task)}/index.html"

    def root(self, origin: Address, path: str, /) -> str:
        return f"{self._up(origin)}../../{path}"

    @staticmethod
    def _up(origin: Address) -> str:
        return "../" * origin.path.count("/")


@dataclass(frozen=True)
class ServedLinks:
    """Pages that a server gives: `base` is the address of all results, such as /c/results."""

    base: str
    task_name: str
    shared: str = "/static"

    def page(self, _: Address, target: Address, ending: str = "html") -> str:
        path = f"/{target.path}" if target.path else ""
        dotted = "" if ending == "html" else f".{ending}"
        query = f"?{urlencode(sorted(target.query.items()))}" if target.query else ""
        return f"{self.base}/{slug(self.task_name)}{path}{dotted}{query}"

    def task(self, _: Address, task: str) -> str:
        return f"{self.base}/{slug(task)}"

    def root(self, _: Address, path: str) -> str:
        return f"{self.shared}/{path}"
