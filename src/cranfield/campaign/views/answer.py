"""A page of results as an answer: result tables, and sentences that say what they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cranfield.campaign.results.results_data import (
    Cell,
    Link,
    ResultColumn,
    ResultPart,
    ResultTable,
)

__all__ = ["Cell", "Link", "ResultColumn", "ResultPart", "View", "count", "text"]


@dataclass(frozen=True, repr=False, eq=False)
class View(ResultTable):
    """A page: its parts, what is known of its subject, and the verdict on them."""

    command: ClassVar[str] = "publish"

    verdict: tuple[str, ...] = ()

    def payload(self, **_: Any) -> dict[str, Any]:
        """The page as JSON: the verdict first."""
        return {"verdict": list(self.verdict), **super().payload()}


def text(name: str, heading: str = "", link: Link = "") -> ResultColumn:
    """A column of names or words."""
    return ResultColumn(name, heading, numeric=False, link=link)


def count(name: str, heading: str = "") -> ResultColumn:
    """A column of whole numbers."""
    return ResultColumn(name, heading, places=0)
