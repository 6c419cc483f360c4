"""Addresses of pages: one form for files on a disk, one for pages that a server gives."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlencode

_PLAIN = re.compile(r"[A-Za-z0-9._-]")
_LONGEST = 80


@lru_cache(maxsize=10_000)
def slug(name: str) -> str:
    """A name as one part of an address and of a file: letters, digits, `.`, `_` and `-` stay.

    Different names have different slugs, whatever they hold.

    >>> slug("F.example"), slug("a/b"), slug("..")
    ('F.example', 'a~2fb', '~2e.')
    """
    plain = "".join(
        c if _PLAIN.match(c) else "".join(f"~{b:02x}" for b in c.encode("utf-8", "surrogatepass"))
        for c in name
    )
    if plain.startswith((".", "-")):
        plain = f"~{ord(plain[0]):02x}{plain[1:]}"
    if len(plain) > _LONGEST:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{plain[: _LONGEST - 18]}~~{digest}"
    return plain or "~"


@dataclass(frozen=True)
class Address:
    """A page below the results of a task: a path such as `run/a.b`, and what is chosen on it."""

    path: str = ""
    query: Mapping[str, str] = field(default_factory=dict)

    def file(self, ending: str = "html") -> str:
        """The name of the page as a file, such as `index--measure-AP.html`."""
        chosen = "".join(f"--{k}-{slug(v)}" for k, v in sorted(self.query.items()))
        return f"{self.path or 'index'}{chosen}.{ending}"


class Links(Protocol):
    """How pages refer to one another, to their style and to their data."""

    def page(self, here: Address, there: Address, /, ending: str = "html") -> str:
        """From one page of a task to another, or to its data."""
        ...

    def task(self, here: Address, task: str, /) -> str:
        """From a page to the first page of a task."""
        ...

    def root(self, here: Address, path: str, /) -> str:
        """From a page to what all tasks share: the front page, the style, pictures, files."""
        ...


@dataclass(frozen=True)
class StaticLinks:
    """Files in a folder, which may lie anywhere: every link is relative.

    The pages of a task are in a folder of their own, two levels below the site.
    """

    def page(self, here: Address, there: Address, /, ending: str = "html") -> str:
        return self._up(here) + there.file(ending)

    def task(self, here: Address, task: str, /) -> str:
        return f"{self._up(here)}../{slug(task)}/index.html"

    def root(self, here: Address, path: str, /) -> str:
        return f"{self._up(here)}../../{path}"

    @staticmethod
    def _up(here: Address) -> str:
        return "../" * here.path.count("/")


@dataclass(frozen=True)
class ServedLinks:
    """Pages that a server gives: `base` is the address of all results, such as /c/results."""

    base: str
    task_name: str
    shared: str = "/static"

    def page(self, _: Address, there: Address, ending: str = "html") -> str:
        path = f"/{there.path}" if there.path else ""
        dotted = "" if ending == "html" else f".{ending}"
        chosen = f"?{urlencode(sorted(there.query.items()))}" if there.query else ""
        return f"{self.base}/{slug(self.task_name)}{path}{dotted}{chosen}"

    def task(self, _: Address, task: str) -> str:
        return f"{self.base}/{slug(task)}"

    def root(self, _: Address, path: str) -> str:
        return f"{self.shared}/{path}"
