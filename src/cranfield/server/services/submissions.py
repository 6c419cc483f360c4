"""Submissions: checked inside the request against what is public, then stored by one transaction.

The truth is never looked at here. What is refused costs nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from cranfield.campaign.submissions import CheckedSubmission
from cranfield.errors import CranfieldError, UsageError
from cranfield.io.files import run_name
from cranfield.server.context import Context, as_time
from cranfield.server.services import audit, jobs, phases
from cranfield.server.services.accounts import checked_text
from cranfield.server.services.campaigns import Row, close_if_due, closing_time
from cranfield.server.services.disk import team_bytes
from cranfield.server.services.phases import NotNowError
from cranfield.server.store.tables import blob, campaign, rejected_upload, run, task, team

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_ENDING = re.compile(r"\.(txt|run|csv|tsv|json|npz|parquet)")
MAX_LISTED = 20


class RejectedError(CranfieldError):
    """A submission that was read and is not accepted; nothing was counted."""

    def __init__(self, checked: CheckedSubmission) -> None:
        self.checked = checked
        super().__init__(f"not accepted: {checked.count} problems")


@dataclass(frozen=True)
class Submission:
    """What is said about a run beside its file."""

    tag: str
    configuration: str = ""
    description: str = ""
    features: str = ""
    classifier: str = ""
    threshold: str = ""
    ending: str = ""
    precedence: int = 0
    replace: bool = False
    via: str = "page"


def checked_submission(
    submission: Submission, campaign_row: Mapping[str, Any], kind: str
) -> Submission:
    """The same with blanks removed, or a UsageError about what is missing or not allowed."""
    tag = submission.tag.strip()
    if not _TAG.fullmatch(tag) or run_name(tag) != tag:
        raise UsageError(
            "the tag of a run has 1 to 40 letters, digits or . _ - and begins with one of the "
            "first two; it has no ending of a file"
        )
    allowed = str(campaign_row["configurations"]).split()
    configuration = checked_text("the configuration", submission.configuration, longest=40)
    if allowed and configuration not in allowed:
        raise UsageError(f"the configuration is one of {', '.join(allowed)}")
    if submission.ending and not _ENDING.fullmatch(submission.ending):
        raise UsageError("the file's name ends in .txt, .run, .csv, .tsv, .json, .npz or .parquet")
    if submission.threshold and kind != "labels":
        raise UsageError("only annotations have a threshold")
    return Submission(
        tag=tag,
        configuration=configuration,
        description=checked_text("the description", submission.description, longest=4000),
        features=checked_text("the features", submission.features, needed=False),
        classifier=checked_text("the classifier", submission.classifier, needed=False),
        threshold=submission.threshold.strip(),
        ending=submission.ending or ".txt",
        precedence=submission.precedence,
        replace=submission.replace,
        via=submission.via,
    )


def store_run(
    connection: Connection,
    context: Context,
    *,
    actor: str,
    team_id: str,
    task_row: Mapping[str, Any],
    submission: Submission,
    checked: CheckedSubmission,
    sha: str,
    size: int,
    arrived: int | None = None,
    baseline: bool = False,
    imported: bool = False,
    trial: bool = False,
) -> Row:
    """Accept a run: deadline, quota and tag are looked at under locks; gives its receipt.

    A run that has `arrived` before the closing counts as arrived then, also when the campaign was
    closed while the run was checked or waited for the store.
    """
    # Read before the clock is held against the closing: no receipt is ever later than that.
    now = context.clock.now() if arrived is None else arrived
    if not (baseline or imported):
        context.clock.check()
    state = close_if_due(connection, context, task_row["campaign"])
    in_time = state == "open" or (
        state == "closed" and now < closing_time(connection, task_row["campaign"])
    )
    phase_id, late = "", 0
    if not (baseline or imported or trial):
        phase_id, late = phases.enter_phase(
            connection, task_row["campaign"], team_id, state, in_time=in_time, time=now
        )
    connection.execute(select(team.c.id).where(team.c.id == team_id).with_for_update()).one()
    same = run_by_tag(connection, task_row["id"], team_id, submission.tag)
    if same is not None:
        if same["state"] in ("accepted", "trial") and same["blob"] == sha:
            return receipt(connection, str(same["id"]))
        if same["state"] == "accepted" and not submission.replace:
            raise NotNowError(
                f"there is a run {submission.tag!r} already; withdraw it, replace it, or use "
                "another tag"
            )
        _free_tag(connection, same)
    if not (baseline or imported or trial):
        phases.check_room(connection, task_row["campaign"], task_row["id"], team_id, now)
    if not (baseline or imported):
        _check_bytes(connection, team_id, size, context.settings.limits.team_bytes)
    new = context.new_id()
    _store_blob(connection, sha, size, now)
    facts = _facts_of(submission, checked) | {
        "blob": sha,
        "baseline": int(baseline),
        "phase": phase_id,
        "late": late,
        "created": now,
    }
    if trial:
        facts["state"] = "trial"
    connection.execute(
        insert(run).values(id=new, task=task_row["id"], team=team_id, person=actor or None, **facts)
    )
    jobs.request_score(connection, context, new)
    audit.append(connection, now, actor or "import", "run.accept", new, {"sha": sha})
    return receipt(connection, new)


def _facts_of(submission: Submission, checked: CheckedSubmission) -> Row:
    """What is stored of what was said about a run, and of what was found in it."""
    return {
        "tag": submission.tag,
        "configuration": submission.configuration,
        "description": submission.description,
        "features": submission.features,
        "classifier": submission.classifier,
        "precedence": submission.precedence,
        "threshold": submission.threshold,
        "form": submission.ending,
        "lines": checked.lines,
        "units": checked.units,
        "missing": " ".join(checked.missing[:MAX_LISTED]),
        "notes": "\n".join(note.replace("\n", " ") for note in checked.notes[:MAX_LISTED]),
        "via": submission.via,
    }


def check_room(
    connection: Connection,
    task_row: Mapping[str, Any],
    team_id: str,
    submission: Submission,
    arrived: int,
) -> None:
    """A first look at deadline and quota, before the file is kept; the one that counts is later."""
    row = connection.execute(
        select(campaign.c.state, campaign.c.closes).where(campaign.c.id == task_row["campaign"])
    ).one()
    over = row.closes is not None and arrived >= row.closes
    if row.state == "open" and not over:
        existing = run_by_tag(connection, task_row["id"], team_id, submission.tag)
        if existing is not None and existing["state"] == "accepted":
            return
        phases.check_room(connection, task_row["campaign"], task_row["id"], team_id, arrived)


def _check_bytes(connection: Connection, team_id: str, size: int, limit: int) -> None:
    used_bytes = team_bytes(connection, team_id)
    if used_bytes + size > limit:
        raise NotNowError(
            f"the files of your team may have {limit:,} bytes together; they have {used_bytes:,}, "
            f"and this one {size:,}. Pack the file, or withdraw a run"
        )


def _store_blob(connection: Connection, sha: str, size: int, now: int) -> None:
    if connection.execute(select(blob.c.sha).where(blob.c.sha == sha)).first() is None:
        connection.execute(insert(blob).values(sha=sha, bytes=size, created=now))


def _free_tag(connection: Connection, same: Row) -> None:
    """Free a tag: the run that had it keeps its content under another name."""
    state = "replaced" if same["state"] == "accepted" else same["state"]
    connection.execute(
        update(run)
        .where(run.c.id == same["id"])
        .values(tag=f"{same['tag']}~{same['id']}", state=state)
    )
    if state == "replaced":
        jobs.cancel_run_jobs(connection, same["id"])


def receipt(connection: Connection, run_id: str) -> Row:
    """What the team keeps: it says what was received and when, and nothing of how good it is."""
    row = (
        connection.execute(
            select(run, team.c.acronym, task.c.slug, task.c.campaign)
            .join(team, team.c.id == run.c.team)
            .join(task, task.c.id == run.c.task)
            .where(run.c.id == run_id)
        )
        .mappings()
        .one()
    )
    room = phases.allowance(connection, row["campaign"], row["task"], row["team"], row["created"])
    return {
        "id": row["id"],
        "task": row["slug"],
        "team": row["acronym"],
        "tag": row["tag"],
        "state": row["state"],
        "sha256": row["blob"],
        "lines": row["lines"],
        "topics": row["units"],
        "missing": row["missing"].split(),
        "notes": row["notes"].splitlines(),
        "remaining": max(0, room["most"] - room["used"]),
        "at": as_time(row["created"]),
    }


def reject(
    connection: Connection,
    context: Context,
    task_id: str,
    team_id: str,
    tag: str,
    checked: CheckedSubmission,
) -> None:
    """Note a refused upload for the organiser's board; the file is not kept."""
    problems = [{"line": p.line, "message": p.message} for p in checked.problems[:MAX_LISTED]]
    connection.execute(
        insert(rejected_upload).values(
            id=context.new_id(),
            task=task_id,
            team=team_id or None,
            tag=tag[:40],
            problems=json.dumps(problems, ensure_ascii=False),
            count=checked.count,
            at=context.clock.now(),
        )
    )


