"""Bringing the schema of a store to what this version of Cranfield expects."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from cranfield.errors import UsageError
from cranfield.server.store.database import Store


def upgrade(store: Store) -> str:
    """Bring the store to the newest schema; gives the name of that schema."""
    from alembic import command
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = _config()
    script = ScriptDirectory.from_config(config)
    head = script.get_current_head()

    def run(connection: Connection) -> None:
        current = MigrationContext.configure(connection).get_current_revision()
        if current == head:
            return
        known = {one.revision for one in script.walk_revisions()}
        if current is not None and current not in known:
            raise UsageError(
                f"the store has the schema {current!r} of a later Cranfield; use that version"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    store.write(run)
    return str(head)


def _config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "cranfield.server.store:migrations")
    return config
