"""From jobs to scores: what a child is told, and what its words become in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, select, update

from cranfield.campaign.estimated import SILVER
from cranfield.server.context import Context
from cranfield.server.services import audit, jobs, phases
from cranfield.server.services.campaigns import Row, final_runs, latest_truth
from cranfield.server.services.uploads import GZIP, ZSTD, blob_path
from cranfield.server.settings import Settings
from cranfield.server.store.tables import (
    campaign,
    run,
    run_score,
    score,
    score_set,
    setting,
    task,
    team,
    truth_version,
)

if TYPE_CHECKING:
    from cranfield.evaluation.scores import Scores

# Kinds of jobs that need no child, by what does them; other modules add theirs.
SCORERS = {"ranked": "scorer", "labels": "label_scorer"}
IN_PROCESS_JOBS: dict[str, Callable[[Context, Row], Row]] = {}
# Called with campaign and task when new scores of a task are shown.
SCORED: list[Callable[[Connection, Context, str, str], None]] = []


def run_file(settings: Settings, key: str) -> Path:
    """Where the scores of one run lie."""
    return settings.scores / "runs" / f"{key}.json"


def set_folder(settings: Settings, set_id: str) -> Path:
    """Where the scores of a set and their comparison lie."""
    return settings.scores / "sets" / set_id


def released_truth(settings: Settings, truth_id: str, file: str) -> Path:
    """Where a truth lies that may be shown."""
    return settings.scores / "released" / truth_id / file


def private_files(connection: Connection, settings: Settings, slug: str) -> dict[str, str]:
    """The files of a collection that are sealed beside the truth, by their keys."""
    stored = connection.execute(
        select(setting.c.value).where(setting.c.name == f"private:{slug}")
    ).scalar()
    return {key: str(settings.sealed / file) for key, file in json.loads(stored or "{}").items()}


def name_of(acronym: str, tag: str) -> str:
    """How result tables call a run: team.tag, or the tag alone for a run without a team."""
    return f"{acronym}.{tag}" if acronym else tag


def ending_of(settings: Settings, form: str, sha: str) -> str:
    """The ending of a run's file: its form, and how it is packed by how it begins."""
    with blob_path(settings, sha).open("rb") as stream:
        head = stream.read(4)
    packing = ".gz" if head.startswith(GZIP) else ".zst" if head.startswith(ZSTD) else ""
    return f"{form}{packing}"


def job_arguments(connection: Connection, context: Context, job_row: Row) -> Row | None:
    """What the child of a job is told; None when what it is about has gone."""
    job_input = json.loads(job_row["input"])
    maker = {
        "score": _score_arguments,
        "aggregate": _aggregate_arguments,
        "publish": _publish_arguments,
        "live": _live_arguments,
    }[job_row["kind"]]
    arguments = maker(connection, context, job_input)
    common = {"kind": job_row["kind"], "work": str(context.settings.incoming)}
    return None if arguments is None else arguments | common


def _score_arguments(connection: Connection, context: Context, job_input: Row) -> Row | None:
    row = (
        connection.execute(
            select(
                run,
                team.c.acronym,
                task.c.kind,
                campaign.c.slug,
                campaign.c.measures,
                campaign.c.label_measures,
                campaign.c.box_measures,
                campaign.c.live_part,
                campaign.c.id.label("campaign"),
            )
            .join(team, team.c.id == run.c.team)
            .join(task, task.c.id == run.c.task)
            .join(campaign, campaign.c.id == task.c.campaign)
            .where(run.c.id == job_input["run"])
        )
        .mappings()
        .first()
    )
    truth = _truth_row(connection, job_input["truth"])
    if row is None or truth is None:
        return None
    settings = context.settings
    out = run_file(settings, job_input["key"])
    out.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {
        "public": str(settings.public / row["slug"]),
        "truth": str(settings.sealed / truth["file"]),
        "part": part_of(connection, row, job_input.get("part", "")),
        "silver": private_files(connection, settings, row["slug"]).get(SILVER.get(row["kind"], "")),
        "scorer": private_files(connection, settings, row["slug"]).get(
            SCORERS.get(row["kind"], "")
        ),
        "task": row["kind"],
        "measures": jobs.measures_of(row),
        "run": {
            "name": name_of(row["acronym"], row["tag"]),
            "ending": ending_of(settings, row["form"], row["blob"]),
            "path": str(blob_path(settings, row["blob"]).resolve()),
            "threshold": row["threshold"],
        },
        "out": str(out),
    }


def first_scores(connection: Connection, context: Context, run_row: Row) -> list[Row]:
    """The means of a run that no table has (yet): a trial, or before tables are put together."""
    from cranfield.answers import load
    from cranfield.evaluation.scores import Scores

    row = jobs.scorable_run(connection, run_row["id"])
    truth = latest_truth(connection, run_row["task"])
    if row is None or truth is None:
        return []
    path = run_file(context.settings, jobs.score_key(row, truth))
    scores = load(path) if path.exists() else None
    if not isinstance(scores, Scores):
        return []
    empty = {"place": None, "rank": None, "group_letters": ""}
    means = next(iter(scores.mean().values()))
    return [
        {"measure": name, "mean": None if value != value else value} | empty
        for name, value in means.items()
    ]


