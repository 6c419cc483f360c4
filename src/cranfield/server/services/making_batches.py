"""New batches from what a campaign has: its ontology and items, a pool of its runs, a survey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from cranfield.campaign.annotation_task import Sheet, known_labels, make_sheet
from cranfield.campaign.forms import shown_name
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError
from cranfield.io.files import Input
from cranfield.server.context import Context
from cranfield.server.services.batches import add_batch
from cranfield.server.services.campaigns import Row, tasks_of
from cranfield.server.services.pooling import pool_batch
from cranfield.server.services.surveying import SURVEYS, survey_of

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
