"""Phases and the live board: when runs are taken, how many, and what is shown of them meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from cranfield.campaign.live_board import parse_live_part
from cranfield.errors import UsageError
from cranfield.io.collection import read_collection
from cranfield.server.forms import Fields
from cranfield.server.http import (
    Refusal,
    campaign_of,
    context_of,
    handler,
    identity_of,
    redirect,
    redirect_with_notice,
    render_page,
    task_of,
    text_of,
    whole_number,
)
from cranfield.server.permissions import Role
from cranfield.server.services import accounts, campaigns, organiser_dashboard, phases, teams
from cranfield.server.services.campaigns import Row

MOST_RUNS = 10_000
# The bound of a probing attack is told for a team whose shown value changes this many times.
TOLD_CHANGES = (1, 3, 10)
NO_BOARD = "There is no live board: scores are sealed until they are released."


def _home(request: Request) -> str:
    return f"/{campaign_of(request)['slug']}/organise/phases"


@handler("phases")
def show_phases(request: Request) -> Response:
    return _page(request, {})


def _page(request: Request, errors: Mapping[str, str]) -> Response:
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        rows = phases.phases_of(connection, row["id"])
        boards = [
            (task, phases.read_board(connection, task["id"]))
            for task in campaigns.tasks_of(connection, row["id"])
        ]
        team_rows = [team for team in teams.participation(connection, row["id"]) if team["people"]]
        extensions = phases.extensions_of(connection, row["id"])
    for phase in rows:
        phase["times"] = {
            name: organiser_dashboard.format_time(phase[name]) for name in ("opens", "closes")
        }
    bounds = [
        (task["title"], board, [(n, phases.live_bound(board, rows, n)) for n in TOLD_CHANGES])
        for task, board in boards
        if board is not None and row["live_part"]
    ]
    return render_page(
        request,
        "phases.html",
        400 if errors else 200,
        phases=rows,
        current=phases.phase_at(rows, context.clock.now()),
        bounds=bounds,
        teams=team_rows,
        extensions=extensions,
        splits=_splits(request),
        errors=errors,
    )


def _splits(request: Request) -> tuple[str, ...]:
    folder = context_of(request).settings.public / campaign_of(request)["slug"]
    return tuple(read_collection(folder).splits)


@handler("phases.put")
def put_phase(request: Request) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    fields = Fields()
    values: dict[str, Any] = {"live": int(text_of(request, "live") == "yes")}
    with fields.beside("name"):
        values["name"] = accounts.checked_text("the name of the phase", text_of(request, "name"))
    for name, label in (("opens", "Begins"), ("closes", "Ends")):
        with fields.beside(name):
            values[name] = organiser_dashboard.parse_time(text_of(request, name), label)
            if values[name] is None:
                raise UsageError(f"{label}: a phase has a time for that")
    for name, least in (("runs", 1), ("runs_per_day", 0)):
        with fields.beside(name):
            values[name] = _count(text_of(request, name), least)
    if not fields.errors and values["live"] and not row["live_part"]:
        fields.errors["live"] = "Choose the live part first: without it there is nothing to show."
    if not fields.errors:
        phase_id = text_of(request, "phase")
        with fields.beside("closes"):
            context.store.write(
                lambda c: phases.put_phase(c, context, identity.actor, row, phase_id, values)
            )
    if fields.errors:
        return _page(request, fields.errors)
    return redirect_with_notice(request, _home(request), f"The phase {values['name']} is saved.")


def _count(text: str, least: int) -> int:
    number = whole_number(text.strip() or str(least))
    if number is None or not least <= number <= MOST_RUNS:
        raise UsageError(f"a number of runs is a whole number from {least} to {MOST_RUNS}")
    return number


@handler("phases.remove")
def remove_phase(request: Request, id: str) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    fields = Fields()
    with fields.beside(""):
        context.store.write(lambda c: phases.remove_phase(c, context, identity.actor, row, id))
    if fields.errors:
        return _page(request, fields.errors)
    return redirect_with_notice(request, _home(request), "The phase is removed.")


@handler("phases.live")
def set_live_part(request: Request) -> Response:
    """What the live board is scored on; it is fixed before anybody has seen a score."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    fields, part = Fields(), ""
    with fields.beside("live_part"):
        if row["state"] != "draft":
            raise UsageError("the live part is chosen in the draft, before runs are taken")
        part = parse_live_part(text_of(request, "live_part"), _splits(request))
    if fields.errors:
        return _page(request, fields.errors)
    context.store.write(lambda c: phases.set_live_part(c, context, identity.actor, row, part))
    notice = f"The live part is {part}." if part else "There is no live board: all is sealed."
    return redirect_with_notice(request, _home(request), notice)


@handler("phases.extend")
def extend(request: Request) -> Response:
    """Late runs of one team, by a decision with a reason."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    fields, until, reason = Fields(), 0, ""
    with fields.beside("until"):
        until = organiser_dashboard.parse_time(text_of(request, "until"), "Until") or 0
    with fields.beside("late_reason"):
        reason = accounts.checked_text("the reason", text_of(request, "late_reason"), longest=1000)
    if not fields.errors:
        with fields.beside("team"):
            team_id = text_of(request, "team")
            context.store.write(
                lambda c: phases.extend(c, context, identity.actor, row, team_id, until, reason)
            )
    if fields.errors:
        return _page(request, fields.errors)
    return redirect_with_notice(request, _home(request), "Late runs of the team are taken.")


@handler("live.first")
def first_live_board(request: Request) -> Response:
    row = campaign_of(request)
    with context_of(request).store.read() as connection:
        tasks = campaigns.tasks_of(connection, row["id"])
    if not row["live_part"] or not tasks:
        raise Refusal(404, NO_BOARD)
    return redirect(f"/{row['slug']}/live/{tasks[0]['slug']}")


@handler("live")
def live_board(request: Request, t: str) -> Response:  # noqa: ARG001
    """The board that is shown while runs are taken; without a live part there is none."""
    context, row, task_row = context_of(request), campaign_of(request), task_of(request)
    if not row["live_part"]:
        raise Refusal(404, NO_BOARD)
    with context.store.read() as connection:
        board = phases.read_board(connection, task_row["id"])
        tasks = campaigns.tasks_of(connection, row["id"])
        rows = phases.phases_of(connection, row["id"])
        team: Row | None = teams.team_of(connection, row["id"], identity_of(request).person)
    return render_page(
        request,
        "live.html",
        task=task_row,
        tasks=tasks,
        board=board,
        bound=phases.live_bound(board, rows, TOLD_CHANGES[1]) if board else 0.0,
        changes=TOLD_CHANGES[1],
        own=team["acronym"] if team else "",
        organiser=Role.ORGANISER in identity_of(request).roles,
    )
