"""People: their passwords, sessions, tokens and roles. Only hashes of secrets are kept."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from cranfield._lazy import cached_property
from cranfield.errors import UsageError
from cranfield.server.context import SECOND, Context, hash_of
from cranfield.server.services import audit
from cranfield.server.settings import Passwords
from cranfield.server.store.tables import (
    api_token,
    login_failure,
    password_link,
    person,
    role,
    session,
)

HOUR = 3600 * SECOND
PASSWORD_LINK_HOURS = 48

SHORTEST_PASSWORD = 10
LONGEST_TEXT = 400
FREE_ATTEMPTS = 5
SESSION_ID = 16
DAY = 24 * 3600 * SECOND
# How long tokens last: unless said otherwise, and at most.
TOKEN_DAYS, MOST_TOKEN_DAYS = 180, 365
LONGEST_WAIT = 900 * SECOND
# Attempts that are older count no more.
FAILURE_MEMORY = 24 * 3600 * SECOND
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,79}")


class NameTakenError(UsageError):
    """A login name that is taken."""

    def __init__(self, login: str) -> None:
        super().__init__(f"the login name {login!r} is taken")


class WaitError(UsageError):
    """Too many wrong passwords: the next attempt counts only after a while."""

    def __init__(self, milliseconds: int) -> None:
        self.seconds = -(-milliseconds // SECOND)
        super().__init__(f"too many attempts; try again in {self.seconds} s")


class Hasher:
    """Hashes passwords with Argon2, few at a time: each takes memory on purpose."""

    def __init__(self, cost: Passwords) -> None:
        from argon2 import PasswordHasher

        self._argon = PasswordHasher(time_cost=cost.passes, memory_cost=cost.memory, parallelism=1)
        self._turns = threading.Semaphore(cost.at_once)

    def hash(self, password: str) -> str:
        with self._turns:
            return self._argon.hash(password)

    def matches(self, password_hash: str | None, password: str) -> bool:
        """Whether a password is the one of a hash; takes as long when there is no hash at all."""
        from argon2.exceptions import Argon2Error, InvalidHashError

        with self._turns:
            try:
                return (
                    self._argon.verify(password_hash or self._dummy_hash, password)
                    and password_hash is not None
                )
            except (Argon2Error, InvalidHashError):
                return False

    @cached_property
    def _dummy_hash(self) -> str:
        """A hash in place of the one that an unknown name does not have."""
        return self._argon.hash("the password of no account")


@dataclass(frozen=True)
class Session:
    """The session of a browser, by its cookie."""

    person: str
    login: str
    name: str
    confirmed: int


def checked_login(login: str) -> str:
    """The name that a person logs in by: small letters, digits and . _ @ + -"""
    name = login.strip().lower()
    if not _LOGIN.fullmatch(name):
        raise UsageError(
            "a login name has 2 to 80 letters, digits or . _ @ + - and begins with one of the "
            "first two"
        )
    return name


def checked_text(field: str, text: str, *, longest: int = LONGEST_TEXT, needed: bool = True) -> str:
    """A text of a form without blanks around it, or a UsageError that names the field."""
    stripped = text.strip()
    if needed and not stripped:
        raise UsageError(f"{field} is missing")
    if len(stripped) > longest:
        raise UsageError(f"{field} is longer than {longest} characters")
    if "\0" in stripped:
        raise UsageError(f"{field} has characters that no text has")
    return stripped


def checked_password(password: str) -> str:
    if len(password) < SHORTEST_PASSWORD:
        raise UsageError(f"a password has at least {SHORTEST_PASSWORD} characters")
    if len(password) > LONGEST_TEXT:
        raise UsageError(f"a password has at most {LONGEST_TEXT} characters")
    return password


def add_person(
    connection: Connection, context: Context, login: str, name: str, password_hash: str
) -> str:
    """Add a person; returns the id. The password comes hashed: that is slow and needs no lock."""
    existing = connection.execute(select(person.c.id).where(person.c.login == login)).first()
    if existing is not None:
        raise NameTakenError(login)
    now, new = context.clock.now(), context.new_id()
    connection.execute(
        insert(person).values(id=new, login=login, name=name, password=password_hash, created=now)
    )
    audit.append(connection, now, new, "person.add", new)
    return new


def grant(
    connection: Connection,
    context: Context,
    actor: str,
    person_id: str,
    role_name: str,
    campaign: str | None,
) -> None:
    """Give a person a role in a campaign, or on the whole site without one."""
    existing = connection.execute(
        select(role.c.role).where(
            role.c.person == person_id, role.c.role == role_name, role.c.campaign == campaign
        )
    ).first()
    if existing is None:
        now = context.clock.now()
        connection.execute(
            insert(role).values(person=person_id, campaign=campaign, role=role_name, created=now)
        )
        audit.append(
            connection, now, actor, "role.grant", person_id, {"role": role_name, "in": campaign}
        )


def revoke(
    connection: Connection,
    context: Context,
    actor: str,
    person_id: str,
    role_name: str,
    campaign: str | None,
) -> None:
    """Take a role away again."""
    gone = connection.execute(
        delete(role).where(
            role.c.person == person_id, role.c.role == role_name, role.c.campaign == campaign
        )
    )
    if gone.rowcount:
        now = context.clock.now()
        audit.append(
            connection, now, actor, "role.revoke", person_id, {"role": role_name, "in": campaign}
        )


def roles_of(connection: Connection, person_id: str, campaign: str | None) -> set[str]:
    """The roles of a person in a campaign, with those of the whole site."""
    rows = connection.execute(
        select(role.c.role, role.c.campaign).where(role.c.person == person_id)
    )
    return {
        role_name
        for role_name, role_campaign in rows
        if role_campaign is None or role_campaign == campaign
    }


def log_in(context: Context, hasher: Hasher, login: str, password: str, address: str = "") -> str:
    """The token of a new session, or a UsageError; waits grow with every wrong password.

    Attempts are counted by name and address: a stranger who knows a name locks no account.
    """
    name = login.strip().lower()[:LONGEST_TEXT]
    counted = _failure_key(name, address)
    context.store.write(lambda c: _count_attempt(c, counted, context.clock.now()))
    with context.store.read() as connection:
        row = connection.execute(
            select(person.c.id, person.c.password).where(
                person.c.login == name, person.c.disabled == 0
            )
        ).first()
    if not hasher.matches(row.password if row else None, password) or row is None:
        raise UsageError("the login name or the password is not right")
    person_id = str(row.id)
    return context.store.write(lambda c: _open_session(c, context, person_id, counted))


def _failure_key(name: str, address: str) -> str:
    """Under what the attempts for a name from an address are counted."""
    return hash_of(f"{address}\n{name}")


def _count_attempt(connection: Connection, counted: str, now: int) -> None:
    """Count an attempt before its password is looked at, or raise a WaitError.

    A right password takes the count back. Counted afterwards, a burst of guesses would be looked
    at before the first of them counts.
    """
    connection.execute(delete(login_failure).where(login_failure.c.at < now - FAILURE_MEMORY))
    row = connection.execute(
        select(login_failure.c.failures, login_failure.c.until)
        .where(login_failure.c.name == counted)
        .with_for_update()
    ).first()
    if row is not None and row.until > now:
        raise WaitError(row.until - now)
    failures = 1 + (row.failures if row is not None else 0)
    over = failures - FREE_ATTEMPTS
    until = now + min(LONGEST_WAIT, SECOND << min(over, 20)) if over >= 0 else 0
    values = {"failures": failures, "until": until, "at": now}
    # Changed in place: a transaction that waits for the row on PostgreSQL sees the new values.
    if row is None:
        connection.execute(insert(login_failure).values(name=counted, **values))
    else:
        connection.execute(
            update(login_failure).where(login_failure.c.name == counted).values(**values)
        )


def _open_session(connection: Connection, context: Context, person_id: str, counted: str) -> str:
    token, now = context.new_secret(), context.clock.now()
    connection.execute(delete(login_failure).where(login_failure.c.name == counted))
    if not context.clock.in_doubt:
        connection.execute(delete(session).where(session.c.expires < now))
    connection.execute(
        insert(session).values(
            hash=hash_of(token),
            person=person_id,
            created=now,
            expires=now + context.settings.session_seconds * SECOND,
            confirmed=now,
        )
    )
    return token


def log_out(connection: Connection, token: str) -> None:
    connection.execute(delete(session).where(session.c.hash == hash_of(token)))


def confirm(context: Context, hasher: Hasher, token: str, password: str, address: str = "") -> None:
    """Note that the password of a session was entered again, or raise a UsageError."""
    with context.store.read() as connection:
        row = connection.execute(
            select(person.c.password, person.c.login)
            .join(session, session.c.person == person.c.id)
            .where(session.c.hash == hash_of(token))
        ).first()
    # At an open browser passwords are guessed no faster than on the page of the login.
    counted, now = _failure_key(row.login if row else "", address), context.clock.now()
    context.store.write(lambda c: _count_attempt(c, counted, now))
    if not hasher.matches(row.password if row else None, password):
        raise UsageError("the password is not right")

    def write(connection: Connection) -> None:
        connection.execute(delete(login_failure).where(login_failure.c.name == counted))
        connection.execute(
            update(session).where(session.c.hash == hash_of(token)).values(confirmed=now)
        )

    context.store.write(write)


def set_password(
    connection: Connection, context: Context, actor: str, person_id: str, password_hash: str
) -> None:
    """Set the password of a person; all sessions and tokens end, also those of a thief."""
    now = context.clock.now()
    connection.execute(
        update(person).where(person.c.id == person_id).values(password=password_hash)
    )
    connection.execute(delete(session).where(session.c.person == person_id))
    connection.execute(
        update(api_token)
        .where(api_token.c.person == person_id, api_token.c.revoked.is_(None))
        .values(revoked=now)
    )
    audit.append(connection, now, actor, "person.password", person_id)


def add_password_link(connection: Connection, context: Context, actor: str, person_id: str) -> str:
    """A secret by which a person sets a new password, once and soon; it replaces earlier ones."""
    now, secret = context.clock.now(), context.new_secret()
    connection.execute(delete(password_link).where(password_link.c.person == person_id))
    connection.execute(
        insert(password_link).values(
            hash=hash_of(secret), person=person_id, expires=now + PASSWORD_LINK_HOURS * HOUR
        )
    )
    audit.append(connection, now, actor, "person.link", person_id)
    return secret


def person_of_link(connection: Connection, context: Context, secret: str) -> dict[str, Any] | None:
    """Whose password a link sets; None for one that has ended, was used, or never was."""
    row = (
        connection.execute(
            select(person.c.id, person.c.login)
            .join(password_link, password_link.c.person == person.c.id)
            .where(
                password_link.c.hash == hash_of(secret),
                password_link.c.expires > context.clock.now(),
                person.c.disabled == 0,
            )
        )
        .mappings()
        .first()
    )
    return None if row is None else dict(row)


def set_password_by_link(
    connection: Connection, context: Context, secret: str, password_hash: str
) -> bool:
    """Set the password of whom a link is for; whether the link was still good."""
    row = person_of_link(connection, context, secret)
    used = connection.execute(
        delete(password_link).where(password_link.c.hash == hash_of(secret))
    ).rowcount
    if row is None or not used:
        return False
    set_password(connection, context, row["id"], row["id"], password_hash)
    return True


def person_by_login(connection: Connection, login: str) -> str:
    """The id of the person with a login name, or a UsageError."""
    name = login.strip().lower()
    person_id = connection.execute(select(person.c.id).where(person.c.login == name)).scalar()
    if person_id is None:
        raise UsageError(f"there is no login name {login!r}")
    return str(person_id)


def sessions_of(
    connection: Connection, person_id: str, token: str, now: int
) -> list[dict[str, Any]]:
    """The sessions of a person, the newest first; `here` is the session of this token."""
    rows = connection.execute(
        select(session.c.hash, session.c.created, session.c.expires)
        .where(session.c.person == person_id, session.c.expires > now)
        .order_by(session.c.created.desc(), session.c.hash)
    )
    # A part of the hash names a session on the page; it is no credential.
    return [
        {
            "id": row.hash[:SESSION_ID],
            "created": row.created,
            "expires": row.expires,
            "here": row.hash == hash_of(token),
        }
        for row in rows
    ]


def end_session(connection: Connection, context: Context, person_id: str, session_id: str) -> bool:
    """End a session of one's own; False where there is none of this id."""
    if len(session_id) != SESSION_ID:
        return False
    ended = connection.execute(
        delete(session).where(
            session.c.person == person_id, session.c.hash.startswith(session_id, autoescape=True)
        )
    )
    if ended.rowcount:
        audit.append(connection, context.clock.now(), person_id, "session.end", person_id)
    return bool(ended.rowcount)


