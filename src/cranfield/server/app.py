"""The application: routes made from the table of permissions, each behind its guard."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from cranfield._version import __version__
from cranfield.campaign.workflow import STATES
from cranfield.errors import CranfieldError
from cranfield.server.auth import CSRF_FIELD, Identity, authenticate
from cranfield.server.bodies import BodyLimit, BodyTooLargeError, read_form
from cranfield.server.context import SECOND, ClockError, Context
from cranfield.server.forms import form_texts, password_page, resume_page, sentence, unlock
from cranfield.server.headers import RateLimit, SecurityHeaders
from cranfield.server.http import (
    BODIES,
    HANDLERS,
    UNREADABLE,
    Refusal,
    problem_response,
    redirect,
    render_page,
)
from cranfield.server.permissions import ROLES, RULES, SCOPES, Role, Rule
from cranfield.server.routes import load_handlers
from cranfield.server.services.accounts import Hasher, WaitError
from cranfield.server.services.disk import is_full
from cranfield.server.services.results import Pages
from cranfield.server.services.site import open_site
from cranfield.server.services.upload_check import BusyError, UploadChecker
from cranfield.server.settings import Settings
from cranfield.server.store import StoreFullError

LOG = logging.getLogger("cranfield.server")
# Forms that bring a file along; others are short.
WITH_FILES = ("submit", "board.truth", "batches.add", "new")
# One of them brings a folder along.
MOST_FILES = {"new": 2000}


def make_app(settings: Settings, context: Context | None = None) -> FastAPI:
    site = context or open_site(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        from cranfield.server.jobs.worker import Workers

        workers = Workers(site)
        workers.start()
        try:
            yield
        finally:
            workers.stop()
            app.state.checks.close()
            site.store.close()

    app = FastAPI(
        title="Cranfield campaigns",
        version=__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.context, app.state.settings = site, settings
    app.state.hasher = Hasher(settings.passwords)
    app.state.checks = UploadChecker(site)
    app.state.pages = Pages(site)
    _add_routes(app)
    _add_errors(app)
    app.mount(
        "/static",
        StaticFiles(packages=[("cranfield.server", "static"), ("cranfield.site", "static")]),
        name="static",
    )
    fields = settings.limits.form_bytes
    app.add_middleware(BodyLimit, max_bytes=settings.limits.upload_bytes + fields, fields=fields)
    app.add_middleware(RateLimit, per_minute=settings.limits.api_per_minute)
    app.add_middleware(SecurityHeaders, secure=settings.proxy is not None)
    return app


def _add_routes(app: FastAPI) -> None:
    load_handlers()
    names = {rule.name for rule in RULES}
    if names != HANDLERS.keys():
        unmatched = sorted(names ^ HANDLERS.keys())
        raise RuntimeError(
            f"routes without a rule, or rules without a route: {', '.join(unmatched)}"
        )
    for rule in RULES:
        app.add_api_route(
            rule.path,
            HANDLERS[rule.name],
            # Monitoring tools send HEAD requests; the description of the interface has none.
            methods=["GET", "HEAD"] if rule.method == "GET" and not rule.is_api else [rule.method],
            name=rule.name,
            summary=rule.about,
            include_in_schema=rule.is_api,
            response_model=None,
            dependencies=[Depends(make_guard(rule))],
            responses=_refusal_responses(rule),
            openapi_extra=BODIES.get(rule.name),
        )


def _refusal_responses(rule: Rule) -> dict[int | str, dict[str, Any]]:
    """The refusals that programs are told of in the description of the interface."""
    if not rule.is_api:
        return {}
    descriptions = {
        400: "cannot be understood",
        401: "no valid token",
        403: "not allowed",
        404: "no such thing",
        409: "not in this state",
        413: "too large",
        422: "not accepted; `problems` say why",
        429: "too much at once; try again",
        503: "the clock of the server is in doubt",
        507: "the disk of the server is full",
    }
    return {status: {"description": text} for status, text in descriptions.items()}


def make_guard(rule: Rule) -> Callable[[Request], Any]:
    """What a request has to pass before its handler sees it."""

    async def guard(request: Request) -> None:
        _check_address(request)
        identity: Identity = await run_in_threadpool(
            authenticate, request.app.state.context, request
        )
        request.state.identity = identity
        request.state.rule = rule
        admit(rule, identity, request)
        if rule.is_api and rule.method != "GET" and not identity.by_token:
            raise Refusal(401, "Programs write by a token: Authorization: Bearer cf_...")

    async def guard_form(request: Request) -> AsyncIterator[None]:
        locked: Refusal | None = None
        try:
            await guard(request)
        except Refusal as refusal:
            if refusal.status == 401 and not refusal.extra.get("confirm"):
                await _keep_typed(request)
            if not refusal.extra.get("confirm"):
                raise
            locked = refusal
        await _read_form(rule, request, request.state.identity)
        if locked is not None and not await run_in_threadpool(unlock, request):
            await request.state.form.close()
            raise locked
        try:
            yield
        finally:
            await request.state.form.close()

    return guard if rule.is_api or rule.method == "GET" else guard_form


def _check_address(request: Request) -> None:
    """Nothing has a name with a NUL, and no store is asked for one."""
    if any("\0" in str(part) for part in request.path_params.values()):
        raise Refusal(404, "There is no such page.")
    if any("\0" in part for pair in request.query_params.multi_items() for part in pair):
        raise Refusal(400, f"This address cannot be read: {UNREADABLE}.")


def admit(rule: Rule, identity: Identity, request: Request) -> None:
    """Raise a Refusal unless the table lets the visitor in."""
    _check_scope(rule, identity)
    path = request.path_params
    lost = ("c" in path and identity.campaign is None) or ("t" in path and identity.task is None)
    state = identity.campaign["state"] if identity.campaign else None
    if rule.allows(identity.roles, state) and not lost:
        _need_password(rule, identity, request)
        return
    if lost or state == "draft" or (rule.hidden and identity.person):
        raise Refusal(404, "There is no such page.")
    if not identity.person and not identity.assessor:
        if rule.is_api:
            raise Refusal(401, "This needs a token: Authorization: Bearer cf_...")
        if Role.PUBLIC not in rule.roles:
            raise Refusal(401, "Please log in.")
    raise Refusal(403, _denial_reason(rule, identity, state))


def _check_scope(rule: Rule, identity: Identity) -> None:
    """A token does what the page says where it was made, and opens no page itself."""
    if not identity.by_token:
        return
    if not rule.is_api and (identity.person or identity.assessor):
        raise Refusal(403, "A token is for programs: their addresses begin with /api/v1.")
    if identity.person and identity.scope not in rule.scopes:
        raise Refusal(403, f"This token is good for: {SCOPES[identity.scope]}.")


def _denial_reason(rule: Rule, identity: Identity, state: str | None) -> str:
    """Why a request is denied: the roles the page is for, or the states in which it is there."""
    if identity.roles & rule.roles and state is not None:
        states = " or ".join(name for name in STATES if name in rule.when)
        return f"This page is there once the campaign is {states}; it is {state}."
    unnamed = (Role.PUBLIC, Role.ACCOUNT)
    role_names = [ROLES[role] for role in Role if role in rule.roles and role not in unnamed]
    audience = (
        f"{', '.join(role_names[:-1])} or {role_names[-1]}"
        if len(role_names) > 1
        else "".join(role_names)
    )
    login_note = f" You are logged in as {identity.login}." if identity.login else ""
    return f"This page is for: {audience}.{login_note}"


def _need_password(rule: Rule, identity: Identity, request: Request) -> None:
    context: Context = request.app.state.context
    lasts = context.settings.confirmed_seconds * SECOND
    if rule.confirmed and identity.confirmed + lasts < context.clock.now():
        raise Refusal(401, "Please enter your password again.", confirm=True)


async def _read_form(rule: Rule, request: Request, identity: Identity) -> None:
    """Read what was filled in, if it comes from a form of this site."""
    origin = request.headers.get("sec-fetch-site", "same-origin")
    if origin not in ("same-origin", "none"):
        raise Refusal(403, "This form came from another site.")
    if rule.name not in WITH_FILES and not _is_short(request):
        max_bytes = request.app.state.settings.limits.form_bytes
        raise Refusal(413, f"A form has at most {max_bytes:,} bytes.")
    try:
        form = await read_form(request, MOST_FILES.get(rule.name, 1))
    except BodyTooLargeError as error:
        if rule.name not in WITH_FILES:
            raise
        # The handler shows its form again, with the fields that came before the file.
        form, request.state.is_too_large = error.form, True
    request.state.form = form
    token = form.get(CSRF_FIELD)
    if not isinstance(token, str) or not identity.accepts(token):
        await form.close()
        if _is_from_here(request) and rule.name != "login":
            request.state.resumed = _texts_of(form)
        raise Refusal(403, "This form has expired; please load the page again.")
    texts = (part for pair in form.multi_items() for part in pair if isinstance(part, str))
    if any("\0" in text for text in texts):
        await form.close()
        raise Refusal(400, f"This form cannot be read: {UNREADABLE}.")


def _is_short(request: Request) -> bool:
    """Whether the body has no more bytes than a form without a file."""
    length = request.headers.get("content-length", "")
    return length.isdecimal() and int(length) <= request.app.state.settings.limits.form_bytes


def _is_from_here(request: Request) -> bool:
    """Whether a browser says that a form is one of this site; no other site can make it."""
    return request.headers.get("sec-fetch-site") == "same-origin"


async def _keep_typed(request: Request) -> None:
    """Keep the texts of a form whose session has ended meanwhile."""
    request.state.resumed = []
    if _is_from_here(request) and _is_short(request):
        form = await read_form(request)
        request.state.resumed = _texts_of(form)
        await form.close()


def _texts_of(form: FormData) -> list[tuple[str, str]]:
    """What a form says, to be sent again; but for passwords."""
    return [(name, text) for name, text in form_texts(form) if "password" not in name]


def _add_errors(app: FastAPI) -> None:
    async def refused(request: Request, error: Exception) -> Response:
        status, message, extra = _describe_error(error)
        if status == 500:
            LOG.error("%s %s", request.method, request.url.path, exc_info=error)
        if request.url.path.startswith("/api/"):
            answer = problem_response(status, message, **extra)
            answer.headers.update(_error_headers(error))
            return answer
        if extra.get("confirm") and hasattr(request.state, "carried"):
            return password_page(request)
        if hasattr(request.state, "resumed") and status in (401, 403):
            return resume_page(request, status)
        if status == 401:
            login_path = "/confirm" if extra.get("confirm") else "/login"
            return_path = request.url.path if request.method == "GET" else ""
            return redirect(
                f"{login_path}?next={quote(return_path, safe='/')}" if return_path else login_path
            )
        error_page = render_page(request, "refused.html", status, code=status, message=message)
        error_page.headers.update(_error_headers(error))
        return error_page

    for kind in (
        Refusal,
        CranfieldError,
        HTTPException,
        RequestValidationError,
        OSError,
        Exception,
    ):
        app.add_exception_handler(kind, refused)


def _error_headers(error: Exception) -> Mapping[str, str]:
    """What an error says in headers: which methods an address has, where it was asked otherwise."""
    return (error.headers or {}) if isinstance(error, HTTPException) else {}


def _describe_error(error: Exception) -> tuple[int, str, dict[str, Any]]:
    """The status of an error, a sentence about it, and what else a program is told."""
    if isinstance(error, Refusal):
        return error.status, error.message, error.extra
    if isinstance(error, WaitError | BusyError):
        return 429, str(error), {}
    if isinstance(error, ClockError):
        return 503, sentence(str(error)), {}
    if isinstance(error, StoreFullError) or is_full(error):
        return 507, "The disk of the server is full; nothing was stored.", {}
    if isinstance(error, CranfieldError):
        return 400, str(error), {}
    if isinstance(error, RequestValidationError):
        return 400, "; ".join(f"{e['loc'][-1]}: {e['msg']}" for e in error.errors()), {}
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail), {}
    return 500, "Something went wrong on our side; it has been logged.", {}
