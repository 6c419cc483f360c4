"""Submitting by page: the form, the answer with every problem, one's own runs and receipts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from cranfield.campaign.submissions import Checked, Problem
from cranfield.errors import UsageError
from cranfield.io.files import run_name
from cranfield.server.forms import Question, ask_first, sent_file, sentence
from cranfield.server.routes.taking_part import signed_or_sent
from cranfield.server.services import jobs, submissions, teams
from cranfield.server.services.campaigns import Row, close_due, close_if_due, tasks_of
from cranfield.server.services.checks import is_small
from cranfield.server.services.disk import KEPT_STATES, files_stay, remove_unneeded
from cranfield.server.services.once import KeyedRequest
from cranfield.server.services.scoring import ending_of, name_of
from cranfield.server.services.submissions import NotNowError, RejectedError, Submission
from cranfield.server.services.uploads import TooLargeError, Upload, blob_path
from cranfield.server.visitors import Visitor
from cranfield.server.web import (
    Refusal,
    attachment,
    campaign_of,
    checks_of,
    context_of,
    form_of,
    handler,
    page,
    see_done,
    text_of,
    visitor_of,
    when,
)

BLOCK = 1 << 20
ZIP = b"PK\x03\x04"
KIND_NAMES = {"ranked": "rankings of items", "labels": "annotations of items with concepts"}
FIELDS = ("task", "tag", "configuration", "description", "features", "classifier", "threshold")


def accept(
    request: Request,
    upload: Upload,
    given: Submission,
    task_row: Row,
    arrived: int | None,
    *,
    check_only: bool,
    keyed: KeyedRequest | None = None,
) -> Row:
    """Check an upload and store it; a RejectedError says what is wrong with it.

    `arrived` is when all of the upload was here: the deadline is held against that. Under a key
    the receipt is stored in the same transaction.
    """
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    if upload.head.startswith(ZIP) and given.ending != ".npz":
        raise UsageError(
            "a .zip archive is not taken: send the file itself, or packed as .gz or .zst"
        )
    given = submissions.checked_submission(given, row, task_row["kind"])
    checked = checks_of(request).check(upload, given, task_row, row["slug"])
    if not checked.is_good:
        checked = _with_other_task(request, upload, given, task_row, checked)
    if not checked.is_good and not check_only:
        about = task_row["id"], visitor.team, given.tag
        context.store.write(lambda c: submissions.reject(c, context, *about, checked))
    if not checked.is_good:
        raise RejectedError(checked)
    if check_only:
        return summary(checked)
    if not visitor.team:
        raise UsageError("runs are submitted by a team; you are in none")
    close_due(context)
    # Where the time was in doubt, it counts when that is over.
    arrived = context.clock.now() if arrived is None else arrived
    with context.store.read() as connection:
        submissions.check_room(connection, task_row, visitor.team, given, arrived)

    def write(connection: Connection) -> Row:
        # Locks the campaign: who waits here sees what was answered meanwhile.
        close_if_due(connection, context, task_row["campaign"])
        known = None if keyed is None else keyed.answer(connection)
        if known is not None:
            return known
        receipt = submissions.store_run(
            connection,
            context,
            actor=visitor.actor,
            team_id=visitor.team,
            task_row=task_row,
            given=given,
            checked=checked,
            sha=upload.sha,
            size=upload.size,
            arrived=arrived,
        )
        if keyed is not None:
            keyed.remember(connection, 201, receipt, context.clock.now())
        return receipt

    try:
        with files_stay(context.settings):
            upload.keep(context.settings)
            receipt = context.store.write(write)
    except BaseException:
        remove_unneeded(context, upload.sha)
        raise
    if given.replace or keyed is not None:
        # That of the run which was replaced; or its own, which an answer under a key did not need.
        remove_unneeded(context, upload.sha)
    return receipt


def _with_other_task(
    request: Request, upload: Upload, given: Submission, task_row: Row, checked: Checked
) -> Checked:
    """What is wrong with a file, and before it that it looks like one for another task."""
    # One small file more is read in a moment; one that another task takes leaves no doubt.
    if not is_small(upload):
        return checked
    checks, row = checks_of(request), campaign_of(request)
    with context_of(request).store.read() as connection:
        tasks = tasks_of(connection, row["id"])
    plain = replace(given, threshold="")
    for task in tasks:
        if task["kind"] == task_row["kind"]:
            continue
        if checks.check_apart(upload, plain, task, row["slug"]).is_good:
            kind, title = KIND_NAMES[task["kind"]], task["title"]
            message = f"this looks like {kind}; choose the task {title!r} for it"
            problems = (Problem(checked.file, 0, message), *checked.problems)
            return replace(checked, problems=problems, count=checked.count + 1)
    return checked


def summary(checked: Checked) -> Row:
    """What a check says of a good file."""
    return {
        "accepted": True,
        "lines": checked.lines,
        "topics": checked.units,
        "missing": list(checked.missing),
        "notes": list(checked.notes),
    }


@handler("submit.form")
def submit_form(request: Request) -> Response:
    sent = signed_or_sent(request)
    return sent or _form(request, dict.fromkeys(FIELDS, ""))


def _form(request: Request, filled: dict[str, str], status: int = 200, **said: Any) -> Response:
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    with context.store.read() as connection:
        tasks = tasks_of(connection, row["id"])
        mine = teams.team_of(connection, row["id"], visitor.person)
        for one in tasks:
            used = submissions.runs_used(connection, one["id"], visitor.team)
            one["used"] = used
    values = {"checked": None, "problems": (), "count": 0, "error": "", "tested": False} | said
    is_open = row["state"] == "open" and (row["closes"] or 0) > context.clock.now()
    return page(
        request,
        "submit.html",
        status,
        tasks=tasks,
        team=mine,
        filled=filled,
        open=is_open,
        most=context.settings.limits.upload_bytes,
        **values,
    )


@handler("submit")
async def submit(request: Request) -> Response:
    # Whatever it waits for from here on, the run has come.
    arrived = context_of(request).clock.certain()
    visitor, file = visitor_of(request), form_of(request).get("file")
    size = getattr(file, "size", 0) or 0
    async with checks_of(request).turns.turn(visitor.team or visitor.actor, size):
        return await run_in_threadpool(_submit, request, arrived)


def _submit(request: Request, arrived: int | None) -> Response:
    sent = signed_or_sent(request)
    if sent is not None:
        return sent
    filled = {name: text_of(request, name) for name in FIELDS}
    check_only = text_of(request, "do") == "check"
    try:
        task_row = _task(request, filled["task"])
        with _received(request) as upload:
            given = Submission(
                tag=filled["tag"],
                configuration=filled["configuration"],
                description=filled["description"],
                features=filled["features"],
                classifier=filled["classifier"],
                threshold=filled["threshold"],
                ending=_ending(request),
                replace=text_of(request, "replace") == "yes",
            )
            receipt = accept(request, upload, given, task_row, arrived, check_only=check_only)
    except RejectedError as error:
        found = error.checked
        said = {"problems": found.problems, "count": found.count, "tested": check_only}
        return _form(request, filled, 422, **said)
    except TooLargeError as error:
        return _form(request, filled, 413, error=sentence(str(error)))
    except UsageError as error:
        status = 409 if isinstance(error, NotNowError) else 400
        return _form(request, filled, status, error=sentence(str(error)))
    if check_only:
        return _form(request, filled, checked=receipt)
    where = f"/{campaign_of(request)['slug']}/runs/{receipt['id']}"
    return see_done(request, where, f"The run {receipt['tag']} is accepted.")


def _task(request: Request, slug: str) -> Row:
    with context_of(request).store.read() as connection:
        for one in tasks_of(connection, campaign_of(request)["id"]):
            if one["slug"] == slug:
                return one
    raise UsageError("choose a task")


def _received(request: Request) -> Upload:
    """The file of the form, copied to where uploads are looked at."""
    file = sent_file(request)
    if file is None:
        raise UsageError("choose the file of the run")
    upload = Upload.begin(context_of(request))
    try:
        while block := file.file.read(BLOCK):
            upload.add(block)
        upload.end()
    except BaseException:
        upload.__exit__()
        raise
    return upload


def _ending(request: Request) -> str:
    """The ending of the name that the file had with its user; it says how the file is read."""
    name = str(getattr(form_of(request).get("file"), "filename", ""))
    return ending_in(name)


def ending_in(name: str) -> str:
    short = run_name(name)
    rest = name.rsplit("/", 1)[-1][len(short) :]
    return next((part for part in _parts(rest) if part not in (".gz", ".zst")), "")


def _parts(endings: str) -> list[str]:
    return [f".{part.lower()}" for part in endings.split(".") if part]


@handler("runs")
def runs(request: Request) -> Response:
    visitor, row = visitor_of(request), campaign_of(request)
    everybody = "O" in visitor.roles
    with context_of(request).store.read() as connection:
        found = submissions.runs_of(connection, row["id"], None if everybody else visitor.team)
        refused = submissions.rejections(connection, row["id"], None if everybody else visitor.team)
    return page(request, "runs.html", runs=found, refused=refused, everybody=everybody)


def own_run(request: Request, run_id: str) -> Row:
    """A run of one's own team, or any for an organiser; for others there is none."""
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    with context.store.read() as connection:
        found = submissions.run_by_id(connection, run_id)
    if found is None or found["campaign"] != row["id"] or not _may_see(visitor, found):
        raise Refusal(404, "There is no such run.")
    return found


