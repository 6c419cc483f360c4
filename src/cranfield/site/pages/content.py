"""The content of a page: the answer, and how the page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cranfield.answers import Answer
from cranfield.site.page_view import Block, Choice, Link


@dataclass(frozen=True)
class PageContent:
    """A page before its surroundings; without blocks the parts of the answer are shown."""

    title: str
    answer: Answer
    blocks: Sequence[Block] | None = None
    kicker: str = ""
    verdict: Sequence[str] = ()
    facts: Sequence[tuple[str, Link]] = ()
    choices: Sequence[Choice] = ()
    trail: Sequence[Link] = ()
    columns: bool = False
