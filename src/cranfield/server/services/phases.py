"""Phases, the live board and late runs: when runs are taken, and what is shown of them."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from cranfield.campaign.live_board import probing_bound
from cranfield.errors import UsageError, plural
from cranfield.server.context import SECOND, Context, as_time
from cranfield.server.services import audit, clock
from cranfield.server.services.campaigns import Row, tasks_of
from cranfield.server.store.tables import campaign, extension, phase, run, team

DAY = 24 * 3600 * SECOND
MOST_PHASES = 12
# In these states a late run is taken where the organisers have decided so.
LATE_STATES = ("open", "closed", "pooling", "assessment")
# States of runs that count against a quota.
COUNTED = ("accepted", "disqualified")
# Settings of the store: what cuts a truth in two, and the rows of the live board of a task.
SALT, BOARD = "live-salt:{}", "live-board:{}"


class NotNowError(UsageError):
    """Something that is not possible in the state that the campaign or the team is in."""


# ---- phases


def phases_of(connection: Connection, campaign_id: str) -> list[Row]:
    """The phases of a campaign in their order."""
    query = select(phase).where(phase.c.campaign == campaign_id).order_by(phase.c.opens, phase.c.id)
    return [dict(row) for row in connection.execute(query).mappings()]


def phase_at(phases: list[Row], time: int) -> Row | None:
    """The phase that takes runs at a time."""
    return next((row for row in phases if row["opens"] <= time < row["closes"]), None)


def put_phase(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_row: Row,
    phase_id: str,
    values: Row,
) -> str:
    """Add a phase, or change the one of an id; phases share no time."""
    if values["opens"] >= values["closes"]:
        raise UsageError("a phase closes after it opens")
    others = [row for row in phases_of(connection, campaign_row["id"]) if row["id"] != phase_id]
    if len(others) >= MOST_PHASES:
        raise UsageError(f"a campaign has at most {MOST_PHASES} phases")
    for other in others:
        if other["opens"] < values["closes"] and values["opens"] < other["closes"]:
            raise UsageError(f"the phase {other['name']!r} is at the same time")
    start, end = campaign_row["opens"], campaign_row["closes"]
    if (start is not None and values["opens"] < start) or (
        end is not None and values["closes"] > end
    ):
        raise UsageError("a phase lies between the opening and the closing of the campaign")
    if phase_id:
        condition = (phase.c.id == phase_id) & (phase.c.campaign == campaign_row["id"])
        if not connection.execute(update(phase).where(condition).values(**values)).rowcount:
            raise UsageError("there is no such phase (any more)")
    else:
        phase_id = context.new_id()
        connection.execute(insert(phase).values(id=phase_id, campaign=campaign_row["id"], **values))
    detail = {"phase": values["name"]}
    now = context.clock.now()
    audit.append(connection, now, actor, "campaign.phase", campaign_row["slug"], detail)
    return phase_id


def remove_phase(
    connection: Connection, context: Context, actor: str, campaign_row: Row, phase_id: str
) -> None:
    """Remove a phase that took no run."""
    taken = select(run.c.id).where(run.c.phase == phase_id).limit(1)
    if connection.execute(taken).first() is not None:
        raise UsageError("runs were taken in this phase: it stays")
    condition = (phase.c.id == phase_id) & (phase.c.campaign == campaign_row["id"])
    if not connection.execute(delete(phase).where(condition)).rowcount:
        raise UsageError("there is no such phase (any more)")
    now = context.clock.now()
    audit.append(connection, now, actor, "campaign.unphase", campaign_row["slug"])


# ---- quotas


def count_runs(
    connection: Connection, task_id: str, team_id: str, phase_id: str, since: int = 0
) -> int:
    """How many runs of a team count against the quota of a phase; withdrawn ones do not."""
    return int(
        connection.execute(
            select(func.count())
            .select_from(run)
            .where(
                run.c.task == task_id,
                run.c.team == team_id,
                run.c.phase == phase_id,
                run.c.state.in_(COUNTED),
                run.c.baseline == 0,
                run.c.created >= since,
            )
        ).scalar_one()
    )


def allowance(
    connection: Connection, campaign_id: str, task_id: str, team_id: str, time: int
) -> Row:
    """What a team may still send for a task at a time: its phase, the runs used, and the limits."""
    row = connection.execute(
        select(campaign.c.runs_per_team).where(campaign.c.id == campaign_id)
    ).one()
    phases = phases_of(connection, campaign_id)
    current = phase_at(phases, time)
    if phases and current is None:
        # Late runs are those of the last phase.
        current = phases[-1]
    phase_id = current["id"] if current else ""
    today = time // DAY * DAY
    return {
        "phase": current,
        "used": count_runs(connection, task_id, team_id, phase_id),
        "most": current["runs"] if current else row.runs_per_team,
        "today": count_runs(connection, task_id, team_id, phase_id, today),
        "most_today": current["runs_per_day"] if current else 0,
    }


def check_room(
    connection: Connection, campaign_id: str, task_id: str, team_id: str, time: int
) -> None:
    """A NotNowError where a team has used its runs: in all, or those of the day."""
    room = allowance(connection, campaign_id, task_id, team_id, time)
    part = f" in the phase {room['phase']['name']!r}" if room["phase"] else ""
    if room["used"] >= room["most"]:
        raise NotNowError(f"all {room['most']} runs of your team for this task{part} are used")
    if room["most_today"] and room["today"] >= room["most_today"]:
        count = plural(room["most_today"], "run")
        raise NotNowError(
            f"your team may send {count} a day for this task{part}; the next day begins at "
            f"{as_time((time // DAY + 1) * DAY)}"
        )


def enter_phase(
    connection: Connection, campaign_id: str, team_id: str, state: str, *, in_time: bool, time: int
) -> tuple[str, int]:
    """The phase of a run that arrives now, and 1 if it is late; a NotNowError if not taken."""
    phases = phases_of(connection, campaign_id)
    current = phase_at(phases, time)
    if in_time and (current is not None or not phases):
        return (current["id"] if current else ""), 0
    if state in LATE_STATES and extension_until(connection, team_id) > time:
        return (phases[-1]["id"] if phases else ""), 1
    if in_time:
        coming = next((row for row in phases if row["opens"] > time), None)
        when = f"; {coming['name']!r} begins at {as_time(coming['opens'])}" if coming else ""
        raise NotNowError(f"no phase takes runs at this moment{when}")
    raise NotNowError(f"runs are taken while the campaign is open; it is {state}")


# ---- late runs


def extension_until(connection: Connection, team_id: str) -> int:
    """Until when a team may send late runs, by decision of the organisers; 0 without one."""
    until = connection.execute(
        select(func.max(extension.c.until)).where(extension.c.team == team_id)
    ).scalar()
    return int(until or 0)


def extend(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_row: Row,
    team_id: str,
    until: int,
    reason: str,
) -> None:
    """Decide that a team may send runs after the closing; the reason is written down."""
    if until <= context.clock.now():
        raise UsageError("the time until which late runs are taken is still to come")
    if campaign_row["state"] not in LATE_STATES:
        raise UsageError(f"the campaign is {campaign_row['state']}: its runs are scored")
    condition = (team.c.id == team_id) & (team.c.campaign == campaign_row["id"])
    acronym = connection.execute(select(team.c.acronym).where(condition)).scalar()
    if acronym is None:
        raise UsageError("choose a team")
    now = context.clock.now()
    connection.execute(
        insert(extension).values(
            id=context.new_id(),
            campaign=campaign_row["id"],
            team=team_id,
            until=until,
            reason=reason,
            created=now,
        )
    )
    detail = {"until": as_time(until), "reason": reason}
    audit.append(connection, now, actor, "team.extend", team_id, detail)


def extensions_of(connection: Connection, campaign_id: str) -> list[Row]:
    """The decisions about late runs, the newest first."""
    query = (
        select(extension, team.c.acronym)
        .join(team, team.c.id == extension.c.team)
        .where(extension.c.campaign == campaign_id)
        .order_by(extension.c.created.desc(), extension.c.id)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


# ---- the live board


def live_salt(connection: Connection, context: Context, campaign_id: str) -> str:
    """The secret by which topics or items are drawn for the live part; made when first needed."""
    name = SALT.format(campaign_id)
    salt = clock.read_setting(connection, name)
    if salt is None:
        salt = context.new_secret()
        clock.write_setting(connection, name, salt)
    return salt


def set_live_part(
    connection: Connection, context: Context, actor: str, campaign_row: Row, part: str
) -> None:
    """Choose what the live board is scored on; whatever was scored before is scored anew."""
    from cranfield.server.services import jobs

    live_salt(connection, context, campaign_row["id"])
    condition = campaign.c.id == campaign_row["id"]
    connection.execute(update(campaign).where(condition).values(live_part=part))
    now = context.clock.now()
    audit.append(connection, now, actor, "campaign.live", campaign_row["slug"], {"part": part})
    for row in tasks_of(connection, campaign_row["id"]):
        jobs.request_task_scores(connection, context, row["id"])


def read_salt(connection: Connection, campaign_id: str) -> str:
    """The secret of a campaign whose settings name a live part."""
    return clock.read_setting(connection, SALT.format(campaign_id)) or ""


def keep_board(connection: Connection, task_id: str, board: Row) -> None:
    clock.write_setting(connection, BOARD.format(task_id), json.dumps(board))


def read_board(connection: Connection, task_id: str) -> dict[str, Any] | None:
    """The live board of a task as it was made last."""
    text = clock.read_setting(connection, BOARD.format(task_id))
    return None if text is None else json.loads(text)


def live_bound(board: Row, phases: list[Row], changes: int) -> float:
    """How far probing can take a live score, for a team that uses all its runs."""
    submissions = sum(row["runs"] for row in phases if row["live"])
    return probing_bound(board["units"], max(submissions, 1), board["step"], changes)
