"""Authentication: the person or program behind a request, with its roles in a campaign.

A browser is known by its cookie, a program by its token."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, bindparam, select
from starlette.requests import Request

from cranfield.server.context import Context, hash_of
from cranfield.server.permissions import ASSESSORS, Role
from cranfield.server.services import accounts
from cranfield.server.services.assessors import LINK_PREFIX
from cranfield.server.store.tables import campaign, membership, task, team
from cranfield.server.store.work_tables import assessor

SESSION_COOKIE = "cranfield_session"
VISITOR_COOKIE = "cranfield_visitor"
# The cookie of a crowd worker, who has a link and no account.
WORKER_COOKIE = "cranfield_worker"
CSRF_FIELD = "csrf"
# Run at every request of a worker; built once.
_BY_LINK = select(assessor).where(
    assessor.c.token_hash == bindparam("hash"), assessor.c.state == "active"
)


@dataclass(frozen=True)
class Identity:
    """The person or program that sends a request.

    `campaign` is the row of the campaign that is asked about, `task` that of the task; `team`
    the id of the visitor's team in it. `cookie` is the secret that forms are tied to.
    """

    roles: frozenset[Role] = frozenset({Role.PUBLIC})
    person: str = ""
    login: str = ""
    name: str = ""
    team: str = ""
    assessor: str = ""
    # The row of an assessor who came by a link or token.
    judge: dict[str, Any] | None = None
    scope: str = ""
    confirmed: int = 0
    cookie: str = ""
    by_token: bool = False
    campaign: dict[str, Any] | None = None
    task: dict[str, Any] | None = None

    @property
    def actor(self) -> str:
        """How the audit calls the visitor."""
        return self.person or self.assessor or "public"

    @property
    def sees_campaign(self) -> bool:
        """Whether the campaign is there for the visitor: a draft is the organiser's."""
        is_public = self.campaign is not None and self.campaign["state"] != "draft"
        return is_public or Role.ORGANISER in self.roles

    @property
    def works(self) -> bool:
        """Whether the visitor makes the truth of a campaign, which may be a draft still."""
        return bool(self.roles & ASSESSORS)

    @property
    def csrf(self) -> str:
        """The token in the forms of this visitor; without the cookie it cannot be computed."""
        return hashlib.sha256(f"csrf:{self.cookie}".encode()).hexdigest() if self.cookie else ""

    def accepts(self, token: str) -> bool:
        return bool(self.cookie) and hmac.compare_digest(self.csrf.encode(), token.encode())


def authenticate(context: Context, request: Request) -> Identity:
    """The visitor of a request, with the campaign and task that its address names."""
    path = request.path_params
    if is_anonymous(request) and "c" in path:
        key = ("anonymous", path["c"], path.get("t"))
        identity = context.remembered(key, lambda: _read_identity(context, request))
        return replace(identity, cookie=request.cookies.get(VISITOR_COOKIE, ""))
    return _read_identity(context, request)


def is_anonymous(request: Request) -> bool:
    """Whether a request comes without a session, without a worker's link and without a token."""
    has_cookie = SESSION_COOKIE in request.cookies or WORKER_COOKIE in request.cookies
    return not has_cookie and "authorization" not in request.headers


def _read_identity(context: Context, request: Request) -> Identity:
    path = request.path_params
    with context.store.read() as connection:
        identity = _identity_of_credentials(connection, context, request)
        if "c" in path:
            identity = _in_campaign(connection, identity, campaign.c.slug == path["c"])
        if "t" in path:
            identity = _with_task(connection, identity, path["t"])
        elif "c" not in path and "/runs/{id}" in str(
            getattr(request.scope.get("route"), "path", "")
        ):
            identity = _with_run(connection, identity, path["id"])
        return _with_roles(connection, identity)


