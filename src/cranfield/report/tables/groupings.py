"""Groups and tags of people as tables: the kinds of reasons, the clusters, the agreement."""

from __future__ import annotations

from typing import Any

from cranfield.agreement.card_sorting import GroupingStudy, KindShare
from cranfield.report.document import Cell, Column, Document, Table


def document(found: GroupingStudy, **_: Any) -> Document:
    """The clusters, the kinds of reasons and how far people agree; for machines the square."""
    rows: list[list[Cell]] = [
        [number, len(c), ", ".join(c)] for number, c in enumerate(found.clusters, 1)
    ]
    heads = [Column("cluster", 0), Column("size", 0), Column("items", numeric=False)]
    note = f"together by people at {found.level:g} on average"
    tables = [Table(heads, rows, found.headline(), (note,))]
    for kinds, what in ((found.kinds, "Kinds of reasons"), (found.first_kinds, "First splits")):
        if kinds:
            tables.append(_kinds(kinds, what))
    if found.agreement:
        people: list[list[Cell]] = [list(pair) for pair in found.agreement]
        columns = [Column("a", numeric=False), Column("b", numeric=False), Column("Rand", 3)]
        note = f"adjusted Rand index, {found.mean_agreement:.3f} on average"
        tables.append(Table(columns, people, "Agreement of people", (note,)))
    square: list[list[Cell]] = [
        [item, *row.tolist()] for item, row in zip(found.items, found.together, strict=True)
    ]
    columns = [Column("item", numeric=False), *map(Column, found.items)]
    return Document(found.to_dict(), tables, found.notes, machine=Table(columns, square))


def _kinds(kinds: tuple[KindShare, ...], title: str) -> Table:
    rows: list[list[Cell]] = [[k.kind, k.count, 100 * k.share] for k in kinds]
    columns = [Column("kind", numeric=False), Column("count", 0), Column("share %", digits=1)]
    return Table(columns, rows, title)
