"""What was done to a campaign's site, as an answer: one table of facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cranfield.campaign.results.answer import ResultColumn, ResultPart, ResultTable


@dataclass(frozen=True, repr=False, eq=False)
class SiteReport(ResultTable):
    """What a command did to a site, or found out about it; `holds` is False for a failed check."""

    command: ClassVar[str] = "campaign"

    holds: bool = True

    def payload(self, **_: Any) -> dict[str, Any]:
        """The facts by name."""
        return {"done": self.name, "holds": self.holds, **self.facts}

    def headline(self) -> str:
        return self.title


def site_report(
    done: str,
    title: str,
    facts: Mapping[str, Any],
    *,
    holds: bool = True,
    notes: tuple[str, ...] = (),
) -> SiteReport:
    """A report of facts, each a row."""
    columns = (ResultColumn("what", numeric=False), ResultColumn("is", numeric=False))
    rows = tuple((name, _shown(value)) for name, value in facts.items())
    part = ResultPart("facts", title, columns, rows)
    return SiteReport(done, title, "", (part,), dict(facts), holds=holds, notes=notes)


def _shown(value: Any) -> str:
    """A fact as people read it; of several things each is named."""
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
