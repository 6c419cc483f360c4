"""The declaration of a way to measure relatedness: all that a list, a help page and a test need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cranfield.sources import Source

__all__ = ["Method", "Source"]


@dataclass(frozen=True)
class Method:
    """A relatedness measure: pure description, and the function that computes it.

    `needs` names what it reads: "wordnet", "tag counts", "counts", "tags", "links", "ontology".
    In a cost map values are divided by `maximum`, or go through `scale(wordnet, values, left,
    right)`, where left and right are the senses that won. A method that is not `symmetric`
    answers a pair in the order given, and a cost map takes the larger direction.
    """

    name: str
    title: str
    formula: str
    source: Source
    family: str
    range: tuple[float, float]
    symmetric: bool
    needs: frozenset[str]
    score: Callable[..., Any] = field(repr=False)
    summary: str
    thesis: str = ""
    maximum: float = 1.0
    scale: Callable[..., Any] | None = field(default=None, repr=False)
    undefined: str = ""
    parts: str = "nv"

    def __str__(self) -> str:
        return self.name
