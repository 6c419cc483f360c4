"""The administrator's pages: people and their roles, the audit, backups."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, delete, select, update
from starlette.requests import Request
from starlette.responses import Response

from cranfield.server.forms import Fields, Question, ask_first
from cranfield.server.http import (
    Refusal,
    context_of,
    handler,
    hasher_of,
    identity_of,
    public_link,
    redirect_with_notice,
    render_page,
    text_of,
)
from cranfield.server.permissions import Role
from cranfield.server.services import accounts, audit, jobs, organiser_dashboard
from cranfield.server.services.site import SiteTexts, change_site_texts
from cranfield.server.store.tables import api_token, person, role, session

# The roles of a site as its pages call them.
SITE_ROLES = {Role.ORGANISER: "organiser", Role.ADMINISTRATOR: "administrator"}


@handler("admin")
def admin(request: Request) -> Response:
    return _admin(request)


def _admin(
    request: Request,
    error: str = "",
    password: str = "",
    link: str = "",
    status: int = 200,
    errors: Mapping[str, str] | None = None,
) -> Response:
    with context_of(request).store.read() as connection:
        people = [
            dict(row)
            for row in connection.execute(
                select(person.c.id, person.c.login, person.c.name, person.c.disabled).order_by(
                    person.c.login
                )
            ).mappings()
        ]
        rows = connection.execute(
            select(role.c.person, role.c.role).where(role.c.campaign.is_(None))
        )
        roles: dict[str, list[str]] = {}
        for person_id, role_name in rows:
            roles.setdefault(person_id, []).append(SITE_ROLES[role_name])
        values = {
            "backups": [
                entry
                for entry in organiser_dashboard.exports(connection, None)
                if entry["kind"] == "backup"
            ],
            "jobs": jobs.jobs_of(connection, None, "failed"),
        }
    return render_page(
        request,
        "admin.html",
        status,
        people=people,
        held=roles,
        error=error,
        errors=errors or {},
        password=password,
        link=link,
        link_hours=accounts.PASSWORD_LINK_HOURS,
        **values,
    )


@handler("admin.site")
def name_site(request: Request) -> Response:
    """What the site is called, and what its owner says on the first page."""
    context, identity, fields = context_of(request), identity_of(request), Fields()
    name = text_of(request, "site_name").strip()
    text = text_of(request, "site_text").replace("\r\n", "\n").strip()
    with fields.beside("site_name"):
        accounts.checked_text("the name of the site", name)
    if fields.errors:
        return _admin(request, status=400, errors=fields.errors)
    context.store.write(
        lambda c: change_site_texts(c, context, identity.actor, SiteTexts(name, text))
    )
    return redirect_with_notice(request, "/admin", "The site has its name and its text.")


@handler("admin.person")
def add_person(request: Request) -> Response:
    """Add a person with a generated password, which is shown once."""
    context = context_of(request)
    password = context.new_secret()[:20]
    fields, login, name = Fields(), "", ""
    with fields.beside("login"):
        login = accounts.checked_login(text_of(request, "login"))
    with fields.beside("name"):
        name = accounts.checked_text("the name", text_of(request, "name"))
    if not fields.errors:
        password_hash = hasher_of(request).hash(password)
        with fields.beside("login"):
            context.store.write(
                lambda c: accounts.add_person(c, context, login, name, password_hash)
            )
    if fields.errors:
        return _admin(request, status=400, errors=fields.errors)
    return _admin(request, password=password)


@handler("admin.disable")
def disable(request: Request, id: str) -> Response:
    context, identity = context_of(request), identity_of(request)
    if id == identity.person:
        return _admin(request, "You cannot close your own account.", status=400)
    with context.store.read() as connection:
        login = connection.execute(select(person.c.login).where(person.c.id == id)).scalar()
    if login is not None:
        lines = (
            f"{login} is logged out at once and cannot log in again.",
            "All tokens of this account stop working.",
            "Runs, judgements and the audit keep what was done; the pages have no way back.",
        )
        answers = {"yes": f"Close the account {login}"}
        confirmation = ask_first(
            request, Question(f"Close the account {login}?", lines, answers, "/admin")
        )
        if confirmation is not None:
            return confirmation

    def write(connection: Connection) -> bool:
        now = context.clock.now()
        changed = connection.execute(update(person).where(person.c.id == id).values(disabled=1))
        connection.execute(delete(session).where(session.c.person == id))
        connection.execute(update(api_token).where(api_token.c.person == id).values(revoked=now))
        if changed.rowcount:
            audit.append(connection, now, identity.actor, "person.disable", id)
        return bool(changed.rowcount)

    if not context.store.write(write):
        raise Refusal(404, "There is no person with this id.")
    return redirect_with_notice(request, "/admin", f"The account {login} is closed.")


@handler("admin.password")
def new_password(request: Request, id: str) -> Response:
    """A generated password, which is shown once; sessions and tokens of the account end."""
    context, identity = context_of(request), identity_of(request)
    password = context.new_secret()[:20]
    with context.store.read() as connection:
        if connection.execute(select(person.c.id).where(person.c.id == id)).first() is None:
            raise Refusal(404, "There is no person with this id.")
    password_hash = hasher_of(request).hash(password)
    context.store.write(
        lambda c: accounts.set_password(c, context, identity.actor, id, password_hash)
    )
    return _admin(request, password=password)


@handler("admin.link")
def new_password_link(request: Request, id: str) -> Response:
    """A link to send to somebody who has lost the password; it is shown once."""
    context, identity = context_of(request), identity_of(request)
    with context.store.read() as connection:
        if connection.execute(select(person.c.id).where(person.c.id == id)).first() is None:
            raise Refusal(404, "There is no person with this id.")
    secret = context.store.write(
        lambda c: accounts.add_password_link(c, context, identity.actor, id)
    )
    return _admin(request, link=public_link(request, f"/reset/{secret}"))


@handler("admin.role")
def change_role(request: Request, id: str) -> Response:
    context, identity, role_name = (
        context_of(request),
        identity_of(request),
        text_of(request, "role"),
    )
    if role_name not in SITE_ROLES:
        return _admin(request, "Choose a role.", status=400)
    is_revocation = text_of(request, "do") == "take"
    if is_revocation and id == identity.person and role_name == Role.ADMINISTRATOR:
        return _admin(request, "You cannot take your own role.", status=400)

    def write(connection: Connection) -> bool:
        if connection.execute(select(person.c.id).where(person.c.id == id)).first() is None:
            return False
        change = accounts.revoke if is_revocation else accounts.grant
        change(connection, context, identity.actor, id, role_name, None)
        return True

    if not context.store.write(write):
        raise Refusal(404, "There is no person with this id.")
    return redirect_with_notice(
        request, "/admin", "The role is taken." if is_revocation else "The role is given."
    )


@handler("admin.audit")
def show_audit(request: Request) -> Response:
    with context_of(request).store.read() as connection:
        count, broken = audit.verify(connection)
        rows = organiser_dashboard.name_audit_rows(connection, audit.last_rows(connection, 200))
    return render_page(request, "audit.html", count=count, broken=broken, rows=rows)


@handler("admin.backup")
def want_backup(request: Request) -> Response:
    context = context_of(request)
    now = context.clock.now()
    context.store.write(lambda c: jobs.request_job(c, context, "backup", f"backup:{now}", {}, None))
    return redirect_with_notice(
        request, "/admin", "A backup is being made; it appears below when it is done."
    )
