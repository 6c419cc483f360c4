"""The declarations of the result tables, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cranfield.campaign.results import groups
from cranfield.campaign.results.answer import ResultTable
from cranfield.campaign.results.material import Material
from cranfield.errors import UsageError, suggest


@dataclass(frozen=True, slots=True)
class Declared:
    """A result table: what it is called, which table of the source it is, and what it needs.

    `needs` names what the material must have: "teams", "configurations", "concepts", "items",
    "truth", "splits", "years".
    """

    name: str
    title: str
    source: str
    needs: tuple[str, ...]
    make: Callable[..., ResultTable]


_ALL = (
    Declared(
        "best-per-group",
        "Best run per group",
        "No Tables 10.3, 10.5, 10.6",
        ("teams",),
        groups.best_per_group,
    ),
)
TABLES: dict[str, Declared] = {table.name: table for table in _ALL}


def result_table(name: str, material: Material, **options: Any) -> ResultTable:
    """A result table by its name."""
    if name not in TABLES:
        known = ", ".join(TABLES)
        raise UsageError(f"no result table {name!r}.{suggest(name, TABLES)} There are: {known}")
    return TABLES[name].make(material, **options)
