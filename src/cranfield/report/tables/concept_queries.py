"""Queries over concepts as a table: the expressions and what comes first."""

from __future__ import annotations

from typing import Any

from cranfield.evaluation.concept_queries import ConceptRanking
from cranfield.report.document import Column, Document, Table


def document(found: ConceptRanking, **_: Any) -> Document:
    """A row per query with its first items."""
    columns = [Column(name, numeric=False) for name in ("topic", "query", "first items")]
    rows = [[t, q, ", ".join(found.best(t))] for t, q in found.queries]
    return Document(found.to_dict(), [Table(columns, rows, found.headline())], found.notes)
