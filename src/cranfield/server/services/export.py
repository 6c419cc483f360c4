"""What an export is made from: the facts of a campaign in the store, and where its files lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from cranfield.server.context import Context
from cranfield.server.services import jobs, scoring
from cranfield.server.services.campaigns import Row, latest_truth, tasks_of
from cranfield.server.services.results import facts_and_teams
from cranfield.server.services.uploads import blob_path
from cranfield.server.services.work_export import export_work

# Functions that write more into the folder of an export, such as logs of judgements: each gets a
# connection, the context, the campaign and a folder of its own.
EXTRAS: list[Callable[[Connection, Context, Row, Path], None]] = [export_work]


def export_input(
    connection: Connection, context: Context, campaign: Row, out: Path, work: Path
) -> Row:
    """All that the child needs to write the export of a campaign."""
    settings = context.settings
    tasks: dict[str, Any] = {}
    teams: tuple[Any, ...] = ()
    for task_row in tasks_of(connection, campaign["id"]):
        facts, teams = facts_and_teams(connection, task_row["id"], campaign["id"])
        files = scoring.run_files(connection, task_row["id"])
        truth = latest_truth(connection, task_row["id"])
        current = scoring.current_set(connection, task_row["id"])
        tasks[task_row["kind"]] = {
            "baseline": task_row["baseline"],
            "truth": str(settings.sealed / truth["file"]) if truth else "",
            "part": scoring.part_of(
                connection,
                {"campaign": campaign["id"], "live_part": campaign["live_part"]},
                jobs.final_part(campaign),
            ),
            "scores": str(scoring.set_folder(settings, current["id"])) if current else "",
            "runs": [
                {
                    "facts": asdict(fact),
                    "path": str(blob_path(settings, files[name][0]).resolve()),
                    "ending": scoring.ending_of(settings, files[name][1], files[name][0]),
                }
                for name, fact in facts.items()
            ],
        }
    extras = []
    for number, extra in enumerate(EXTRAS):
        folder = work / str(number)
        folder.mkdir(parents=True)
        extra(connection, context, campaign, folder)
        extras.append(str(folder))
    return {
        "kind": "export",
        "out": str(out.absolute()),
        "public": str(settings.public / campaign["slug"]),
        "title": campaign["title"],
        "licence": campaign["licence"],
        "teams": [asdict(team) for team in teams],
        "tasks": tasks,
        "private": scoring.private_files(connection, settings, campaign["slug"]),
        "extras": extras,
        "released": campaign["state"] in ("released", "archived"),
    }
