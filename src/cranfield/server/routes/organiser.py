"""The organiser's pages: the board, the state, dates and texts, the truth, runs, exports."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, select
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from cranfield.campaign.workflow import State, check_move
from cranfield.errors import UsageError
from cranfield.server.forms import Fields, Question, ask_first, sentence, uploaded_file
from cranfield.server.http import (
    Refusal,
    attachment_headers,
    campaign_of,
    context_of,
    format_time,
    handler,
    identity_of,
    redirect_with_notice,
    render_page,
    text_of,
    whole_number,
)
from cranfield.server.permissions import Role
from cranfield.server.routes.submission import own_run
from cranfield.server.services import (
    accounts,
    announcements,
    campaigns,
    jobs,
    landing,
    mail,
    organiser_dashboard,
    scoring,
    submissions,
)
from cranfield.server.services.idempotency import KeyedRequest
from cranfield.server.services.uploads import TooLargeError, Upload
from cranfield.server.store.tables import export, job, person, score, score_set

TEXTS = (
    "title",
    "summary",
    "call",
    "licence",
    "guidelines",
    "configurations",
    "contact",
    "citation",
    "samples",
)
# The times of the settings, as the page calls them.
TIMES = {"opens": "Opens", "closes": "Closes", "release": "Results are planned for"}
# The moves that cannot be taken back in full: the question, its answer, and what will happen.
CONSEQUENCES = {
    "closed": (
        "Close the campaign?",
        "Close it now",
        (
            "No run is taken from this moment on, whatever the closing date says ({closes}).",
            "Teams can no longer withdraw or replace runs.",
            "The way back needs a written reason and a closing date that is still to come.",
        ),
    ),
    "released": (
        "Release the results?",
        "Release them",
        (
            "The public sees all scores, run files and names of teams.",
            "The truth is published: what was sealed until now cannot be sealed again.",
        ),
    ),
    "archived": (
        "Archive the campaign?",
        "Archive it for good",
        (
            "The results stay as they are for ever: no truth, run or setting changes them.",
            "There is no way back from here, also not for an erratum.",
        ),
    ),
}
CAMPAIGN_ROLES = (Role.ORGANISER, Role.ADJUDICATOR, Role.ASSESSOR)
ROLE_NAMES: dict[str, str] = {
    Role.ORGANISER: "an organiser",
    Role.ADJUDICATOR: "an adjudicator",
    Role.ASSESSOR: "an assessor",
}


def _home(request: Request) -> str:
    return f"/{campaign_of(request)['slug']}/organise"


@handler("board")
def show_board(request: Request) -> Response:
    return _board(request)


def _board(
    request: Request, error: str = "", status: int = 200, errors: Mapping[str, str] | None = None
) -> Response:
    context = context_of(request)
    with context.store.read() as connection:
        figures = organiser_dashboard.dashboard(connection, context, campaign_of(request))
        figures["news"] = announcements.announcements_of(connection, campaign_of(request))
    return render_page(
        request, "board.html", status, board=figures, error=error, errors=errors or {}
    )


@handler("board.state")
def state(request: Request) -> Response:
    end, reason = text_of(request, "to"), text_of(request, "reason")
    row, context = campaign_of(request), context_of(request)
    if end in CONSEQUENCES:
        title, answer, lines = CONSEQUENCES[end]
        with context.store.read() as connection:
            facts = campaigns.facts_of(connection, context, row["id"])
        try:
            check_move(row["state"], cast("State", end), facts, reason)
        except UsageError as error:
            return _board(request, sentence(str(error)), 409)
        consequences = tuple(line.format(closes=format_time(row["closes"])) for line in lines)
        confirmation = ask_first(
            request, Question(title, consequences, {"yes": answer}, _home(request))
        )
        if confirmation is not None:
            return confirmation
    try:
        move(request, end, reason)
    except UsageError as error:
        return _board(request, sentence(str(error)), 409)
    return redirect_with_notice(request, _home(request), f"The campaign is {end} now.")


def move(request: Request, end: str, reason: str, keyed: KeyedRequest | None = None) -> None:
    """Take the campaign to another state, with all that this brings; with a key only once."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)

    def write(connection: Connection) -> None:
        # Locks the campaign: a request that waits here sees what was answered meanwhile.
        campaigns.close_if_due(connection, context, row["id"])
        if keyed is not None and keyed.answer(connection) is not None:
            return
        campaigns.move(connection, context, identity.actor, row["id"], end, reason)
        organiser_dashboard.start_jobs_of_state(connection, context, row, cast("State", end))
        if keyed is not None:
            keyed.remember(connection, 200, {"state": end}, context.clock.now())

    context.store.write(write)


@handler("board.settings.form")
def settings_form(request: Request) -> Response:
    return _settings(request, {})


