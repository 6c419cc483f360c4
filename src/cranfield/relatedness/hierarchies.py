"""Looking at ontologies: what is wrong with one, its tree and rules, all about one concept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.data.ontology import Ontology
from cranfield.errors import UsageError, plural, suggest
from cranfield.io.concepts import built_in_meanings
from cranfield.io.ontology import parse_ontology, read_vocabulary
from cranfield.ontologies import BUILT_IN
from cranfield.validation import validate_params


@dataclass(frozen=True, slots=True)
class OntologyFacts:
    """How large an ontology is."""

    ontology: str
    concepts: int
    categories: int
    levels: int
    rules: int

    @classmethod
    def of(cls, ontology: Ontology) -> OntologyFacts:
        return cls(
            ontology.name,
            len(ontology.concepts),
            len(ontology.nodes) - len(ontology.concepts),
            0 if ontology.cycle else ontology.levels,
            len(ontology.rules),
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "ontology": self.ontology,
            "concepts": self.concepts,
            "categories": self.categories,
            "levels": self.levels,
            "rules": self.rules,
        }

    def __str__(self) -> str:
        return (
            f"{self.ontology}: {self.concepts} concepts, {self.categories} categories, "
            f"{self.levels} levels"
        )


@dataclass(frozen=True, repr=False, eq=False)
class OntologyCheck(Answer):
    """What is wrong with an ontology: cycles, unknown names, rules that cannot be kept."""

    command: ClassVar[str] = "ontology check"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:check_document"
    facts: OntologyFacts
    problems: tuple[str, ...]

    def payload(self, **_: object) -> dict[str, Any]:
        """How large it is, and the problems."""
        return self.facts.as_dict() | {"problems": list(self.problems)}

    def headline(self) -> str:
        return f"{self.facts}, {plural(len(self.problems), 'problem')}"


@validate_params
def check_ontology(
    source: Ontology | str | Path, *, rules: str | Path | None = None
) -> OntologyCheck:
    """Look for cycles, unknown names and concepts that can never be assigned.

    The ontology may be a built-in name or a file; `rules` is a TOML file with more rules.
    """
    ontology = _parsed(source, rules)
    return OntologyCheck(OntologyFacts.of(ontology), tuple(ontology.problems()))


def _parsed(source: Ontology | str | Path, rules: str | Path | None) -> Ontology:
    if not isinstance(source, Ontology):
        return parse_ontology(source, rules=rules)
    if rules is not None:
        raise UsageError("rules= belongs to an ontology that is read; this one has its rules")
    return source


def _definitions(ontology: Ontology) -> dict[str, str]:
    """What the concepts of a built-in ontology mean; nothing is known of others."""
    if ontology.name not in BUILT_IN:
        return {}
    return {concept: meaning.definition for concept, meaning in built_in_meanings().items()}


@dataclass(frozen=True, slots=True)
class OntologyNode:
    """A node of the tree as it is shown: with its depth on the way there."""

    node: str
    concept: str | None
    parents: tuple[str, ...]
    depth: int
    link_cost: float
    indent: int
    definition: str = ""

    @property
    def shown(self) -> str:
        return self.concept or self.node.rsplit(".", 1)[-1]


@dataclass(frozen=True, repr=False, eq=False)
class OntologyView(Answer):
    """The tree of an ontology with its link costs and rules."""

    command: ClassVar[str] = "ontology show"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:document"
    facts: OntologyFacts
    nodes: tuple[OntologyNode, ...]
    rules: tuple[tuple[str, tuple[str, ...]], ...]

    def payload(self, **_: object) -> dict[str, Any]:
        """The nodes from top to bottom, and the rules in words."""
        nodes = [
            {
                "node": n.node,
                "concept": n.concept,
                "parents": list(n.parents),
                "depth": n.depth,
                "link_cost": n.link_cost,
                "definition": n.definition or None,
            }
            for n in self.nodes
        ]
        rules = [{"rule": kind, "concepts": ", ".join(names)} for kind, names in self.rules]
        return self.facts.as_dict() | {"nodes": nodes, "rule_list": rules}

    def headline(self) -> str:
        return f"{self.facts}, {plural(self.facts.rules, 'rule')}"


@validate_params
def view_ontology(
    source: Ontology | str | Path, *, rules: str | Path | None = None
) -> OntologyView:
    """The tree of an ontology, what its links cost, and its rules."""
    ontology = _parsed(source, rules).checked()
    meaning = _definitions(ontology)
    nodes = tuple(
        OntologyNode(
            ontology.nodes[node],
            ontology.concept_at.get(node),
            tuple(ontology.label(p) for p in ontology.parents[node]),
            ontology.depths[node],
            ontology.link_weight(node) / ontology.link_unit,
            indent,
            meaning.get(ontology.concept_at.get(node, ""), ""),
        )
        for node, indent in _walk(ontology, ontology.top, 0)
    )
    rule_rows = [(kind, tuple(members)) for kind, members in ontology.rules.groups()]
    rule_rows += [(f"{r.concept} requires one of", r.any_of) for r in ontology.rules.requires]
    return OntologyView(OntologyFacts.of(ontology), nodes, tuple(rule_rows))


def _walk(ontology: Ontology, nodes: Sequence[int], depth: int) -> Iterator[tuple[int, int]]:
    """The nodes with their depths, each above what is below it; no recursion, trees can be deep."""
    waiting = [(node, depth) for node in reversed(nodes)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(child, depth + 1) for child in reversed(ontology.children[node])]


@dataclass(frozen=True, repr=False, eq=False)
class ConceptView(Answer):
    """All that an ontology says of one concept, and its costs to the others, the nearest first."""

    command: ClassVar[str] = "ontology show"
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:concept_document"
    ontology: str
    concept: str
    facts: tuple[tuple[str, str], ...]
    costs: tuple[tuple[str, float], ...]

    def payload(self, **_: object) -> dict[str, Any]:
        """The facts in words, and the costs."""
        return {
            "ontology": self.ontology,
            "concept": self.concept,
            "facts": [{"what": name, "value": value} for name, value in self.facts],
            "costs": dict(self.costs),
        }

    def headline(self) -> str:
        return f"{self.concept} in {self.ontology}"


@validate_params
def view_concept(
    source: Ontology | str | Path, concept: str, *, rules: str | Path | None = None
) -> ConceptView:
    """Where a concept stands, what it needs and excludes, and what confusing it costs."""
    ontology = _parsed(source, rules).checked()
    if concept not in ontology.concept_nodes:
        raise UsageError(
            f"{ontology.name} has no concept {concept!r}.{suggest(concept, ontology.concepts)}"
        )
    node = ontology.concept_nodes[concept]
    costs = ontology.cost_map.costs[ontology.concepts.index(concept)]
    neighbours = sorted(
        ((float(c), o) for o, c in zip(ontology.concepts, costs, strict=True) if o != concept)
    )
    meaning = _definitions(ontology).get(concept, "")
    facts: list[tuple[str, str]] = [
        *([("definition", meaning)] if meaning else []),
        ("node", ontology.nodes[node]),
        ("depth", str(ontology.depths[node])),
        ("needs its ancestors", ", ".join(ontology.ancestors(concept)) or "-"),
    ]
    facts += [
        ("excludes", words)
        for words, group in ontology.exclusive
        if any(concept in member for member in group)
    ]
    facts += [("rule", words) for words, need in ontology.requirements if need.concept == concept]
    return ConceptView(
        ontology.name,
        concept,
        tuple(facts),
        tuple((neighbour, cost) for cost, neighbour in neighbours),
    )


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
    table_maker: ClassVar[str] = "cranfield.report.tables.concepts:categories_document"
    ontology: str
    concepts: int
    parts: tuple[CategoryPart, ...]

    def counts(self) -> dict[str, int]:
        """The number of concepts of each top category."""
        concept_counts: dict[str, int] = {}
        for row in self.parts:
            concept_counts[row.category] = concept_counts.get(row.category, 0) + len(row.concepts)
        return concept_counts

    def payload(self, **_: object) -> dict[str, Any]:
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


@validate_params
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
    assigned: set[str] = set()
    for top in ontology.top:
        name = ontology.label(top)
        for child in ontology.children[top]:
            if ontology.children[child]:
                concepts = _below(ontology, child, assigned)
                yield CategoryPart(name, ontology.label(child).rsplit(".", 1)[-1], concepts)
        rest = _below(ontology, top, assigned)
        if rest:
            yield CategoryPart(name, DIRECT, rest)


def _below(ontology: Ontology, node: int, assigned: set[str]) -> tuple[str, ...]:
    """The concepts at a node and below it; in a graph each counts where it is met first."""
    concepts = tuple(
        concept
        for concept, concept_node in ontology.concept_nodes.items()
        if concept not in assigned
        and (concept_node == node or node in ontology.nodes_above[concept_node])
    )
    assigned.update(concepts)
    return concepts
