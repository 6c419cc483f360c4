"""The declaration of a way to measure relatedness: all that a list, a help page and a test need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cranfield.measures._spec import Source

__all__ = ["Method", "Source"]


@dataclass(frozen=True)
class Method:
    """A relatedness measure: pure description, and the function that computes it.

    `needs` names what it reads: "wordnet", "tag counts", "counts", "links", "ontology",
    "labels". `maximum` is the value that becomes relatedness 1 in a cost map; None means the
    largest value in the map between concepts that are not the same sense. A method that is not
    `symmetric` answers a pair in the order given, and a cost map takes the larger direction.
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
    maximum: float | None = None
    undefined: str = ""
    parts: str = "nv"

    def __str__(self) -> str:
        return self.name
