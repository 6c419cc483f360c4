"""Links by which a person sets a new password: only their hashes are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "password_link",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_password_link"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_password_link_person"),
    )
    op.create_index("ix_password_link_person", "password_link", ["person"])
