"""Jobs: what is to be scored and put together, leased to workers, fenced against those too late.

A job has a key that says all it depends on, so it is there once. A worker takes it for the time
of a lease and says every few seconds that it still lives; what it writes at the end counts only
while the lease is its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, func, insert, literal, or_, select, update

from cranfield._version import __version__
from cranfield.registry import split_names
from cranfield.server.context import SECOND, Context
from cranfield.server.services.campaigns import final_runs, latest_truth, live_runs
from cranfield.server.services.phases import read_board
from cranfield.server.store.tables import (
    campaign,
    job,
    run,
    run_score,
    score_set,
    task,
)

Row = dict[str, Any]
ATTEMPTS = 3
SCORED_STATES = ("scoring", "released", "archived")
COMPARISON_OPTIONS = {"test": "bootstrap"}
# How a job failed, in words that come from no file.
_PROCESS_ERRORS = re.compile(
    r"(given up after \d+ attempts: )?(the worker was lost|what it was to score is gone"
    r"|it needs more memory than a scoring job may use|it took longer than \d+ s"
    r"|the scoring process (failed|ended) ?[\w :,-]*)"
)


def key_of(*parts: Any) -> str:
    """The hash of all that a result depends on."""
    content = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


# The columns of a campaign with the measures of each kind of task.
MEASURE_COLUMNS = {"ranked": "measures", "labels": "label_measures", "regions": "box_measures"}


def measures_of(row: Any) -> list[str]:
    """The measures that a task is scored by."""
    return split_names(str(row[MEASURE_COLUMNS[row["kind"]]]))


def final_part(row: Any) -> str:
    """The part of the truth that makes the final tables: all of it, unless some is live."""
    return "sealed" if row["live_part"] else ""


def score_key(row: Any, truth: Row, part: str | None = None) -> str:
    """The key of a run's score: the run, the truth and its part, the measures, and the version."""
    part = final_part(row) if part is None else part
    return key_of(
        row["id"],
        row["blob"],
        row["form"],
        row["threshold"],
        truth["sha"],
        measures_of(row),
        __version__,
        *((part, row["live_part"]) if part else ()),
    )


# Runs that are scored; a trial of the organisers is, and stands in no table.
SCORED_RUNS = ("accepted", "trial")


def _scorable_runs(run_id: str | None = None, task_id: str | None = None) -> Any:
    query = (
        select(
            run,
            task.c.kind,
            task.c.campaign,
            campaign.c.measures,
            campaign.c.label_measures,
            campaign.c.box_measures,
            campaign.c.live_part,
            campaign.c.state.label("campaign_state"),
        )
        .join(task, task.c.id == run.c.task)
        .join(campaign, campaign.c.id == task.c.campaign)
        .where(run.c.state == "accepted")
        .order_by(run.c.created, run.c.id)
    )
    if run_id is not None:
        query = (
            select(*query.selected_columns)
            .join(task, task.c.id == run.c.task)
            .join(campaign, campaign.c.id == task.c.campaign)
            .where(run.c.state.in_(SCORED_RUNS))
        )
    if run_id is not None:
        query = query.where(run.c.id == run_id)
    return query if task_id is None else query.where(run.c.task == task_id)


def request_score(connection: Connection, context: Context, run_id: str) -> None:
    """Ask for the score of an accepted run, if there is a truth and it is not there yet."""
    row = connection.execute(_scorable_runs(run_id)).mappings().first()
    if row is not None:
        truth = latest_truth(connection, row["task"])
        if truth is not None:
            _request_run_score(connection, context, row, truth)
            if row["live_part"]:
                _request_run_score(connection, context, row, truth, "live")


def _request_run_score(
    connection: Connection, context: Context, row: Any, truth: Row, part: str | None = None
) -> bool:
    """Whether the score of a run on a part is there; if not, it is asked for."""
    part = final_part(row) if part is None else part
    key = score_key(row, truth, part)
    existing = connection.execute(select(run_score.c.key).where(run_score.c.key == key)).first()
    if existing is None:
        job_input = {"run": row["id"], "truth": truth["id"], "key": key}
        if part:
            job_input["part"] = part
        request_job(
            connection, context, "score", f"score:{key}", job_input, row["campaign"], row["id"]
        )
    return existing is not None


def request_job(
    connection: Connection,
    context: Context,
    kind: str,
    key: str,
    job_input: Row,
    campaign_id: str | None,
    run_id: str | None = None,
    *,
    restart: bool = False,
) -> str:
    """A job of this key, asked for once; `restart` asks anew for one that has ended."""
    row = connection.execute(
        select(job.c.id, job.c.state).where(job.c.key == key).with_for_update()
    ).first()
    if row is None:
        new = context.new_id()
        connection.execute(
            insert(job).values(
                id=new,
                kind=kind,
                key=key,
                campaign=campaign_id,
                run=run_id,
                input=json.dumps(job_input, ensure_ascii=False, sort_keys=True),
                created=context.clock.now(),
            )
        )
    else:
        new = str(row.id)
        if row.state == "cancelled" or (restart and row.state in ("failed", "done")):
            text = json.dumps(job_input, ensure_ascii=False, sort_keys=True)
            connection.execute(update(job).where(job.c.id == new).values(input=text))
            reset(connection, new)
    context.wake.set()
    return new


