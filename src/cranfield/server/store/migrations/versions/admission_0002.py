"""Who judges by a link is let into batches by name; so far a link opened all of a campaign.

Those who have begun keep the batches they worked on. A link that nobody used yet leads to nothing
until an organiser lets it in: for which batch it was made is not known.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "admission",
        sa.Column("assessor", sa.Text(), nullable=False),
        sa.Column("batch", sa.Text(), nullable=False),
        sa.Column("via", sa.Text(), server_default="", nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["assessor"], ["assessor.id"], name="fk_admission_assessor"),
        sa.ForeignKeyConstraint(["batch"], ["batch.id"], name="fk_admission_batch"),
        sa.UniqueConstraint("assessor", "batch", name="uq_admission_assessor_batch"),
    )
    for column in ("assessor", "batch"):
        op.create_index(f"ix_admission_{column}", "admission", [column])
    op.execute(
        "INSERT INTO admission (assessor, batch, via, created) "
        "SELECT assessor.id, hit.batch, '', MIN(assessor.created) FROM assignment "
        "JOIN hit ON hit.id = assignment.hit JOIN assessor ON assessor.id = assignment.assessor "
        "WHERE assessor.person IS NULL GROUP BY assessor.id, hit.batch"
    )
