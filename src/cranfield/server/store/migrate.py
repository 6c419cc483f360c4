"""Bringing the schema of a store to what this version of Cranfield expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from cranfield.errors import UsageError
from cranfield.server.store.database import Store

VERSIONS = "alembic_version"


def upgrade(store: Store) -> str:
    """Bring the store to the newest schema; gives the name of that schema."""
    head = newest()
    if current(store) == head:
        return head
    from alembic import command
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = _config()
    script = ScriptDirectory.from_config(config)

    def run(connection: Connection) -> None:
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision == head:
            return  # another process was faster
        revisions = {script_revision.revision for script_revision in script.walk_revisions()}
        if revision is not None and revision not in revisions:
            raise UsageError(
                f"the store has the schema {revision!r} of a later Cranfield; use that version"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    store.write(run)
    return head


def newest() -> str:
    """The name of the newest schema: files of migrations end with it."""
    from cranfield.server.store.migrations import versions

    return max(path.stem[-4:] for path in Path(versions.__path__[0]).glob("*_[0-9]*.py"))


def current(store: Store) -> str | None:
    """The schema that a store has; nothing for an empty one."""
    with store.read() as connection:
        if not inspect(connection).has_table(VERSIONS):
            return None
        revision = connection.execute(text(f"select version_num from {VERSIONS}")).scalar()
        return None if revision is None else str(revision)


def _config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "cranfield.server.store:migrations")
    return config
