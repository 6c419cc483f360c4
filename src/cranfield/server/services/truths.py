"""Versions of the truth of a task."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from cranfield.server.store.tables import truth_version


def latest_truth(connection: Connection, task_id: str) -> dict[str, Any] | None:
    """The newest version of a task's truth; the file itself stays sealed."""
    row = (
        connection.execute(
            select(truth_version)
            .where(truth_version.c.task == task_id)
            .order_by(truth_version.c.n.desc())
            .limit(1)
        )
        .mappings()
        .first()
    )
    return dict(row) if row else None
