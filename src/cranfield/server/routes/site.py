"""Pages of the whole site: the list of campaigns, logging in, one's own account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from cranfield.campaign.workflow import STATES
from cranfield.errors import UsageError
from cranfield.server.auth import SESSION_COOKIE, VISITOR_COOKIE, Identity
from cranfield.server.forms import Fields, Question, ask_first, resumed_texts
from cranfield.server.http import (
    Refusal,
    address_of,
    context_of,
    handler,
    hasher_of,
    identity_of,
    redirect,
    redirect_with_notice,
    render_page,
    text_of,
)
from cranfield.server.permissions import SCOPES, Role
from cranfield.server.services import accounts, landing, teams
from cranfield.server.services.campaigns import Row, campaigns
from cranfield.server.store.tables import api_token, campaign, membership, person, team

# The scopes that a token of a person can have, the narrowest first.
PERSONAL = ("read", "submit", "all")
LINK_ENDED = "This link has ended or was used. Ask an administrator of the site for a new one."
# From so many campaigns on the first page has a search.
SEARCHED = 10
HOME_ORDER = ("open", "draft", "closed", "pooling", "assessment", "scoring", "released", "archived")


@handler("home")
def home(request: Request) -> Response:
    """The campaigns as cards; where there are many, those that a search names."""
    drafts = Role.ORGANISER in identity_of(request).roles
    context, query = context_of(request), request.query_params
    words, state = query.get("q", "").strip(), query.get("state", "")
    with context.store.read() as connection:
        rows = campaigns(connection, drafts=drafts)
        matching = [row for row in rows if _matches(row, words, state)]
        # What one can take part in comes first.
        matching.sort(key=lambda row: HOME_ORDER.index(row["state"]))
        cards = landing.campaign_cards(connection, context, matching)
    tiny = {row["slug"] for row in matching if landing.has_tiny_pictures(context, row)}
    return render_page(
        request,
        "home.html",
        cards=cards,
        tiny=tiny,
        states=[name for name in STATES if any(row["state"] == name for row in rows)],
        is_searched=len(rows) >= SEARCHED or bool(words or state),
        words=words,
        state=state,
    )


def _matches(row: Row, words: str, state: str) -> bool:
    """Whether a campaign has all words in its names and its line, and the state."""
    text = f"{row['title']} {row['series']} {row['year'] or ''} {row['summary']}".casefold()
    return row["state"] == (state or row["state"]) and all(
        word in text for word in words.casefold().split()
    )


@handler("health")
def health(request: Request) -> Response:
    with context_of(request).store.read() as connection:
        connection.execute(select(campaign.c.id).limit(1)).first()
    return PlainTextResponse("ok\n")


@handler("style")
def style(request: Request) -> Response:  # noqa: ARG001
    from cranfield.site.render import style_sheet

    headers = {"Cache-Control": "public, max-age=3600"}
    return Response(style_sheet(), media_type="text/css", headers=headers)


@handler("login.form")
def login_form(request: Request) -> Response:
    return _login_page(request, 200, next_of(request), "")


@handler("login")
def login(request: Request) -> Response:
    context = context_of(request)
    try:
        token = accounts.log_in(
            context,
            hasher_of(request),
            text_of(request, "login"),
            text_of(request, "password"),
            address_of(request),
        )
    except UsageError as error:
        status = 429 if isinstance(error, accounts.WaitError) else 400
        return _login_page(request, status, local(text_of(request, "next")), str(error))
    resume = local(text_of(request, "resume"))
    after = local(text_of(request, "next")) or "/"
    answer = _resume(request, token, resume) if resume else redirect(after)
    set_session(request, answer, token)
    return answer


def _login_page(request: Request, status: int, after: str, error: str) -> Response:
    form = getattr(request.state, "form", None)
    waiting = {
        "resume": "" if form is None else local(text_of(request, "resume")),
        "resumed": [] if form is None else resumed_texts(request),
    }
    values = {"next": after, "error": error, "has_ended": False}
    return render_page(request, "login.html", status, **values, **waiting)


def _resume(request: Request, token: str, resume: str) -> Response:
    """What was typed before the session ended, to be sent by a button."""
    context = context_of(request)
    with context.store.read() as connection:
        session = accounts.session_of(connection, token, context.clock.now())
    if session is not None:
        request.state.identity = Identity(
            roles=frozenset({Role.PUBLIC, Role.ACCOUNT}),
            person=session.person,
            login=session.login,
            name=session.name,
            cookie=token,
        )
    return render_page(request, "resume.html", resume=resume, resumed=resumed_texts(request))


@handler("logout")
def logout(request: Request) -> Response:
    identity, context = identity_of(request), context_of(request)
    context.store.write(lambda c: accounts.log_out(c, identity.cookie))
    answer = redirect("/")
    answer.delete_cookie(SESSION_COOKIE, path="/")
    return answer


@handler("confirm.form")
def confirm_form(request: Request) -> Response:
    return render_page(request, "confirm.html", next=next_of(request), error="")


@handler("confirm")
def confirm(request: Request) -> Response:
    identity, context = identity_of(request), context_of(request)
    after = local(text_of(request, "next"))
    try:
        password = text_of(request, "password")
        accounts.confirm(
            context, hasher_of(request), identity.cookie, password, address_of(request)
        )
    except UsageError as error:
        status = 429 if isinstance(error, accounts.WaitError) else 400
        return render_page(request, "confirm.html", status, next=after, error=str(error))
    return redirect(after or "/account")


@handler("account")
def account(request: Request) -> Response:
    return account_page(request)


def account_page(
    request: Request, secret: str = "", errors: Mapping[str, str] | None = None
) -> Response:
    identity = identity_of(request)
    with context_of(request).store.read() as connection:
        memberships = connection.execute(
            select(campaign.c.slug, campaign.c.title, team.c.acronym, membership.c.rank)
            .join(team, team.c.campaign == campaign.c.id)
            .join(membership, membership.c.team == team.c.id)
            .where(membership.c.person == identity.person)
            .order_by(campaign.c.slug)
        ).mappings()
        rows = [dict(row) for row in memberships]
        tokens = teams.tokens_of(connection, team_id=None, person_id=identity.person)
        now = context_of(request).clock.now()
        sessions = accounts.sessions_of(connection, identity.person, identity.cookie, now)
        own = connection.execute(
            select(person.c.email, person.c.email_verified).where(person.c.id == identity.person)
        ).one()
    values: dict[str, Any] = {
        "teams": rows,
        "tokens": tokens,
        "secret": secret,
        "errors": errors or {},
        "own": own,
    }
    values |= token_choices(PERSONAL) | {"sessions": sessions}
    return render_page(request, "account.html", 400 if errors else 200, **values)


@handler("account.token")
def add_token(request: Request) -> Response:
    identity, context = identity_of(request), context_of(request)
    fields, label, scope, days = token_fields(request, PERSONAL)
    if fields.errors:
        return account_page(request, errors=fields.errors)

    def write(connection: Connection) -> str:
        return accounts.add_token(
            connection,
            context,
            identity.person,
            team=None,
            scope=scope,
            label=label,
            days=days,
        )

    return account_page(request, context.store.write(write))


@handler("account.password")
def change_password(request: Request) -> Response:
    """The old password is asked for; every session and token ends, this one too."""
    identity, context, hasher = identity_of(request), context_of(request), hasher_of(request)
    fields, new = Fields(), text_of(request, "new_password")
    with fields.beside("new_password"):
        accounts.checked_password(new)
    with fields.beside("same_password"):
        if text_of(request, "same_password") != new:
            raise UsageError("the new password is not the same here")
    if not fields.errors:
        with fields.beside("old_password"):
            old = text_of(request, "old_password")
            accounts.confirm(context, hasher, identity.cookie, old, address_of(request))
    if fields.errors:
        return account_page(request, errors=fields.errors)
    password_hash = hasher.hash(new)
    context.store.write(
        lambda c: accounts.set_password(c, context, identity.actor, identity.person, password_hash)
    )
    answer = redirect_with_notice(
        request,
        "/login",
        "The password is changed. All sessions and tokens have ended: please log in.",
    )
    answer.delete_cookie(SESSION_COOKIE, path="/")
    return answer


@handler("reset.form")
def reset_form(request: Request, link: str) -> Response:
    return _reset_page(request, link, {})


def _reset_page(request: Request, link: str, errors: Mapping[str, str]) -> Response:
    context = context_of(request)
    with context.store.read() as connection:
        row = accounts.person_of_link(connection, context, link)
    if row is None:
        raise Refusal(404, LINK_ENDED)
    status = 400 if errors else 200
    return render_page(request, "reset.html", status, login=row["login"], errors=errors)


@handler("reset")
def reset_password(request: Request, link: str) -> Response:
    """The link stands in for the old password; it works once."""
    context, fields, new = context_of(request), Fields(), text_of(request, "new_password")
    with fields.beside("new_password"):
        accounts.checked_password(new)
    with fields.beside("same_password"):
        if text_of(request, "same_password") != new:
            raise UsageError("the new password is not the same here")
    if fields.errors:
        return _reset_page(request, link, fields.errors)
    with context.store.read() as connection:
        if accounts.person_of_link(connection, context, link) is None:
            raise Refusal(404, LINK_ENDED)
    password_hash = hasher_of(request).hash(new)
    if not context.store.write(
        lambda c: accounts.set_password_by_link(c, context, link, password_hash)
    ):
        raise Refusal(404, LINK_ENDED)
    return redirect_with_notice(request, "/login", "The password is set: please log in.")


@handler("account.session")
def end_session(request: Request, id: str) -> Response:
    identity, context = identity_of(request), context_of(request)
    if not context.store.write(lambda c: accounts.end_session(c, context, identity.person, id)):
        raise Refusal(404, "There is no such session.")
    return redirect_with_notice(request, "/account", "The session is ended.")


@handler("account.revoke")
def revoke_token(request: Request, id: str) -> Response:
    identity, context = identity_of(request), context_of(request)

    owner = api_token.c.person == identity.person
    with context.store.read() as connection:
        rows = teams.tokens_of(connection, team_id=None, person_id=identity.person)
    confirmation = ask_to_revoke(request, rows, id, "/account")
    if confirmation is not None:
        return confirmation
    if not context.store.write(
        lambda c: accounts.revoke_own_token(c, context, identity.actor, id, owner)
    ):
        raise Refusal(404, "There is no such token.")
    return redirect_with_notice(request, "/account", "The token is revoked.")


# ---- what other modules use, too


def token_fields(request: Request, scopes: tuple[str, ...]) -> tuple[Fields, str, str, int]:
    """What the form says of a new token: its label, its scope and its days."""
    fields, label, scope, days = Fields(), "", "", 0
    with fields.beside("label"):
        label = accounts.checked_text("what the token is for", text_of(request, "label"))
    with fields.beside("scope"):
        scope = accounts.checked_scope(text_of(request, "scope", scopes[0]), scopes)
    with fields.beside("days"):
        days = accounts.checked_days(text_of(request, "days"))
    return fields, label, scope, days


def token_choices(scopes: tuple[str, ...]) -> dict[str, Any]:
    """What a page needs to show tokens and the form that makes one."""
    return {
        "scopes": SCOPES,
        "choices": [(name, f"{name}: {SCOPES[name]}") for name in scopes],
        "token_days": accounts.TOKEN_DAYS,
    }


def local(address: str) -> str:
    """An address of this site, or nothing: a login never leads elsewhere."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_local and "\n" not in address and "\r" not in address else ""


def ask_to_revoke(
    request: Request, tokens: list[dict[str, Any]], id: str, return_path: str
) -> Response | None:
    """Asks before a token is revoked; a token that is not there needs no question."""
    label = next((row["label"] for row in tokens if row["id"] == id), None)
    if label is None:
        return None
    lines = (
        "Programs that use it are refused from then on.",
        "It cannot be brought back: a new token has to be made and given to them.",
    )
    answers = {"yes": "Revoke the token"}
    return ask_first(request, Question(f"Revoke the token “{label}”?", lines, answers, return_path))


def next_of(request: Request) -> str:
    return local(request.query_params.get("next", ""))


def set_session(request: Request, answer: Response, token: str) -> None:
    settings = context_of(request).settings
    options: dict[str, Any] = {"httponly": True, "samesite": "lax", "path": "/"}
    answer.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=settings.session_seconds,
        secure=settings.proxy is not None,
        **options,
    )
    answer.delete_cookie(VISITOR_COOKIE, path="/")
