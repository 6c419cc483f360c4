"""A site as a whole: opening its folder, and the first person who may do everything."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, func, select

from cranfield.errors import UsageError
from cranfield.server.context import Clock, Context
from cranfield.server.services import accounts, audit, clock
from cranfield.server.services.disk import clear_stale
from cranfield.server.settings import Settings
from cranfield.server.store import address_of, open_store, readable_errors
from cranfield.server.store.migrate import current, upgrade
from cranfield.server.store.tables import person

FIRST_LOGIN = "organiser"


def open_site(settings: Settings) -> Context:
    """The site of a folder, with its schema brought up to date."""
    settings.prepare()
    clear_stale(settings.incoming)
    store = open_store(settings.url)
    with readable_errors(settings.url):
        upgrade(store)
        store.write(audit.start_chain)
        with store.read() as connection:
            last, accepted = clock.last_time(connection), clock.acceptance(connection)
    return Context(settings, store, Clock(settings, last, accepted))


def require_site(settings: Settings) -> None:
    """A UsageError unless the site is there: a folder with another name is no new, empty one."""
    if not settings.sealed.is_dir() or not settings.blobs.is_dir():
        raise UsageError(f"{settings.folder} is not the folder of a site")
    address = address_of(settings.url)
    if address.get_backend_name() == "sqlite":
        if not Path(address.database or "").is_file():
            raise UsageError(f"{address.database}: there is no such store")
        return
    store = open_store(settings.url)
    try:
        with readable_errors(settings.url):
            schema = current(store)
    finally:
        store.close()
    if schema is None:
        address_text = address.render_as_string(hide_password=True)
        raise UsageError(f"{address_text}: the store of no site, it is empty")


def ensure_organiser(context: Context) -> str | None:
    """A generated password for the first organiser; None when there is an account already."""
    with context.store.read() as connection:
        if connection.execute(select(func.count()).select_from(person)).scalar():
            return None
    password = context.new_secret()[:20]
    password_hash = accounts.Hasher(context.settings.passwords).hash(password)

    def add(connection: Connection) -> bool:
        if connection.execute(select(func.count()).select_from(person)).scalar():
            return False
        person_id = accounts.add_person(
            connection, context, FIRST_LOGIN, "Organiser", password_hash
        )
        for role_name in ("O", "S"):
            accounts.grant(connection, context, person_id, person_id, role_name, None)
        return True

    return password if context.store.write(add) else None
