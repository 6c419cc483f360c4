"""Mail: sent by jobs where the site was told of a server, to addresses that were verified.

A link stands in no job: it is made when the mail is sent, and only its hash is kept.
"""

from __future__ import annotations

import os
import re
import smtplib
import ssl
from email.message import EmailMessage
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, delete, func, insert, select, update

from cranfield.errors import CranfieldError, UsageError
from cranfield.server.context import SECOND, Context, as_time, hash_of
from cranfield.server.services import accounts, audit, jobs, scoring
from cranfield.server.services.campaigns import Row
from cranfield.server.store.tables import (
    campaign,
    email_link,
    invitation,
    job,
    membership,
    person,
    role,
    team,
)

PASSWORD_VARIABLE = "CRANFIELD_SMTP_PASSWORD"
SECONDS = 20.0
HOUR = 3600 * SECOND
LINK_HOURS, INVITATION_DAYS = 48, 30
# How many mails an hour ask one address, or come from one account, whether an address is theirs.
MOST_TO_ADDRESS, MOST_BY_PERSON = 3, 10
_EMAIL = re.compile(r"[^@\s<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[A-Za-z0-9.-]{1,190}")
ROLE_WORDS = {"": "to take part with a team", "A": "as an assessor", "J": "as an adjudicator"}
ROLE_WORDS["O"] = "as an organiser"
TEXTS = {
    "verify": (
        "Is this your address?",
        "Somebody, probably you, named this address on {site}. If it is yours, open this link "
        "within {hours} hours:\n\n{link}\n\nIf not, do nothing: no mail will come.",
    ),
    "reset": (
        "A new password",
        "Somebody, probably you, asked for a new password for the login name {login} on {site}. "
        "This link sets it, once, within {hours} hours:\n\n{link}\n\nIf it was not you, do "
        "nothing.",
    ),
    "invite": (
        "Invitation to {title}",
        "You are invited {role} in the campaign {title} on {site}:\n\n{link}\n\nThe link works "
        "once, within {days} days.",
    ),
    "deadline": (
        "{title}: the closing date has moved",
        "Runs of the campaign {title} are taken until {closes} now. Before it was {before}."
        "\n\n{link}",
    ),
    "results": (
        "{title}: the results are out",
        "The results of the campaign {title} are out:\n\n{link}",
    ),
}


def can_send(context: Context) -> bool:
    """Whether the site was told of a server that takes mail."""
    return bool(context.settings.smtp)


def checked_email(text: str) -> str:
    """An address for mail, or a UsageError."""
    address = text.strip()
    if not _EMAIL.fullmatch(address):
        raise UsageError("this is no address for e-mail, such as ada@example.org")
    return address


def check_smtp(address: str) -> None:
    """A UsageError unless this is the address of a server that takes mail."""
    parts = urlsplit(address)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.password:
        raise UsageError(
            f"smtp={address!r} is not smtp://[user@]host[:port] or smtps://...; the password comes "
            f"from the environment, as {PASSWORD_VARIABLE}"
        )


# ---- addresses


def set_email(
    connection: Connection,
    context: Context,
    person_id: str,
    address: str,
    *,
    verified: bool = False,
) -> None:
    """Write down the address of a person; unless it was verified, a mail asks them."""
    now = context.clock.now()
    values = {"email": address, "email_verified": now if verified else None}
    connection.execute(update(person).where(person.c.id == person_id).values(**values))
    # A link that is on its way to the same address stays good: perhaps no other one follows.
    others = (email_link.c.person == person_id) & (email_link.c.email != address)
    connection.execute(delete(email_link).where(others))
    audit.append(connection, now, person_id, "person.email", person_id)
    if address and not verified and _may_ask(connection, now, person_id, address):
        once = f"{person_id}:{hash_of(address.lower())}:{context.new_id()}"
        request_mail(connection, context, "verify", {"person": person_id, "to": address}, once)


def _may_ask(connection: Connection, now: int, person_id: str, address: str) -> bool:
    """Whether one more mail may ask: no account floods a stranger, nor do many together."""

    def count(pattern: str) -> int:
        rows = select(func.count()).where(job.c.created > now - HOUR, job.c.key.like(pattern))
        return int(connection.execute(rows).scalar_one())

    return (
        count(f"mail:verify:%:{hash_of(address.lower())}:%") < MOST_TO_ADDRESS
        and count(f"mail:verify:{person_id}:%") < MOST_BY_PERSON
    )


