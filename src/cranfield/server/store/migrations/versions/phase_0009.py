"""Phases with a live board, late runs by decision, addresses for e-mail, invitations, webhooks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def _text(name: str, *, default: str | None = "") -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def _number(name: str, default: str = "0") -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default=default, nullable=False)


def _time(name: str, *, optional: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=optional)


def _must(name: str) -> sa.Column[str]:
    return _text(name, default=None)


def _table(name: str, key: str, *columns: sa.Column[str] | sa.Column[int], **parents: str) -> None:
    """A table with its key, and a foreign key with an index for each parent."""
    constraints: list[sa.Constraint] = [sa.PrimaryKeyConstraint(key, name=f"pk_{name}")]
    for parent in parents:
        keys = [parent], [f"{parent}.id"]
        constraints.append(sa.ForeignKeyConstraint(*keys, name=f"fk_{name}_{parent}"))
    op.create_table(
        name, _must(key), *(_must(parent) for parent in parents), *columns, *constraints
    )
    for parent in parents:
        op.create_index(f"ix_{name}_{parent}", name, [parent])


def upgrade() -> None:
    op.add_column("campaign", _text("live_part"))
    op.add_column("person", _text("email"))
    op.add_column("person", _time("email_verified", optional=True))
    op.add_column("run", _text("phase"))
    op.add_column("run", _number("late"))
    _table(
        "phase",
        "id",
        _must("name"),
        _time("opens"),
        _time("closes"),
        _number("runs", "5"),
        _number("runs_per_day"),
        _number("live"),
        campaign="",
    )
    _table("email_link", "hash", _must("email"), _time("expires"), person="")
    _table(
        "invitation",
        "id",
        sa.Column("hash", sa.Text(), nullable=False, unique=True),
        _text("role"),
        _text("email"),
        _time("created"),
        _time("expires"),
        _time("used", optional=True),
        campaign="",
    )
    _table(
        "webhook",
        "id",
        _must("url"),
        _must("events"),
        _time("created"),
        _text("outcome"),
        _time("called", optional=True),
        campaign="",
    )
    _table(
        "extension", "id", _time("until"), _must("reason"), _time("created"), campaign="", team=""
    )