def reset(connection: Connection, job_id: str) -> None:
    """Put a job that has ended back into the queue."""
    connection.execute(
        update(job)
        .where(job.c.id == job_id, job.c.state.in_(("failed", "cancelled", "done")))
        .values(state="queued", worker=None, attempt=0, lease=None, error="", progress=0.0)
    )


def cancel_run_jobs(connection: Connection, run_id: str) -> None:
    """Nothing more is to be done for a run that left the campaign."""
    connection.execute(
        update(job)
        .where(job.c.run == run_id, job.c.state.in_(("queued", "running", "failed")))
        .values(state="cancelled", worker=None)
    )


def cancel_truth_jobs(connection: Connection, task_id: str) -> None:
    """Nothing more is to be done for a truth that another one replaces, nor has it failed."""
    runs = select(run.c.id).where(run.c.task == task_id)
    sets = select(literal("aggregate:") + score_set.c.id).where(score_set.c.task == task_id)
    connection.execute(
        update(job)
        .where(
            ((job.c.kind == "score") & job.c.run.in_(runs)) | job.c.key.in_(sets),
            job.c.state.in_(("queued", "running", "failed")),
        )
        .values(state="cancelled", worker=None)
    )


def request_task_scores(connection: Connection, context: Context, task_id: str) -> None:
    """Ask for all that a task lacks: scores of runs, then the set that the pages show."""
    truth = latest_truth(connection, task_id)
    _request_live_board(connection, context, task_id, truth)
    final = _scorable_runs(task_id=task_id).where(final_runs())
    rows = connection.execute(final).mappings().all()
    if truth is None or not rows:
        return
    scored = [_request_run_score(connection, context, row, truth) for row in rows]
    if not all(scored) or rows[0]["campaign_state"] not in SCORED_STATES:
        return
    key = set_key(connection, task_id)
    existing_set = connection.execute(
        select(score_set.c.id, score_set.c.state).where(
            score_set.c.task == task_id, score_set.c.key == key
        )
    ).first()
    if existing_set is None:
        latest = connection.execute(
            select(func.max(score_set.c.n)).where(score_set.c.task == task_id)
        ).scalar()
        set_id = context.new_id()
        connection.execute(
            insert(score_set).values(
                id=set_id,
                task=task_id,
                n=(latest or 0) + 1,
                truth_version=truth["id"],
                key=key,
                measures=" ".join(measures_of(rows[0])),
                version=__version__,
                created=context.clock.now(),
            )
        )
    else:
        set_id = str(existing_set.id)
        # The same truth may have come back: it is published under its newest version.
        values = {"truth_version": truth["id"]}
        connection.execute(update(score_set).where(score_set.c.id == set_id).values(values))
        if existing_set.state == "current":
            return
    request_job(
        connection,
        context,
        "aggregate",
        f"aggregate:{set_id}",
        {"set": set_id, "task": task_id},
        rows[0]["campaign"],
        restart=existing_set is not None and existing_set.state == "old",
    )


def scorable_run(connection: Connection, run_id: str) -> Any:
    """A run with what its score depends on; None where it is not scored."""
    return connection.execute(_scorable_runs(run_id)).mappings().first()


def _request_live_board(
    connection: Connection, context: Context, task_id: str, truth: Row | None
) -> None:
    """Ask for the live board of a task, once all its runs are scored on the live part."""
    rows = live_entries(connection, task_id)
    if truth is None or not rows or not rows[0]["live_part"]:
        return
    scored = [_request_run_score(connection, context, row, truth, "live") for row in rows]
    if not all(scored):
        return
    key = key_of(task_id, [score_key(row, truth, "live") for row in rows], "live")
    if (read_board(connection, task_id) or {}).get("key") == key:
        return
    job_input = {"task": task_id, "truth": truth["id"], "key": key}
    request_job(
        connection, context, "live", f"live:{key}", job_input, rows[0]["campaign"], restart=True
    )


def live_entries(connection: Connection, task_id: str) -> list[Any]:
    """The runs of a live board in the order in which they came."""
    query = _scorable_runs(task_id=task_id).where(live_runs())
    return list(connection.execute(query).mappings())


def set_key(connection: Connection, task_id: str) -> str:
    """The key of the scores that a task should show now: those of all its accepted runs."""
    truth = latest_truth(connection, task_id)
    final = _scorable_runs(task_id=task_id).where(final_runs())
    rows = connection.execute(final).mappings().all()
    keys = sorted(score_key(row, truth) for row in rows) if truth is not None else []
    return key_of(task_id, keys, COMPARISON_OPTIONS)