def _settings(request: Request, errors: Mapping[str, str]) -> Response:
    row = campaign_of(request)
    times = {name: organiser_dashboard.format_time(row[name]) for name in TIMES}
    return render_page(request, "settings.html", 400 if errors else 200, times=times, errors=errors)


@handler("board.settings")
def change_settings(request: Request) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    fields = Fields()
    values: dict[str, Any] = {
        name: text_of(request, name).replace("\r\n", "\n").strip() for name in TEXTS
    }
    with fields.beside("title"):
        accounts.checked_text("the title", values["title"])
    with fields.beside("summary"):
        accounts.checked_text("the line", values["summary"], needed=False)
    with fields.beside("samples"):
        values["samples"] = landing.check_samples(context, row, values["samples"])
    for name, label in TIMES.items():
        with fields.beside(name):
            values[name] = organiser_dashboard.parse_time(text_of(request, name), label)
    for name in ("pooled", "teams_assess"):
        values[name] = int(text_of(request, name) == "yes")
    with fields.beside("runs_per_team"):
        values["runs_per_team"] = _parse_run_count(text_of(request, "runs_per_team"))

    def write(connection: Connection) -> None:
        campaigns.change(connection, context, identity.actor, row["id"], values)
        mail.tell_of_dates(connection, context, row, values["closes"])

    if not fields.errors:
        # What is left to be refused is the order of the dates.
        with fields.beside("closes"):
            context.store.write(write)
    if fields.errors:
        return _settings(request, fields.errors)
    return redirect_with_notice(request, _home(request), "The settings are saved.")


def _parse_run_count(text: str) -> int:
    number = whole_number(text)
    if number is None or not 1 <= number <= 1000:
        raise UsageError("the number of runs per team and task is a whole number from 1 to 1000")
    return number


@handler("board.truth")
def truth(request: Request) -> Response:
    """A new version of the truth goes straight to where only the scoring child reads."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    note = text_of(request, "note").strip()
    with context.store.read() as connection:
        tasks = {task["slug"]: task for task in campaigns.tasks_of(connection, row["id"])}
    task = tasks.get(text_of(request, "task"))
    fields = Fields()
    if task is None:
        fields.errors["task"] = "Choose a task."
    file = None
    with fields.beside("truth-file"):
        file = uploaded_file(request)
    if file is None:
        fields.errors.setdefault("truth-file", "Choose the file of the truth.")
    if not note:
        fields.errors["note"] = "Say what is different in this truth."
    if fields.errors or task is None or file is None:
        return _board(request, status=400, errors=fields.errors)
    try:
        with Upload.begin(context) as upload:
            while block := file.file.read(1 << 20):
                upload.add(block)
            upload.end()
            folder = f"{row['slug']}/{task['kind']}-{context.new_id()}"
            name = f"{folder}/{_safe_file_name(str(file.filename))}"
            target = context.settings.sealed / name
            upload.move(target, 0o600)
            facts = {"sha": upload.sha, "file": name, "source": "upload", "note": note}
        try:
            context.store.write(
                lambda c: scoring.add_truth(c, context, identity.actor, task["id"], **facts)
            )
        except BaseException:
            shutil.rmtree(target.parent, ignore_errors=True)
            raise
    except (UsageError, TooLargeError) as error:
        return _board(request, status=400, errors={"truth-file": sentence(str(error))})
    message = f"The new truth of {task['title']} is sealed; every run is scored again."
    return redirect_with_notice(request, _home(request), message)


def _safe_file_name(name: str) -> str:
    """The last part of a file's name, in characters that no path minds."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    safe_name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last)
    return safe_name.lstrip(".")[-80:] or "truth.txt"