def part_of(connection: Connection, campaign_row: Any, part: str) -> Row | None:
    """What a child has to know to take one part of a truth; None for all of it."""
    if not part:
        return None
    salt = phases.read_salt(connection, campaign_row["campaign"])
    return {"part": part, "live_part": campaign_row["live_part"], "salt": salt}


def _live_arguments(connection: Connection, context: Context, job_input: Row) -> Row | None:
    """The runs of a live board, whose scores on the live part are there."""
    truth = _truth_row(connection, job_input["truth"])
    rows = jobs.live_entries(connection, job_input["task"])
    if truth is None or not rows:
        return None
    teams = dict(
        connection.execute(
            select(team.c.id, team.c.acronym).where(team.c.id.in_({row["team"] for row in rows}))
        ).all()
    )
    entries = [
        {
            "run": name_of(teams[row["team"]], row["tag"]),
            "team": teams[row["team"]],
            "baseline": bool(row["baseline"]),
        }
        for row in rows
    ]
    keys = [jobs.score_key(row, truth, "live") for row in rows]
    slug = connection.execute(
        select(campaign.c.slug).where(campaign.c.id == rows[0]["campaign"])
    ).scalar_one()
    return {
        "parts": [str(run_file(context.settings, key)) for key in keys],
        "entries": entries,
        "task": rows[0]["kind"],
        "public": str(context.settings.public / slug),
    }


def _truth_row(connection: Connection, truth_id: str) -> Row | None:
    row = (
        connection.execute(select(truth_version).where(truth_version.c.id == truth_id))
        .mappings()
        .first()
    )
    return dict(row) if row else None


def _aggregate_arguments(connection: Connection, context: Context, job_input: Row) -> Row | None:
    row = connection.execute(
        select(score_set.c.truth_version, campaign.c.seed)
        .join(task, task.c.id == score_set.c.task)
        .join(campaign, campaign.c.id == task.c.campaign)
        .where(score_set.c.id == job_input["set"])
    ).first()
    if row is None:
        return None
    truth = _truth_row(connection, row.truth_version)
    runs = _set_runs(connection, job_input["task"])
    if truth is None or not runs:
        return None
    keys = [jobs.score_key(run_row, truth) for run_row in runs.values()]
    return {
        "parts": [str(run_file(context.settings, key)) for key in keys],
        "seed": row.seed,
        "out": str(set_folder(context.settings, job_input["set"])),
    }


def _set_runs(connection: Connection, task_id: str) -> dict[str, Row]:
    """The accepted runs of a task by their names, in the order of the names."""
    rows = connection.execute(
        select(
            run,
            team.c.acronym,
            task.c.kind,
            campaign.c.measures,
            campaign.c.label_measures,
            campaign.c.box_measures,
            campaign.c.live_part,
        )
        .join(team, team.c.id == run.c.team)
        .join(task, task.c.id == run.c.task)
        .join(campaign, campaign.c.id == task.c.campaign)
        .where(run.c.task == task_id, run.c.state == "accepted", final_runs())
    ).mappings()
    return dict(sorted((name_of(row["acronym"], row["tag"]), dict(row)) for row in rows))


def scores_so_far(connection: Connection, context: Context, task_id: str) -> Scores | None:
    """The scores of a task: its tables, or else those of the runs that are scored already."""
    from cranfield.answers import load
    from cranfield.evaluation.scores import Scores

    current, truth = current_set(connection, task_id), latest_truth(connection, task_id)
    if current is not None:
        paths = [set_folder(context.settings, current["id"]) / "scores.json"]
    elif truth is not None:
        rows = _set_runs(connection, task_id).values()
        paths = [run_file(context.settings, jobs.score_key(row, truth)) for row in rows]
    else:
        return None
    parts = [load(path) for path in paths if path.exists()]
    scores = [part for part in parts if isinstance(part, Scores)]
    return Scores.concat(scores) if scores else None


def run_files(connection: Connection, task_id: str) -> dict[str, tuple[str, str]]:
    """The hash and the form of the file of each accepted run, by its name."""
    runs = _set_runs(connection, task_id)
    return {name: (row["blob"], row["form"]) for name, row in runs.items()}


def _publish_arguments(connection: Connection, context: Context, job_input: Row) -> Row | None:
    truth = _truth_row(connection, job_input["truth"])
    if truth is None:
        return None
    row = (
        connection.execute(
            select(task.c.campaign, task.c.kind, campaign.c.live_part, campaign.c.slug)
            .join(campaign, campaign.c.id == task.c.campaign)
            .where(task.c.id == truth["task"])
        )
        .mappings()
        .one()
    )
    return {
        "truth": str(context.settings.sealed / truth["file"]),
        "part": part_of(connection, row, jobs.final_part(row)),
        "task": row["kind"],
        "public": str(context.settings.public / row["slug"]),
        "out": str(released_truth(context.settings, truth["id"], truth["file"])),
    }


