"""Versions of the truth of a task."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, select

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


def equal_truths(truth: dict[str, Any]) -> Select[tuple[str]]:
    """The ids of all versions of a task's truth with the same content.

    Scores are kept by what they depend on: when an earlier truth comes back, they are there.
    """
    return select(truth_version.c.id).where(
        truth_version.c.task == truth["task"], truth_version.c.sha == truth["sha"]
    )