def has_claimable_job(connection: Connection, context: Context) -> bool:
    """Whether there is a job to take; looking writes nothing."""
    now = context.clock.now()
    claimable = or_(job.c.state == "queued", (job.c.state == "running") & (job.c.lease < now))
    return connection.execute(select(job.c.id).where(claimable).limit(1)).first() is not None


def claim(connection: Connection, context: Context, worker: str) -> Row | None:
    """Claim the oldest job that is queued or whose lease has run out."""
    now = context.clock.now()
    claimable = or_(job.c.state == "queued", (job.c.state == "running") & (job.c.lease < now))
    row = (
        connection.execute(
            select(job)
            .where(claimable)
            .order_by(job.c.created, job.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        .mappings()
        .first()
    )
    if row is None:
        return None
    if row["state"] == "running" and row["attempt"] >= ATTEMPTS:
        reason = row["error"] or "the worker was lost"
        message = f"given up after {row['attempt']} attempts: {reason}"
        connection.execute(
            update(job)
            .where(job.c.id == row["id"])
            .values(state="failed", error=message, worker=None, finished=now)
        )
        return None
    lease = now + int(context.settings.lease_seconds * SECOND)
    claim_values = {
        "state": "running",
        "worker": worker,
        "attempt": row["attempt"] + 1,
        "lease": lease,
    }
    connection.execute(update(job).where(job.c.id == row["id"]).values(**claim_values))
    return dict(row) | claim_values


def reclaim(connection: Connection, host: str, alive: Callable[[int], bool]) -> int:
    """Give back the jobs of processes of this machine that are gone, without waiting for leases.

    Workers are named `host:process-...`; those of other machines are left to their leases.
    """
    running = connection.execute(select(job.c.id, job.c.worker).where(job.c.state == "running"))
    lost = []
    for row in running:
        worker_host, _, rest = str(row.worker or "").partition(":")
        process = rest.partition("-")[0]
        if worker_host == host and process.isdecimal() and not alive(int(process)):
            lost.append(row.id)
    if lost:
        connection.execute(update(job).where(job.c.id.in_(lost)).values(lease=0))
    return len(lost)


def heartbeat(connection: Connection, context: Context, job_row: Row) -> bool:
    """Extend the lease of a job; False when another worker has it by now."""
    lease = context.clock.now() + int(context.settings.lease_seconds * SECOND)
    changed = connection.execute(update(job).where(*_lease_conditions(job_row)).values(lease=lease))
    return changed.rowcount == 1


def finish(connection: Connection, context: Context, job_row: Row) -> bool:
    """Mark a job as done; False, and nothing counts, when another worker has it by now."""
    changed = connection.execute(
        update(job)
        .where(*_lease_conditions(job_row))
        .values(state="done", error="", progress=1.0, finished=context.clock.now())
    )
    return changed.rowcount == 1


def fail(
    connection: Connection, context: Context, job_row: Row, message: str, *, retry: bool = True
) -> None:
    """End an attempt badly: the job waits for another one, or has failed for good."""
    over = not retry or job_row["attempt"] >= ATTEMPTS
    connection.execute(
        update(job)
        .where(*_lease_conditions(job_row))
        .values(
            state="failed" if over else "queued",
            error=message,
            worker=None,
            finished=context.clock.now() if over else None,
        )
    )


def _lease_conditions(job_row: Row) -> tuple[Any, ...]:
    return (
        job.c.id == job_row["id"],
        job.c.state == "running",
        job.c.worker == job_row["worker"],
        job.c.attempt == job_row["attempt"],
    )


def jobs_of(connection: Connection, campaign_id: str | None, *states: str) -> list[Row]:
    """The jobs of a campaign, or of the site, the newest first."""
    query = select(job).order_by(job.c.created.desc(), job.c.id).limit(100)
    if campaign_id is not None:
        query = query.where(job.c.campaign == campaign_id)
    if states:
        query = query.where(job.c.state.in_(states))
    return [dict(row) for row in connection.execute(query).mappings()]


def public_error(message: str) -> str:
    """Why the scoring of a run has failed, as far as it tells nothing of what is sealed.

    What a reader says of a file may quote it, and a run that was accepted can be read: that is
    the truth. Only messages about the process itself are shown to teams.
    """
    match = _PROCESS_ERRORS.fullmatch(message)
    return message if match else "The truth could not be used; the organisers see why."


def counts(connection: Connection, campaign_id: str) -> dict[str, int]:
    """How many jobs a campaign has in each state."""
    rows = connection.execute(
        select(job.c.state, func.count()).where(job.c.campaign == campaign_id).group_by(job.c.state)
    )
    return {str(state): int(count) for state, count in rows}
