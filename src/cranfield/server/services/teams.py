"""Taking part: teams, their members, the signed licence, the links by which people join."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from cranfield.campaign.workflow import PUBLISHED
from cranfield.errors import UsageError
from cranfield.server.context import Context, hash_of
from cranfield.server.services import audit, jobs
from cranfield.server.services.accounts import checked_text
from cranfield.server.services.campaigns import Row
from cranfield.server.store.tables import (
    agreement_signed,
    api_token,
    campaign,
    extension,
    membership,
    person,
    rejected_upload,
    role,
    run,
    task,
    team,
)

_ACRONYM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,23}")


def checked_acronym(text: str) -> str:
    """The short name of a team, which stands in tables and addresses."""
    acronym = text.strip()
    if not _ACRONYM.fullmatch(acronym):
        raise UsageError("a team's acronym has 1 to 24 letters, digits, - or _")
    return acronym


def add_team(
    connection: Connection,
    context: Context,
    person_id: str,
    campaign_id: str,
    *,
    acronym: str,
    name: str,
    country: str = "",
    reference: str = "",
) -> tuple[str, str]:
    """A team with its first member, who leads it; gives its id and the link others join by."""
    _check_free(connection, campaign_id, person_id)
    short = check_acronym(connection, campaign_id, acronym)
    new, link, now = context.new_id(), context.new_secret(), context.clock.now()
    connection.execute(
        insert(team).values(
            id=new,
            campaign=campaign_id,
            acronym=short,
            name=checked_text("the team's name", name),
            country=checked_text("the country", country, needed=False),
            reference=checked_text("the reference", reference, needed=False, longest=1000),
            invitation=hash_of(link),
            created=now,
        )
    )
    _add_member(connection, now, new, person_id, "lead")
    audit.append(connection, now, person_id, "team.add", new, {"acronym": short})
    return new, link


def own_team(connection: Connection, context: Context, campaign_id: str) -> str:
    """The team of the organisers themselves, which has no name and no people: baselines, trials."""
    condition = (team.c.campaign == campaign_id) & (team.c.acronym == "")
    existing = connection.execute(select(team.c.id).where(condition)).scalar()
    if existing is not None:
        return str(existing)
    new = context.new_id()
    connection.execute(
        insert(team).values(
            id=new,
            campaign=campaign_id,
            acronym="",
            name="",
            invitation=hash_of(context.new_secret()),
            created=context.clock.now(),
        )
    )
    return new


def check_acronym(connection: Connection, campaign_id: str, acronym: str) -> str:
    """The short name of a new team, or a UsageError if it is odd or another team has it."""
    short = checked_acronym(acronym)
    same = func.lower(team.c.acronym) == short.lower()
    if connection.execute(select(team.c.id).where(team.c.campaign == campaign_id, same)).first():
        raise UsageError(f"there is a team {short!r} already")
    return short


def _check_free(connection: Connection, campaign_id: str, person_id: str) -> None:
    own_team = team_of(connection, campaign_id, person_id)
    if own_team is not None:
        raise UsageError(f"you are in the team {own_team['acronym']} of this campaign already")


def _add_member(connection: Connection, now: int, team_id: str, person_id: str, rank: str) -> None:
    connection.execute(
        insert(membership).values(team=team_id, person=person_id, rank=rank, created=now)
    )


def team_of(connection: Connection, campaign_id: str, person_id: str) -> Row | None:
    row = (
        connection.execute(
            select(team, membership.c.rank)
            .join(membership, membership.c.team == team.c.id)
            .where(team.c.campaign == campaign_id, membership.c.person == person_id)
        )
        .mappings()
        .first()
    )
    return dict(row) if row else None


def team_by_link(connection: Connection, campaign_id: str, link: str) -> Row | None:
    row = (
        connection.execute(
            select(team).where(team.c.campaign == campaign_id, team.c.invitation == hash_of(link))
        )
        .mappings()
        .first()
    )
    return dict(row) if row else None


def join(
    connection: Connection, context: Context, person_id: str, campaign_id: str, link: str
) -> str:
    """Join the team of a link; gives its id."""
    team_row = team_by_link(connection, campaign_id, link)
    if team_row is None:
        raise UsageError("this link does not lead to a team (any more)")
    _check_free(connection, campaign_id, person_id)
    now = context.clock.now()
    _add_member(connection, now, team_row["id"], person_id, "member")
    audit.append(connection, now, person_id, "team.join", team_row["id"])
    return str(team_row["id"])


def new_link(connection: Connection, context: Context, actor: str, team_id: str) -> str:
    """Another link to join by; the one before stops working."""
    link = context.new_secret()
    connection.execute(update(team).where(team.c.id == team_id).values(invitation=hash_of(link)))
    audit.append(connection, context.clock.now(), actor, "team.link", team_id)
    return link


def change_team(
    connection: Connection, context: Context, actor: str, team_id: str, **texts: str
) -> None:
    values = {
        "name": checked_text("the team's name", texts["name"]),
        "country": checked_text("the country", texts["country"], needed=False),
        "reference": checked_text("the reference", texts["reference"], needed=False, longest=1000),
    }
    connection.execute(update(team).where(team.c.id == team_id).values(**values))
    audit.append(connection, context.clock.now(), actor, "team.change", team_id, values)


def members(connection: Connection, team_id: str) -> list[Row]:
    rows = connection.execute(
        select(person.c.id, person.c.login, person.c.name, membership.c.rank)
        .join(membership, membership.c.person == person.c.id)
        .where(membership.c.team == team_id)
        .order_by(membership.c.created, person.c.login)
    )
    return [dict(row) for row in rows.mappings()]


def remove_member(
    connection: Connection, context: Context, actor: str, team_id: str, person_id: str
) -> None:
    """Remove a member; the lead stays, and the tokens of the removed member end."""
    row = connection.execute(
        select(membership.c.rank).where(
            membership.c.team == team_id, membership.c.person == person_id
        )
    ).first()
    if row is None or row.rank == "lead":
        raise UsageError("the lead of a team stays; only other members can be removed")
    connection.execute(
        delete(membership).where(membership.c.team == team_id, membership.c.person == person_id)
    )
    now = context.clock.now()
    connection.execute(
        update(api_token)
        .where(api_token.c.team == team_id, api_token.c.person == person_id)
        .values(revoked=now)
    )
    audit.append(connection, now, actor, "team.remove", team_id, {"person": person_id})


def tokens_of(
    connection: Connection, *, team_id: str | None, person_id: str | None = None
) -> list[Row]:
    """The tokens of a team, or those of a person that belong to no team; never the secrets."""
    query = select(
        api_token.c.id,
        api_token.c.label,
        api_token.c.scope,
        api_token.c.created,
        api_token.c.expires,
    ).where(api_token.c.revoked.is_(None), api_token.c.team == team_id)
    if person_id is not None:
        query = query.where(api_token.c.person == person_id)
    rows = connection.execute(query.order_by(api_token.c.created))
    return [dict(row) for row in rows.mappings()]


def sign(
    connection: Connection, context: Context, person_id: str, campaign_id: str, name: str
) -> None:
    """Sign the licence of a campaign as it is now, with the name typed."""
    typed = checked_text("your name under the licence", name)
    row = connection.execute(
        select(campaign.c.licence, campaign.c.licence_version).where(campaign.c.id == campaign_id)
    ).one()
    if has_signed(connection, campaign_id, person_id):
        return
    now, sha = context.clock.now(), hashlib.sha256(row.licence.encode()).hexdigest()
    connection.execute(
        insert(agreement_signed).values(
            id=context.new_id(),
            campaign=campaign_id,
            person=person_id,
            version=row.licence_version,
            sha=sha,
            name=typed,
            at=now,
        )
    )
    detail = {"version": row.licence_version, "sha": sha}
    audit.append(connection, now, person_id, "licence.sign", campaign_id, detail)


def has_signed(connection: Connection, campaign_id: str, person_id: str) -> bool:
    """Whether a person has signed the current version of the licence."""
    rows = connection.execute(
        select(agreement_signed.c.id)
        .join(campaign, campaign.c.id == agreement_signed.c.campaign)
        .where(
            agreement_signed.c.campaign == campaign_id,
            agreement_signed.c.person == person_id,
            agreement_signed.c.version == campaign.c.licence_version,
        )
    )
    return rows.first() is not None


def contacts(connection: Connection, campaign_id: str) -> list[Row]:
    """Members of teams and people with a role, with whom to write to and what they signed."""
    signed = (
        select(func.max(agreement_signed.c.version))
        .where(agreement_signed.c.person == person.c.id, agreement_signed.c.campaign == campaign_id)
        .scalar_subquery()
    )
    columns = (person.c.id, person.c.name, person.c.login, person.c.email, person.c.email_verified)
    members = connection.execute(
        select(*columns, signed.label("signed"), team.c.acronym, team.c.country, membership.c.rank)
        .join(membership, membership.c.person == person.c.id)
        .join(team, team.c.id == membership.c.team)
        .where(team.c.campaign == campaign_id)
        .order_by(team.c.acronym, membership.c.rank, person.c.login)
    ).mappings()
    others = connection.execute(
        select(*columns, signed.label("signed"), role.c.role)
        .join(role, role.c.person == person.c.id)
        .where(role.c.campaign == campaign_id)
        .order_by(person.c.login)
    ).mappings()
    names = {"O": "organiser", "J": "adjudicator", "A": "assessor"}
    rows = [dict(row) | {"team": row["acronym"], "role": row["rank"]} for row in members]
    rows += [
        dict(row) | {"team": "", "country": "", "role": names.get(row["role"], row["role"])}
        for row in others
    ]
    return [
        row
        | {
            "verified": "yes" if row["email_verified"] else "no" if row["email"] else "",
            "signed": row["signed"] or "",
        }
        for row in rows
    ]


def merge(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_row: Row,
    *,
    other: str,
    into: str,
) -> None:
    """Make two teams one, before results are out: members, runs, decisions and quota."""
    if campaign_row["state"] in PUBLISHED:
        raise UsageError("the results are out: teams stay as they are")
    query = select(team.c.id, team.c.acronym).where(
        team.c.id.in_((other, into)), team.c.campaign == campaign_row["id"]
    )
    names = {row.id: row.acronym for row in connection.execute(query.with_for_update())}
    if names.keys() != {other, into}:
        raise UsageError("choose two teams of this campaign")
    taken = select(run.c.task, run.c.tag).where(run.c.team == into)
    tags = {(row.task, row.tag) for row in connection.execute(taken)}
    for row in connection.execute(
        select(run.c.id, run.c.task, run.c.tag).where(run.c.team == other)
    ):
        tag = row.tag
        while (row.task, tag) in tags:
            tag = f"{tag}-{names[other]}"
        tags.add((row.task, tag))
        connection.execute(update(run).where(run.c.id == row.id).values(team=into, tag=tag))
    now = context.clock.now()
    connection.execute(
        update(membership).where(membership.c.team == other).values(team=into, rank="member")
    )
    connection.execute(update(extension).where(extension.c.team == other).values(team=into))
    connection.execute(
        update(rejected_upload).where(rejected_upload.c.team == other).values(team=into)
    )
    connection.execute(
        update(api_token).where(api_token.c.team == other).values(team=into, revoked=now)
    )
    connection.execute(delete(team).where(team.c.id == other))
    audit.append(connection, now, actor, "team.merge", into, {"other": names[other]})
    for task_id in connection.execute(
        select(task.c.id).where(task.c.campaign == campaign_row["id"])
    ).scalars():
        jobs.request_task_scores(connection, context, task_id)


def participation(connection: Connection, campaign_id: str) -> list[dict[str, Any]]:
    """Every team: who registered, who signed, how many runs were accepted."""
    signed = (
        select(func.count(func.distinct(agreement_signed.c.person)))
        .join(membership, membership.c.person == agreement_signed.c.person)
        .where(membership.c.team == team.c.id, agreement_signed.c.campaign == campaign_id)
        .scalar_subquery()
    )
    runs = (
        select(func.count(run.c.id))
        .where(run.c.team == team.c.id, run.c.state == "accepted")
        .scalar_subquery()
    )
    people = (
        select(func.count(membership.c.person))
        .where(membership.c.team == team.c.id)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(team, signed.label("signed"), runs.label("runs"), people.label("people"))
        .where(team.c.campaign == campaign_id)
        .order_by(team.c.acronym)
    )
    return [dict(row) for row in rows.mappings()]