def withdraw(connection: Connection, context: Context, actor: str, run_id: str) -> None:
    """Withdraw a run while the campaign is open; its place in the quota is free again."""
    row = connection.execute(
        select(run.c.state, run.c.task, task.c.campaign)
        .join(task, task.c.id == run.c.task)
        .where(run.c.id == run_id)
    ).one()
    context.clock.check()
    if close_if_due(connection, context, row.campaign) != "open":
        raise NotNowError("runs are withdrawn while the campaign is open")
    if row.state != "accepted":
        raise NotNowError(f"this run is {row.state}")
    end_run(connection, context, actor, run_id, "withdrawn", "")
    # A live board is made anew without it.
    jobs.request_task_scores(connection, context, row.task)


def end_run(
    connection: Connection, context: Context, actor: str, run_id: str, state: str, reason: str
) -> None:
    """Take a run out of the campaign: withdrawn by its team or disqualified by the organiser."""
    connection.execute(update(run).where(run.c.id == run_id).values(state=state, reason=reason))
    jobs.cancel_run_jobs(connection, run_id)
    audit.append(connection, context.clock.now(), actor, f"run.{state}", run_id, {"reason": reason})


def runs_of(connection: Connection, campaign_id: str, team_id: str | None) -> list[Row]:
    """The runs of a team, or of all teams, the newest first."""
    query = (
        select(
            run, team.c.acronym, task.c.slug.label("task_slug"), task.c.title.label("task_title")
        )
        .join(team, team.c.id == run.c.team)
        .join(task, task.c.id == run.c.task)
        .where(task.c.campaign == campaign_id)
        .order_by(run.c.created.desc(), run.c.id)
    )
    if team_id is not None:
        query = query.where(run.c.team == team_id)
    return [dict(row) for row in connection.execute(query).mappings()]


