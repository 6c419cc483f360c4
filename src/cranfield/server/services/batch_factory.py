"""New batches from what a campaign has: its ontology and items, a pool of its runs, a survey."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, insert, select, update

from cranfield.campaign.annotation_task import Sheet, Unit, known_labels, make_sheet
from cranfield.campaign.forms import GRADES, grade_form, shown_name
from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.pool import Pool, PooledItem, make_pool
from cranfield.campaign.surveys.kinds import KINDS as MADE
from cranfield.campaign.surveys.making import make_survey
from cranfield.campaign.surveys.survey import Survey
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError
from cranfield.io.collection import read_collection
from cranfield.io.files import Caps, Input, read_json_text
from cranfield.server.context import Context
from cranfield.server.services import audit, scoring
from cranfield.server.services.batches import Batch, add_batch, add_units
from cranfield.server.services.campaigns import Row, tasks_of
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


UPLOADED = "survey"
# What can be asked on the site. A survey that needs more than the public data of a campaign (the
# truth, an index) is made by `cranfield survey` where that is, and its key.json is sent.
SURVEYS = {kind: MADE[kind] for kind in ("measures", "relatedness", "categories", "rankings")} | {
    UPLOADED: "the key.json of one that `cranfield survey` has made, of any kind"
}
_REQUIRED_FILES = {
    UPLOADED: "the key.json that `cranfield survey` has written",
    "relatedness": "a file of pairs: CSV word1,word2",
    "categories": "a file of categories: CSV category,parent",
}


def survey_of(
    connection: Connection,
    context: Context,
    campaign: Row,
    ranked: Row | None,
    kind: str,
    *,
    seed: int,
    file: Input | None,
    questions: int,
    depth: int,
) -> Survey:
    """A survey of a kind, from the file that was sent or from what the campaign has."""
    if kind in _REQUIRED_FILES and file is None:
        raise UsageError(f"send {_REQUIRED_FILES[kind]}")
    options: dict[str, Any] = {"seed": seed}
    if kind == UPLOADED:
        return read_survey_key(file)
    if kind == "measures":
        return make_survey(kind, questions=questions, **options)
    if kind == "relatedness":
        return make_survey(kind, pairs=file, **options)
    public = context.settings.public / campaign["slug"]
    if kind == "categories":
        return make_survey(kind, categories_file=file, collection=public, **options)
    if ranked is None:
        raise UsageError("lists to rate need a task of rankings")
    runs = pooled_runs(connection, context, ranked["id"])
    return make_survey(kind, runs=runs, depth=depth, collection=public, **options)


def read_survey_key(file: Input | None) -> Survey:
    """A survey that was made elsewhere, from its key.json."""
    if file is None:
        raise UsageError(f"send {_REQUIRED_FILES[UPLOADED]}")
    try:
        key = json.loads(read_json_text(file))
    except ValueError as error:
        raise UsageError(f"{file.name} is not JSON ({error})") from None
    if not isinstance(key, dict):
        raise UsageError(f"{file.name} is not the key.json of a survey")
    return Survey.from_dict(key)


KINDS = {
    "labels": "annotation of items with the concepts of the ontology",
    "relevance": "judging of a pool of the runs",
    **{kind: f"survey: {what}" for kind, what in SURVEYS.items()},
}
# A survey has a place for every respondent, and a week for each.
_SURVEY_PLAN = {"overlap": 10_000, "expires": 7 * 24 * 3600.0}


@dataclass(frozen=True)
class BatchRequest:
    """What a new batch is made of, beyond how it is given out; each kind takes its own.

    `file` is what a survey is made of, or labels that are known: of the items that gold is made of,
    or, with `below`, of those that the concepts below that one are asked about.
    """

    slug: str
    title: str = ""
    guidelines: str = ""
    split: str = ""
    first: int | None = None
    below: str = ""
    depth: int = 50
    per_team: int | None = None
    questions: int = 10
    file: Input | None = None


def new_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    kind: str,
    *,
    slug: str,
    **options: Any,
) -> str:
    """A draft of a batch of a kind; gives its id. `options` are those of `Wanted` and of a plan."""
    fields = {
        name: options.pop(name) for name in BatchRequest.__dataclass_fields__ if name in options
    }
    request = BatchRequest(slug, **fields)
    if kind == "labels":
        return _label_batch(connection, context, actor, campaign, request, options)
    if kind == "relevance":
        task = _task_of_kind(connection, campaign, "ranked")
        if task is None:
            raise UsageError("a pool needs a task of rankings")
        return pool_batch(
            connection,
            context,
            actor,
            campaign,
            task,
            slug=slug,
            title=request.title,
            guidelines=request.guidelines,
            depth=request.depth,
            per_team=request.per_team,
            planned=options,
        )
    if kind not in SURVEYS:
        raise UsageError(f"a batch is one of: {', '.join(KINDS)}")
    seed = int(options.pop("seed", 0))
    survey = survey_of(
        connection,
        context,
        campaign,
        _task_of_kind(connection, campaign, "ranked"),
        kind,
        seed=seed,
        file=request.file,
        questions=request.questions,
        depth=request.depth,
    )
    planned = options | _SURVEY_PLAN | {"seed": seed}
    sheet = _with_texts(survey.sheet, request)
    campaign_id = campaign["id"]
    return add_batch(
        connection, context, actor, campaign_id, sheet, slug=slug, key=survey.key, **planned
    )


def _task_of_kind(connection: Connection, campaign: Row, kind: str) -> Row | None:
    tasks = {row["kind"]: row for row in tasks_of(connection, campaign["id"])}
    return tasks.get(kind)


def _with_texts(sheet: Sheet, request: BatchRequest) -> Sheet:
    """The sheet under the organiser's title and guidelines, where there are any."""
    return replace(
        sheet,
        title=request.title.strip() or sheet.title,
        guidelines=request.guidelines.strip() or sheet.guidelines,
    )


def _label_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    request: BatchRequest,
    planned: Mapping[str, Any],
) -> str:
    """Annotation by the ontology: whole, or below a concept that items are known to have."""
    labels = None if request.file is None else known_labels(request.file)
    if request.below and labels is None:
        raise UsageError("to ask below a concept, send the labels that are known")
    sheet = make_sheet(
        context.settings.public / campaign["slug"],
        split=request.split or None,
        title=request.title or (f"Which {shown_name(request.below)}?" if request.below else None),
        first=request.first,
        below=request.below or None,
        known=labels if request.below else None,
    )
    task = _task_of_kind(connection, campaign, "labels")
    return add_batch(
        connection,
        context,
        actor,
        campaign["id"],
        _with_texts(sheet, request),
        slug=request.slug,
        task=None if task is None or request.below else task["id"],
        gate=request.below,
        gold_answers=_gold_answers(sheet, labels) if planned.get("gold") else None,
        **planned,
    )


def _gold_answers(sheet: Sheet, labels: LabelMatrix | None) -> dict[str, dict[str, str]]:
    """What is known of units of a sheet, {unit: {concept: value}}."""
    if labels is None:
        raise UsageError("a share of gold needs a file of labels that are known")
    concepts = {c for form in sheet.forms.values() for c in form.concepts}
    columns = [(k, c) for k, c in enumerate(labels.concepts) if c in concepts]
    units = {unit.name for unit in sheet.units}
    values = dense(labels.labels).astype(int)
    gold = {
        item: {concept: str(values[row, k]) for k, concept in columns}
        for row, item in enumerate(labels.items)
        if item in units
    }
    if not gold or not columns:
        raise UsageError("the known labels have no item and concept of this batch")
    return gold
