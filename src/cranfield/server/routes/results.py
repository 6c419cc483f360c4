"""Result pages: each as HTML, JSON and CSV, the same bytes until the scores change."""

from __future__ import annotations

import hashlib
from functools import partial

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from cranfield.server.auth import is_anonymous
from cranfield.server.http import (
    Refusal,
    attachment_headers,
    campaign_of,
    context_of,
    handler,
    identity_of,
    render_header,
    render_page,
    task_of,
)
from cranfield.server.services import landing
from cranfield.server.services.campaigns import Row
from cranfield.server.services.results import (
    MEDIA_TYPES,
    CachedPage,
    Pages,
    file_of,
    run_addresses,
)

LONGEST_QUERY = 20


@handler("results")
def results(request: Request) -> Response:
    with context_of(request).store.read() as connection:
        cards = landing.result_cards(connection, context_of(request), campaign_of(request))
    return render_page(request, "results.html", cards=cards)


@handler("results.task")
def board(request: Request, t: str) -> Response:
    """The board itself, or as data: /c/results/task.json."""
    row = task_of(request)
    return serve_page(request, row, t.removeprefix(row["slug"]).removeprefix("."))


@handler("results.page")
def results_page(request: Request, t: str, address: str) -> Response:  # noqa: ARG001
    kind, _, name = address.partition("/")
    if kind == "files" and name:
        return _file(request, name)
    return serve_page(request, task_of(request), address)


def _personal_page(
    request: Request, task_row: Row, content: CachedPage, headers: dict[str, str]
) -> Response:
    """A page for somebody who is logged in: it is not packed, as its forms have a secret."""
    team_id = identity_of(request).team
    addresses: tuple[str, ...] = ()
    if team_id:
        with context_of(request).store.read() as connection:
            addresses = run_addresses(connection, campaign_of(request), task_row, team_id)
    body = content.personal_body(render_header(request), addresses)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = headers | {"ETag": etag}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, content.kind)


def _file(request: Request, name: str) -> Response:
    context = context_of(request)
    with context.store.read() as connection:
        path = file_of(connection, context, task_of(request), name)
    if path is None:
        raise Refusal(404, "There is no such file.")
    return FileResponse(
        path, media_type="application/octet-stream", headers=attachment_headers(name)
    )


def serve_page(request: Request, task_row: Row, address: str) -> Response:
    """A page, or 304 when the browser has it already."""
    from cranfield.errors import UsageError

    pages: Pages = request.app.state.pages
    query = dict(list(request.query_params.items())[:LONGEST_QUERY])
    public = is_anonymous(request)
    make_header = partial(render_header, request) if public else None
    try:
        content = pages.page(campaign_of(request), task_row, address, query, make_header)
    except UsageError as error:
        raise Refusal(404, str(error)) from None
    if content is None:
        raise Refusal(404, "There are no scores yet.")
    headers = {"ETag": content.etag, "Cache-Control": "no-cache", "Vary": "Cookie, Accept-Encoding"}
    if not public and content.kind == MEDIA_TYPES["html"]:
        return _personal_page(request, task_row, content, headers)
    if content.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(content.packed, 200, headers | {"Content-Encoding": "gzip"}, content.kind)
    return Response(content.body, 200, headers, content.kind)
