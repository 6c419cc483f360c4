"""Tag corpora as tables: the figures, the classes of tags, a lexicon's parts, proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cranfield.relatedness.tag_corpus import TagCorpus, TagCount
from cranfield.report.document import Cell, Column, Document, Table

TOP = 20


def document(found: TagCorpus, *, top: int = TOP, **_: Any) -> Document:
    """The figures of a corpus; `top` bounds the lists that people see."""
    text = partial(Column, numeric=False)
    shown = f"in >= {found.min_items} items"
    heads = ["items", "untagged", "tags", "distinct", "per item", "median", "most", shown]
    figures: list[Cell] = [
        found.items,
        found.untagged,
        found.assignments,
        found.distinct,
        found.per_item,
        found.median_per_item,
        found.most_per_item,
        found.frequent,
    ]
    tables = [Table([Column(h, digits=2) for h in heads], [figures], found.corpus)]
    if found.classes:
        classes: list[list[Cell]] = [
            [c["class"], c["tags"], c["assignments"], 100 * c["share"]]
            for c in found.payload()["classes"]
        ]
        columns = [text("class"), Column("tags"), Column("given"), Column("share %", digits=1)]
        tables.append(Table(columns, classes, "Classes of tags (WordNet, the first sense)"))
    if found.lexicon:
        parts: list[list[Cell]] = [
            [p.part.category, p.part.part, len(p.part.concepts), p.tagged_concepts, p.items]
            for p in found.lexicon
        ]
        columns = [text("category"), text("part"), *map(Column, ("concepts", "tagged", "items"))]
        tables.append(Table(columns, parts, "The vocabulary in the tags"))
    proposals = _listed(found.proposals, "class")
    tables.append(replace(proposals.first(top), title="Tags that could become concepts"))
    if found.unknown:
        unknown = _listed(found.unknown)
        tables.append(replace(unknown.first(top), title="Tags that WordNet does not know"))
    return Document(found.to_dict(), tables, found.notes, machine=proposals)


def _listed(tags: Sequence[TagCount], kind: str = "") -> Table:
    columns = [Column("tag", numeric=False), Column("items")]
    if not kind:
        return Table(columns, [[t.tag, t.items] for t in tags])
    return Table([*columns, Column(kind, numeric=False)], [[t.tag, t.items, t.kind] for t in tags])