@handler("board.announce")
def announce(request: Request) -> Response:
    """Tell everybody something, on the overview and in the feed."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    title = text_of(request, "news_title").strip()
    text = text_of(request, "news_text").replace("\r\n", "\n").strip()
    fields = Fields()
    with fields.beside("news_title"):
        accounts.checked_text("the title of the announcement", title)
    if fields.errors:
        return _board(request, status=400, errors=fields.errors)
    context.store.write(
        lambda c: announcements.announce(c, context, identity.actor, row, title, text)
    )
    return redirect_with_notice(request, _home(request), f"“{title}” is announced.")


@handler("board.unsay")
def withdraw_announcement(request: Request, id: str) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    if not context.store.write(
        lambda c: announcements.withdraw(c, context, identity.actor, row, id)
    ):
        raise Refusal(404, "There is no such announcement.")
    return redirect_with_notice(request, _home(request), "The announcement is taken back.")


@handler("board.rescore")
def rescore(request: Request) -> Response:
    context, row = context_of(request), campaign_of(request)

    def write(connection: Connection) -> None:
        for task in campaigns.tasks_of(connection, row["id"]):
            jobs.request_task_scores(connection, context, task["id"])

    context.store.write(write)
    return redirect_with_notice(request, _home(request), "Whatever is not scored is being scored.")


@handler("board.retry")
def retry(request: Request, id: str) -> Response:
    context, row = context_of(request), campaign_of(request)

    def write(connection: Connection) -> bool:
        job_row = connection.execute(
            select(job.c.id).where(job.c.id == id, job.c.campaign == row["id"])
        ).first()
        if job_row is not None:
            jobs.reset(connection, id)
        return job_row is not None

    if not context.store.write(write):
        raise Refusal(404, "There is no such job.")
    context.wake.set()
    return redirect_with_notice(request, _home(request), "The job is tried again.")


@handler("board.run")
def run(request: Request, id: str) -> Response:
    return _run_page(request, id, {})


def _run_page(request: Request, id: str, errors: Mapping[str, str]) -> Response:
    run_row = own_run(request, id)
    with context_of(request).store.read() as connection:
        rows = connection.execute(
            select(score)
            .join(score_set, score_set.c.id == score.c.score_set)
            .where(score.c.run == id, score_set.c.state == "current")
            .order_by(score.c.measure)
        ).mappings()
        scores = [dict(row) for row in rows] or scoring.first_scores(
            connection, context_of(request), run_row
        )
        run_jobs = [
            entry for entry in jobs.jobs_of(connection, run_row["campaign"]) if entry["run"] == id
        ]
    values = {"run": run_row, "scores": scores, "jobs": run_jobs, "errors": errors}
    return render_page(request, "organise_run.html", 400 if errors else 200, **values)


@handler("board.disqualify")
def disqualify(request: Request, id: str) -> Response:
    run_row = own_run(request, id)
    context, identity = context_of(request), identity_of(request)
    fields, reason = Fields(), ""
    with fields.beside("reason"):
        reason = accounts.checked_text("the reason", text_of(request, "reason"), longest=1000)
    if fields.errors:
        return _run_page(request, id, fields.errors)
    name = scoring.name_of(run_row["acronym"], run_row["tag"])
    lines = (
        "The run leaves all tables; every other run is ranked anew.",
        f"The team reads the reason: {reason}",
        "There is no way back; the place in the team's quota stays used.",
    )
    return_path = f"{_home(request)}/runs/{id}"
    question = Question(f"Disqualify {name}?", lines, {"yes": f"Disqualify {name}"}, return_path)
    confirmation = ask_first(request, question)
    if confirmation is not None:
        return confirmation

    def write(connection: Connection) -> None:
        submissions.end_run(connection, context, identity.actor, id, "disqualified", reason)
        jobs.request_task_scores(connection, context, run_row["task"])

    context.store.write(write)
    return redirect_with_notice(request, _home(request), f"{name} is disqualified.")


@handler("board.role")
def role(request: Request) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    role_letter, login = text_of(request, "role"), text_of(request, "login").strip().lower()
    if role_letter not in CAMPAIGN_ROLES:
        return _board(request, status=400, errors={"role": "Choose a role."})

    def write(connection: Connection) -> bool:
        person_id = connection.execute(select(person.c.id).where(person.c.login == login)).scalar()
        if person_id is None:
            return False
        change = accounts.revoke if text_of(request, "do") == "take" else accounts.grant
        change(connection, context, identity.actor, person_id, role_letter, row["id"])
        return True

    if not context.store.write(write):
        wrong = {"login": f"There is no account with the login name {login!r}."}
        return _board(request, status=400, errors=wrong)
    is_revocation = text_of(request, "do") == "take"
    verb = "no longer is" if is_revocation else "is"
    message = f"{login} {verb} {ROLE_NAMES[role_letter]} in this campaign."
    return redirect_with_notice(request, _home(request), message)


@handler("board.export")
def want_export(request: Request) -> Response:
    context, row = context_of(request), campaign_of(request)
    now = context.clock.now()
    job_input = {"campaign": row["slug"]}
    context.store.write(
        lambda c: jobs.request_job(
            c, context, "export", f"export:{row['id']}:{now}", job_input, row["id"]
        )
    )
    return redirect_with_notice(
        request, _home(request), "The export is being written; it appears below."
    )


@handler("board.export.file")
def export_file(request: Request, id: str) -> Response:
    row = campaign_of(request)
    with context_of(request).store.read() as connection:
        path = connection.execute(
            select(export.c.place).where(export.c.id == id, export.c.campaign == row["id"])
        ).scalar()
    if path is None or not Path(path).is_file():
        raise Refusal(404, "There is no such export.")
    return FileResponse(path, headers=attachment_headers(Path(path).name))
