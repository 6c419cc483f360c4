"""The time that a site has noted, and clocks of the machine that an organiser has accepted."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select, update

from cranfield.server.context import SECOND, Context
from cranfield.server.services import audit
from cranfield.server.store.tables import job, login_failure, session, setting
from cranfield.server.store.work_tables import assignment

# Settings of the store: the time now and then, and the last acceptance with the time before it.
NOTED, ACCEPTED = "clock", "clock-accepted"
NOTE_EVERY = 3600 * SECOND


def last_time(connection: Connection) -> int:
    """The latest time that the site has noted."""
    return max(audit.latest_time(connection), int(read_setting(connection, NOTED) or 0))


def note_time(context: Context) -> None:
    """Go by what was accepted since the time came into doubt; else note the time now and then."""
    with context.store.read() as connection:
        accepted, noted = acceptance(connection), int(read_setting(connection, NOTED) or 0)
    new, context.clock.acceptance = accepted != context.clock.acceptance, accepted
    if context.clock.in_doubt:
        if new:
            context.clock.accept()
        return
    now = context.clock.now()
    if now - noted >= NOTE_EVERY:
        context.store.write(lambda c: write_setting(c, NOTED, str(now)))


def acceptance(connection: Connection) -> str:
    """The last acceptance: the time that was accepted, and the one before it."""
    return read_setting(connection, ACCEPTED) or ""


def accept(context: Context, actor: str) -> None:
    """Take the machine's clock as right, and write down by whom and what it was before.

    What was to end at a time of the other clock ends as it would have by this one.
    """
    wall, settings = context.clock.wall(), context.settings

    def write(connection: Connection) -> None:
        before = last_time(connection)
        detail = {"from": before, "to": wall}
        audit.append(connection, wall, actor, "clock.accept", "clock", detail, allow_earlier=True)
        write_setting(connection, NOTED, str(wall))
        write_setting(connection, ACCEPTED, f"{wall} {before}")
        lease = wall + int(settings.lease_seconds * SECOND)
        connection.execute(update(job).where(job.c.lease > lease).values(lease=lease))
        expires = wall + settings.session_seconds * SECOND
        connection.execute(
            update(session).where(session.c.expires > expires).values(expires=expires)
        )
        connection.execute(update(session).where(session.c.confirmed > wall).values(confirmed=wall))
        connection.execute(delete(login_failure).where(login_failure.c.at > wall))
        connection.execute(
            update(assignment)
            .where(assignment.c.offered > wall, assignment.c.expires.is_not(None))
            .values(expires=wall)
        )

    context.store.write(write)
    context.clock.accept()


def read_setting(connection: Connection, name: str) -> str | None:
    """A setting of the store; None where it was never written."""
    value: str | None = connection.execute(
        select(setting.c.value).where(setting.c.name == name)
    ).scalar()
    return value


def write_setting(connection: Connection, name: str, value: str) -> None:
    """Write a setting of the store in place of what it was."""
    changed = connection.execute(update(setting).where(setting.c.name == name).values(value=value))
    if not changed.rowcount:
        connection.execute(insert(setting).values(name=name, value=value))
