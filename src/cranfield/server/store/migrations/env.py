"""Run by Alembic: migrations happen on the connection of the store, in its transaction."""

from __future__ import annotations

from alembic import context

from cranfield.server.store import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
context.run_migrations()
