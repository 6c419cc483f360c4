"""The first schema, kept as it was: `schema_0001.sql` is never changed, only followed."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    schema = Path(__file__).with_name("schema_0001.sql").read_text(encoding="utf-8")
    for statement in schema.split(";\n"):
        if statement.strip():
            op.execute(statement)
