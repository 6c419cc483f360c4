"""The declaration of a way to measure relatedness: all that a list, a help page and a test need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from cranfield.references import Source
from cranfield.registry import Param, Spec

__all__ = ["Method", "Param", "Source"]

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
        from cranfield.relatedness import rebound

        return rebound, (self.name, dict(self.bound))

    def __saved__(self) -> str:
        """How a saved answer names the method."""
        return str(self)

    @classmethod
    def __restored__(cls, name: str) -> Method:
        from cranfield.relatedness import METHODS

        return METHODS.find(name)

    def settings(self) -> dict[str, Any]:
        """The value of every parameter."""
        return {name: self.value_of(name) for name in self.params}
