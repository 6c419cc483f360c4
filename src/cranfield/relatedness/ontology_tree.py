"""TREE: relatedness as 1 - the cost of the way through an ontology's tree (No 7.2)."""

from __future__ import annotations

from cranfield.data.costmap import CostMap
from cranfield.data.counts import term_of
from cranfield.relatedness._spec import Method, Source


def concept_of(tree: CostMap, name: str) -> str | None:
    """The concept of a name, or the only one that differs in case and underscores alone."""
    if name in tree.concepts:
        return name
    alike = [concept for concept in tree.concepts if term_of(concept) == term_of(name)]
    return alike[0] if len(alike) == 1 else None


def relatedness(tree: CostMap, first: str, second: str) -> float:
    """1 - the summed costs of the links between two concepts, from an ontology's cost map."""
    return 1.0 - tree.cost(concept_of(tree, first) or first, concept_of(tree, second) or second)


METHODS = (
    Method(
        name="TREE",
        title="Way through the ontology",
        formula=r"1-\sum_{\text{links}}\frac{2^{l-1}}{2^{L+1}-2}",
        source=Source("nowak-thesis", "7.2"),
        thesis="7.3",
        family="ontology",
        range=(0.0, 1.0),
        symmetric=True,
        needs=frozenset({"ontology"}),
        score=relatedness,
        parts="",
        summary="Links between two concepts in the ontology, deep ones being cheap.",
    ),
)
