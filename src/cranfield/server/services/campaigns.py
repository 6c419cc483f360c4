"""Campaigns: what is known of them, their state, and the guards of the next one."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, func, insert, or_, select, update

from cranfield.campaign.workflow import Facts, State, check_move
from cranfield.errors import UsageError
from cranfield.server.context import Context
from cranfield.server.permissions import RESERVED
from cranfield.server.services import audit, clock
from cranfield.server.store.tables import (
    campaign,
    job,
    phase,
    public_set,
    run,
    run_score,
    score,
    score_set,
    task,
    truth_version,
)
from cranfield.server.store.work_tables import batch


def latest_truth(connection: Connection, task_id: str) -> dict[str, Any] | None:
    """The newest version of a task's truth; the file itself stays sealed."""
    row = (
        connection.execute(
            select(truth_version)
            .where(truth_version.c.task == task_id)
            .order_by(truth_version.c.n.desc())
            .limit(1)
        )
        .mappings()
        .first()
    )
    return dict(row) if row else None


def equal_truths(truth: dict[str, Any]) -> Select[tuple[str]]:
    """The ids of all versions of a task's truth with the same content.

    Scores are kept by what they depend on: when an earlier truth comes back, they are there.
    """
    return select(truth_version.c.id).where(
        truth_version.c.task == truth["task"], truth_version.c.sha == truth["sha"]
    )


CLOCK_ACTOR = "clock"
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
Row = dict[str, Any]


