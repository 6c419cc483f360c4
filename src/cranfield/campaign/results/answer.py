"""What a result table answers with: parts of columns and rows, the same for all tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from cranfield.answers import Answer

Cell: TypeAlias = str | int | float | None
# What the name in a cell is of, so that a page can lead there.
Link: TypeAlias = Literal["", "run", "team", "topic", "item", "concept", "file"]


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column: its name for machines, its heading for people, how its values are read.

    `better` is "max" or "min" where one end of the column is the better one; `places` are the
    digits after the point, for numbers that are not whole.
    """

    name: str
    heading: str = ""
    numeric: bool = True
    places: int = 4
    better: str = ""
    link: Link = ""


@dataclass(frozen=True, slots=True)
class ResultPart:
    """One table of an answer, with what a reader must know beside it."""

    name: str
    title: str
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    # Between which the intervals of its means are drawn, where these have limits.
    limits: tuple[float, float] | None = None

    def records(self) -> list[dict[str, Cell]]:
        """A row as {column: value}."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def column(self, name: str) -> list[Cell]:
        """The values of one column."""
        at = [column.name for column in self.columns].index(name)
        return [row[at] for row in self.rows]


@dataclass(frozen=True, repr=False, eq=False)
class ResultTable(Answer):
    """A result table of a campaign; the first part is the table itself, more may follow.

    `facts` are single figures that the table stands for, such as counts of wins.
    """

    command: ClassVar[str] = "campaign results"

    name: str
    title: str
    source: str
    parts: tuple[ResultPart, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def part(self, name: str) -> ResultPart:
        """A part by its name."""
        return next(part for part in self.parts if part.name == name)

    def payload(self, **_: Any) -> dict[str, Any]:
        """The rows of every part, by its name, and the figures."""
        return {
            "table": self.name,
            "title": self.title,
            "source": self.source,
            "facts": dict(self.facts),
            "parts": [
                {"name": p.name, "title": p.title, "rows": p.records(), "notes": list(p.notes)}
                for p in self.parts
            ],
        }

    def headline(self) -> str:
        """What the table is and how long."""
        rows = len(self.parts[0].rows) if self.parts else 0
        return f"{self.title}: {rows} rows"
