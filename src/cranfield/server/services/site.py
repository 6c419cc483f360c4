"""A site as a whole: opening its folder, and the first person who may do everything."""

from __future__ import annotations

from dataclasses import dataclass
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
# Settings of the store: what the site is called, and what its owner says on the first page.
NAME_SETTING, TEXT_SETTING = "site-name", "site-text"
USUAL_NAME = "Campaigns"


@dataclass(frozen=True, slots=True)
class SiteTexts:
    """The name of a site and the text of its owner, in Markdown."""

    name: str = USUAL_NAME
    text: str = ""


def site_texts(context: Context) -> SiteTexts:
    """What the site is called and what its owner says of it."""

    def read() -> SiteTexts:
        with context.store.read() as connection:
            name = clock.read_setting(connection, NAME_SETTING)
            return SiteTexts(name or USUAL_NAME, clock.read_setting(connection, TEXT_SETTING) or "")

    return context.remembered("site-texts", read)


def site_name(connection: Connection) -> str:
    """What the site is called."""
    return clock.read_setting(connection, NAME_SETTING) or USUAL_NAME


def change_site_texts(
    connection: Connection, context: Context, actor: str, texts: SiteTexts
) -> None:
    """Name the site, and write the text of its first page."""
    clock.write_setting(connection, NAME_SETTING, texts.name)
    clock.write_setting(connection, TEXT_SETTING, texts.text)
    audit.append(connection, context.clock.now(), actor, "site.texts", "site", {"name": texts.name})


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
