"""Tasks of boxes: the measures that they are scored by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "campaign", sa.Column("box_measures", sa.Text(), server_default="", nullable=False)
    )