def _may_see(visitor: Visitor, found: Row) -> bool:
    return "O" in visitor.roles or (bool(visitor.team) and found["team"] == visitor.team)


@handler("run")
def run(request: Request, id: str) -> Response:
    found, context = own_run(request, id), context_of(request)
    with context.store.read() as connection:
        receipt = submissions.receipt(connection, id)
        failed = failures(connection, visitor_of(request), found)
    return page(request, "run.html", run=found, receipt=receipt, failed=failed)


def failures(connection: Connection, visitor: Visitor, found: Row) -> list[str]:
    """Why the scoring of a run has failed, if it has; all of it is the organiser's to know."""
    rows = jobs.jobs_of(connection, found["campaign"], "failed")
    said = [row["error"] for row in rows if row["run"] == found["id"]]
    return said if "O" in visitor.roles else [jobs.told_to_teams(one) for one in said]


@handler("run.file")
def run_file(request: Request, id: str) -> Response:
    found, settings = own_run(request, id), context_of(request).settings
    if found["state"] not in KEPT_STATES:
        raise Refusal(404, f"This run is {found['state']}; its file was removed.")
    ending = ending_of(settings, found["form"], found["blob"])
    return FileResponse(
        blob_path(settings, found["blob"]),
        media_type="application/octet-stream",
        headers=attachment(f"{name_of(found['acronym'], found['tag'])}{ending}"),
    )


@handler("run.withdraw")
def withdraw(request: Request, id: str) -> Response:
    found = own_run(request, id)
    context, visitor = context_of(request), visitor_of(request)
    home = f"/{campaign_of(request)['slug']}/runs"
    if found["state"] == "accepted" and campaign_of(request)["state"] == "open":
        lines = (
            "The run is not scored, and stands in no table.",
            "Its place in the quota is free again, and so is its tag.",
            "It cannot be brought back: the file would have to be submitted anew before the "
            f"closing, {when(campaign_of(request)['closes'])}.",
        )
        tag = found["tag"]
        question = Question(f"Withdraw {tag}?", lines, {"yes": f"Withdraw {tag}"}, f"{home}/{id}")
        asked = ask_first(request, question)
        if asked is not None:
            return asked
    try:
        context.store.write(lambda c: submissions.withdraw(c, context, visitor.actor, found["id"]))
    except NotNowError as error:
        raise Refusal(409, str(error)) from None
    remove_unneeded(context)
    return see_done(request, home, f"The run {found['tag']} is withdrawn.")
