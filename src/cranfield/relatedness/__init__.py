"""How close two concepts are: one source of relatedness per file, and cost maps from it.

>>> [method.name for method in methods("wordnet")]
['PATH', 'WUP', 'LCH', 'RES', 'JCN', 'LIN', 'HSO', 'LESK', 'VEC']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from cranfield.references import Source
from cranfield.registry import Param, Registry, Spec, Value

__all__ = ["METHODS", "Method", "Param", "Source", "methods", "parse_methods"]

FAMILIES = ("wordnet", "counts", "links", "ontology")
# What is opened for a method: a lexicon, counts of tags or of tags and text, links to or from
# concepts, the tree of an ontology.
Reads: TypeAlias = Literal["lexicon", "counts", "text counts", "links", "vectors", "tree"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Method(Spec):
    """A relatedness measure: pure description, and the function that computes it.

    `needs` names what it reads: "wordnet", "tag counts", "counts", "tags", "links", "ontology";
    methods with the same `reads` share what is opened for them.
    In a cost map values are divided by `maximum`, or go through `scale(wordnet, values, left,
    right)`, where left and right are the senses that won. A method that is not `symmetric`
    answers a pair in the order given, and a cost map takes the larger direction.
    """

    noun: ClassVar[str] = "relatedness method"
    catalogue: ClassVar[str] = "cranfield concepts relatedness --list"

    range: tuple[float, float]
    symmetric: bool
    needs: frozenset[str]
    reads: Reads
    score: Callable[..., Any] = field(repr=False)
    thesis: str = ""
    maximum: float = 1.0
    scale: Callable[..., Any] | None = field(default=None, repr=False)
    undefined: str = ""
    parts: str = "nv"

    def __reduce__(self) -> tuple[Any, ...]:
        return rebound, (self.name, dict(self.bound))

    def __saved__(self) -> str:
        """How a saved answer names the method."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> Method:
        return METHODS.find(name)

    def settings(self) -> dict[str, Any]:
        """The value of every parameter."""
        return {name: self.value_of(name) for name in self.params}


def _declared() -> Iterable[Method]:
    from cranfield.relatedness import counts, gloss_measures, links, scoring, wordnet_measures

    sources = (wordnet_measures, gloss_measures, links, counts, scoring)
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
