"""The organiser's pages: the board, the state, dates and texts, the truth, runs, exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, select
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from cranfield.campaign.states import State
from cranfield.errors import UsageError
from cranfield.server.routes.submitting import own_run
from cranfield.server.services import accounts, board, campaigns, jobs, scoring, submissions
from cranfield.server.services.uploads import TooLargeError, Upload
from cranfield.server.store.tables import export, job, person, score, score_set
from cranfield.server.web import (
    Refusal,
    attachment,
    campaign_of,
    context_of,
    form_of,
    handler,
    page,
    see,
    text_of,
    visitor_of,
    whole,
)

TEXTS = ("title", "call", "licence", "guidelines", "configurations")
CAMPAIGN_ROLES = ("O", "J", "A")


def _home(request: Request) -> str:
    return f"/{campaign_of(request)['slug']}/organise"


@handler("board")
def show_board(request: Request) -> Response:
    return _board(request)


def _board(request: Request, error: str = "", status: int = 200) -> Response:
    context = context_of(request)
    with context.store.read() as connection:
        found = board.board(connection, context, campaign_of(request))
    return page(request, "board.html", status, board=found, error=error)


@handler("board.state")
def state(request: Request) -> Response:
    end, reason = text_of(request, "to"), text_of(request, "reason")
    try:
        move(request, end, reason)
    except UsageError as error:
        return _board(request, str(error), 409)
    return see(_home(request))


def move(request: Request, end: str, reason: str) -> None:
    """Take the campaign to another state, with all that this brings."""
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)

    def write(connection: Connection) -> None:
        campaigns.move(connection, context, visitor.actor, row["id"], end, reason)
        board.after_move(connection, context, row, cast("State", end))

    context.store.write(write)


@handler("board.settings.form")
def settings_form(request: Request) -> Response:
    return _settings(request, "")


def _settings(request: Request, error: str, status: int = 200) -> Response:
    row = campaign_of(request)
    times = {name: board.shown_time(row[name]) for name in ("opens", "closes", "release")}
    return page(request, "settings.html", status, times=times, error=error)


@handler("board.settings")
def change_settings(request: Request) -> Response:
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    try:
        values: dict[str, Any] = {
            name: text_of(request, name).replace("\r\n", "\n").strip() for name in TEXTS
        }
        accounts.checked_text("the title", values["title"])
        for name in ("opens", "closes", "release"):
            values[name] = board.time_from(text_of(request, name), name)
        for name in ("pooled", "teams_assess"):
            values[name] = int(text_of(request, name) == "yes")
        values["runs_per_team"] = _count(text_of(request, "runs_per_team"))
        context.store.write(
            lambda c: campaigns.change(c, context, visitor.actor, row["id"], values)
        )
    except UsageError as error:
        return _settings(request, str(error), 400)
    return see(_home(request))


def _count(text: str) -> int:
    found = whole(text)
    if found is None or not 1 <= found <= 1000:
        raise UsageError("the number of runs per team is a whole number from 1 to 1000")
    return found


@handler("board.truth")
def truth(request: Request) -> Response:
    """A new version of the truth goes straight to where only the scoring child reads."""
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    file, note = form_of(request).get("file"), text_of(request, "note").strip()
    with context.store.read() as connection:
        tasks = {one["slug"]: one for one in campaigns.tasks_of(connection, row["id"])}
    one = tasks.get(text_of(request, "task"))
    try:
        if one is None or file is None or isinstance(file, str) or not file.filename:
            raise UsageError("choose a task and the file of the truth")
        if not note:
            raise UsageError("say in a note what is different in this truth")
        with Upload.begin(context) as upload:
            while block := file.file.read(1 << 20):
                upload.add(block)
            upload.end()
            name = f"{row['slug']}/{one['kind']}-{context.new_id()}/{_plain(file.filename)}"
            target = context.settings.sealed / name
            target.parent.mkdir(parents=True, mode=0o700)
            upload.path.chmod(0o600)
            upload.path.replace(target)
            facts = {"sha": upload.sha, "file": name, "source": "upload", "note": note}
        context.store.write(
            lambda c: scoring.add_truth(c, context, visitor.actor, one["id"], **facts)
        )
    except (UsageError, TooLargeError) as error:
        return _board(request, str(error), 400)
    return see(_home(request))


def _plain(name: str) -> str:
    """The last part of a file's name, in characters that no path minds."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last)
    return kept.lstrip(".")[-80:] or "truth.txt"


