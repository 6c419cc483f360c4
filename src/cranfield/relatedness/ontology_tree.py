"""TREE: relatedness as 1 - the cost of the way through an ontology's tree (No 7.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cranfield.data.costmap import CostMap
from cranfield.data.counts import normalise_term
from cranfield.relatedness._spec import Method, Source


@dataclass(frozen=True)
class Tree:
    """The costs between the concepts of an ontology, and concepts that stand for other names."""

    costs: CostMap
    mapping: Mapping[str, str] = field(default_factory=dict)

    def concept_of(self, name: str) -> str | None:
        """The concept of a name, or the only one that differs in case and underscores alone."""
        for called in (self.mapping.get(name, name), name):
            if called in self.costs.concepts:
                return called
            alike = [c for c in self.costs.concepts if normalise_term(c) == normalise_term(called)]
            if len(alike) == 1:
                return alike[0]
        return None

    def knows(self, name: str) -> bool:
        return self.concept_of(name) is not None

    def relatedness(self, first: str, second: str) -> float:
        """1 - the summed costs of the links between two concepts."""
        return 1.0 - self.costs.cost(
            self.concept_of(first) or first, self.concept_of(second) or second
        )


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
        reads="tree",
        score=Tree.relatedness,
        parts="",
        summary="Links between two concepts in the ontology, deep ones being cheap.",
    ),
)
