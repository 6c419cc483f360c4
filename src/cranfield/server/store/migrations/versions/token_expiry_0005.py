"""Every token has an end: those without one get the usual time from now on."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None
DAYS = 180


def upgrade() -> None:
    token = sa.table("api_token", sa.column("expires", sa.BigInteger))
    # Not from their making on: programs that run now shall have the time to be told.
    ends = (int(time.time()) + DAYS * 24 * 3600) * 1000
    op.execute(token.update().where(token.c.expires.is_(None)).values(expires=ends))
