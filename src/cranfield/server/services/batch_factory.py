"""New batches from what a campaign has: its ontology and items, a pool of its runs, a survey."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy import Connection, func, insert, select, update

from cranfield.campaign.annotation_task import Sheet, Unit, known_labels, make_sheet
from cranfield.campaign.forms import GRADES, grade_form, shown_name
from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.next_judgements import DrawnCell, NextJudgements, next_judgements
from cranfield.campaign.pool import Pool, PooledItem, make_pool
from cranfield.campaign.surveys import KINDS as MADE
from cranfield.campaign.surveys.making import make_survey
from cranfield.campaign.surveys.survey import Survey
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError, suggest
from cranfield.io.collection import read_collection
from cranfield.io.files import Caps, Input, read_json_text
from cranfield.options import Shape
from cranfield.server.context import Context
from cranfield.server.services import audit, batch_results, scoring
from cranfield.server.services.batches import (
    Batch,
    add_batch,
    add_units,
    change_drawing,
    set_state,
)
from cranfield.server.services.campaigns import Row, tasks_of
from cranfield.server.services.uploads import blob_path
from cranfield.server.store.tables import run, team
from cranfield.server.store.work_tables import assignment, batch, hit, pool_item

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
            topic=texts.asked(pooled_item.topic) or pooled_item.topic,
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
    finished = relevance_batch.row["state"] in ("closed", "merged")
    if relevance_batch.kind != "relevance" or finished or relevance_batch.drawing:
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


def _drawn_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    task: Row,
    request: BatchRequest,
    planned: Mapping[str, Any],
) -> str:
    """The first round of a batch that draws its units and stops itself.

    It belongs to no task: a truth of which a part is judged would be scored as if the rest were not
    relevant. What is estimated from it stands on its page and in its ledger.
    """
    refused = [n for n in ("certainty", "pilot", "gold") if planned.get(n)]
    if refused:
        raise UsageError(f"units that are drawn take no {refused[0]}: each counts in its round")
    files = pooled_runs(connection, context, task["id"], request.per_team)
    drawing = {
        "task": task["id"],
        "runs": [file.name for file in files],
        "measure": request.measure or "P@10",
        "count": request.round,
        "depth": request.depth,
        "budget": request.budget,
        "seed": int(planned.get("seed", 0)),
        "stop": "",
    }
    answer = _next_of(files, drawing, ())
    units, topics, drawn = _drawn_units(context, campaign, answer.cells, 0)
    sheet = Sheet(
        request.title.strip() or "Relevance",
        "relevance",
        {"form": grade_form(GRADES)},
        tuple(units),
        guidelines=request.guidelines.strip() or GUIDELINES,
    )
    return add_batch(
        connection,
        context,
        actor,
        campaign["id"],
        sheet,
        slug=request.slug,
        topics=topics,
        drawing=drawing,
        drawn=drawn,
        **planned,
    )


def _next_of(
    files: Sequence[Input], drawing: Mapping[str, Any], ledger: Sequence[DrawnCell]
) -> NextJudgements:
    return next_judgements(
        list(files),
        drawing["measure"],
        ledger=list(ledger),
        count=drawing["count"],
        depth=drawing["depth"],
        budget=drawing["budget"],
        rng=drawing["seed"],
    )


def _drawn_units(
    context: Context, campaign: Row, cells: Sequence[DrawnCell], after: int
) -> tuple[list[Unit], dict[str, tuple[str, str]], dict[str, tuple[int, float]]]:
    """Units of drawn cells: themselves, their topics and items, their rounds and probabilities.

    They come in the order of the pool, which says nothing of the runs.
    """
    pooled = [PooledItem(c.topic, c.item, 0, 0, 0.0, False) for c in cells]
    units = _pool_units(context, campaign, pooled, after=after)
    topics = {unit.name: (c.topic, c.item) for unit, c in zip(units, cells, strict=True)}
    drawn = {
        unit.name: (c.round, float(c.probability or 1.0))
        for unit, c in zip(units, cells, strict=True)
    }
    return units, topics, drawn


def ledger_of(connection: Connection, drawn_batch: Batch) -> list[DrawnCell]:
    """Every cell that was drawn: its round, its probability, and what the people said of it.

    Where nobody could tell, it counts as not relevant.
    """
    grades: dict[tuple[str, str], float] = {}
    if batch_results.filled_forms(connection, drawn_batch):
        for line in batch_results.truth_file(connection, drawn_batch, "majority")[0].splitlines():
            topic, _, item, grade = line.split()
            grades[topic, item] = float(grade)
    waiting = _open_units(connection, drawn_batch)
    cells = []
    for key, (number, probability) in drawn_batch.drawn.items():
        row = drawn_batch.hits[key]
        topic, item = str(row["topic"]), str(row["item"])
        relevance = None if key in waiting else grades.get((topic, item), 0.0)
        cells.append(DrawnCell(topic, item, number, probability, relevance))
    return cells


def _open_units(connection: Connection, drawn_batch: Batch) -> set[str]:
    """The units that have not got all their forms yet."""
    counts = {
        str(key): int(count)
        for key, count in connection.execute(
            select(assignment.c.hit, func.count())
            .join(hit, hit.c.id == assignment.c.hit)
            .where(hit.c.batch == drawn_batch.id, assignment.c.state == "submitted")
            .group_by(assignment.c.hit)
        )
    }
    overlap = drawn_batch.plan.overlap
    return {key for key in drawn_batch.hits if counts.get(key, 0) < overlap}


def state_of_drawing(
    connection: Connection, context: Context, drawn_batch: Batch
) -> NextJudgements | None:
    """What may be said after the rounds that are complete; None before the first one."""
    ledger = ledger_of(connection, drawn_batch)
    waiting = {cell.round for cell in ledger if cell.relevance is None}
    past = [cell for cell in ledger if cell.round not in waiting]
    if not past:
        return None
    drawing = drawn_batch.drawing
    files = [
        file
        for file in pooled_runs(connection, context, drawing["task"])
        if file.name in set(drawing["runs"])
    ]
    return _next_of(files, drawing, past)


def draw_next_round(
    connection: Connection, context: Context, campaign: Row, drawn_batch: Batch
) -> None:
    """When a round is complete: the next one, or the end of the batch with its reason."""
    if not drawn_batch.drawing or drawn_batch.row["state"] != "running":
        return
    if _open_units(connection, drawn_batch):
        return
    answer = state_of_drawing(connection, context, drawn_batch)
    if answer is None:
        return
    changes = {"stop": answer.stop, "judged": answer.judged, "candidates": answer.candidates}
    change_drawing(connection, context, drawn_batch.row, changes)
    slug, now = drawn_batch.row["slug"], context.clock.now()
    if answer.stop:
        set_state(connection, context, "", drawn_batch.row, "closed")
        audit.append(connection, now, "", "batch.stop", slug, {"reason": answer.stop})
        return
    units, topics, drawn = _drawn_units(context, campaign, answer.cells, len(drawn_batch.hits))
    add_units(connection, context, drawn_batch, units, topics, drawn)
    detail = {"round": answer.round, "units": len(units), "seed": answer.seed}
    audit.append(connection, now, "", "batch.draw", slug, detail)


UPLOADED = "survey"
# What can be asked on the site. A survey that needs more than the public data of a campaign (the
# truth, an index) is made by `cranfield truth survey` where that is, and its key.json is sent.
SURVEYS = {kind: MADE[kind] for kind in ("measures", "relatedness", "categories", "rankings")} | {
    UPLOADED: "the key.json of one that `cranfield truth survey` has made, of any kind"
}
_REQUIRED_FILES = {
    UPLOADED: "the key.json that `cranfield truth survey` has written",
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


# Relevance that is judged in rounds, drawn with known probabilities.
DRAWN = "drawn"
KINDS = {
    "labels": "annotation of items with the concepts of the ontology",
    DRAWN: "judging of what is drawn from the pool of the runs, round by round, until it may stop",
    "relevance": "judging of a pool of the runs",
    "cells": "judging of the concepts that a pool of the annotations has, item by item",
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
    marks: str = ""
    suggestions: str = ""
    suggestions_shown: float = 0.5
    depth: int = 50
    per_team: int | None = None
    questions: int = 10
    file: Input | None = None
    measure: str = ""
    round: int = 100
    budget: int | None = None


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
    if kind == "cells":
        return _cell_batch(connection, context, actor, campaign, request, options)
    if kind in ("relevance", DRAWN):
        task = _task_of_kind(connection, campaign, "ranked")
        if task is None:
            raise UsageError("a pool needs a task of rankings")
        if kind == DRAWN:
            return _drawn_batch(connection, context, actor, campaign, task, request, options)
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


def _cell_batch(
    connection: Connection,
    context: Context,
    actor: str,
    campaign: Row,
    request: BatchRequest,
    planned: Mapping[str, Any],
) -> str:
    """Concepts pooled from the annotations of the task; other cells stay unjudged.

    The pages of the site need a truth of which every cell is judged, so that such a batch belongs
    to no task: its log is downloaded, aggregated and read with `--unlisted unjudged`.
    """
    task = _task_of_kind(connection, campaign, "labels")
    if task is None:
        raise UsageError("a pool of annotations needs a task of annotation")
    files = pooled_runs(connection, context, task["id"], request.per_team)
    sheet = make_sheet(
        context.settings.public / campaign["slug"],
        pool=make_pool(files, depth=request.depth, labels=True),
        first=request.first,
    )
    return add_batch(
        connection,
        context,
        actor,
        campaign["id"],
        _with_texts(sheet, request),
        slug=request.slug,
        **planned,
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
    task = _task_of_kind(connection, campaign, "labels")
    sheet = make_sheet(
        context.settings.public / campaign["slug"],
        split=request.split or None,
        title=request.title or (f"Which {shown_name(request.below)}?" if request.below else None),
        first=request.first,
        below=request.below or None,
        known=labels if request.below else None,
        marks=_shape(request.marks),
        suggestions=_run_named(connection, context, task, request.suggestions),
        suggestions_shown=request.suggestions_shown,
    )
    return add_batch(
        connection,
        context,
        actor,
        campaign["id"],
        _with_texts(sheet, request),
        slug=request.slug,
        task=None if task is None or request.below or request.marks else task["id"],
        gate=request.below,
        gold_answers=_gold_answers(sheet, labels) if planned.get("gold") else None,
        **planned,
    )


def _run_named(
    connection: Connection, context: Context, task: Row | None, name: str
) -> Input | None:
    """The file of an accepted run of annotations, whose suggestions people see."""
    if not name:
        return None
    runs = [] if task is None else accepted_runs(connection, context, task["id"])
    for run_name, _, file in runs:
        if run_name == name:
            return file
    raise UsageError(f"no accepted run {name!r}.{suggest(name, [n for n, _, _ in runs])}")


def _shape(name: str) -> Shape | None:
    """What is marked on the pictures of a batch, if anything."""
    if name in ("", "boxes", "points"):
        return cast(Shape | None, name or None)
    raise UsageError(f"a batch marks boxes or points, not {name!r}")


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
