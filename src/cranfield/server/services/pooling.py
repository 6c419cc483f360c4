"""Pools of the runs of a task: judged in batches, and made larger where judging pays most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update

from cranfield.campaign.annotation_task import Sheet, Unit
from cranfield.campaign.forms import GRADES, grade_form
from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.pool import Pool, PooledItem, make_pool
from cranfield.errors import UsageError
from cranfield.io.collection import read_collection
from cranfield.io.files import Caps, Input
from cranfield.server.context import Context
from cranfield.server.services import audit, scoring
from cranfield.server.services.batches import Batch, add_batch, add_units
from cranfield.server.services.campaigns import Row
from cranfield.server.services.uploads import blob_path
from cranfield.server.store.tables import run, team
from cranfield.server.store.work_tables import batch, pool_item

MAX_ADDED_UNITS = 10_000
GUIDELINES = "Judge each item for the topic beside it, on its own."


def accepted_runs(
    connection: Connection, context: Context, task: str
) -> list[tuple[str, str, Input]]:
    """Name, threshold and file of the accepted runs of a task, by precedence, then by name."""
    rows = connection.execute(
        select(run.c.blob, run.c.form, run.c.tag, run.c.threshold, team.c.acronym)
        .join(team, team.c.id == run.c.team)
        .where(run.c.task == task, run.c.state == "accepted")
        .order_by(run.c.precedence, team.c.acronym, run.c.tag)
    )
    runs = []
    for row in rows:
        name = scoring.name_of(row.acronym, row.tag)
        ending = scoring.ending_of(context.settings, row.form, row.blob)
        # No more is unpacked than when the file was accepted.
        caps = Caps(unpacked_bytes=context.settings.limits.unpacked_bytes)
        file = Input(f"{name}{ending}", blob_path(context.settings, row.blob), caps)
        runs.append((name, str(row.threshold), file))
    return runs


def pooled_runs(
    connection: Connection, context: Context, task: str, per_team: int | None = None
) -> list[Input]:
    """The files of the accepted runs; with `per_team` so many of each team, the first ones."""
    if per_team is not None and per_team < 1:
        raise UsageError(f"{per_team} runs of each team are no pool")
    counts: dict[str, int] = {}
    files = []
    for name, _, file in accepted_runs(connection, context, task):
        acronym = name.partition(".")[0]
        counts[acronym] = counts.get(acronym, 0) + 1
        if per_team is None or counts[acronym] <= per_team:
            files.append(file)
    if not files:
        raise UsageError("there is no run to pool yet")
    return files


def pool_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    task: Row,
    *,
    slug: str,
    title: str,
    guidelines: str,
    depth: int,
    per_team: int | None,
    planned: Mapping[str, Any],
) -> str:
    """Every pair of a topic and an item once, without rank or run; those stay in `pool_item`."""
    pooled = make_pool(pooled_runs(connection, context, task["id"], per_team), depth=depth).items
    units = _pool_units(context, campaign, pooled)
    sheet = Sheet(
        title or "Relevance",
        "relevance",
        {"form": grade_form(GRADES)},
        tuple(units),
        guidelines=guidelines.strip() or GUIDELINES,
    )
    new = add_batch(
        connection,
        context,
        actor,
        campaign["id"],
        sheet,
        slug=slug,
        task=task["id"],
        topics={unit.name: (p.topic, p.item) for unit, p in zip(units, pooled, strict=True)},
        **planned,
    )
    _store_pool(connection, new, pooled)
    return new


def _pool_units(
    context: Context, campaign: Row, pooled: Sequence[PooledItem], after: int = 0
) -> list[Unit]:
    texts = read_texts(read_collection(context.settings.public / campaign["slug"]))
    tiled = texts.sheet if texts.sheet is not None else ()

    def shown(item: str | None) -> str:
        return item if item is not None and (item in texts.pictures or item in tiled) else ""

    return [
        Unit(
            f"{number:06d}",
            title=pooled_item.item,
            text=texts.items.get(pooled_item.item, ""),
            picture="there" if shown(pooled_item.item) else "",
            topic=texts.topics.get(pooled_item.topic, "") or pooled_item.topic,
            query=shown(texts.topic_items.get(pooled_item.topic)),
        )
        for number, pooled_item in enumerate(pooled, after + 1)
    ]


def _store_pool(connection: Connection, batch_id: str, pooled: Sequence[PooledItem]) -> None:
    if pooled:
        connection.execute(
            insert(pool_item),
            [
                {
                    "batch": batch_id,
                    "topic": pooled_item.topic,
                    "item": pooled_item.item,
                    "best_rank": pooled_item.best_rank,
                    "runs": pooled_item.runs,
                    "weight": pooled_item.weight,
                }
                for pooled_item in pooled
            ],
        )


def grow_pool(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    relevance_batch: Batch,
    *,
    depth: int,
    count: int,
) -> int:
    """Add the units of a deeper pool whose judgement can move the runs apart the most.

    What is in the batch already counts as judged. Returns the number of added units.
    """
    if relevance_batch.kind != "relevance" or relevance_batch.row["state"] in ("closed", "merged"):
        raise UsageError("only a pool that is not closed can grow")
    if not 1 <= count <= MAX_ADDED_UNITS:
        raise UsageError(f"a pool grows by 1 to {MAX_ADDED_UNITS} units, not by {count}")
    deeper = make_pool(pooled_runs(connection, context, relevance_batch.row["task"]), depth=depth)
    pairs = {(str(unit["topic"]), str(unit["item"])) for unit in relevance_batch.hits.values()}
    remaining = Pool(
        depth, deeper.runs, tuple(i for i in deeper.items if (i.topic, i.item) not in pairs)
    )
    selected = remaining.next_to_judge(count)
    units = _pool_units(context, campaign, selected, after=len(relevance_batch.hits))
    topics = {unit.name: (p.topic, p.item) for unit, p in zip(units, selected, strict=True)}
    add_units(connection, context, relevance_batch, units, topics)
    _store_pool(connection, relevance_batch.id, selected)
    # Later than before, whatever the clock says: processes that cached the batch read it again.
    now = max(context.clock.now(), (relevance_batch.row["changed"] or 0) + 1)
    connection.execute(update(batch).where(batch.c.id == relevance_batch.id).values(changed=now))
    detail = {"depth": depth, "units": len(selected)}
    audit.append(connection, now, actor, "batch.grow", relevance_batch.row["slug"], detail)
    return len(selected)
