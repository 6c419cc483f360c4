"""Result pages: each as HTML, JSON and CSV, the same bytes until the scores change."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from cranfield.server.services.campaigns import Row, tasks_of
from cranfield.server.services.results import Pages
from cranfield.server.web import Refusal, campaign_of, context_of, handler, page, task_of

LONGEST_QUERY = 20


@handler("results")
def results(request: Request) -> Response:
    with context_of(request).store.read() as connection:
        tasks = tasks_of(connection, campaign_of(request)["id"])
    return page(request, "results.html", tasks=tasks)


@handler("results.task")
def board(request: Request, t: str) -> Response:  # noqa: ARG001
    return shown(request, task_of(request), "")


@handler("results.page")
def results_page(request: Request, t: str, address: str) -> Response:  # noqa: ARG001
    return shown(request, task_of(request), address)


def shown(request: Request, task_row: Row, address: str) -> Response:
    """A page, or 304 when the browser has it already."""
    from cranfield.errors import UsageError

    pages: Pages = request.app.state.pages
    query = dict(list(request.query_params.items())[:LONGEST_QUERY])
    try:
        found = pages.page(campaign_of(request), task_row, address, query)
    except UsageError as error:
        raise Refusal(404, str(error)) from None
    if found is None:
        raise Refusal(404, "There are no scores yet.")
    headers = {"ETag": found.etag, "Cache-Control": "no-cache", "Vary": "Cookie"}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(found.body, 200, headers, found.kind)