def checked_slug(name: str) -> str:
    """A name that can stand in an address."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-")
    if not _SLUG.fullmatch(slug) or slug in RESERVED:
        raise UsageError(f"{name!r} cannot be the name of a campaign in an address")
    return slug


def add_campaign(connection: Connection, context: Context, actor: str, values: Row) -> str:
    """A new campaign, which is a draft; gives its id."""
    slug = checked_slug(values["slug"])
    if connection.execute(select(campaign.c.id).where(campaign.c.slug == slug)).first():
        raise UsageError(f"there is a campaign {slug!r} already")
    now, new = context.clock.now(), context.new_id()
    connection.execute(insert(campaign).values(**values | {"id": new, "slug": slug}, created=now))
    audit.append(connection, now, actor, "campaign.add", slug)
    return new


def campaigns(connection: Connection, *, drafts: bool) -> list[Row]:
    """All campaigns, the newest first; with `drafts` also those that only organisers see."""
    query = select(campaign).order_by(campaign.c.year.desc(), campaign.c.slug)
    if not drafts:
        query = query.where(campaign.c.state != "draft")
    return [dict(row) for row in connection.execute(query).mappings()]


def by_slug(connection: Connection, slug: str) -> Row:
    """A campaign by its name in addresses, or a UsageError."""
    row = connection.execute(select(campaign).where(campaign.c.slug == slug)).mappings().first()
    if row is None:
        slugs = connection.execute(select(campaign.c.slug).order_by(campaign.c.slug)).scalars()
        raise UsageError(f"no campaign {slug!r}; there are: {', '.join(slugs) or 'none'}")
    return dict(row)


def tasks_of(connection: Connection, campaign_id: str) -> list[Row]:
    rows = connection.execute(
        select(task).where(task.c.campaign == campaign_id).order_by(task.c.slug)
    )
    return [dict(row) for row in rows.mappings()]


def final_runs() -> ColumnElement[bool]:
    """Runs that make the final tables: those of the last phase, and those of none.

    A condition for queries of runs that are joined with their tasks.
    """
    last = (
        select(phase.c.id)
        .where(phase.c.campaign == task.c.campaign)
        .order_by(phase.c.closes.desc(), phase.c.id)
        .limit(1)
        .correlate(task)
        .scalar_subquery()
    )
    return or_(run.c.phase == "", run.c.phase == last)


def live_runs() -> ColumnElement[bool]:
    """Runs that stand on the live board: those of its phases, and baselines."""
    shown = select(phase.c.id).where(phase.c.live == 1)
    return or_(run.c.baseline == 1, run.c.phase.in_(shown))


def close_if_due(connection: Connection, context: Context, campaign_id: str) -> State:
    """The state of a campaign after the clock was looked at; its row is locked until the commit.

    Closing is written down when the clock passes it, so setting the clock back opens nothing.
    """
    row = connection.execute(
        select(campaign.c.state, campaign.c.closes, campaign.c.slug)
        .where(campaign.c.id == campaign_id)
        .with_for_update()
    ).one()
    now = context.clock.now()
    due = row.state == "open" and row.closes is not None and now >= row.closes
    if due and not context.clock.in_doubt:
        _set_state(connection, campaign_id, "closed")
        audit.append(
            connection,
            now,
            CLOCK_ACTOR,
            "campaign.state",
            row.slug,
            {"from": "open", "to": "closed"},
        )
        return "closed"
    return cast("State", row.state)


def closing_time(connection: Connection, campaign_id: str) -> int:
    """When a closed campaign did close: at its date, or earlier by an organiser."""
    row = connection.execute(
        select(campaign.c.slug, campaign.c.closes).where(campaign.c.id == campaign_id)
    ).one()
    closed_at = audit.last_time_of(connection, "campaign.state", row.slug)
    times = [time for time in (row.closes, closed_at) if time is not None]
    return min(times, default=0)


def close_due(context: Context) -> None:
    """Write down that campaigns have closed whose time has come, if the time is certain."""
    clock.note_time(context)
    if context.clock.in_doubt:
        return
    with context.store.read() as connection:
        due = connection.execute(
            select(campaign.c.id).where(
                campaign.c.state == "open", campaign.c.closes <= context.clock.now()
            )
        ).scalars()
        due_ids = list(due)
    for campaign_id in due_ids:
        context.store.write(partial(close_if_due, context=context, campaign_id=campaign_id))


def move(
    connection: Connection,
    context: Context,
    actor: str,
    campaign_id: str,
    end: str,
    reason: str = "",
) -> None:
    """Take a campaign to another state, or raise a UsageError that says what it lacks."""
    context.clock.check()
    start = close_if_due(connection, context, campaign_id)
    if start == end == "closed":
        return  # the clock was faster
    facts = facts_of(connection, context, campaign_id)
    if (
        end == "open"
        and start == "closed"
        and facts.closes is not None
        and facts.closes <= facts.now
    ):
        raise UsageError("set a closing date that is still to come, then open the campaign again")
    check_move(start, cast("State", end), facts, reason)
    _set_state(connection, campaign_id, end)
    slug = connection.execute(
        select(campaign.c.slug).where(campaign.c.id == campaign_id)
    ).scalar_one()
    detail = {"from": start, "to": end, "reason": reason}
    audit.append(connection, context.clock.now(), actor, "campaign.state", slug, detail)


def _set_state(connection: Connection, campaign_id: str, state: str) -> None:
    connection.execute(update(campaign).where(campaign.c.id == campaign_id).values(state=state))


def change(
    connection: Connection, context: Context, actor: str, campaign_id: str, values: Row
) -> None:
    """Change dates, texts and limits; another licence is a new version, to be signed anew."""
    row = (
        connection.execute(select(campaign).where(campaign.c.id == campaign_id).with_for_update())
        .mappings()
        .one()
    )
    changed = {name: value for name, value in values.items() if row[name] != value}
    if not changed:
        return
    opens, closes = values.get("opens", row["opens"]), values.get("closes", row["closes"])
    if opens is not None and closes is not None and opens >= closes:
        raise UsageError("the closing date must be after the opening date")
    if "licence" in changed and row["licence"]:
        changed["licence_version"] = row["licence_version"] + 1
    connection.execute(update(campaign).where(campaign.c.id == campaign_id).values(**changed))
    audit.append(
        connection,
        context.clock.now(),
        actor,
        "campaign.change",
        row["slug"],
        {name: value for name, value in changed.items() if name not in ("licence", "call")},
    )


def facts_of(connection: Connection, context: Context, campaign_id: str) -> Facts:
    """What the guards of the next state look at."""
    row = connection.execute(select(campaign).where(campaign.c.id == campaign_id)).mappings().one()
    tasks = tasks_of(connection, campaign_id)
    truths = {task_row["id"]: latest_truth(connection, task_row["id"]) for task_row in tasks}
    of_tasks = run.c.task.in_([task_row["id"] for task_row in tasks])
    counted = connection.execute(
        select(func.count()).select_from(run).where(of_tasks, run.c.state == "accepted")
    ).scalar_one()
    unmerged = connection.execute(
        select(batch.c.slug).where(
            batch.c.campaign == campaign_id, batch.c.state != "merged", batch.c.skipped == ""
        )
    ).scalars()
    failed = connection.execute(
        select(func.count())
        .select_from(job)
        .where(job.c.campaign == campaign_id, job.c.state == "failed")
    ).scalar_one()
    return Facts(
        tasks=len(tasks),
        tasks_without_public_set=tuple(
            task_row["slug"]
            for task_row in tasks
            if not _has_public_set(connection, task_row["id"])
        ),
        licence=bool(row["licence"].strip()),
        opens=row["opens"],
        closes=row["closes"],
        now=context.clock.now(),
        pooled=bool(row["pooled"]),
        tasks_without_truth=tuple(
            task_row["slug"] for task_row in tasks if truths[task_row["id"]] is None
        ),
        tasks_without_baseline=tuple(
            task_row["slug"]
            for task_row in tasks
            if not _has_baseline(connection, task_row, truths[task_row["id"]])
        ),
        runs=counted,
        unmerged=tuple(unmerged),
        failed_jobs=failed,
        unscored=_unscored(connection, tasks, truths),
        audit_broken=audit.verify(connection)[1],
    )


def _has_public_set(connection: Connection, task_id: str) -> bool:
    rows = connection.execute(
        select(public_set.c.name).where(public_set.c.task == task_id).limit(1)
    )
    return rows.first() is not None


def _has_baseline(connection: Connection, task_row: Row, truth: Row | None) -> bool:
    """Whether a baseline was accepted, and scored if there is a truth to score it by."""
    query = select(run.c.id).where(
        run.c.task == task_row["id"], run.c.baseline == 1, run.c.state == "accepted"
    )
    if truth is not None:
        query = query.join(run_score, run_score.c.run == run.c.id).where(
            run_score.c.truth_version.in_(equal_truths(truth))
        )
    return connection.execute(query.limit(1)).first() is not None


def _unscored(
    connection: Connection, tasks: list[Row], truths: dict[str, Row | None]
) -> tuple[str, ...]:
    """Accepted runs that the current scores of their task, by its newest truth, do not have."""
    lacking: list[str] = []
    for task_row in tasks:
        truth = truths[task_row["id"]]
        query = (
            select(run.c.tag)
            .join(task, task.c.id == run.c.task)
            .where(run.c.task == task_row["id"], run.c.state == "accepted", final_runs())
        )
        if truth is not None:
            scored = (
                select(score.c.run)
                .join(score_set, score_set.c.id == score.c.score_set)
                .where(
                    score_set.c.task == task_row["id"],
                    score_set.c.state == "current",
                    score_set.c.truth_version.in_(equal_truths(truth)),
                )
            )
            query = query.where(run.c.id.not_in(scored))
        rows = connection.execute(query)
        lacking += [f"{task_row['slug']}/{tag}" for tag in rows.scalars()]
    return tuple(lacking)
