"""Announcements of a campaign, which everybody reads on its overview and in its feed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "announcement",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("campaign", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_announcement"),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_announcement_campaign"),
    )
    op.create_index("ix_announcement_campaign", "announcement", ["campaign"])