@handler("board.rescore")
def rescore(request: Request) -> Response:
    context, row = context_of(request), campaign_of(request)

    def write(connection: Connection) -> None:
        for one in campaigns.tasks_of(connection, row["id"]):
            jobs.want_task(connection, context, one["id"])

    context.store.write(write)
    return see(_home(request))


@handler("board.retry")
def retry(request: Request, id: str) -> Response:
    context, row = context_of(request), campaign_of(request)

    def write(connection: Connection) -> bool:
        mine = connection.execute(
            select(job.c.id).where(job.c.id == id, job.c.campaign == row["id"])
        ).first()
        if mine is not None:
            jobs.reset(connection, id)
        return mine is not None

    if not context.store.write(write):
        raise Refusal(404, "There is no such job.")
    context.wake.set()
    return see(_home(request))


@handler("board.run")
def run(request: Request, id: str) -> Response:
    found = own_run(request, id)
    with context_of(request).store.read() as connection:
        rows = connection.execute(
            select(score)
            .join(score_set, score_set.c.id == score.c.score_set)
            .where(score.c.run == id, score_set.c.state == "current")
            .order_by(score.c.measure)
        ).mappings()
        scores = [dict(row) for row in rows]
        work = [one for one in jobs.jobs_of(connection, found["campaign"]) if one["run"] == id]
    return page(request, "organise_run.html", run=found, scores=scores, jobs=work)


@handler("board.disqualify")
def disqualify(request: Request, id: str) -> Response:
    found = own_run(request, id)
    context, visitor = context_of(request), visitor_of(request)
    reason = accounts.checked_text("the reason", text_of(request, "reason"), longest=1000)

    def write(connection: Connection) -> None:
        submissions.end_run(connection, context, visitor.actor, id, "disqualified", reason)
        jobs.want_task(connection, context, found["task"])

    context.store.write(write)
    return see(_home(request))


@handler("board.role")
def role(request: Request) -> Response:
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    what, login = text_of(request, "role"), text_of(request, "login").strip().lower()
    if what not in CAMPAIGN_ROLES:
        return _board(request, "choose a role", 400)

    def write(connection: Connection) -> bool:
        who = connection.execute(select(person.c.id).where(person.c.login == login)).scalar()
        if who is None:
            return False
        change = accounts.revoke if text_of(request, "do") == "take" else accounts.grant
        change(connection, context, visitor.actor, who, what, row["id"])
        return True

    if not context.store.write(write):
        return _board(request, f"nobody has the login name {login!r}", 400)
    return see(_home(request))


@handler("board.export")
def want_export(request: Request) -> Response:
    context, row = context_of(request), campaign_of(request)
    now = context.clock.now()
    given = {"campaign": row["slug"]}
    context.store.write(
        lambda c: jobs.want(c, context, "export", f"export:{row['id']}:{now}", given, row["id"])
    )
    return see(_home(request))


@handler("board.export.file")
def export_file(request: Request, id: str) -> Response:
    row = campaign_of(request)
    with context_of(request).store.read() as connection:
        found = connection.execute(
            select(export.c.place).where(export.c.id == id, export.c.campaign == row["id"])
        ).scalar()
    if found is None or not Path(found).is_file():
        raise Refusal(404, "There is no such export.")
    return FileResponse(found, headers=attachment(Path(found).name))
