"""People of a campaign: whom to write to, invitations, merging teams, programs that are told."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from cranfield.errors import UsageError
from cranfield.io.files import csv_text
from cranfield.report.render import spreadsheet_cell
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
    text_of,
)
from cranfield.server.permissions import Role
from cranfield.server.services import accounts, mail, teams, webhooks

MOST_INVITED = 50
CONTACT_HEAD = ("name", "login", "email", "verified", "team", "role", "country", "signed")
ENDED = "This invitation has ended or was used. Ask the organisers for a new one."
INVITED_ROLES = ("", Role.ASSESSOR, Role.ADJUDICATOR, Role.ORGANISER)


def _home(request: Request) -> str:
    return f"/{campaign_of(request)['slug']}/organise/people"


@handler("people")
def show_people(request: Request) -> Response:
    return _page(request, {})


def _page(
    request: Request,
    errors: Mapping[str, str],
    links: tuple[tuple[str, str], ...] = (),
    secret: str = "",
) -> Response:
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        values = {
            "contacts": teams.contacts(connection, row["id"]),
            "teams": [t for t in teams.participation(connection, row["id"]) if t["people"]],
            "invitations": mail.invitations_of(connection, row["id"]),
            "webhooks": webhooks.webhooks_of(connection, row["id"]),
        }
    return render_page(
        request,
        "people.html",
        400 if errors else 200,
        links=links,
        secret=secret,
        sends=mail.can_send(context),
        days=mail.INVITATION_DAYS,
        hosts=context.settings.webhook_hosts,
        events=webhooks.EVENTS,
        role_words=mail.ROLE_WORDS,
        errors=errors,
        **values,
    )


@handler("people.contacts")
def contact_list(request: Request) -> Response:
    """Whom to write to, for a spreadsheet."""
    row = campaign_of(request)
    with context_of(request).store.read() as connection:
        people = teams.contacts(connection, row["id"])
    rows = [[spreadsheet_cell(str(person[name])) for name in CONTACT_HEAD] for person in people]
    text = csv_text([CONTACT_HEAD, *rows])
    headers = attachment_headers(f"contacts-{row['slug']}.csv")
    return Response(text, media_type="text/csv", headers=headers)


@handler("people.invite")
def invite(request: Request) -> Response:
    """Invitations by mail; where none can be sent, the links are shown once."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    role, fields = text_of(request, "invited_role"), Fields()
    addresses: list[str] = []
    with fields.beside("addresses"):
        words = text_of(request, "addresses").replace(",", " ").replace(";", " ").split()
        addresses = list(dict.fromkeys(mail.checked_email(word) for word in words))
        if not addresses:
            raise UsageError("write an address in each line")
        if len(addresses) > MOST_INVITED:
            raise UsageError(f"at most {MOST_INVITED} people are invited at a time")
    if role not in INVITED_ROLES:
        fields.errors["invited_role"] = "Choose what they are invited to."
    if fields.errors:
        return _page(request, fields.errors)

    def write(connection: Connection) -> list[tuple[str, str]]:
        links = []
        for address in addresses:
            new = mail.invite(connection, context, identity.actor, row, address, role)
            if not mail.can_send(context):
                secret = mail.invitation_link(connection, context, new)
                links.append((address, public_link(request, f"/{row['slug']}/invited/{secret}")))
        return links

    links = context.store.write(write)
    if links:
        return _page(request, {}, tuple(links))
    count = len(addresses)
    notice = f"{count} invitation{'s' if count != 1 else ''} will be sent."
    return redirect_with_notice(request, _home(request), notice)


