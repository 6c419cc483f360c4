"""Submitting by page: the form, the answer with every problem, one's own runs and receipts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from cranfield.campaign.submissions import CheckedSubmission, Problem
from cranfield.errors import UsageError
from cranfield.io.files import run_name
from cranfield.server.auth import Identity
from cranfield.server.forms import Question, ask_first, sentence, uploaded_file
from cranfield.server.http import (
    Refusal,
    attachment_headers,
    campaign_of,
    checks_of,
    context_of,
    form_of,
    format_time,
    handler,
    identity_of,
    redirect_with_notice,
    render_page,
    text_of,
)
from cranfield.server.permissions import Role
from cranfield.server.routes.registration import redirect_to_licence
from cranfield.server.services import jobs, landing, phases, submissions, teams
from cranfield.server.services.campaigns import Row, close_due, close_if_due, tasks_of
from cranfield.server.services.disk import KEPT_STATES, files_stay, remove_unneeded
from cranfield.server.services.idempotency import KeyedRequest
from cranfield.server.services.phases import NotNowError
from cranfield.server.services.scoring import ending_of, name_of
from cranfield.server.services.submissions import RejectedError, Submission
from cranfield.server.services.upload_check import is_small
from cranfield.server.services.uploads import TooLargeError, Upload, blob_path

BLOCK = 1 << 20
ZIP = b"PK\x03\x04"
KIND_NAMES = {
    "ranked": "rankings of items",
    "labels": "annotations of items with concepts",
    "regions": "boxes around what items show",
}
FIELDS = ("task", "tag", "configuration", "description", "features", "classifier", "threshold")


def accept(
    request: Request,
    upload: Upload,
    submission: Submission,
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
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    if upload.head.startswith(ZIP) and submission.ending != ".npz":
        raise UsageError(
            "a .zip archive is not taken: send the file itself, or packed as .gz or .zst"
        )
    submission = submissions.checked_submission(submission, row, task_row["kind"])
    checked = checks_of(request).check(upload, submission, task_row, row["slug"])
    if not checked.is_good:
        checked = _with_other_task(request, upload, submission, task_row, checked)
    if not checked.is_good and not check_only:
        attempt = task_row["id"], identity.team, submission.tag
        context.store.write(lambda c: submissions.reject(c, context, *attempt, checked))
    if not checked.is_good:
        raise RejectedError(checked)
    if check_only:
        return summary(checked)
    trial = not identity.team and Role.ORGANISER in identity.roles
    if not identity.team and not trial:
        raise UsageError("runs are submitted by a team; you are in none")
    close_due(context)
    # Where the time was in doubt, it counts when that is over.
    arrived = context.clock.now() if arrived is None else arrived
    if not trial:
        with context.store.read() as connection:
            submissions.check_room(connection, task_row, identity.team, submission, arrived)

    def write(connection: Connection) -> Row:
        # Locks the campaign: a request that waits here sees what was answered meanwhile.
        close_if_due(connection, context, task_row["campaign"])
        earlier = None if keyed is None else keyed.answer(connection)
        if earlier is not None:
            return earlier
        receipt = submissions.store_run(
            connection,
            context,
            actor=identity.actor,
            team_id=identity.team or teams.own_team(connection, context, row["id"]),
            task_row=task_row,
            submission=submission,
            checked=checked,
            sha=upload.sha,
            size=upload.size,
            arrived=arrived,
            trial=trial,
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
    if submission.replace or keyed is not None:
        # That of the run which was replaced; or its own, which an answer under a key did not need.
        remove_unneeded(context, upload.sha)
    return receipt


def _with_other_task(
    request: Request,
    upload: Upload,
    submission: Submission,
    task_row: Row,
    checked: CheckedSubmission,
) -> CheckedSubmission:
    """What is wrong with a file, and before it that it looks like one for another task."""
    # One small file more is read in a moment; one that another task takes leaves no doubt.
    if not is_small(upload):
        return checked
    checks, row = checks_of(request), campaign_of(request)
    with context_of(request).store.read() as connection:
        tasks = tasks_of(connection, row["id"])
    without_threshold = replace(submission, threshold="")
    for task in tasks:
        if task["kind"] == task_row["kind"]:
            continue
        if checks.check_apart(upload, without_threshold, task, row["slug"]).is_good:
            kind, title = KIND_NAMES[task["kind"]], task["title"]
            message = f"this looks like {kind}; choose the task {title!r} for it"
            problems = (Problem(checked.file, 0, message), *checked.problems)
            return replace(checked, problems=problems, count=checked.count + 1)
    return checked


def summary(checked: CheckedSubmission) -> Row:
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
    redirect = redirect_to_licence(request)
    return redirect or _form(request, dict.fromkeys(FIELDS, ""))


def _form(request: Request, filled: dict[str, str], status: int = 200, **outcome: Any) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    with context.store.read() as connection:
        tasks = tasks_of(connection, row["id"])
        team = teams.team_of(connection, row["id"], identity.person)
        now = context.clock.now()
        for task in tasks:
            task["room"] = phases.allowance(connection, row["id"], task["id"], identity.team, now)
        late_until = phases.extension_until(connection, identity.team)
    values = {"checked": None, "problems": (), "count": 0, "error": "", "tested": False} | outcome
    is_late = row["state"] in phases.LATE_STATES and late_until > now
    has_closed = row["state"] != "open" or (row["closes"] or 0) <= now
    is_trial = not identity.team and Role.ORGANISER in identity.roles
    is_open = not has_closed or is_late or is_trial
    return render_page(
        request,
        "submit.html",
        status,
        tasks=tasks,
        team=team,
        filled=filled,
        open=is_open,
        late_until=late_until if has_closed and is_late else None,
        most=context.settings.limits.upload_bytes,
        **values,
    )


@handler("submit")
async def submit(request: Request) -> Response:
    # Whatever it waits for from here on, the run has come.
    arrived = context_of(request).clock.certain()
    identity, file = identity_of(request), form_of(request).get("file")
    size = getattr(file, "size", 0) or 0
    async with checks_of(request).turns.turn(identity.team or identity.actor, size):
        return await run_in_threadpool(_submit, request, arrived)


def _submit(request: Request, arrived: int | None) -> Response:
    redirect = redirect_to_licence(request)
    if redirect is not None:
        return redirect
    filled = {name: text_of(request, name) for name in FIELDS}
    check_only = text_of(request, "do") == "check"
    try:
        task_row = _task(request, filled["task"])
        with _receive_file(request) as upload:
            submission = Submission(
                tag=filled["tag"],
                configuration=filled["configuration"],
                description=filled["description"],
                features=filled["features"],
                classifier=filled["classifier"],
                threshold=filled["threshold"],
                ending=_ending(request),
                replace=text_of(request, "replace") == "yes",
            )
            receipt = accept(request, upload, submission, task_row, arrived, check_only=check_only)
    except RejectedError as error:
        checked = error.checked
        outcome = {"problems": checked.problems, "count": checked.count, "tested": check_only}
        return _form(request, filled, 422, **outcome)
    except TooLargeError as error:
        return _form(request, filled, 413, error=sentence(str(error)))
    except UsageError as error:
        status = 409 if isinstance(error, NotNowError) else 400
        return _form(request, filled, status, error=sentence(str(error)))
    if check_only:
        return _form(request, filled, checked=receipt)
    run_path = f"/{campaign_of(request)['slug']}/runs/{receipt['id']}"
    return redirect_with_notice(request, run_path, f"The run {receipt['tag']} is accepted.")


def _task(request: Request, slug: str) -> Row:
    with context_of(request).store.read() as connection:
        for task in tasks_of(connection, campaign_of(request)["id"]):
            if task["slug"] == slug:
                return task
    raise UsageError("choose a task")


def _receive_file(request: Request) -> Upload:
    """The file of the form, copied to where uploads are looked at."""
    file = uploaded_file(request)
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
    return file_ending(name)


def file_ending(name: str) -> str:
    short = run_name(name)
    rest = name.rsplit("/", 1)[-1][len(short) :]
    return next((part for part in _parts(rest) if part not in (".gz", ".zst")), "")


def _parts(endings: str) -> list[str]:
    return [f".{part.lower()}" for part in endings.split(".") if part]


@handler("runs")
def runs(request: Request) -> Response:
    identity, row = identity_of(request), campaign_of(request)
    all_teams = Role.ORGANISER in identity.roles
    with context_of(request).store.read() as connection:
        rows = submissions.runs_of(connection, row["id"], None if all_teams else identity.team)
        refused = submissions.rejections(
            connection, row["id"], None if all_teams else identity.team
        )
        standings = landing.run_standings(connection, context_of(request), row)
        phase_names = {p["id"]: p["name"] for p in phases.phases_of(connection, row["id"])}
    return render_page(
        request,
        "runs.html",
        runs=rows,
        refused=refused,
        all_teams=all_teams,
        standings=standings,
        phase_names=phase_names,
    )


def own_run(request: Request, run_id: str) -> Row:
    """A run of one's own team, or any for an organiser; for others there is none."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    with context.store.read() as connection:
        run_row = submissions.run_by_id(connection, run_id)
    if run_row is None or run_row["campaign"] != row["id"] or not _may_see(identity, run_row):
        raise Refusal(404, "There is no such run.")
    return run_row