def run_by_id(connection: Connection, run_id: str) -> Row | None:
    row = (
        connection.execute(
            select(
                run,
                team.c.acronym,
                task.c.slug.label("task_slug"),
                task.c.title.label("task_title"),
                task.c.campaign,
                task.c.kind,
            )
            .join(team, team.c.id == run.c.team)
            .join(task, task.c.id == run.c.task)
            .where(run.c.id == run_id)
        )
        .mappings()
        .first()
    )
    return dict(row) if row else None


def run_by_tag(connection: Connection, task_id: str, team_id: str, tag: str) -> Row | None:
    run_id = connection.execute(
        select(run.c.id).where(run.c.task == task_id, run.c.team == team_id, run.c.tag == tag)
    ).scalar()
    return run_by_id(connection, run_id) if run_id else None


def rejections(connection: Connection, campaign_id: str, team_id: str | None = None) -> list[Row]:
    """Refused uploads, the newest first."""
    query = (
        select(
            rejected_upload,
            team.c.acronym,
            task.c.slug.label("task_slug"),
            task.c.title.label("task_title"),
        )
        .join(task, task.c.id == rejected_upload.c.task)
        .outerjoin(team, team.c.id == rejected_upload.c.team)
        .where(task.c.campaign == campaign_id)
        .order_by(rejected_upload.c.at.desc())
        .limit(50)
    )
    if team_id is not None:
        query = query.where(rejected_upload.c.team == team_id)
    rows = [dict(row) for row in connection.execute(query).mappings()]
    for row in rows:
        row["problems"] = json.loads(row["problems"])
    return rows
