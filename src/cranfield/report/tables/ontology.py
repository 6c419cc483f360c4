"""Ontologies as tables: problems, the tree with its rules, one concept."""

from __future__ import annotations

from typing import Any

from cranfield.relatedness.hierarchies import ConceptView, OntologyCheck, OntologyView
from cranfield.report.document import Cell, Column, Document, Table

_NEAREST = 10


def check_document(found: OntologyCheck, **_: Any) -> Document:
    """What is wrong, if anything, and how large the ontology is."""
    facts = found.facts.as_dict()
    columns = [Column(name, numeric=name != "ontology") for name in facts]
    notes = () if found.problems else ("no cycle and no contradiction",)
    tables = [Table(columns, [list(facts.values())], notes=notes)]
    if found.problems:
        rows: list[list[Cell]] = [[text] for text in found.problems]
        tables.insert(0, Table([Column("problem", numeric=False)], rows))
    return Document(found.to_dict(), tables, found.notes)


def document(found: OntologyView, **_: Any) -> Document:
    """The tree with its link costs, and the rules."""
    rows: list[list[Cell]] = [
        ["  " * n.indent + n.shown, "concept" if n.concept else "category", n.link_cost]
        for n in found.nodes
    ]
    columns = [Column("node", numeric=False), Column("kind", numeric=False), Column("link cost")]
    tables = [Table(columns, rows, str(found.facts))]
    if found.rules:
        heads = [Column("rule", numeric=False), Column("concepts", numeric=False)]
        tables.append(Table(heads, [[kind, ", ".join(names)] for kind, names in found.rules]))
    return Document(found.to_dict(), tables, found.notes)


def concept_document(found: ConceptView, **_: Any) -> Document:
    """What is known of a concept, and those nearest to it."""
    facts: list[list[Cell]] = [list(fact) for fact in found.facts]
    nearest: list[list[Cell]] = [list(pair) for pair in found.costs[:_NEAREST]]
    tables = [
        Table([Column(found.concept, numeric=False), Column("", numeric=False)], facts),
        Table([Column("nearest concepts", numeric=False), Column("cost")], nearest),
    ]
    return Document(found.to_dict(), tables, found.notes)