def session_of(connection: Connection, token: str, now: int) -> Session | None:
    """Whose session a cookie is, if it is one and has not ended."""
    row = connection.execute(
        select(person.c.id, person.c.login, person.c.name, session.c.confirmed)
        .join(session, session.c.person == person.c.id)
        .where(session.c.hash == hash_of(token), session.c.expires > now, person.c.disabled == 0)
    ).first()
    return Session(row.id, row.login, row.name, row.confirmed or 0) if row else None


def add_token(
    connection: Connection,
    context: Context,
    person_id: str,
    *,
    team: str | None,
    scope: str,
    label: str,
    days: int = TOKEN_DAYS,
) -> str:
    """A token for programs, which is shown once; it ends after so many days."""
    secret, new, now = f"cf_{context.new_secret()}", context.new_id(), context.clock.now()
    connection.execute(
        insert(api_token).values(
            id=new,
            hash=hash_of(secret),
            person=person_id,
            team=team,
            scope=scope,
            label=label,
            created=now,
            expires=now + days * DAY,
        )
    )
    audit.append(connection, now, person_id, "token.add", new, {"scope": scope, "team": team})
    return secret


def checked_days(text: str) -> int:
    """For how many days a token shall last."""
    typed = text.strip() or str(TOKEN_DAYS)
    days = int(typed) if typed.isascii() and typed.isdecimal() and len(typed) <= 4 else 0
    if not 1 <= days <= MOST_TOKEN_DAYS:
        raise UsageError(f"a token lasts 1 to {MOST_TOKEN_DAYS} days")
    return days