def verify_email(connection: Connection, context: Context, secret: str) -> str | None:
    """Whose address a link verifies; None for one that has ended or was used."""
    row = connection.execute(
        select(email_link.c.person, email_link.c.email).where(
            email_link.c.hash == hash_of(secret), email_link.c.expires > context.clock.now()
        )
    ).first()
    if row is None:
        return None
    connection.execute(delete(email_link).where(email_link.c.hash == hash_of(secret)))
    changed = connection.execute(
        update(person)
        .where(person.c.id == row.person, person.c.email == row.email)
        .values(email_verified=context.clock.now())
    )
    return str(row.email) if changed.rowcount else None


# ---- asking for mail


def request_mail(
    connection: Connection, context: Context, kind: str, values: Row, once: str = ""
) -> None:
    """Ask for a mail, where mail can be sent; one with the same `once` is sent once."""
    if can_send(context):
        key = f"mail:{kind}:{once or context.new_id()}"
        jobs.request_job(connection, context, "mail", key, {"mail": kind} | values, None)


def request_reset(connection: Connection, context: Context, name: str) -> None:
    """Mail a link to a new password, at most once an hour; who has no such address gets none."""
    typed = name.strip().lower()
    rows = connection.execute(
        select(person.c.id, person.c.email).where(
            (person.c.login == typed) | (person.c.email == name.strip()),
            person.c.email_verified.is_not(None),
            person.c.disabled == 0,
        )
    ).all()
    hour = context.clock.now() // HOUR
    for row in rows[:5]:
        values = {"person": row.id, "to": row.email}
        request_mail(connection, context, "reset", values, f"{row.id}:{hour}")


def tell_participants(
    connection: Connection, context: Context, campaign_row: Row, kind: str, **values: str
) -> None:
    """A mail to every member of a team, and to organisers of the campaign, who have an address."""
    members = (
        select(membership.c.person)
        .join(team, team.c.id == membership.c.team)
        .where(team.c.campaign == campaign_row["id"])
    )
    others = select(role.c.person).where(role.c.campaign == campaign_row["id"])
    rows = connection.execute(
        select(person.c.id, person.c.email).where(
            person.c.id.in_(members.union(others)),
            person.c.email_verified.is_not(None),
            person.c.disabled == 0,
        )
    )
    now = context.clock.now()
    for row in rows:
        facts = {"to": row.email, "campaign": campaign_row["id"]} | values
        request_mail(connection, context, kind, facts, f"{campaign_row['id']}:{row.id}:{now}")


# ---- invitations


def invite(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_row: Row,
    address: str,
    role_name: str,
) -> str:
    """Invite somebody; gives the id of the invitation, whose link is made when it is sent."""
    now, new = context.clock.now(), context.new_id()
    connection.execute(
        insert(invitation).values(
            id=new,
            hash=hash_of(context.new_secret()),
            campaign=campaign_row["id"],
            role=role_name,
            email=address,
            created=now,
            expires=now + INVITATION_DAYS * 24 * HOUR,
        )
    )
    detail = {"role": role_name}
    audit.append(connection, now, actor, "campaign.invite", campaign_row["slug"], detail)
    values = {"to": address, "invitation": new, "campaign": campaign_row["id"], "role": role_name}
    request_mail(connection, context, "invite", values)
    return new


def invitation_link(connection: Connection, context: Context, invitation_id: str) -> str:
    """The secret of an invitation: a new one, as only its hash is kept."""
    secret = context.new_secret()
    condition = invitation.c.id == invitation_id
    connection.execute(update(invitation).where(condition).values(hash=hash_of(secret)))
    return secret


def invitation_of(
    connection: Connection, context: Context, campaign_id: str, secret: str
) -> Row | None:
    """The invitation of a link; None for one that has ended or was used."""
    row = (
        connection.execute(
            select(invitation).where(
                invitation.c.hash == hash_of(secret),
                invitation.c.campaign == campaign_id,
                invitation.c.expires > context.clock.now(),
                invitation.c.used.is_(None),
            )
        )
        .mappings()
        .first()
    )
    return dict(row) if row else None


def use_invitation(
    connection: Connection, context: Context, person_id: str, campaign_id: str, secret: str
) -> None:
    """Take an invitation: its role, and its address where the person has none."""
    row, now = invitation_of(connection, context, campaign_id, secret), context.clock.now()
    # Of two who come by it at the same moment the second one sees that it was used.
    unused = (invitation.c.id == (row["id"] if row else "")) & invitation.c.used.is_(None)
    if (
        row is None
        or not connection.execute(update(invitation).where(unused).values(used=now)).rowcount
    ):
        raise UsageError("this invitation has ended or was used")
    if row["role"]:
        accounts.grant(connection, context, person_id, person_id, row["role"], campaign_id)
    own = connection.execute(select(person.c.email).where(person.c.id == person_id)).scalar()
    if row["email"] and not own:
        # A link that was shown to an organiser proves nothing about who reads the address.
        set_email(connection, context, person_id, row["email"], verified=can_send(context))


