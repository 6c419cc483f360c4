"""Live sources of hit counts, described in TOML: name, url, count, total, and join, seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cranfield.data.toml import parse_toml
from cranfield.errors import InputError
from cranfield.io.files import describe, read_text

_KEYS = {"name": str, "url": str, "count": str, "total": int}
_OPTIONAL = ("join", "seconds")


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """How a service is asked for a number of hits.

    `url` has {query} where the terms go; `count` is the way to the number in the answer, such as
    photos.total; terms are joined by `join`; `seconds` lie between two questions.
    """

    name: str
    url: str
    count: str
    total: int
    join: str = " "
    seconds: float = 1.0


def read_provider(path: str | Path) -> ProviderSettings:
    """The settings of a provider from its TOML file."""
    source_name = describe(path)
    settings = parse_toml(read_text(path), source_name)
    problem = _setting_problem(settings)
    if problem:
        raise InputError.single(source_name, problem)
    return ProviderSettings(**settings)


def _setting_problem(settings: dict[str, Any]) -> str:
    """What is wrong with the settings of a provider, or the empty string."""
    for key, kind in _KEYS.items():
        if not isinstance(settings.get(key), kind) or settings[key] is True:
            expected = "text" if kind is str else "a whole number"
            return (
                f"{key} is missing or not {expected} "
                "(expected: name, url with {query}, count, total)"
            )
    if "{query}" not in settings["url"]:
        return "url has no {query}, where the words go"
    unknown = set(settings) - set(_KEYS) - set(_OPTIONAL)
    if unknown:
        return f"unknown setting {', '.join(sorted(unknown))}"
    if not settings["url"].startswith(("http://", "https://")):
        return "url is no web address (expected http:// or https://)"
    if not isinstance(settings.get("join", " "), str):
        return "join is not text"
    seconds = settings.get("seconds", 1.0)
    if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        return "seconds is not a number from 0 on"
    if settings["total"] < 1:
        return "total is the size of the corpus, expected 1 or more"
    return ""
