"""What visitors are told of a campaign: a line, whom to write to, how to cite, sample pictures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("summary", "contact", "citation", "samples"):
        op.add_column("campaign", sa.Column(name, sa.Text(), server_default="", nullable=False))
