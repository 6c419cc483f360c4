"""Cost maps as complete measures and by themselves, side by side (No 8.3.3, Tables 8.1, 8.2).

A *complete* measure is OS with the rules, the agreements and a cost map; the *cost-map* measure of
the same map is HS, which has neither. `F.example` is the baseline that needs no map.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cranfield.errors import UsageError
from cranfield.measures import Measure, measure

BASELINE = "F.example"
TREE = "tree"


def both_ways(costmap: Any, ontology: Any = None) -> str:
    """The measures of every cost map in both ways, and the baseline.

    `costmap` are maps by name; an ontology adds its own tree.

    >>> both_ways({"fts": "fts.csv"}, "pto-2009")
    "OS(cost='fts') OS(cost='tree') HS(cost='fts') HS(cost='tree') F.example"
    """
    names = list(costmap) if isinstance(costmap, Mapping) else [""] * (costmap is not None)
    if ontology is not None:
        names.append(TREE)
    if not names:
        raise UsageError("both ways of a cost map need costmap= or ontology=")
    arguments = [f"(cost={name!r})" if name else "" for name in names]
    return " ".join([*(f"OS{s}" for s in arguments), *(f"HS{s}" for s in arguments), BASELINE])


def forms_of(measures: Iterable[str]) -> tuple[tuple[str, str, str], ...]:
    """The cost maps that some measures use in both ways: (map, complete, alone)."""
    forms: dict[str, dict[str, str]] = {}
    for name in measures:
        declared = measure(name)
        if declared.name in ("OS", "HS") and _plain(declared):
            forms.setdefault(str(declared.value_of("cost")), {})[declared.name] = name
    return tuple(
        (cost or "costs", ways["OS"], ways["HS"]) for cost, ways in forms.items() if len(ways) == 2
    )


def _plain(declared: Measure) -> bool:
    """Whether nothing but the cost map is set: OS without rules is neither way."""
    return set(declared.bound) <= {"cost"}
