"""How close two concepts are: one source of relatedness per file, and cost maps from it.

>>> [method.name for method in methods("wordnet")]
['PATH', 'WUP', 'LCH', 'RES', 'JCN', 'LIN', 'HSO', 'LESK', 'VEC']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.errors import MeasureError, suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cranfield.relatedness._spec import Method

__all__ = ["methods", "parse_methods", "registry"]

_FAMILIES = ("wordnet", "counts", "links", "ontology")


def registry() -> Mapping[str, Method]:
    """Every method by its name."""
    from cranfield.relatedness import (
        cooccurrence,
        counts,
        hso,
        information,
        lesk,
        links,
        ontology_tree,
        paths,
        vector,
    )

    sources = (paths, information, hso, lesk, vector, links, counts, ontology_tree, cooccurrence)
    return {method.name: method for source in sources for method in source.METHODS}


def methods(family: str) -> list[Method]:
    """The methods of a family: wordnet, counts, links or ontology."""
    return [method for method in registry().values() if method.family == family]


def parse_methods(text: str) -> list[Method]:
    """Methods by their names, separated by blanks or commas; `wordnet` means all nine."""
    known = registry()
    chosen: dict[str, Method] = {}
    for name in text.replace(",", " ").split():
        if name in _FAMILIES:
            chosen.update({method.name: method for method in methods(name)})
        elif name.upper() in known:
            chosen[name.upper()] = known[name.upper()]
        else:
            raise MeasureError(
                f"No relatedness method named {name!r}.{suggest(name, (*known, *_FAMILIES))} "
                "List them with: cranfield relatedness --list"
            )
    if not chosen:
        raise MeasureError("no method named; list them with: cranfield relatedness --list")
    return list(chosen.values())