def finish(connection: Connection, context: Context, job_row: Row, result: Row) -> None:
    """Write down what a job found, if it is still this worker's to write."""
    if not jobs.finish(connection, context, job_row):
        return
    job_input = json.loads(job_row["input"])
    if job_row["kind"] == "score":
        _finish_score(connection, context, job_input)
    elif job_row["kind"] == "aggregate":
        _finish_set(connection, context, job_input, result)
    elif job_row["kind"] == "live":
        phases.keep_board(
            connection,
            job_input["task"],
            result["board"] | {"key": job_input["key"], "at": context.clock.now()},
        )


def _finish_score(connection: Connection, context: Context, job_input: Row) -> None:
    existing = connection.execute(
        select(run_score.c.key).where(run_score.c.key == job_input["key"])
    ).first()
    if existing is None:
        connection.execute(
            insert(run_score).values(
                key=job_input["key"],
                run=job_input["run"],
                truth_version=job_input["truth"],
                created=context.clock.now(),
            )
        )
    task_id = connection.execute(
        select(run.c.task).where(run.c.id == job_input["run"])
    ).scalar_one()
    jobs.request_task_scores(connection, context, task_id)


def _finish_set(connection: Connection, context: Context, job_input: Row, result: Row) -> None:
    """Switch to a whole new set of scores; one that came too late never becomes current."""
    task_id, set_id = job_input["task"], job_input["set"]
    row = (
        connection.execute(select(score_set).where(score_set.c.id == set_id).with_for_update())
        .mappings()
        .one()
    )
    if row["key"] != jobs.set_key(connection, task_id):
        connection.execute(update(score_set).where(score_set.c.id == set_id).values(state="old"))
        jobs.request_task_scores(connection, context, task_id)
        return
    runs = {name: entry["id"] for name, entry in _set_runs(connection, task_id).items()}
    standings = {(entry.pop("run"), entry.pop("measure")): entry for entry in result["standings"]}
    connection.execute(score.delete().where(score.c.score_set == set_id))
    rows: list[dict[str, Any]] = []
    empty = dict.fromkeys(("low", "high", "place", "rank", "rank_first", "rank_last"), None) | {
        "group_letters": ""
    }
    for entry in result["means"]:
        placed = standings.get((entry["run"], entry["measure"]), empty)
        values = {k: None if v != v else v for k, v in placed.items()}
        rows.append(entry | values | {"score_set": set_id, "run": runs[entry["run"]]})
    connection.execute(insert(score), rows)
    connection.execute(
        update(score_set)
        .where(score_set.c.task == task_id, score_set.c.state == "current")
        .values(state="old")
    )
    now = context.clock.now()
    connection.execute(
        update(score_set).where(score_set.c.id == set_id).values(state="current", switched=now)
    )
    audit.append(connection, now, "scoring", "scores.switch", task_id, {"set": row["n"]})
    place = connection.execute(
        select(task.c.campaign, task.c.slug).where(task.c.id == task_id)
    ).one()
    for tell in SCORED:
        tell(connection, context, place.campaign, place.slug)


def add_truth(
    connection: Connection, context: Context, actor: str, task_id: str, **facts: str
) -> str:
    """A new version of a task's truth, whose file is in sealed/ already; everything is rescored."""
    latest = connection.execute(
        select(truth_version.c.n)
        .where(truth_version.c.task == task_id)
        .order_by(truth_version.c.n.desc())
        .limit(1)
    ).scalar()
    new, now = context.new_id(), context.clock.now()
    connection.execute(
        insert(truth_version).values(
            id=new, task=task_id, n=(latest or 0) + 1, created=now, **facts
        )
    )
    detail = {"n": (latest or 0) + 1, "sha": facts["sha"], "note": facts.get("note", "")}
    audit.append(connection, now, actor, "truth.add", task_id, detail)
    jobs.cancel_truth_jobs(connection, task_id)
    jobs.request_task_scores(connection, context, task_id)
    state = connection.execute(
        select(campaign.c.state)
        .join(task, task.c.campaign == campaign.c.id)
        .where(task.c.id == task_id)
    ).scalar()
    if state in ("released", "archived"):
        request_publication(connection, context, task_id)
    return new


def request_publication(connection: Connection, context: Context, task_id: str) -> None:
    """Have the newest truth of a task copied to where released results show it."""
    row = connection.execute(
        select(truth_version.c.id, task.c.campaign)
        .join(task, task.c.id == truth_version.c.task)
        .where(truth_version.c.task == task_id)
        .order_by(truth_version.c.n.desc())
        .limit(1)
    ).first()
    if row is not None:
        job_input = {"truth": row.id}
        jobs.request_job(
            connection, context, "publish", f"publish:{row.id}", job_input, row.campaign
        )


def current_set(connection: Connection, task_id: str) -> Row | None:
    """The set of scores that the pages of a task show."""
    row = (
        connection.execute(
            select(score_set).where(score_set.c.task == task_id, score_set.c.state == "current")
        )
        .mappings()
        .first()
    )
    return dict(row) if row else None
