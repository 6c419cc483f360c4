"""An annotation as tables: the thresholds of its concepts."""

from __future__ import annotations

from typing import Any

from cranfield.evaluation.baselines.annotate import Annotation
from cranfield.report.document import Column, Document, Table


def document(found: Annotation, **_: Any) -> Document:
    """A row for each concept."""
    table = Table(
        [Column("concept", numeric=False), Column("threshold")],
        [[concept, limit] for concept, limit in found.thresholds.items()],
        found.headline(),
    )
    return Document(found.to_dict(), [table], found.notes)