def checked_scope(scope: str, allowed: Iterable[str]) -> str:
    """What a token shall be good for."""
    if scope not in allowed:
        raise UsageError("choose what the token is good for")
    return scope


def revoke_own_token(
    connection: Connection, context: Context, actor: str, token_id: str, owner: Any
) -> bool:
    """Revoke a token if it is the owner's (a condition on its row); False where it is not."""
    own_token = connection.execute(
        select(api_token.c.id).where(api_token.c.id == token_id, owner)
    ).first()
    if own_token is not None:
        revoke_token(connection, context, actor, token_id)
    return own_token is not None


def revoke_token(connection: Connection, context: Context, actor: str, token: str) -> None:
    now = context.clock.now()
    connection.execute(
        update(api_token)
        .where(api_token.c.id == token, api_token.c.revoked.is_(None))
        .values(revoked=now)
    )
    audit.append(connection, now, actor, "token.revoke", token)


def token_of(connection: Connection, secret: str, now: int) -> dict[str, Any] | None:
    """Whose token a program has, and what it is for."""
    row = connection.execute(
        select(
            api_token.c.person, api_token.c.team, api_token.c.scope, person.c.login, person.c.name
        )
        .join(person, person.c.id == api_token.c.person)
        .where(
            api_token.c.hash == hash_of(secret),
            api_token.c.revoked.is_(None),
            api_token.c.expires > now,
            person.c.disabled == 0,
        )
    ).first()
    return dict(row._mapping) if row else None
