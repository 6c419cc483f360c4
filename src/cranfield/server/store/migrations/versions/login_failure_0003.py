"""Failed attempts are counted by address and name, and forgotten after a day.

Those that were counted by name alone are not kept: they could lock somebody out.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("login_failure")
    op.create_table(
        "login_failure",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_login_failure"),
    )
