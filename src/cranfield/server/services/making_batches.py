"""New batches from what a campaign has: its ontology and items, a pool of its runs, a survey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from cranfield.campaign.ontology_form import GRADES, grade_form
from cranfield.campaign.pool import PooledItem, make_pool
from cranfield.campaign.sheet_maker import make_sheet
from cranfield.campaign.sheets import Sheet, Unit
from cranfield.campaign.surveys.making import make_survey
from cranfield.campaign.texts import read_texts
from cranfield.errors import UsageError
from cranfield.io.collection import read_collection
from cranfield.io.files import Input
from cranfield.server.context import Context
from cranfield.server.services.batches import add_batch
from cranfield.server.services.campaigns import Row, tasks_of
from cranfield.server.services.uploads import blob_path
from cranfield.server.store.tables import run, team
from cranfield.server.store.work_tables import hit, pool_item

KINDS = {
    "labels": "annotation of items with the concepts of the ontology",
    "relevance": "judging of a pool of the runs",
    "measures": "survey: which measure orders ranked lists as you would",
}


def new_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    kind: str,
    *,
    slug: str,
    title: str = "",
    split: str = "",
    first: int | None = None,
    depth: int = 50,
    questions: int = 10,
    guidelines: str = "",
    **planned: Any,
) -> str:
    """A draft of a batch of a kind; gives its id."""
    tasks = {row["kind"]: row for row in tasks_of(connection, campaign["id"])}
    folder = context.settings.public / campaign["slug"]
    if kind == "labels":
        made = make_sheet(folder, split=split or None, title=title or None, first=first)
        sheet = _guided(made, guidelines)
        task = tasks.get("labels")
        options: dict[str, Any] = {"task": task and task["id"]}
        return add_batch(
            connection, context, actor, campaign["id"], sheet, slug=slug, **options, **planned
        )
    if kind == "relevance":
        task = tasks.get("ranked")
        if task is None:
            raise UsageError("a pool needs a task of rankings")
        return _pool_batch(
            connection, context, actor, campaign, task, depth, slug, title, guidelines, planned
        )
    if kind == "measures":
        survey = make_survey("measures", seed=int(planned.pop("seed", 0)), questions=questions)
        planned |= {"overlap": 10_000, "expires": 7 * 24 * 3600.0}
        return add_batch(
            connection,
            context,
            actor,
            campaign["id"],
            survey.sheet,
            slug=slug,
            key=survey.key,
            **planned,
        )
    raise UsageError(f"a batch is one of: {', '.join(KINDS)}")


def _guided(sheet: Sheet, guidelines: str) -> Sheet:
    return Sheet(
        sheet.title,
        sheet.kind,
        sheet.forms,
        sheet.units,
        sheet.scenario,
        guidelines.strip() or sheet.guidelines,
        sheet.version,
        sheet.about,
    )


def _pool_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    task: Row,
    depth: int,
    slug: str,
    title: str,
    guidelines: str,
    planned: Mapping[str, Any],
) -> str:
    """Every pair of a topic and an item once, without rank or run; those stay in `pool_item`."""
    pooled = pool_of(connection, context, task, depth)
    texts = read_texts(read_collection(context.settings.public / campaign["slug"]))
    units, pairs = [], {}
    for number, one in enumerate(pooled, 1):
        name = f"{number:06d}"
        units.append(
            Unit(
                name,
                title=one.item,
                text=texts.items.get(one.item, ""),
                picture="there" if one.item in texts.pictures or _tiled(texts, one.item) else "",
                topic=texts.topics.get(one.topic, "") or one.topic,
            )
        )
        pairs[name] = (one.topic, one.item)
    form = grade_form(GRADES)
    text = guidelines.strip() or "Judge each item for the topic beside it, on its own."
    sheet = Sheet(title or "Relevance", "relevance", {"form": form}, tuple(units), guidelines=text)
    new = add_batch(
        connection,
        context,
        actor,
        campaign["id"],
        sheet,
        slug=slug,
        task=task["id"],
        topics=pairs,
        **planned,
    )
    _keep_pool(connection, new, pooled)
    return new


def _tiled(texts: Any, item: str) -> bool:
    return texts.sheet is not None and item in texts.sheet


def pool_of(
    connection: Connection, context: Context, task: Row, depth: int
) -> tuple[PooledItem, ...]:
    """The pool of the accepted runs of a task."""
    rows = connection.execute(
        select(run.c.blob, run.c.form, run.c.tag, team.c.acronym)
        .join(team, team.c.id == run.c.team)
        .where(run.c.task == task["id"], run.c.state == "accepted")
        .order_by(run.c.precedence, run.c.created, run.c.id)
    ).all()
    if not rows:
        raise UsageError("there is no run to pool yet")
    runs = [
        Input(f"{r.acronym}.{r.tag}{r.form}", blob_path(context.settings, r.blob)) for r in rows
    ]
    return make_pool(runs, depth=depth).items


def _keep_pool(connection: Connection, batch_id: str, pooled: tuple[PooledItem, ...]) -> None:
    if pooled:
        connection.execute(
            insert(pool_item),
            [
                {
                    "batch": batch_id,
                    "topic": one.topic,
                    "item": one.item,
                    "best_rank": one.best_rank,
                    "runs": one.runs,
                    "weight": one.weight,
                }
                for one in pooled
            ],
        )


def pool_size(connection: Connection, batch_id: str) -> int:
    """How many units a batch has."""
    return len(connection.execute(select(hit.c.id).where(hit.c.batch == batch_id)).all())