def invitations_of(connection: Connection, campaign_id: str) -> list[Row]:
    query = (
        select(invitation)
        .where(invitation.c.campaign == campaign_id)
        .order_by(invitation.c.created.desc(), invitation.c.id)
        .limit(100)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


# ---- sending, in a worker


def send(context: Context, job_input: Row) -> Row:
    """Send the mail of a job; its link is made here."""
    values = context.store.write(lambda c: _values(c, context, job_input))
    if values is None:
        return {"done": 0}
    subject, body = (text.format(**values) for text in TEXTS[job_input["mail"]])
    message = EmailMessage()
    message["From"] = context.settings.mail_from
    message["To"] = job_input["to"]
    message["Subject"] = subject.replace("\n", " ").replace("\r", " ")
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(f"{body}\n\n-- \n{values['site']}, {context.settings.public_address}\n")
    with _connect(context.settings.smtp) as server:
        server.send_message(message)
    return {"done": 1}


def _connect(address: str) -> smtplib.SMTP:
    """A connection to the server for mail; no password goes over one that others could read."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    secure = ssl.create_default_context()
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            host, parts.port or 465, timeout=SECONDS, context=secure
        )
    else:
        server = smtplib.SMTP(host, parts.port or 25, timeout=SECONDS)
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=_own_machine(host) or secure)
            server.ehlo()
        elif parts.username and _own_machine(host) is None:
            server.close()
            raise CranfieldError(f"{host} offers no encryption: the password is not sent to it")
    if parts.username:
        server.login(parts.username, os.environ.get(PASSWORD_VARIABLE, ""))
    return server


def _own_machine(host: str) -> ssl.SSLContext | None:
    """For a server on this machine, whose certificate names no host: encrypted, not verified."""
    try:
        own = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        own = False
    if not own:
        return None
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _values(connection: Connection, context: Context, job_input: Row) -> dict[str, Any] | None:
    """What the text of a mail has in its places; None where its reason has gone."""
    from cranfield.server.services.site import site_name

    address = context.settings.public_address
    values: dict[str, Any] = {
        "site": site_name(connection),
        "hours": LINK_HOURS,
        "days": INVITATION_DAYS,
        "role": ROLE_WORDS.get(job_input.get("role", ""), ""),
    }
    if "campaign" in job_input:
        query = select(campaign.c.title, campaign.c.slug).where(
            campaign.c.id == job_input["campaign"]
        )
        row = connection.execute(query).one()
        values |= {"title": row.title, "link": f"{address}/{row.slug}"}
    kind = job_input["mail"]
    if kind == "deadline":
        values |= {name: job_input[name] for name in ("closes", "before")}
    elif kind == "results":
        values["link"] += "/results"
    elif kind == "invite":
        secret = invitation_link(connection, context, job_input["invitation"])
        values["link"] += f"/invited/{secret}"
    elif kind == "verify":
        values["link"] = f"{address}/verify/{_email_secret(connection, context, job_input)}"
    elif kind == "reset":
        person_id = job_input["person"]
        secret = accounts.add_password_link(connection, context, person_id, person_id)
        login = connection.execute(select(person.c.login).where(person.c.id == person_id)).scalar()
        values |= {"login": login, "link": f"{address}/reset/{secret}"}
    return values


def _email_secret(connection: Connection, context: Context, job_input: Row) -> str:
    secret = context.new_secret()
    connection.execute(
        insert(email_link).values(
            hash=hash_of(secret),
            person=job_input["person"],
            email=job_input["to"],
            expires=context.clock.now() + LINK_HOURS * HOUR,
        )
    )
    return secret


def tell_of_dates(
    connection: Connection, context: Context, campaign_row: Row, closes: int | None
) -> None:
    """Tell participants that the closing of an open campaign has moved."""
    before = campaign_row["closes"]
    if campaign_row["state"] == "open" and closes is not None and closes != before:
        values = {"closes": as_time(closes), "before": as_time(before) if before else "not set"}
        tell_participants(connection, context, campaign_row, "deadline", **values)


scoring.IN_PROCESS_JOBS["mail"] = send