def _identity_of_credentials(
    connection: Connection, context: Context, request: Request
) -> Identity:
    now = context.clock.now()
    bearer = request.headers.get("authorization", "")
    if bearer:
        kind, _, credentials = bearer.partition(" ")
        secret = credentials.strip() if kind == "Bearer" else ""
        if secret.startswith(LINK_PREFIX):
            row = _assessor(connection, secret)
            # The link of a worker and the cookie of a respondent are for browsers.
            program = row if row is not None and row["kind"] == "model" else None
            return _with_assessor(Identity(by_token=True), program)
        token = accounts.token_of(connection, secret, now) if secret else None
        if token is not None:
            return Identity(
                person=token["person"],
                login=token["login"],
                name=token["name"],
                team=token["team"] or "",
                scope=token["scope"],
                by_token=True,
            )
        return Identity(by_token=True)
    cookie = request.cookies.get(SESSION_COOKIE, "")
    if cookie:
        session = accounts.session_of(connection, cookie, now)
        if session is not None:
            return Identity(
                person=session.person,
                login=session.login,
                name=session.name,
                confirmed=session.confirmed,
                cookie=cookie,
            )
    link = request.cookies.get(WORKER_COOKIE, "")
    worker = _assessor(connection, link) if link else None
    if worker is not None:
        return _with_assessor(Identity(cookie=link), worker)
    return Identity(cookie=request.cookies.get(VISITOR_COOKIE, ""))


def _with_assessor(identity: Identity, row: dict[str, Any] | None) -> Identity:
    return identity if row is None else replace(identity, assessor=row["id"], judge=row)


def _assessor(connection: Connection, secret: str) -> dict[str, Any] | None:
    row = connection.execute(_BY_LINK, {"hash": hash_of(secret)}).mappings().first()
    return None if row is None else dict(row)


def _in_campaign(connection: Connection, identity: Identity, condition: Any) -> Identity:
    row = connection.execute(select(campaign).where(condition)).mappings().first()
    return identity if row is None else replace(identity, campaign=dict(row))


def _with_task(connection: Connection, identity: Identity, name: str) -> Identity:
    """The task of an address: its slug in a campaign, or campaign.task, or a slug that is alone."""
    query = select(task)
    if identity.campaign is not None:
        name = name.removesuffix(".json").removesuffix(".csv")
        query = query.where(task.c.campaign == identity.campaign["id"], task.c.slug == name)
    else:
        slug, dot, rest = name.rpartition(".")
        if dot:
            query = query.join(campaign, campaign.c.id == task.c.campaign).where(
                campaign.c.slug == slug, task.c.slug == rest
            )
        else:
            query = query.where(task.c.slug == name)
    rows = connection.execute(query.limit(2)).mappings().all()
    if len(rows) != 1:
        return identity
    placed = replace(identity, task=dict(rows[0]))
    if placed.campaign is None:
        placed = _in_campaign(connection, placed, campaign.c.id == rows[0]["campaign"])
    return placed


def _with_run(connection: Connection, identity: Identity, run_id: str) -> Identity:
    from cranfield.server.store.tables import run

    query = select(task.c.campaign).join(run, run.c.task == task.c.id).where(run.c.id == run_id)
    campaign_id = connection.execute(query).scalar()
    return (
        identity
        if campaign_id is None
        else _in_campaign(connection, identity, campaign.c.id == campaign_id)
    )


def _with_roles(connection: Connection, identity: Identity) -> Identity:
    campaign_id = identity.campaign["id"] if identity.campaign else None
    if identity.judge is not None:
        # In another campaign than the one of the link there is nothing to judge.
        is_same_campaign = campaign_id in (None, identity.judge["campaign"])
        role = Role.WORKER if is_same_campaign else Role.PUBLIC
        return replace(identity, roles=frozenset({role}))
    if not identity.person:
        return identity
    roles = {Role.PUBLIC, Role.ACCOUNT}
    team_id = ""
    if campaign_id is not None:
        row = connection.execute(
            select(team.c.id, membership.c.rank)
            .join(membership, membership.c.team == team.c.id)
            .where(team.c.campaign == campaign_id, membership.c.person == identity.person)
        ).first()
        # A token of a team speaks for that team only.
        if row is not None and (not identity.by_token or identity.team in ("", row.id)):
            team_id = row.id
            roles.add(Role.MEMBER)
            if row.rank == "lead":
                roles.add(Role.LEAD)
    # Whatever else its owner is: a token of a team, or to submit by, speaks for a team only.
    if not identity.by_token or (not identity.team and identity.scope in ("all", "read")):
        roles |= {
            Role(name) for name in accounts.roles_of(connection, identity.person, campaign_id)
        }
    return replace(identity, roles=frozenset(roles), team=team_id)
