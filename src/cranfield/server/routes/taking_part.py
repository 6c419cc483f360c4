"""Taking part: the call, registering, the licence, the data, one's team."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from cranfield.errors import UsageError
from cranfield.server.context import Context
from cranfield.server.routes.site import set_session
from cranfield.server.services import accounts, downloads, teams
from cranfield.server.services.campaigns import tasks_of
from cranfield.server.store.tables import api_token
from cranfield.server.web import (
    Refusal,
    attachment,
    campaign_of,
    context_of,
    form_of,
    handler,
    hasher_of,
    page,
    see,
    text_of,
    visitor_of,
)

FIELDS = ("login", "person", "acronym", "name", "country", "reference", "signature")


@handler("campaign")
def campaign_page(request: Request) -> Response:
    row = campaign_of(request)
    with context_of(request).store.read() as connection:
        tasks = tasks_of(connection, row["id"])
    return page(request, "campaign.html", tasks=tasks)


@handler("call")
def call(request: Request) -> Response:
    return page(request, "call.html")


@handler("register.form")
def register_form(request: Request) -> Response:
    return _register_page(request, dict.fromkeys(FIELDS, ""), "")


def _register_page(
    request: Request, filled: dict[str, str], error: str, status: int = 200
) -> Response:
    return page(request, "register.html", status, filled=filled, error=error, joining=None)


@handler("register")
def register(request: Request) -> Response:
    """Make the account (for who has none), sign the licence and make the team, all or nothing."""
    filled = {name: text_of(request, name) for name in FIELDS}
    row = campaign_of(request)

    def join(connection: Connection, context: Context, who: str) -> None:
        if row["state"] in ("released", "archived"):
            raise UsageError("this campaign is over; teams register while it is running")
        teams.add_team(
            connection,
            context,
            who,
            row["id"],
            acronym=filled["acronym"],
            name=filled["name"],
            country=filled["country"],
            reference=filled["reference"],
        )

    try:
        return _enter(request, filled, join)
    except UsageError as error:
        return _register_page(request, filled, str(error), 400)


@handler("join.form")
def join_form(request: Request, link: str) -> Response:
    return _join_page(request, link, dict.fromkeys(FIELDS, ""), "")


def _join_page(
    request: Request, link: str, filled: dict[str, str], error: str, status: int = 200
) -> Response:
    with context_of(request).store.read() as connection:
        found = teams.team_by_link(connection, campaign_of(request)["id"], link)
    if found is None:
        raise Refusal(404, "This link does not lead to a team (any more).")
    return page(request, "register.html", status, filled=filled, error=error, joining=found)


@handler("join")
def join(request: Request, link: str) -> Response:
    filled = {name: text_of(request, name) for name in FIELDS}
    row = campaign_of(request)

    def enter(connection: Connection, context: Context, who: str) -> None:
        teams.join(connection, context, who, row["id"], link)

    try:
        return _enter(request, filled, enter)
    except UsageError as error:
        return _join_page(request, link, filled, str(error), 400)


def _enter(request: Request, filled: dict[str, str], step: object) -> Response:
    """One transaction: the account if needed, the signature, and what comes after."""
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    hasher, password = hasher_of(request), text_of(request, "password")
    login, kept = "", ""
    if not visitor.person:
        login = accounts.checked_login(filled["login"])
        name = accounts.checked_text("your name", filled["person"])
        kept = hasher.hash(accounts.checked_password(password))
    if not filled["signature"].strip():
        raise UsageError("the licence is signed by typing your name under it")

    def write(connection: Connection) -> None:
        who = visitor.person or accounts.add_person(connection, context, login, name, kept)
        teams.sign(connection, context, who, row["id"], filled["signature"])
        step(connection, context, who)  # type: ignore[operator]

    context.store.write(write)
    answer = see(f"/{row['slug']}/team")
    if not visitor.person:
        set_session(request, answer, accounts.log_in(context, hasher, login, password))
    return answer


@handler("licence.form")
def licence_form(request: Request) -> Response:
    visitor, row = visitor_of(request), campaign_of(request)
    with context_of(request).store.read() as connection:
        signed = teams.has_signed(connection, row["id"], visitor.person)
    return page(request, "licence.html", signed=signed)


@handler("licence")
def licence(request: Request) -> Response:
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    name = text_of(request, "signature")
    context.store.write(lambda c: teams.sign(c, context, visitor.person, row["id"], name))
    return see(f"/{row['slug']}/data")


def signed_or_sent(request: Request) -> Response | None:
    """Who has not signed the licence that holds now is sent to it; organisers need not."""
    visitor, row = visitor_of(request), campaign_of(request)
    if "O" in visitor.roles:
        return None
    with context_of(request).store.read() as connection:
        if teams.has_signed(connection, row["id"], visitor.person):
            return None
    return see(f"/{row['slug']}/licence")


@handler("data")
def data(request: Request) -> Response:
    sent = signed_or_sent(request)
    if sent is not None:
        return sent
    files = downloads.listed(context_of(request).settings.public / campaign_of(request)["slug"])
    return page(request, "data.html", files=files)


@handler("data.file")
def data_file(request: Request, file: str) -> Response:
    sent = signed_or_sent(request)
    if sent is not None:
        return sent
    folder = context_of(request).settings.public / campaign_of(request)["slug"]
    if file == "public.tar.gz":
        archive = downloads.archive(context_of(request), campaign_of(request)["slug"])
        return FileResponse(archive, headers=attachment("public.tar.gz"))
    path = downloads.found(folder, file)
    if path is None:
        raise Refusal(404, "There is no such file.")
    return FileResponse(
        path, media_type="application/octet-stream", headers=attachment(Path(file).name)
    )


@handler("team")
def team_page(request: Request) -> Response:
    return _team_page(request)


def _team_page(request: Request, secret: str = "", link: str = "", error: str = "") -> Response:
    visitor, row = visitor_of(request), campaign_of(request)
    with context_of(request).store.read() as connection:
        mine = teams.team_of(connection, row["id"], visitor.person)
        members = teams.members(connection, visitor.team)
        tokens = teams.tokens_of(connection, team_id=visitor.team)
    shown = f"{request.url.scheme}://{request.url.netloc}/{row['slug']}/join/{link}" if link else ""
    values = {"team": mine, "members": members, "tokens": tokens, "secret": secret}
    return page(request, "team.html", 400 if error else 200, **values, link=shown, error=error)


@handler("team.change")
def change_team(request: Request) -> Response:
    context, visitor = context_of(request), visitor_of(request)
    texts = {name: text_of(request, name) for name in ("name", "country", "reference")}
    try:
        context.store.write(
            lambda c: teams.change_team(c, context, visitor.actor, visitor.team, **texts)
        )
    except UsageError as error:
        return _team_page(request, error=str(error))
    return see(f"/{campaign_of(request)['slug']}/team")


@handler("team.invite")
def invite(request: Request) -> Response:
    context, visitor = context_of(request), visitor_of(request)
    link = context.store.write(lambda c: teams.new_link(c, context, visitor.actor, visitor.team))
    return _team_page(request, link=link)


@handler("team.remove")
def remove(request: Request, id: str) -> Response:
    context, visitor = context_of(request), visitor_of(request)
    try:
        context.store.write(
            lambda c: teams.remove_member(c, context, visitor.actor, visitor.team, id)
        )
    except UsageError as error:
        return _team_page(request, error=str(error))
    return see(f"/{campaign_of(request)['slug']}/team")


@handler("token.add")
def add_token(request: Request) -> Response:
    context, visitor = context_of(request), visitor_of(request)
    label = str(form_of(request).get("label", "")).strip()[:100] or "a program"

    def write(connection: Connection) -> str:
        return accounts.add_token(
            connection, context, visitor.person, team=visitor.team, scope="submit", label=label
        )

    return _team_page(request, secret=context.store.write(write))


@handler("token.revoke")
def revoke_token(request: Request, id: str) -> Response:
    context, visitor = context_of(request), visitor_of(request)

    owner = api_token.c.team == visitor.team
    if not context.store.write(
        lambda c: accounts.revoke_own_token(c, context, visitor.actor, id, owner)
    ):
        raise Refusal(404, "There is no such token.")
    return see(f"/{campaign_of(request)['slug']}/team")
