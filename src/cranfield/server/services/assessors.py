"""Who judges: experts with an account, crowd workers with a link, programs with a token."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from cranfield.errors import UsageError, suggest
from cranfield.server.context import Context, hash_of
from cranfield.server.services import audit
from cranfield.server.services.campaigns import Row
from cranfield.server.store.tables import campaign
from cranfield.server.store.work_tables import assessor

ASSESSORS = ("expert", "crowd", "model")
# How the secret of a link or of a program that judges begins.
LINK = "cw_"


def add_assessor(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_id: str,
    *,
    kind: str,
    person: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> tuple[str, str]:
    """Somebody who judges: the id, and the secret of a link for who has no account."""
    if kind not in ASSESSORS:
        raise UsageError(f"no kind of assessor {kind!r}.{suggest(kind, ASSESSORS)}")
    if person is not None:
        there = connection.execute(
            select(assessor.c.id).where(
                assessor.c.campaign == campaign_id, assessor.c.person == person
            )
        ).scalar()
        if there is not None:
            return str(there), ""
    # Of several who come at the same time each gets a number of its own.
    connection.execute(select(campaign.c.id).where(campaign.c.id == campaign_id).with_for_update())
    count = connection.execute(
        select(func.count()).select_from(assessor).where(assessor.c.campaign == campaign_id)
    ).scalar_one()
    new, secret = context.new_id(), "" if person else f"{LINK}{context.new_secret()}"
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
    audit.append(connection, context.clock.now(), actor, "assessor.add", new, {"kind": kind})
    return new, secret


def assessors_of(connection: Connection, campaign_id: str) -> list[Row]:
    rows = connection.execute(
        select(assessor).where(assessor.c.campaign == campaign_id).order_by(assessor.c.pseudonym)
    )
    return [dict(row) for row in rows.mappings()]


def assessor_of(connection: Connection, campaign_id: str, person: str) -> Row | None:
    """The assessor of a campaign that somebody with an account is."""
    wanted = select(assessor).where(assessor.c.campaign == campaign_id, assessor.c.person == person)
    row = connection.execute(wanted).mappings().first()
    return None if row is None else dict(row)


def set_assessor(
    connection: Connection, context: Context, actor: str, campaign_id: str, who: str, state: str
) -> None:
    """Pause somebody, or let them go on."""
    if state not in ("active", "paused", "removed"):
        raise UsageError(f"an assessor is active, paused or removed, not {state!r}")
    done = connection.execute(
        update(assessor)
        .where(assessor.c.id == who, assessor.c.campaign == campaign_id)
        .values(state=state)
    )
    if not done.rowcount:
        raise UsageError("there is no such assessor in this campaign")
    audit.append(connection, context.clock.now(), actor, "assessor.state", who, {"to": state})


def forget(
    connection: Connection, context: Context, actor: str, campaign_id: str, who: str
) -> None:
    """Delete who somebody is, and what they said of themselves; the log keeps the pseudonym."""
    done = connection.execute(
        update(assessor)
        .where(assessor.c.id == who, assessor.c.campaign == campaign_id)
        .values(person=None, token_hash=None, facts="{}", state="removed")
    )
    if not done.rowcount:
        raise UsageError("there is no such assessor in this campaign")
    audit.append(connection, context.clock.now(), actor, "assessor.forget", who)
