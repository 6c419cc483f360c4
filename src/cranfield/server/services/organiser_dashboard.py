"""The organiser's board: where the campaign stands, what the next state needs, what went wrong."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, func, select

from cranfield.campaign.workflow import STATES, State, guards, moves_from
from cranfield.errors import UsageError, plural
from cranfield.server.context import SECOND, Context
from cranfield.server.services import audit, jobs, mail, scoring, submissions, teams, webhooks
from cranfield.server.services.campaigns import Row, equal_truths, facts_of, latest_truth, tasks_of
from cranfield.server.store.tables import (
    campaign as campaigns,
)
from cranfield.server.store.tables import (
    export,
    person,
    rejected_upload,
    role,
    run,
    run_score,
    task,
    team,
)
from cranfield.server.store.work_tables import assessor

FIRST_YEAR, LAST_YEAR = 1971, 9998
DAY = 24 * 3600 * SECOND
# The chart of submissions goes back so many days; the list of what happened has so many lines.
DAYS_SHOWN, ACTIVITY_SHOWN = 42, 15
# States that only a campaign with a pool passes through.
POOL_STATES = ("pooling", "assessment")
# What rows of the audit say to people; {by} and {on} are names.
SENTENCES = {
    "campaign.add": "{by} made the campaign",
    "campaign.announce": "{by} announced “{title}”",
    "campaign.unsay": "{by} took back “{title}”",
    "campaign.change": "{by} changed the settings: {names}",
    "campaign.phase": "{by} set the phase “{phase}”",
    "campaign.unphase": "{by} removed a phase",
    "campaign.live": "{by} chose the live part: {part}",
    "campaign.made": "{by} made the campaign in the browser",
    "campaign.invite": "{by} invited somebody",
    "webhook.add": "{by} has {url} told what happens",
    "webhook.remove": "{by} removed a webhook",
    "campaign.state": "{by} moved the campaign from {from} to {to}",
    "licence.sign": "{by} signed the licence",
    "role.grant": "{by} gave {on} a role",
    "role.revoke": "{by} took a role from {on}",
    "run.accept": "{by} sent {on}",
    "run.withdraw": "{by} withdrew {on}",
    "run.withdrawn": "{by} withdrew {on}",
    "run.replaced": "{by} replaced {on}",
    "run.disqualified": "{by} disqualified {on}",
    "scores.switch": "New scores of {on} are shown",
    "team.add": "The team {on} registered",
    "team.change": "{by} changed the team {on}",
    "team.extend": "{by} takes late runs of {on} until {until}",
    "team.merge": "{by} merged {other} into {on}",
    "team.join": "{by} joined the team {on}",
    "team.link": "{by} made a link to join {on}",
    "team.remove": "{by} removed a member of {on}",
    "truth.add": "{by} sealed a truth of {on}",
    "batch.add": "{by} made the batch {on}",
    "batch.state": "{by} moved the batch {on} to {to}",
}
# What the button of a move says, and what the move does.
MOVE_NAMES: dict[State, tuple[str, str]] = {
    "open": ("Open the campaign", "Visitors see it; teams register, get the data and send runs."),
    "closed": ("Close submissions", "Runs are no longer taken, also before the closing date."),
    "pooling": ("Pool the runs", "The items to judge are taken from the runs."),
    "assessment": ("Start the assessment", "People judge the pool; no run comes in any more."),
    "scoring": ("Make the tables", "All runs are compared; only organisers see the tables."),
    "released": ("Release the results", "Everybody sees the tables, the truth and all runs."),
    "archived": ("Archive the campaign", "It stays readable; nothing in it changes any more."),
}
MOVE_BACK_NAMES: dict[State, str] = {
    "open": "Take runs again",
    "pooling": "Back to pooling",
    "scoring": "Take the results back",
}
MOVE_BACK = "A way back: the reason stands in the audit."
# Runs that a collection brings along are told in one line.
IMPORTED = ("import", "run.accept")
ACTORS = {"import": "The import", "clock": "The clock", "demo": "The demo", "public": "A visitor"}


def dashboard(connection: Connection, context: Context, campaign: Row) -> dict[str, Any]:
    """All that the board shows."""
    campaign_id, state = campaign["id"], campaign["state"]
    facts = facts_of(connection, context, campaign_id)
    moves = [
        {
            "end": move.end,
            "back": move.back,
            "name": MOVE_BACK_NAMES[move.end] if move.back else MOVE_NAMES[move.end][0],
            "about": MOVE_BACK if move.back else MOVE_NAMES[move.end][1],
            "guards": guards(move.end, facts),
        }
        for move in moves_from(state)
        if move.end != "pooling" or facts.pooled
    ]
    team_rows = teams.participation(connection, campaign_id)
    usage = shutil.disk_usage(context.settings.folder)
    return {
        "moves": moves,
        "tasks": [_task_status(connection, row) for row in tasks_of(connection, campaign_id)],
        "teams": team_rows,
        # A team without people has the organisers' baselines: it did not register.
        "registered": sum(1 for row in team_rows if row["people"]),
        "signed": sum(1 for row in team_rows if row["signed"]),
        "imported": sum(1 for row in team_rows if row["acronym"] and not row["people"]),
        "submitted": sum(1 for row in team_rows if row["runs"] and row["people"]),
        "runs": submissions.runs_of(connection, campaign_id, None),
        "jobs": jobs.counts(connection, campaign_id),
        "failed": _name_job_rows(connection, jobs.jobs_of(connection, campaign_id, "failed")),
        "refused": submissions.rejections(connection, campaign_id),
        "activity": _activity(connection, campaign)[:ACTIVITY_SHOWN],
        "steps": _steps(state, pooled=bool(facts.pooled)),
        "days": submissions_per_day(connection, context, campaign),
        "disk_free": usage.free,
        "disk_total": usage.total,
        "exports": exports(connection, campaign_id),
        "roles": _roles(connection, campaign_id),
    }


def _steps(state: State, *, pooled: bool) -> list[tuple[str, str]]:
    """The states on the way of a campaign, each past, current or still to come."""
    way = [name for name in STATES if pooled or name not in POOL_STATES or name == state]
    here = way.index(state)
    return [
        (name, "past" if place < here else "current" if place == here else "")
        for place, name in enumerate(way)
    ]


def submissions_per_day(
    connection: Connection, context: Context, campaign: Row
) -> list[tuple[str, int, int]]:
    """The last days with the runs that were accepted and the uploads that were refused."""
    taken = select(run.c.created).join(task, task.c.id == run.c.task)
    refused = select(rejected_upload.c.at).join(task, task.c.id == rejected_upload.c.task)
    last = context.clock.now() // DAY
    first = max((campaign["opens"] or campaign["created"]) // DAY, last - DAYS_SHOWN + 1)
    counts = {day: [0, 0] for day in range(min(first, last), last + 1)}
    for kind, query in enumerate((taken.where(run.c.via != "import"), refused)):
        times = connection.execute(query.where(task.c.campaign == campaign["id"])).scalars()
        for time in times:
            if time // DAY in counts:
                counts[time // DAY][kind] += 1
    return [
        (f"{datetime.fromtimestamp(day * DAY / SECOND, UTC):%Y-%m-%d}", accepted, rejected)
        for day, (accepted, rejected) in counts.items()
    ]


def _activity(connection: Connection, campaign: Row) -> list[Row]:
    """What happened last, in words: the audit, and the uploads that were refused."""
    events = _audit(connection, campaign)
    imported = [row for row in events if (row["by"], row["action"]) == IMPORTED]
    # The team of the organisers themselves has no name, and did not register.
    unnamed = [row for row in events if row["action"] == "team.add" and not row["on"]]
    rows = [
        {"at": row["at"], "text": describe_event(row)}
        for row in events
        if row not in imported and row not in unnamed
    ]
    if imported:
        message = f"The import brought {plural(len(imported), 'run')}"
        rows.append({"at": imported[0]["at"], "text": message})
    rows += [
        {
            "at": upload["at"],
            "text": f"{upload['acronym'] or 'An organiser'} sent {upload['tag']}, refused: "
            f"{plural(upload['count'], 'problem')}",
        }
        for upload in submissions.rejections(connection, campaign["id"])
    ]
    return sorted(rows, key=lambda row: -row["at"])


def describe_event(row: Row) -> str:
    """A named row of the audit as a sentence; an action without one is told as it is.

    >>> describe_event({"action": "run.accept", "by": "ann", "on": "ONE.r1", "detail": "{}"})
    'ann sent ONE.r1'
    """
    detail = json.loads(row["detail"] or "{}")
    actor = ACTORS.get(row["by"], row["by"])
    sentence = SENTENCES.get(row["action"])
    if sentence is None:
        return f"{actor}: {row['action']} {row['on']}"
    names = ", ".join(str(name).replace("_", " ") for name in detail)
    names_of_details = ("from", "to", "title", "phase", "part", "until", "other", "url")
    words = dict.fromkeys(names_of_details, "") | {
        name: str(value) for name, value in detail.items()
    }
    words |= {"by": actor, "on": row["on"], "names": names}
    reason = f": {detail['reason']}" if detail.get("reason") else ""
    return sentence.format(**words) + reason


def _audit(connection: Connection, campaign: Row) -> list[Row]:
    """The last rows of the audit that speak of this campaign."""
    ids = {campaign["id"], campaign["slug"]}
    ids |= set(
        connection.execute(select(task.c.id).where(task.c.campaign == campaign["id"])).scalars()
    )
    ids |= set(
        connection.execute(select(team.c.id).where(team.c.campaign == campaign["id"])).scalars()
    )
    ids |= {run_row["id"] for run_row in submissions.runs_of(connection, campaign["id"], None)}
    rows = [row for row in audit.last_rows(connection, 300) if row["object"] in ids]
    return name_audit_rows(connection, rows)


def name_audit_rows(connection: Connection, rows: list[Row]) -> list[Row]:
    """Rows of the audit with the names that people know instead of ids, where there are some."""
    ids = {row["object"] for row in rows} | {row["actor"] for row in rows}
    names: dict[str, str] = {}
    for table, name in (
        (person, person.c.login),
        (team, team.c.acronym),
        (task, task.c.title),
        (campaigns, campaigns.c.title),
        (assessor, assessor.c.pseudonym),
    ):
        name_rows = connection.execute(select(table.c.id, name).where(table.c.id.in_(ids)))
        names |= {str(row[0]): str(row[1]) for row in name_rows}
    runs = connection.execute(
        select(run.c.id, run.c.tag, team.c.acronym)
        .join(team, team.c.id == run.c.team)
        .where(run.c.id.in_(ids))
    )
    names |= {
        run_row.id: scoring.name_of(run_row.acronym, run_row.tag.split("~")[0]) for run_row in runs
    }
    return [
        row
        | {
            "on": names.get(row["object"], row["object"]),
            "by": names.get(row["actor"], row["actor"]),
        }
        for row in rows
    ]


def exports(connection: Connection, campaign_id: str | None) -> list[Row]:
    query = select(export).order_by(export.c.created.desc()).limit(10)
    if campaign_id is not None:
        query = query.where(export.c.campaign == campaign_id)
    return [dict(row) for row in connection.execute(query).mappings()]


def _task_status(connection: Connection, task_row: Row) -> Row:
    accepted = connection.execute(
        select(func.count())
        .select_from(run)
        .where(run.c.task == task_row["id"], run.c.state == "accepted")
    ).scalar_one()
    current = scoring.current_set(connection, task_row["id"])
    expected_key = jobs.set_key(connection, task_row["id"])
    truth = latest_truth(connection, task_row["id"])
    scored = 0
    if truth is not None:
        scored = connection.execute(
            select(func.count(func.distinct(run.c.id)))
            .join(run_score, run_score.c.run == run.c.id)
            .where(
                run.c.task == task_row["id"],
                run.c.state == "accepted",
                run_score.c.truth_version.in_(equal_truths(truth)),
            )
        ).scalar_one()
    return task_row | {
        "runs": accepted,
        "scored": scored,
        "truth": truth,
        "set": current,
        "stale": current is not None and current["key"] != expected_key,
    }


def _name_job_rows(connection: Connection, rows: list[Row]) -> list[Row]:
    ids = [row["run"] for row in rows if row["run"]]
    names = {
        run_row.id: scoring.name_of(run_row.acronym, run_row.tag)
        for run_row in connection.execute(
            select(run.c.id, run.c.tag, team.c.acronym)
            .join(team, team.c.id == run.c.team)
            .where(run.c.id.in_(ids))
        )
    }
    return [row | {"name": names.get(row["run"], "")} for row in rows]


def _roles(connection: Connection, campaign_id: str) -> list[Row]:
    rows = connection.execute(
        select(person.c.login, person.c.name, role.c.role)
        .join(role, role.c.person == person.c.id)
        .where(role.c.campaign == campaign_id)
        .order_by(person.c.login)
    )
    return [dict(row) for row in rows.mappings()]


def parse_time(text: str, field: str) -> int | None:
    """A time as a form gives it, in UTC: 2027-03-01T12:00, with or without seconds."""
    if not text.strip():
        return None
    try:
        time = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(
            f"{field}: {text.strip()[:40]!r} is not a time such as 2027-03-01T12:00"
        ) from None
    # Beyond these years a time in another zone is one that no page could show.
    if not FIRST_YEAR <= time.year <= LAST_YEAR:
        raise UsageError(f"{field} is not in the years {FIRST_YEAR} to {LAST_YEAR}")
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return int(aware.timestamp() * SECOND)


def format_time(milliseconds: int | None) -> str:
    """The same back into a form."""
    if milliseconds is None:
        return ""
    return datetime.fromtimestamp(milliseconds / SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def start_jobs_of_state(
    connection: Connection, context: Context, campaign: Row, end: State
) -> None:
    """What a state brings with it: scores are put together, a released truth is shown."""
    for task_row in tasks_of(connection, campaign["id"]):
        if end in jobs.SCORED_STATES:
            jobs.request_task_scores(connection, context, task_row["id"])
        if end == "released":
            scoring.request_publication(connection, context, task_row["id"])
    if end == "released":
        mail.tell_participants(connection, context, campaign, "results")
        webhooks.tell(connection, context, campaign["id"], "released")
