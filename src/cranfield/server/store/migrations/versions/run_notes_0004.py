"""What the check warned of is kept with a run; of runs that are there already nothing is known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("notes", sa.Text(), server_default="", nullable=False))
