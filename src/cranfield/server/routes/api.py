"""The interface for programs: JSON in and out, runs as raw bodies, problems as RFC 9457."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Header, Query
from pydantic import AfterValidator, BaseModel, Field
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response

from cranfield.campaign.workflow import State
from cranfield.errors import UsageError
from cranfield.report.document import document_of
from cranfield.report.render import render
from cranfield.server.auth import Identity
from cranfield.server.http import (
    Refusal,
    attachment_headers,
    campaign_of,
    checks_of,
    context_of,
    handler,
    identity_of,
    json_response,
    problem_response,
    public_link,
    readable,
    render_page,
    task_of,
)
from cranfield.server.permissions import ROLES, RULES, SCOPES, Role
from cranfield.server.routes.organiser import move
from cranfield.server.routes.submission import accept
from cranfield.server.services import results, scoring, submissions, teams, uploads
from cranfield.server.services.campaigns import Row, tasks_of
from cranfield.server.services.disk import remove_unneeded
from cranfield.server.services.idempotency import KeyedRequest, OtherRequestError
from cranfield.server.services.phases import NotNowError
from cranfield.server.services.submissions import RejectedError, Submission
from cranfield.server.services.uploads import TooLargeError, Upload
from cranfield.server.store.tables import job, score

Tag = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Query(max_length=4000)]
Once = Annotated[str | None, Header(max_length=200)]
# A file, as it is.
RAW = {
    "requestBody": {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "required": True,
    }
}


class Move(BaseModel):
    """Where a campaign shall go, and why if it is a way back."""

    to: State
    reason: Annotated[str, AfterValidator(readable)] = Field("", max_length=4000)


@handler("api.page")
def api_page(request: Request) -> Response:
    """The interface as a person reads it: made from what the description for programs says."""
    described = request.app.openapi()["paths"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for rule in RULES:
        if not rule.is_api:
            continue
        entry = described[rule.path][rule.method.lower()]
        part = rule.path.removeprefix("/api/v1/").partition("/")[0]
        unnamed = {Role.PUBLIC, Role.ACCOUNT}
        groups.setdefault(part, []).append(
            {
                "rule": rule,
                "parameters": entry.get("parameters", []),
                "body": next(iter(entry.get("requestBody", {}).get("content", {})), ""),
                "audience": "everybody"
                if Role.PUBLIC in rule.roles
                else ", ".join(ROLES[role] for role in Role if role in rule.roles - unnamed),
            }
        )
    return render_page(
        request,
        "api.html",
        groups=groups,
        scopes=SCOPES,
        per_minute=context_of(request).settings.limits.api_per_minute,
        address=public_link(request, ""),
    )


@handler("api.campaign")
def campaign(request: Request, c: str) -> Response:  # noqa: ARG001
    row = campaign_of(request)
    with context_of(request).store.read() as connection:
        tasks = [entry["slug"] for entry in tasks_of(connection, row["id"])]
    names = ("slug", "title", "year", "series", "state", "opens", "closes", "release")
    return json_response(
        {name: row[name] for name in names}
        | {"runs_per_team": row["runs_per_team"], "tasks": tasks}
        | {"now": context_of(request).clock.now()}
    )


@handler("api.state")
def state(request: Request, c: str, body: Move, idempotency_key: Once = None) -> Response:  # noqa: ARG001
    identity, row = identity_of(request), campaign_of(request)
    sender = f"{identity.actor} {identity.team}"
    keyed = KeyedRequest.of(sender, idempotency_key, f"{row['id']} {body.to} {body.reason}")
    try:
        move(request, body.to, body.reason, keyed)
    except UsageError as error:
        raise Refusal(409, str(error)) from None
    return json_response({"state": body.to})


@handler("api.task")
def task(request: Request, t: str) -> Response:  # noqa: ARG001
    row, task_row = campaign_of(request), task_of(request)
    content = {name: task_row[name] for name in ("slug", "title", "kind", "split")}
    return json_response(content | {"campaign": row["slug"], "state": row["state"]})


@handler("api.public")
def public(request: Request, t: str) -> Response:  # noqa: ARG001
    _need_signature(request)
    path = uploads.public_archive(context_of(request), campaign_of(request)["slug"])
    return FileResponse(path, headers=attachment_headers("public.tar.gz"))


def _need_signature(request: Request) -> None:
    identity, row = identity_of(request), campaign_of(request)
    if Role.ORGANISER in identity.roles:
        return
    with context_of(request).store.read() as connection:
        if not teams.has_signed(connection, row["id"], identity.person):
            raise Refusal(403, f"sign the licence first: /{row['slug']}/licence")


@handler("api.check", RAW)
async def check(
    request: Request,
    t: str,  # noqa: ARG001
    conf: Text = "-",
    about: Text = "-",
    threshold: Text = "",
    ending: Text = "",
) -> Response:
    row = campaign_of(request)
    allowed = str(row["configurations"]).split()
    submission = Submission(
        tag="check",
        configuration=allowed[0] if allowed and conf == "-" else conf,
        description=about,
        threshold=threshold,
        ending=ending,
        via="api",
    )
    return await _receive(request, submission, check_only=True)


@handler("api.runs")
def runs(request: Request, t: str) -> Response:  # noqa: ARG001
    identity, task_row = identity_of(request), task_of(request)
    with context_of(request).store.read() as connection:
        team_id = None if Role.ORGANISER in identity.roles and not identity.team else identity.team
        rows = submissions.runs_of(connection, task_row["campaign"], team_id)
        receipts = [
            submissions.receipt(connection, r["id"]) for r in rows if r["task"] == task_row["id"]
        ]
    return json_response({"runs": receipts})


@handler("api.run.put", RAW)
async def put_run(
    request: Request,
    t: str,  # noqa: ARG001
    tag: Tag,
    conf: Text = "",
    about: Text = "",
    features: Text = "",
    classifier: Text = "",
    threshold: Text = "",
    ending: Text = "",
    replace: bool = False,
    idempotency_key: Once = None,
) -> Response:
    submission = Submission(
        tag=tag,
        configuration=conf,
        description=about,
        features=features,
        classifier=classifier,
        threshold=threshold,
        ending=ending,
        replace=replace,
        via="api",
    )
    return await _receive(request, submission, check_only=False, once=idempotency_key)


async def _receive(
    request: Request, submission: Submission, *, check_only: bool, once: str | None = None
) -> Response:
    """Stream the body to the disk, then check and store it on a thread."""
    context = context_of(request)
    await run_in_threadpool(_need_signature, request)
    try:
        with Upload.begin(context) as upload:
            async for block in request.stream():
                if block:
                    await run_in_threadpool(upload.add, block)
            await run_in_threadpool(upload.end)
            # Whatever it waits for from here on, the run has come.
            arrived = context.clock.certain()
            identity, checks = identity_of(request), checks_of(request)
            async with checks.turns.turn(identity.team or identity.actor, upload.size):
                return await run_in_threadpool(
                    _answer, request, upload, submission, arrived, check_only=check_only, once=once
                )
    except TooLargeError as error:
        return problem_response(413, str(error))
    except ClientDisconnect:
        return problem_response(400, "the sender went away")


def _answer(
    request: Request,
    upload: Upload,
    submission: Submission,
    arrived: int | None,
    *,
    check_only: bool,
    once: str | None,
) -> Response:
    identity, task_row = identity_of(request), task_of(request)
    sender = f"{identity.actor} {identity.team}"
    keyed = KeyedRequest.of(sender, once, f"{task_row['id']} {submission} {upload.sha}")
    try:
        receipt = keyed.early_answer(context_of(request)) or accept(
            request, upload, submission, task_row, arrived, check_only=check_only, keyed=keyed
        )
    except RejectedError as error:
        checked = error.checked
        problems = [{"line": p.line, "message": p.message} for p in checked.problems]
        detail = "Not accepted, nothing counted."
        return problem_response(422, detail, problems=problems, count=checked.count)
    except (NotNowError, OtherRequestError) as error:
        return problem_response(409, str(error))
    return json_response(receipt, 200 if check_only else 201)


@handler("api.run.delete")
def delete_run(request: Request, t: str, tag: Tag) -> Response:  # noqa: ARG001
    context, identity, task_row = context_of(request), identity_of(request), task_of(request)

    def write(connection: Connection) -> bool:
        row = submissions.run_by_tag(connection, task_row["id"], identity.team, tag)
        if row is None:
            return False
        submissions.withdraw(connection, context, identity.actor, row["id"])
        return True

    try:
        if not context.store.write(write):
            raise Refusal(404, "There is no such run.")
    except NotNowError as error:
        raise Refusal(409, str(error)) from None
    remove_unneeded(context)
    return Response(status_code=204)


@handler("api.scores")
def scores(
    request: Request,
    t: str,  # noqa: ARG001
    format: Literal["json", "csv", "trec", "latex", "saved"] = "json",
) -> Response:
    task_row = task_of(request)
    material, current = _material(request, task_row)
    headers = {"ETag": f'"{current["id"]}-{format}"', "Cache-Control": "no-cache"}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if format == "saved":
        path = scoring.set_folder(context_of(request).settings, current["id"]) / "scores.json"
        return FileResponse(path, media_type="application/json", headers=headers)
    if format == "trec":
        return Response(_trec(material.scores), media_type="text/plain", headers=headers)
    if format == "json":
        return json_response(material.scores.to_dict(), headers=headers)
    text = render(document_of(material.scores), format, spreadsheet=format == "csv")
    kinds = {"csv": "text/csv", "latex": "text/plain"}
    return Response(text, media_type=kinds[format], headers=headers)


def _material(request: Request, task_row: Row) -> tuple[Any, Row]:
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        current = scoring.current_set(connection, task_row["id"])
        if current is None:
            raise Refusal(404, "There are no scores yet.")
        return results.material_of(connection, context, row, task_row, current), current


def _trec(scores: Any) -> str:
    """A line for each run and measure, as evaluation programs print them."""
    lines = [
        f"{measure}\t{name}\t{'nan' if value != value else repr(value)}"
        for name, means in scores.mean().items()
        for measure, value in means.items()
    ]
    return "\n".join(lines) + "\n"


@handler("api.per_topic")
def per_topic(request: Request, id: str) -> Response:
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        run_row = submissions.run_by_id(connection, id)
        if run_row is None or not _is_scored(connection, id):
            raise Refusal(404, "There is no such run.")
        tasks = {entry["id"]: entry for entry in tasks_of(connection, row["id"])}
    material, _ = _material(request, tasks[run_row["task"]])
    name = scoring.name_of(run_row["acronym"], run_row["tag"])
    unit = material.scores.main_unit
    rows = [entry for entry in material.scores.rows(unit) if entry["run"] == name]
    return json_response({"run": name, f"per_{unit}": rows})


def _is_scored(connection: Connection, run_id: str) -> bool:
    return connection.execute(select(score.c.run).where(score.c.run == run_id)).first() is not None


@handler("api.job")
def one_job(request: Request, id: str) -> Response:
    identity: Identity = identity_of(request)
    with context_of(request).store.read() as connection:
        row = connection.execute(select(job).where(job.c.id == id)).mappings().first()
    if row is None or Role.ORGANISER not in identity.roles:
        raise Refusal(404, "There is no such job.")
    names = ("id", "kind", "state", "attempt", "progress", "error", "created", "finished")
    return json_response({name: row[name] for name in names})
