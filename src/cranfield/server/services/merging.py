"""The truth of a batch beside the truth there is: what replacing loses, and both as one."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from cranfield.errors import UsageError
from cranfield.io.collection import read_collection
from cranfield.server.context import Context
from cranfield.server.jobs.fork_server import ForkServer
from cranfield.server.services import batch_results
from cranfield.server.services.batches import Batch
from cranfield.server.services.campaigns import latest_truth
from cranfield.server.store.tables import campaign

CHILD = "cranfield.server.jobs.joining"


@dataclass(frozen=True)
class MergePlan:
    """What making the truth out of a batch would do.

    Counts are of items, of judgements where items are ranked; `old` is 0 where there is no truth
    yet. `base` is the version that was looked at, `text` both truths as one; without one, `why`
    says why they cannot be.
    """

    unit: str
    new: int
    old: int = 0
    lost: int = 0
    changed: int = 0
    merged: int = 0
    base: str = ""
    text: str = ""
    why: str = ""


def _unlisted(connection: Connection, context: Context, batch: Batch) -> str:
    """What cells are that the truth of the campaign's collection does not list."""
    slug = connection.execute(
        select(campaign.c.slug).where(campaign.c.id == batch.row["campaign"])
    ).scalar_one()
    return read_collection(context.settings.public / slug).unlisted


def plan_merge(connection: Connection, context: Context, batch: Batch, method: str) -> MergePlan:
    """Compare the truth of a batch with the newest one of its task, which a child opens."""
    if batch.row["task"] is None:
        raise UsageError("this batch belongs to no task; its log can be downloaded")
    text, ending = batch_results.truth_file(connection, batch, method)
    kind = "ranked" if batch.kind == "relevance" else "labels"
    unit = "judgement" if kind == "ranked" else "item"
    rows = [line for line in text.splitlines()[0 if kind == "ranked" else 1 :] if line]
    new = len(rows) if kind == "ranked" else len({row.partition(",")[0] for row in rows})
    base = latest_truth(connection, batch.row["task"])
    if base is None:
        return MergePlan(unit, new)
    with tempfile.TemporaryDirectory(dir=context.settings.incoming) as name:
        folder = Path(name)
        (folder / f"new{ending}").write_text(text, encoding="utf-8")
        job_input = {
            "kind": "join",
            "task": kind,
            "unlisted": _unlisted(connection, context, batch),
            "old": str((context.settings.sealed / base["file"]).absolute()),
            "new": str((folder / f"new{ending}").absolute()),
            "out": str((folder / "merged").absolute()),
        }
        with ForkServer(context.settings, CHILD) as nursery:
            answer = nursery.run(job_input)
        if "error" in answer:
            return MergePlan(unit, new, base=base["id"], why=str(answer["error"]))
        merged = (folder / "merged").read_text(encoding="utf-8")
    return MergePlan(
        unit,
        answer["new"],
        old=answer["old"],
        lost=answer["lost"],
        changed=answer["changed"],
        merged=answer["merged"],
        base=base["id"],
        text=merged,
    )
