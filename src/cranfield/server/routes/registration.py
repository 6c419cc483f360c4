"""Taking part: the call, registering, the licence, the data, one's team."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from cranfield.errors import UsageError
from cranfield.server.context import Context
from cranfield.server.forms import Fields, Question, ask_first, sentence
from cranfield.server.http import (
    Refusal,
    attachment_headers,
    campaign_of,
    context_of,
    handler,
    hasher_of,
    identity_of,
    public_link,
    redirect,
    redirect_with_notice,
    render_page,
    task_of,
    text_of,
)
from cranfield.server.permissions import Role
from cranfield.server.routes.site import ask_to_revoke, token_choices, token_fields
from cranfield.server.services import (
    accounts,
    announcements,
    landing,
    mail,
    phases,
    teams,
    uploads,
)
from cranfield.server.services.campaigns import close_if_due
from cranfield.server.store.tables import api_token

NEWS_SHOWN = 5
REGISTRATION_CLOSED = "registration is closed: teams register while runs are taken"
LOG_IN = (
    "Log in with the name and the password that you chose. If they are not taken, the login name "
    "belongs to another person: register with another one."
)
# The scopes that a token of a team can have.
TEAM_SCOPES = ("submit", "read")
FIELDS = (
    "login",
    "person",
    "email",
    "invitation",
    "acronym",
    "name",
    "country",
    "reference",
    "signature",
)


@handler("campaign")
def campaign_page(request: Request) -> Response:
    """The campaign as its visitors meet it: what it is about, when, which tasks, what next."""
    row, context = campaign_of(request), context_of(request)
    with context.store.read() as connection:
        cards = landing.task_cards(connection, context, row)
        leaders = list(landing.leaders(connection, context, row))
        news = announcements.announcements_of(connection, row)
        phase_rows = phases.phases_of(connection, row["id"])
    return render_page(
        request,
        "campaign.html",
        tasks=cards,
        leaders=leaders,
        phases=phase_rows,
        news=news[:NEWS_SHOWN],
        samples=landing.sample_items(row),
        tiny=landing.has_tiny_pictures(context, row),
    )


@handler("feed")
def feed(request: Request) -> Response:
    """What was announced, and when the campaign opened, closed and gave its results."""
    row, context = campaign_of(request), context_of(request)
    with context.store.read() as connection:
        news = announcements.news_of(connection, row)
    home = public_link(request, f"/{row['slug']}")
    content = announcements.atom_feed(row, news, home, f"{home}/feed.xml")
    return Response(content, media_type="application/atom+xml")


@handler("sample")
def sample(request: Request, id: str) -> Response:
    """A picture that the organisers show to everybody, without metadata."""
    picture = landing.sample_picture(context_of(request), campaign_of(request), id)
    if picture is None:
        raise Refusal(404, "There is no such picture.")
    content, media_type = picture
    return Response(
        content, media_type=media_type, headers={"Cache-Control": "private, max-age=600"}
    )


@handler("example")
def example(request: Request, t: str) -> Response:  # noqa: ARG001
    """A submission with values that mean nothing, which the check takes."""
    unsigned = redirect_to_licence(request)
    if unsigned is not None:
        return unsigned
    task_row = task_of(request)
    with context_of(request).store.read() as connection:
        lines = list(landing.sample_lines(connection, task_row))
    if not lines:
        raise Refusal(404, "Nothing tells which items and topics there are.")
    ending = "run" if task_row["kind"] == "ranked" else "csv"
    return Response(
        "\n".join(lines) + "\n",
        media_type="text/plain",
        headers=attachment_headers(f"sample-{task_row['slug']}.{ending}"),
    )


@handler("call")
def call(request: Request) -> Response:
    return render_page(request, "call.html")


@handler("register.form")
def register_form(request: Request) -> Response:
    context, row = context_of(request), campaign_of(request)
    if row["closes"] is not None and context.clock.now() >= row["closes"]:
        raise Refusal(403, sentence(REGISTRATION_CLOSED))
    return _register_page(request, {})


def _register_page(request: Request, errors: Mapping[str, str]) -> Response:
    status = 400 if errors else 200
    return render_page(
        request, "register.html", status, errors=errors, joining=None, **_invitation(request)
    )


def _invitation(request: Request) -> dict[str, object]:
    """The invitation by which somebody came, whose address they need not type."""
    context, secret = context_of(request), _invitation_secret(request)
    if not secret:
        return {"invitation": "", "invited": None}
    with context.store.read() as connection:
        row = mail.invitation_of(connection, context, campaign_of(request)["id"], secret)
    return {"invitation": secret if row else "", "invited": row}


def _invitation_secret(request: Request) -> str:
    typed = getattr(request.state, "form", None)
    return text_of(request, "invitation") if typed else request.query_params.get("invitation", "")


@handler("register")
def register(request: Request) -> Response:
    """Make the account (if there is none), sign the licence and make the team, all or nothing."""
    filled = {name: text_of(request, name) for name in FIELDS}
    row = campaign_of(request)

    def check(connection: Connection, context: Context) -> None:
        _check_open(connection, context, row["id"])
        teams.check_acronym(connection, row["id"], filled["acronym"])

    def join(connection: Connection, context: Context, person_id: str) -> None:
        teams.add_team(
            connection,
            context,
            person_id,
            row["id"],
            acronym=filled["acronym"],
            name=filled["name"],
            country=filled["country"],
            reference=filled["reference"],
        )

    fields = Fields()
    with fields.beside("acronym"):
        teams.checked_acronym(filled["acronym"])
    with fields.beside("name"):
        accounts.checked_text("the team's name", filled["name"])
    return _enrol(request, filled, fields, check, join) or _register_page(request, fields.errors)


@handler("join.form")
def join_form(request: Request, link: str) -> Response:
    return _join_page(request, link, {})


def _join_page(request: Request, link: str, errors: Mapping[str, str]) -> Response:
    with context_of(request).store.read() as connection:
        team = teams.team_by_link(connection, campaign_of(request)["id"], link)
    if team is None:
        raise Refusal(404, "This link does not lead to a team (any more).")
    status = 400 if errors else 200
    return render_page(
        request, "register.html", status, errors=errors, joining=team, **_invitation(request)
    )


@handler("join")
def join(request: Request, link: str) -> Response:
    filled = {name: text_of(request, name) for name in FIELDS}
    row = campaign_of(request)

    def check(connection: Connection, context: Context) -> None:  # noqa: ARG001
        if teams.team_by_link(connection, row["id"], link) is None:
            raise UsageError("this link does not lead to a team (any more)")

    def enter(connection: Connection, context: Context, person_id: str) -> None:
        teams.join(connection, context, person_id, row["id"], link)

    fields = Fields()
    return _enrol(request, filled, fields, check, enter) or _join_page(request, link, fields.errors)


def _check_open(connection: Connection, context: Context, campaign_id: str) -> None:
    """Held against the clock inside the transaction, as the deadline of runs is."""
    if close_if_due(connection, context, campaign_id) != "open":
        raise UsageError(REGISTRATION_CLOSED)


def _enrol(
    request: Request,
    filled: dict[str, str],
    fields: Fields,
    check: Callable[[Connection, Context], None],
    step: Callable[[Connection, Context, str], object],
) -> Response | None:
    """One transaction: the account if needed, the signature, and what comes after.

    None when something is wrong: it stands in `fields`. A new account gets the same answer
    whether the login name is taken or not, and logs in: names of others are not told. So whatever
    does not depend on the name is checked first.
    """
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    hasher, password = hasher_of(request), text_of(request, "password")
    login, password_hash, address = "", "", ""
    if not identity.person:
        with fields.beside("login"):
            login = accounts.checked_login(filled["login"])
        with fields.beside("person"):
            name = accounts.checked_text("your name", filled["person"])
        with fields.beside("password"):
            accounts.checked_password(password)
        with fields.beside("email"):
            address = filled["email"].strip() and mail.checked_email(filled["email"])
    with fields.beside("signature"):
        if not filled["signature"].strip():
            raise UsageError("the licence is signed by typing your name under it")
    if fields.errors:
        return None
    if not identity.person:
        password_hash = hasher.hash(password)

    def write(connection: Connection) -> None:
        check(connection, context)
        person_id = identity.person or accounts.add_person(
            connection, context, login, name, password_hash
        )
        if address:
            mail.set_email(connection, context, person_id, address)
        if filled["invitation"]:
            mail.use_invitation(connection, context, person_id, row["id"], filled["invitation"])
        teams.sign(connection, context, person_id, row["id"], filled["signature"])
        step(connection, context, person_id)

    try:
        context.store.write(write)
    except accounts.NameTakenError:
        pass  # answered as if it were free
    except UsageError as error:
        message = str(error)
        fields.errors["acronym" if "there is a team" in message else ""] = sentence(message)
        return None
    home = f"/{row['slug']}/team"
    if identity.person:
        return redirect_with_notice(request, home, f"You take part in {row['title']}.")
    return redirect_with_notice(request, f"/login?next={home}", LOG_IN)


@handler("licence.form")
def licence_form(request: Request) -> Response:
    return _licence_page(request, {})


def _licence_page(request: Request, errors: Mapping[str, str]) -> Response:
    identity, row = identity_of(request), campaign_of(request)
    with context_of(request).store.read() as connection:
        signed = teams.has_signed(connection, row["id"], identity.person)
    return render_page(
        request, "licence.html", 400 if errors else 200, signed=signed, errors=errors
    )


@handler("licence")
def licence(request: Request) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    name = text_of(request, "signature")
    fields = Fields()
    with fields.beside("signature"):
        context.store.write(lambda c: teams.sign(c, context, identity.person, row["id"], name))
    if fields.errors:
        return _licence_page(request, fields.errors)
    return redirect_with_notice(request, f"/{row['slug']}/data", "The licence is signed.")


def redirect_to_licence(request: Request) -> Response | None:
    """A redirect to the licence if its current version is not signed; organisers need not sign."""
    identity, row = identity_of(request), campaign_of(request)
    if Role.ORGANISER in identity.roles:
        return None
    with context_of(request).store.read() as connection:
        if teams.has_signed(connection, row["id"], identity.person):
            return None
    return redirect(f"/{row['slug']}/licence")


@handler("data")
def data(request: Request) -> Response:
    redirect = redirect_to_licence(request)
    if redirect is not None:
        return redirect
    files = uploads.list_files(context_of(request).settings.public / campaign_of(request)["slug"])
    return render_page(request, "data.html", files=files)


@handler("data.file")
def data_file(request: Request, file: str) -> Response:
    redirect = redirect_to_licence(request)
    if redirect is not None:
        return redirect
    folder = context_of(request).settings.public / campaign_of(request)["slug"]
    if file == "public.tar.gz":
        archive = uploads.public_archive(context_of(request), campaign_of(request)["slug"])
        return FileResponse(archive, headers=attachment_headers("public.tar.gz"))
    path = uploads.find_file(folder, file)
    if path is None:
        raise Refusal(404, "There is no such file.")
    return FileResponse(
        path, media_type="application/octet-stream", headers=attachment_headers(Path(file).name)
    )


@handler("team")
def team_page(request: Request) -> Response:
    return _team_page(request)


def _team_page(
    request: Request,
    secret: str = "",
    link: str = "",
    error: str = "",
    errors: Mapping[str, str] | None = None,
) -> Response:
    identity, row = identity_of(request), campaign_of(request)
    with context_of(request).store.read() as connection:
        team = teams.team_of(connection, row["id"], identity.person)
        members = teams.members(connection, identity.team)
        tokens = teams.tokens_of(connection, team_id=identity.team)
    invitation = public_link(request, f"/{row['slug']}/join/{link}") if link else ""
    values = {"team": team, "members": members, "tokens": tokens, "secret": secret}
    status = 400 if error or errors else 200
    messages = {"link": invitation, "error": error, "errors": errors or {}} | token_choices(
        TEAM_SCOPES
    )
    return render_page(request, "team.html", status, **values, **messages)


@handler("team.change")
def change_team(request: Request) -> Response:
    context, identity = context_of(request), identity_of(request)
    texts = {name: text_of(request, name) for name in ("name", "country", "reference")}
    fields = Fields()
    with fields.beside("name"):
        accounts.checked_text("the team's name", texts["name"])
    with fields.beside("country"):
        accounts.checked_text("the country", texts["country"], needed=False)
    if not fields.errors:
        with fields.beside("reference"):
            context.store.write(
                lambda c: teams.change_team(c, context, identity.actor, identity.team, **texts)
            )
    if fields.errors:
        return _team_page(request, errors=fields.errors)
    return redirect_with_notice(
        request, f"/{campaign_of(request)['slug']}/team", "The team is saved."
    )


@handler("team.invite")
def invite(request: Request) -> Response:
    context, identity = context_of(request), identity_of(request)
    link = context.store.write(lambda c: teams.new_link(c, context, identity.actor, identity.team))
    return _team_page(request, link=link)


@handler("team.remove")
def remove(request: Request, id: str) -> Response:
    context, identity = context_of(request), identity_of(request)
    home = f"/{campaign_of(request)['slug']}/team"
    with context.store.read() as connection:
        rows = teams.members(connection, identity.team)
    name = next((row["name"] for row in rows if row["id"] == id and row["rank"] != "lead"), "")
    if name:
        question = Question(
            f"Remove {name} from the team?",
            (
                f"{name} no longer sees the data and the runs of the team.",
                f"Tokens that {name} made for the team stop working at once.",
                "Runs stay. A removed member can join again by a new link.",
            ),
            {"yes": f"Remove {name}"},
            home,
        )
        confirmation = ask_first(request, question)
        if confirmation is not None:
            return confirmation
    try:
        context.store.write(
            lambda c: teams.remove_member(c, context, identity.actor, identity.team, id)
        )
    except UsageError as error:
        return _team_page(request, error=sentence(str(error)))
    return redirect_with_notice(request, home, f"{name} is no longer in the team.")


@handler("token.add")
def add_token(request: Request) -> Response:
    context, identity = context_of(request), identity_of(request)
    fields, label, scope, days = token_fields(request, TEAM_SCOPES)
    if fields.errors:
        return _team_page(request, errors=fields.errors)

    def write(connection: Connection) -> str:
        return accounts.add_token(
            connection,
            context,
            identity.person,
            team=identity.team,
            scope=scope,
            label=label,
            days=days,
        )

    return _team_page(request, secret=context.store.write(write))


@handler("token.revoke")
def revoke_token(request: Request, id: str) -> Response:
    context, identity = context_of(request), identity_of(request)

    owner = api_token.c.team == identity.team
    home = f"/{campaign_of(request)['slug']}/team"
    with context.store.read() as connection:
        rows = teams.tokens_of(connection, team_id=identity.team)
    confirmation = ask_to_revoke(request, rows, id, home)
    if confirmation is not None:
        return confirmation
    if not context.store.write(
        lambda c: accounts.revoke_own_token(c, context, identity.actor, id, owner)
    ):
        raise Refusal(404, "There is no such token.")
    return redirect_with_notice(request, home, "The token is revoked.")
