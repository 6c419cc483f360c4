"""Making a campaign in the browser, and looking at it as others will."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from cranfield.campaign.workflow import STATES
from cranfield.errors import CranfieldError, UsageError
from cranfield.server.forms import Fields, sentence
from cranfield.server.http import (
    campaign_of,
    context_of,
    form_of,
    handler,
    identity_of,
    redirect_with_notice,
    render_page,
    text_of,
)
from cranfield.server.permissions import ROLES, RULES, Role
from cranfield.server.routes.registration import campaign_page
from cranfield.server.services import accounts, campaigns, importing
from cranfield.server.services.campaigns import Row, checked_slug
from cranfield.server.services.collection_upload import receive_collection

# What is taken over from the campaign of another year; its dates, data and truth are not.
COPIED = (
    "summary",
    "call",
    "licence",
    "guidelines",
    "contact",
    "citation",
    "series",
    "runs_per_team",
    "configurations",
    "pooled",
    "teams_assess",
)
PREVIEWED = (Role.PUBLIC, Role.ACCOUNT, Role.MEMBER, Role.LEAD, Role.ASSESSOR, Role.ADJUDICATOR)


@handler("new.form")
def new_form(request: Request) -> Response:
    return _new_page(request, {})


def _new_page(request: Request, errors: Mapping[str, str], status: int = 400) -> Response:
    context = context_of(request)
    with context.store.read() as connection:
        rows = campaigns.campaigns(connection, drafts=True)
    return render_page(
        request,
        "new.html",
        status if errors else 200,
        campaigns=rows,
        most=context.settings.limits.upload_bytes,
        errors=errors,
    )


@handler("new")
def make_campaign(request: Request) -> Response:
    """A draft from what was sent: an archive, a folder, or files whose names say what they are."""
    context, fields = context_of(request), Fields()
    title, slug = text_of(request, "new_title").strip(), ""
    with fields.beside("slug"):
        slug = checked_slug(text_of(request, "slug") or title or "-")
    with fields.beside("new_title"):
        accounts.checked_text("the title", title, needed=False)
    if getattr(request.state, "is_too_large", False):
        most = context.settings.limits.upload_bytes
        fields.errors["file"] = f"The files have more than {most:,} bytes together."
    if fields.errors:
        return _new_page(request, fields.errors, 413 if "file" in fields.errors else 400)
    folder = context.settings.incoming / f"collection-{context.new_id()}"
    folder.mkdir(mode=0o700)
    try:
        with context.store.read() as connection:
            values = _copied(connection, text_of(request, "like"))
        may_run = Role.ADMINISTRATOR in identity_of(request).roles
        collection = receive_collection(_files(request), folder, context.settings, may_run=may_run)
        values |= {"title": title} if title else {}
        imported = importing.import_collection(
            context, collection, name=slug, may_run=may_run, **values
        )
    except CranfieldError as error:
        message = str(error).replace(f"{folder}/", "").replace(str(folder), "the collection")
        return _new_page(request, {"file": sentence(message)})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    context.store.write(lambda c: _note_maker(c, request, imported.slug))
    notice = (
        f"The draft is made: {len(imported.tasks)} "
        f"task{'s' if len(imported.tasks) != 1 else ''}, {imported.runs} runs. Next: settings."
    )
    return redirect_with_notice(request, f"/{imported.slug}/organise", notice)


def _files(request: Request) -> list[UploadFile]:
    form = form_of(request)
    pairs = form.multi_items() if isinstance(form, FormData) else ()
    return [value for _, value in pairs if isinstance(value, UploadFile) and value.filename]


def _copied(connection: Connection, slug: str) -> Row:
    """The settings of another campaign, for one that is like it."""
    if not slug:
        return {}
    try:
        row = campaigns.by_slug(connection, slug)
    except UsageError:
        raise UsageError("choose a campaign of this site, or none") from None
    return {name: row[name] for name in COPIED if row[name] not in ("", None)}


def _note_maker(connection: Connection, request: Request, slug: str) -> None:
    from cranfield.server.services import audit

    now, actor = context_of(request).clock.now(), identity_of(request).actor
    audit.append(connection, now, actor, "campaign.made", slug)


# ---- as others see it


@handler("preview")
def preview(request: Request) -> Response:
    """The overview as a role meets it in a state, with the pages that the role has then."""
    identity, row = identity_of(request), campaign_of(request)
    query = request.query_params
    role = next((r for r in PREVIEWED if r.value == query.get("role")), Role.PUBLIC)
    state = query.get("state", "") if query.get("state") in STATES else row["state"]
    state = "open" if state == "draft" else state
    roles = {Role.PUBLIC, role} | ({Role.ACCOUNT} if role != Role.PUBLIC else set())
    roles |= {Role.MEMBER} if role == Role.LEAD else set()
    pages = [
        rule
        for rule in RULES
        if rule.method == "GET"
        and rule.path.startswith("/{c}")
        and "{" not in rule.path[4:]
        and rule.allows(frozenset(roles), state)
    ]
    request.state.identity = replace(
        identity,
        roles=frozenset(roles),
        person=identity.person if role != Role.PUBLIC else "",
        team="preview" if role in (Role.MEMBER, Role.LEAD) else "",
        campaign=row | {"state": state},
    )
    request.state.preview = {
        "role": role,
        "state": state,
        "roles": [(r.value, ROLES[r]) for r in PREVIEWED],
        "states": [name for name in STATES if name != "draft"],
        "base": f"/{row['slug']}",
        "pages": [(rule.path.replace("{c}", row["slug"]), rule.about) for rule in pages],
    }
    return campaign_page(request)
