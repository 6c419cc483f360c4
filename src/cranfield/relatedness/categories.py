"""The concepts of an ontology by category: how many each has, and their share (No Table 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.data.ontology import Ontology
from cranfield.errors import door, plural
from cranfield.io.ontology import read_vocabulary

# What a category has beside its parts.
DIRECT = "(directly)"


@dataclass(frozen=True, slots=True)
class CategoryPart:
    """A part of a top category, with the concepts in it."""

    category: str
    part: str
    concepts: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class OntologyCategories(Answer):
    """The concepts of each top category and of its parts."""

    command: ClassVar[str] = "ontology categories"
    ontology: str
    concepts: int
    parts: tuple[CategoryPart, ...]

    def counts(self) -> dict[str, int]:
        """The number of concepts of each top category."""
        found: dict[str, int] = {}
        for row in self.parts:
            found[row.category] = found.get(row.category, 0) + len(row.concepts)
        return found

    def payload(self, **_: Any) -> dict[str, Any]:
        """Categories with their shares, and their parts with their concepts."""
        counts = self.counts()
        return {
            "ontology": self.ontology,
            "concepts": self.concepts,
            "categories": [
                {"category": name, "concepts": n, "share": n / self.concepts}
                for name, n in counts.items()
            ],
            "parts": [
                {"category": p.category, "part": p.part, "concepts": list(p.concepts)}
                for p in self.parts
            ],
        }

    def headline(self) -> str:
        return (
            f"{self.ontology}: {plural(self.concepts, 'concept')} in {len(self.counts())} "
            "top categories"
        )


@door
def count_categories(
    source: Ontology | str | Path, *, rules: str | Path | None = None
) -> OntologyCategories:
    """Count the concepts of each top category and of its parts (No Table 5.1).

    A part is a node below a top category that has something below it; a concept that is such a
    node counts in its own part, one that is none counts directly.

    >>> count_categories("pto-2011-listed").counts()["SceneDescription"]
    23
    """
    if isinstance(source, Ontology):
        ontology = source.checked()
    else:
        ontology = read_vocabulary(source, rules=rules)
    return OntologyCategories(ontology.name, len(ontology.concepts), tuple(_parts(ontology)))


def _parts(ontology: Ontology) -> Iterator[CategoryPart]:
    taken: set[str] = set()
    for top in ontology.top:
        name = ontology.label(top)
        for child in ontology.children[top]:
            if ontology.children[child]:
                concepts = _below(ontology, child, taken)
                yield CategoryPart(name, ontology.label(child).rsplit(".", 1)[-1], concepts)
        rest = _below(ontology, top, taken)
        if rest:
            yield CategoryPart(name, DIRECT, rest)


def _below(ontology: Ontology, node: int, taken: set[str]) -> tuple[str, ...]:
    """The concepts at a node and below it; in a graph each counts where it is met first."""
    found = tuple(
        concept
        for concept, own in ontology.concept_nodes.items()
        if concept not in taken and (own == node or node in ontology.nodes_above[own])
    )
    taken.update(found)
    return found