@handler("people.merge")
def merge_teams(request: Request) -> Response:
    """Two teams become one: its members, runs and quota."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    with context.store.read() as connection:
        names = {t["id"]: t["acronym"] for t in teams.participation(connection, row["id"])}
    other, into = text_of(request, "merged_team"), text_of(request, "into_team")
    if other == into or not {other, into} <= names.keys():
        return _page(request, {"into_team": "Choose two different teams."})
    lines = (
        f"All members and runs of {names[other]} belong to {names[into]} from then on.",
        f"Runs of both count against the quota of {names[into]}; a tag that both have gets an "
        f"ending -{names[other]}.",
        f"The name {names[other]}, its links and its tokens end. There is no way back.",
    )
    answers = {"yes": f"Merge {names[other]} into {names[into]}"}
    title = f"Merge {names[other]} into {names[into]}?"
    confirmation = ask_first(request, Question(title, lines, answers, _home(request)))
    if confirmation is not None:
        return confirmation
    fields = Fields()
    with fields.beside("into_team"):
        context.store.write(
            lambda c: teams.merge(c, context, identity.actor, row, other=other, into=into)
        )
    if fields.errors:
        return _page(request, fields.errors)
    notice = f"{names[other]} is part of {names[into]} now."
    return redirect_with_notice(request, _home(request), notice)


@handler("people.webhook")
def add_webhook(request: Request) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    fields, url = Fields(), ""
    with fields.beside("url"):
        url = webhooks.checked_url(context, text_of(request, "url"))
    events = [name for name in webhooks.EVENTS if text_of(request, f"on_{name}") == "yes"]
    if not events:
        fields.errors["on_scored"] = "Choose at least one thing to be told of."
    secret = ""
    if not fields.errors:
        with fields.beside("url"):
            secret = context.store.write(
                lambda c: webhooks.add_webhook(
                    c, context, identity.actor, row, url, " ".join(events)
                )
            )
    return _page(request, fields.errors, secret=secret)


@handler("people.unhook")
def remove_webhook(request: Request, id: str) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    if not context.store.write(
        lambda c: webhooks.remove_webhook(c, context, identity.actor, row, id)
    ):
        raise Refusal(404, "There is no such webhook.")
    return redirect_with_notice(request, _home(request), "The webhook is removed.")


# ---- links of invitations and addresses


@handler("invited.form")
def invited_form(request: Request, link: str) -> Response:
    return _invited_page(request, link, {})


def _invited_page(request: Request, link: str, errors: Mapping[str, str]) -> Response:
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        invitation = mail.invitation_of(connection, context, row["id"], link)
    if invitation is None:
        raise Refusal(404, ENDED)
    if not invitation["role"]:
        return redirect(f"/{row['slug']}/register?invitation={link}")
    return render_page(
        request,
        "invited.html",
        400 if errors else 200,
        invitation=invitation,
        words=mail.ROLE_WORDS[invitation["role"]],
        errors=errors,
    )


@handler("invited")
def accept_invitation(request: Request, link: str) -> Response:
    """Take a role by a link; who has no account makes one, and logs in."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    fields, login, name, password_hash = Fields(), "", "", ""
    if not identity.person:
        with fields.beside("login"):
            login = accounts.checked_login(text_of(request, "login"))
        with fields.beside("person"):
            name = accounts.checked_text("your name", text_of(request, "person"))
        with fields.beside("password"):
            accounts.checked_password(text_of(request, "password"))
        if fields.errors:
            return _invited_page(request, link, fields.errors)
        password_hash = hasher_of(request).hash(text_of(request, "password"))

    def write(connection: Connection) -> None:
        person_id = identity.person or accounts.add_person(
            connection, context, login, name, password_hash
        )
        mail.use_invitation(connection, context, person_id, row["id"], link)

    try:
        context.store.write(write)
    except accounts.NameTakenError:
        # Names of others are not told: the log-in says what does not fit.
        pass
    except UsageError as error:
        raise Refusal(404, sentence(str(error))) from None
    home = f"/{row['slug']}"
    if identity.person:
        return redirect_with_notice(request, home, f"You take part in {row['title']}.")
    return redirect_with_notice(
        request,
        f"/login?next={home}",
        "Log in with the name and the password that you chose. If they are not taken, the login "
        "name belongs to another person: open the link of the invitation again.",
    )


@handler("verify")
def verify(request: Request, link: str) -> Response:  # noqa: ARG001
    """The page with the button: mail readers that look at links verify nothing."""
    return render_page(request, "verify.html")


@handler("verify.done")
def verify_done(request: Request, link: str) -> Response:
    context = context_of(request)
    address = context.store.write(lambda c: mail.verify_email(c, context, link))
    if address is None:
        raise Refusal(404, "This link has ended or was used. Name your address again.")
    return redirect_with_notice(request, "/account", f"{address} is your address now.")


@handler("forgot.form")
def forgot_form(request: Request) -> Response:
    return render_page(request, "forgot.html", sends=mail.can_send(context_of(request)), errors={})


@handler("forgot")
def forgot(request: Request) -> Response:
    """The answer is the same whether there is such an account or not."""
    context = context_of(request)
    name = text_of(request, "login")[: accounts.LONGEST_TEXT]
    context.store.write(lambda c: mail.request_reset(c, context, name))
    return redirect_with_notice(
        request,
        "/login",
        "If there is such an account with a verified address, a link to a new password is sent to "
        "it, at most once an hour.",
    )


@handler("account.email")
def change_email(request: Request) -> Response:
    from cranfield.server.routes.site import account_page

    context, identity, fields = context_of(request), identity_of(request), Fields()
    address = text_of(request, "email").strip()
    with fields.beside("email"):
        address = mail.checked_email(address) if address else ""
    if fields.errors:
        return account_page(request, errors=fields.errors)
    context.store.write(lambda c: mail.set_email(c, context, identity.person, address))
    if not address:
        notice = "No mail is sent to you from now on."
    elif mail.can_send(context):
        notice = f"A mail to {address} asks whether it is yours."
    else:
        notice = "The address is saved; this site sends no mail."
    return redirect_with_notice(request, "/account", notice)
