"""How close two concepts are: one source of relatedness per file, and cost maps from it.

>>> [method.name for method in methods("wordnet")]
['PATH', 'WUP', 'LCH', 'RES', 'JCN', 'LIN', 'HSO', 'LESK', 'VEC']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cranfield.registry import Registry, Value
from cranfield.relatedness._spec import Method

__all__ = ["METHODS", "Method", "methods", "parse_methods"]

FAMILIES = ("wordnet", "counts", "links", "ontology")


def _declared() -> Iterable[Method]:
    from cranfield.relatedness import (
        cooccurrence,
        counts,
        gloss_vector,
        hirst_st_onge,
        information,
        lesk,
        links,
        paths,
        scoring,
    )

    sources = (
        paths,
        information,
        hirst_st_onge,
        lesk,
        gloss_vector,
        links,
        counts,
        scoring,
        cooccurrence,
    )
    return (method for source in sources for method in source.METHODS)


def _families() -> Mapping[str, Sequence[str]]:
    return {family: [method.name for method in methods(family)] for family in FAMILIES}


METHODS = Registry(Method, _declared, sets=_families)


def methods(family: str) -> list[Method]:
    """The methods of a family: wordnet, counts, links or ontology."""
    return [method for method in METHODS.values() if method.family == family]


def parse_methods(methods: str | Method | Iterable[str | Method]) -> list[Method]:
    """Methods by their names, separated by blanks or commas; `wordnet` means all nine."""
    return list(METHODS.find_all(methods))


def rebound(name: str, params: Mapping[str, Value]) -> Method:
    """A method by its name and what it is bound to, as it comes out of a pickle."""
    return METHODS[name].bind(at=None, **params)
