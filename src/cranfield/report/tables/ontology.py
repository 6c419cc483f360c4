"""Ontologies as tables: problems, the tree with its rules, one concept, categories, two of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from cranfield.relatedness.hierarchies import (
    ConceptView,
    OntologyCategories,
    OntologyCheck,
    OntologyView,
)
from cranfield.relatedness.vocabularies import VocabularyComparison
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
    meant: list[list[Cell]] = [[n.concept, n.definition] for n in found.nodes if n.definition]
    if meant:
        heads = [Column("concept", numeric=False), Column("definition", numeric=False)]
        tables.append(Table(heads, meant))
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


def categories_document(found: OntologyCategories, **_: Any) -> Document:
    """The concepts by category, and the parts of each category."""
    text = partial(Column, numeric=False)
    shares: list[list[Cell]] = [
        [name, n, 100 * n / found.concepts] for name, n in found.counts().items()
    ]
    parts: list[list[Cell]] = [
        [p.category, p.part, len(p.concepts), ", ".join(p.concepts)] for p in found.parts
    ]
    tables = [
        Table([text("category"), Column("concepts"), Column("share %", digits=2)], shares),
        Table([text("category"), text("part"), Column("concepts"), text("names")], parts),
    ]
    return Document(found.to_dict(), tables, found.notes, machine=tables[1])


def comparison_document(found: VocabularyComparison, **_: Any) -> Document:
    """How much both share, then what was removed, added and moved, and the rules."""
    text = partial(Column, numeric=False)
    heads = ["concepts", "same", "same %", "near", "covered %", "removed", "added", "moved"]
    figures: list[Cell] = [
        f"{found.concepts[0]} -> {found.concepts[1]}",
        len(found.same),
        100 * found.same_share,
        len(found.near),
        100 * found.covered_share,
        len(found.removed),
        len(found.added),
        len(found.moved),
    ]
    columns = [Column(head, digits=1) for head in heads]
    tables = [Table(columns, [figures], f"{found.first} -> {found.second}")]
    changes: list[list[Cell]] = [["removed", name, "", ""] for name in found.removed]
    changes += [["added", name, "", ""] for name in found.added]
    changes += [["moved", m.concept, m.before, m.after] for m in found.moved]
    changes += [["category removed", name, "", ""] for name in found.categories_removed]
    changes += [["category added", name, "", ""] for name in found.categories_added]
    changes += [[f"rule removed: {k}", ", ".join(n), "", ""] for k, n in found.rules_removed]
    changes += [[f"rule added: {k}", ", ".join(n), "", ""] for k, n in found.rules_added]
    if changes:
        tables.append(Table([text(h) for h in ("change", "what", "before", "after")], changes))
    if found.near:
        near: list[list[Cell]] = [[n.concept, n.nearest, n.relatedness] for n in found.near]
        heading = [text("concept"), text("near"), Column("relatedness", digits=3)]
        tables.append(Table(heading, near, f"Near by {found.method}"))
    return Document(found.to_dict(), tables, found.notes, machine=tables[min(1, len(tables) - 1)])
