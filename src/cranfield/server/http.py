"""What handlers are made of: their table, pages, redirects, problems and downloads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from cranfield.errors import plural
from cranfield.server.auth import VISITOR_COOKIE, Identity
from cranfield.server.context import SECOND, Context, as_time
from cranfield.server.permissions import Role
from cranfield.site.work_pages import guideline_blocks

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markupsafe import Markup

    from cranfield.server.services.accounts import Hasher
    from cranfield.server.services.upload_check import UploadChecker

Handler = TypeVar("Handler", bound=Callable[..., Any])
HANDLERS: dict[str, Callable[..., Any]] = {}
# What the description of the interface says of bodies that no parameter of a handler speaks of.
BODIES: dict[str, dict[str, Any]] = {}
PROBLEM = "application/problem+json"
# What was done, told on the page that a form leads to; a browser without script has it, too.
DONE, DONE_SECONDS, LONGEST_DONE = "cranfield_done", 60, 600
UNREADABLE = "it has characters that no text has"
MOST_DIGITS = 15
TITLES = {
    400: "This could not be done",
    401: "Who are you?",
    403: "Not for you",
    404: "There is no such page",
    409: "Not now",
    413: "Too large",
    422: "Not accepted",
    429: "Too many attempts",
    500: "A fault of ours",
    507: "The disk is full",
}


class Refusal(Exception):  # noqa: N818 - it is an answer, not a fault
    """An answer other than what was asked for, with a sentence that says why."""

    def __init__(self, status: int, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.extra = status, message, extra


def handler(name: str, body: dict[str, Any] | None = None) -> Callable[[Handler], Handler]:
    """Names the function that answers a rule of the table of permissions.

    `body` describes what the function reads from the request by itself.
    """

    def register(function: Handler) -> Handler:
        if name in HANDLERS:
            raise RuntimeError(f"two handlers are named {name!r}")
        HANDLERS[name] = function
        if body is not None:
            BODIES[name] = body
        return function

    return register


def context_of(request: Request) -> Context:
    return cast("Context", request.app.state.context)


def hasher_of(request: Request) -> Hasher:
    return cast("Hasher", request.app.state.hasher)


def checks_of(request: Request) -> UploadChecker:
    return cast("UploadChecker", request.app.state.checks)


def identity_of(request: Request) -> Identity:
    return cast("Identity", request.state.identity)


def campaign_of(request: Request) -> dict[str, Any]:
    """The campaign that the address names; the guard has seen that there is one."""
    row = identity_of(request).campaign
    if row is None:
        raise Refusal(404, "There is no such campaign.")
    return row


def task_of(request: Request) -> dict[str, Any]:
    row = identity_of(request).task
    if row is None:
        raise Refusal(404, "There is no such task.")
    return row


def form_of(request: Request) -> Mapping[str, Any]:
    """What was filled in; the guard has read it and checked where it came from."""
    return cast("Mapping[str, Any]", request.state.form)


def text_of(request: Request, name: str, default: str = "") -> str:
    value = form_of(request).get(name, default)
    return value if isinstance(value, str) else default


def typed_texts(request: Request) -> dict[str, str]:
    """The texts of the form that a page answers, without passwords."""
    form = getattr(request.state, "form", None) or {}
    return {
        name: value
        for name, value in form.items()
        if isinstance(value, str) and "password" not in name
    }


def address_of(request: Request) -> str:
    """Where a request comes from; behind a trusted proxy, what the proxy says."""
    return request.client.host if request.client is not None else ""


def public_link(request: Request, path: str) -> str:
    """A link to send to others; a path alone where the site was not told its address."""
    return f"{context_of(request).settings.public_address}{path}"


def readable(text: str) -> str:
    """The text itself, or a ValueError: PostgreSQL stores no text with a NUL, so no store does."""
    if "\0" in text:
        raise ValueError(UNREADABLE)
    return text


def whole_number(text: str) -> int | None:
    """The whole number that a field of a form says, or None: no count has more digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates: everything is escaped, and what is undefined is an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    templates = Environment(
        # Forms are those of the file that works from disk.
        loader=ChoiceLoader(
            [PackageLoader(f"cranfield.{room}", "templates") for room in ("server", "site")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["Role"] = Role
    templates.filters["when"] = format_time
    templates.filters["guideline_blocks"] = guideline_blocks
    templates.filters["iso"] = as_time
    templates.filters["aoe"] = format_anywhere
    templates.filters["markdown"] = render_markdown
    templates.filters["left"] = format_left
    templates.filters["bytes"] = format_bytes
    templates.filters["digits"] = format_number
    return templates


def render_page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page for a person."""
    identity: Identity = getattr(request.state, "identity", None) or Identity()
    needs_cookie = not identity.cookie and not identity.by_token
    if needs_cookie:
        identity = replace(identity, cookie=context_of(request).new_secret())
    notice = unquote(request.cookies.get(DONE, ""))
    texts = {
        "typed": typed_texts(request) if status >= 400 else {},
        "errors": {},
        "just_done": notice,
        "preview": getattr(request.state, "preview", None),
    }
    text = (
        environment()
        .get_template(template)
        .render(texts | _header_values(request, identity), **values)
    )
    answer = HTMLResponse(text, status)
    if notice:
        answer.delete_cookie(DONE, path="/")
    # A browser without a session gets a secret that its forms are tied to.
    if needs_cookie and identity.csrf in text:
        secure = context_of(request).settings.proxy is not None
        answer.set_cookie(
            VISITOR_COOKIE, identity.cookie, httponly=True, samesite="lax", secure=secure
        )
    return answer


def render_header(request: Request) -> str:
    """The header of a page that is made elsewhere, for whoever looks at it."""
    values = _header_values(request, identity_of(request))
    return environment().get_template("header.html").render(values | {"section": "Results"})


def _header_values(request: Request, identity: Identity) -> dict[str, Any]:
    """What the header of every page shows: the site, the campaign, and who looks."""
    from cranfield.server.services.site import site_texts

    context = context_of(request)
    return {
        "identity": identity,
        "campaign": identity.campaign if identity.sees_campaign or identity.works else None,
        "home": _home(identity),
        "path": request.url.path,
        "now": context.clock.now(),
        "site": site_texts(context),
        "section": "",
    }


def _home(identity: Identity) -> str:
    """Where the title of a page leads to."""
    if identity.campaign is None or not (identity.sees_campaign or identity.works):
        return "/"
    slug = identity.campaign["slug"]
    return f"/{slug}" if identity.sees_campaign else f"/{slug}/work"


def redirect(address: str) -> Response:
    """Sends a browser on after a form was taken."""
    return RedirectResponse(address, 303)


def redirect_with_notice(request: Request, address: str, notice: str) -> Response:
    """Sends a browser on, to a page that also says what was done."""
    answer = redirect(address)
    secure = context_of(request).settings.proxy is not None
    value = quote(notice[:LONGEST_DONE], safe="")
    answer.set_cookie(
        DONE, value, max_age=DONE_SECONDS, httponly=True, samesite="lax", secure=secure
    )
    return answer


def json_response(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None, **encoded: str
) -> Response:
    """An answer for a program; `encoded` are fields that are JSON already."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=False)
    for name, value in encoded.items():
        text = f'{text[:-1]}, "{name}": {value}}}'
    return Response(text, status, headers, "application/json")


def problem_response(status: int, detail: str, **extra: Any) -> Response:
    """A refusal for a program, as RFC 9457 has it."""
    content = {"type": "about:blank", "title": TITLES.get(status, "Refused"), "status": status}
    content |= {"detail": detail, **extra}
    return Response(json.dumps(content, ensure_ascii=False), status, media_type=PROBLEM)


def attachment_headers(name: str) -> dict[str, str]:
    """Headers by which a file is stored and never shown."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def format_time(milliseconds: int | None) -> str:
    """A time as people read it, in UTC."""
    if milliseconds is None:
        return "not set"
    return datetime.fromtimestamp(milliseconds / SECOND, UTC).strftime("%Y-%m-%d %H:%M UTC")


def format_anywhere(milliseconds: int) -> str:
    """A time where it is latest on earth: a deadline that holds anywhere ends then."""
    anywhere = timezone(timedelta(hours=-12))
    moment = datetime.fromtimestamp(milliseconds / SECOND, anywhere)
    return moment.strftime("%Y-%m-%d %H:%M AoE")


def format_left(milliseconds: int) -> str:
    """How long something lasts still, in the largest unit of which there are two.

    >>> format_left(3 * 24 * 3600 * 1000), format_left(90 * 60 * 1000)
    ('3 days', '90 minutes')
    """
    seconds = max(milliseconds, 0) // SECOND
    for unit, length in (("day", 24 * 3600), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * length:
            return plural(seconds // length, unit)
    return plural(seconds, "second")


def render_markdown(text: str) -> Markup:
    """A text in Markdown as HTML: tags in it are text, links lead only where a page may."""
    from markupsafe import Markup

    return Markup(_markdown().render(text))


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Pictures would be asked for elsewhere, which no page does.
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.core.ruler.push("headings", _lower_headings)
    return parser


def _lower_headings(state: StateCore) -> None:
    """The headings of a text stand below those of the page that shows it."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"


def format_number(value: float, places: int = 3) -> str:
    """A number as people read it; a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:.{places}f}"


def format_bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise RuntimeError("unreachable")