def _may_see(identity: Identity, run_row: Row) -> bool:
    return Role.ORGANISER in identity.roles or (
        bool(identity.team) and run_row["team"] == identity.team
    )


@handler("run")
def run(request: Request, id: str) -> Response:
    run_row, context = own_run(request, id), context_of(request)
    with context.store.read() as connection:
        receipt = submissions.receipt(connection, id)
        failed = failures(connection, identity_of(request), run_row)
    return render_page(request, "run.html", run=run_row, receipt=receipt, failed=failed)


def failures(connection: Connection, identity: Identity, run_row: Row) -> list[str]:
    """Why the scoring of a run has failed, if it has; all of it is the organiser's to know."""
    rows = jobs.jobs_of(connection, run_row["campaign"], "failed")
    errors = [row["error"] for row in rows if row["run"] == run_row["id"]]
    return (
        errors
        if Role.ORGANISER in identity.roles
        else [jobs.public_error(error) for error in errors]
    )


@handler("run.file")
def run_file(request: Request, id: str) -> Response:
    run_row, settings = own_run(request, id), context_of(request).settings
    if run_row["state"] not in KEPT_STATES:
        raise Refusal(404, f"This run is {run_row['state']}; its file was removed.")
    ending = ending_of(settings, run_row["form"], run_row["blob"])
    return FileResponse(
        blob_path(settings, run_row["blob"]),
        media_type="application/octet-stream",
        headers=attachment_headers(f"{name_of(run_row['acronym'], run_row['tag'])}{ending}"),
    )


@handler("run.withdraw")
def withdraw(request: Request, id: str) -> Response:
    run_row = own_run(request, id)
    context, identity = context_of(request), identity_of(request)
    home = f"/{campaign_of(request)['slug']}/runs"
    if run_row["state"] == "accepted" and campaign_of(request)["state"] == "open":
        lines = (
            "The run is not scored, and stands in no table.",
            "Its place in the quota is free again, and so is its tag.",
            "It cannot be brought back: the file would have to be submitted anew before the "
            f"closing, {format_time(campaign_of(request)['closes'])}.",
        )
        tag = run_row["tag"]
        question = Question(f"Withdraw {tag}?", lines, {"yes": f"Withdraw {tag}"}, f"{home}/{id}")
        confirmation = ask_first(request, question)
        if confirmation is not None:
            return confirmation
    try:
        context.store.write(
            lambda c: submissions.withdraw(c, context, identity.actor, run_row["id"])
        )
    except NotNowError as error:
        raise Refusal(409, str(error)) from None
    remove_unneeded(context)
    return redirect_with_notice(request, home, f"The run {run_row['tag']} is withdrawn.")
