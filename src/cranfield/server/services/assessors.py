"""Assessors: experts with an account, crowd workers with a link, programs with a token."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from cranfield.errors import UsageError, suggest
from cranfield.server.context import SECOND, Context, hash_of
from cranfield.server.services import audit
from cranfield.server.services.campaigns import Row
from cranfield.server.store.tables import campaign
from cranfield.server.store.work_tables import admission, assessor, batch

ASSESSORS = ("expert", "crowd", "model")
# How the secret of a link or of a program that judges begins.
LINK_PREFIX = "cw_"
VIA_SURVEY = "survey"
HOUR = 3600 * SECOND


class CrowdedError(UsageError):
    """As many people came by a public link as it may bring in an hour."""

    def __init__(self, milliseconds: int) -> None:
        minutes = -(-milliseconds // (60 * SECOND))
        super().__init__(
            f"many people have begun in the last hour; please come back in {minutes} min"
        )


def add_assessor(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_id: str,
    *,
    kind: str,
    person: str | None = None,
    batch_id: str | None = None,
    via: str = "",
    facts: Mapping[str, Any] | None = None,
) -> tuple[str, str]:
    """Add an assessor; returns the id, and the secret of a link for one without an account.

    Without an account one judges in the batch of `batch_id`, and in others only after `admit`.
    """
    if kind not in ASSESSORS:
        raise UsageError(f"no kind of assessor {kind!r}.{suggest(kind, ASSESSORS)}")
    if (person is None) != (batch_id is not None):
        raise UsageError("an assessor has an account, or else a link to one batch")
    if person is not None:
        existing_id = connection.execute(
            select(assessor.c.id).where(
                assessor.c.campaign == campaign_id, assessor.c.person == person
            )
        ).scalar()
        if existing_id is not None:
            return str(existing_id), ""
    _lock(connection, campaign_id)
    count = connection.execute(
        select(func.count()).select_from(assessor).where(assessor.c.campaign == campaign_id)
    ).scalar_one()
    new, secret = context.new_id(), "" if person else f"{LINK_PREFIX}{context.new_secret()}"
    connection.execute(
        insert(assessor).values(
            id=new,
            campaign=campaign_id,
            person=person,
            pseudonym=f"{kind}-{int(count) + 1:03d}",
            kind=kind,
            token_hash=hash_of(secret) if secret else None,
            facts=json.dumps(dict(facts or {})),
            created=context.clock.now(),
        )
    )
    detail = {"kind": kind}
    if batch_id is not None:
        admit(connection, context, new, batch_id, via)
        detail["batch"] = batch_id
    audit.append(connection, context.clock.now(), actor, "assessor.add", new, detail)
    return new, secret


def _lock(connection: Connection, campaign_id: str) -> None:
    """Of several who come at the same time each gets a number of its own."""
    connection.execute(select(campaign.c.id).where(campaign.c.id == campaign_id).with_for_update())


def admit(
    connection: Connection, context: Context, assessor_id: str, batch_id: str, via: str = ""
) -> None:
    """Let an assessor with a link into a batch."""
    connection.execute(
        insert(admission).values(
            assessor=assessor_id, batch=batch_id, via=via, created=context.clock.now()
        )
    )


def admit_from(
    connection: Connection, context: Context, actor: str, batch_row: Row, other_slug: str
) -> int:
    """Let those in who judge another batch of the campaign by their links; gives how many."""
    _lock(connection, batch_row["campaign"])
    other_id = connection.execute(
        select(batch.c.id).where(
            batch.c.campaign == batch_row["campaign"], batch.c.slug == other_slug.strip()
        )
    ).scalar()
    if other_id is None:
        raise UsageError(f"there is no batch {other_slug.strip()!r}")
    inside = select(admission.c.assessor).where(admission.c.batch == batch_row["id"])
    # Respondents came by a public link to one survey; no organiser chose them for other work.
    workers = connection.execute(
        select(admission.c.assessor)
        .where(
            admission.c.batch == other_id,
            admission.c.via != VIA_SURVEY,
            admission.c.assessor.not_in(inside),
        )
        .order_by(admission.c.assessor)
    ).scalars()
    count = 0
    for worker in list(workers):
        admit(connection, context, worker, batch_row["id"])
        count += 1
    detail = {"from": other_slug.strip(), "people": count}
    audit.append(connection, context.clock.now(), actor, "batch.admit", batch_row["slug"], detail)
    return count


def add_respondent(
    connection: Connection, context: Context, batch_row: Row, facts: Mapping[str, Any]
) -> str:
    """Add a respondent by the public link of a batch; returns the secret for the browser.

    A link brings a limited number of people in an hour: a program could make up thousands.
    """
    _lock(connection, batch_row["campaign"])
    now, hourly_limit = context.clock.now(), context.settings.limits.respondents_per_hour
    recent = connection.execute(
        select(admission.c.created)
        .where(
            admission.c.batch == batch_row["id"],
            admission.c.via == VIA_SURVEY,
            admission.c.created > now - HOUR,
        )
        .order_by(admission.c.created.desc())
        .offset(hourly_limit - 1)
        .limit(1)
    ).scalar()
    if recent is not None:
        raise CrowdedError(int(recent) + HOUR - now)
    return add_assessor(
        connection,
        context,
        "survey",
        batch_row["campaign"],
        kind="crowd",
        batch_id=batch_row["id"],
        via=VIA_SURVEY,
        facts=facts,
    )[1]


def assessors_of(connection: Connection, campaign_id: str) -> list[Row]:
    rows = connection.execute(
        select(assessor).where(assessor.c.campaign == campaign_id).order_by(assessor.c.pseudonym)
    )
    return [dict(row) for row in rows.mappings()]


def assessor_of(connection: Connection, campaign_id: str, person: str) -> Row | None:
    """The assessor of a campaign who has this account."""
    query = select(assessor).where(assessor.c.campaign == campaign_id, assessor.c.person == person)
    row = connection.execute(query).mappings().first()
    return None if row is None else dict(row)


def set_assessor(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_id: str,
    assessor_id: str,
    state: str,
) -> None:
    """Pause an assessor, remove one, or let one go on."""
    if state not in ("active", "paused", "removed"):
        raise UsageError(f"an assessor is active, paused or removed, not {state!r}")
    result = connection.execute(
        update(assessor)
        .where(assessor.c.id == assessor_id, assessor.c.campaign == campaign_id)
        .values(state=state)
    )
    if not result.rowcount:
        raise UsageError("there is no such assessor in this campaign")
    audit.append(
        connection, context.clock.now(), actor, "assessor.state", assessor_id, {"to": state}
    )


def forget(
    connection: Connection, context: Context, actor: str, campaign_id: str, assessor_id: str
) -> None:
    """Delete the identity and the personal facts of an assessor; the log keeps the pseudonym."""
    result = connection.execute(
        update(assessor)
        .where(assessor.c.id == assessor_id, assessor.c.campaign == campaign_id)
        .values(person=None, token_hash=None, facts="{}", state="removed")
    )
    if not result.rowcount:
        raise UsageError("there is no such assessor in this campaign")
    audit.append(connection, context.clock.now(), actor, "assessor.forget", assessor_id)
