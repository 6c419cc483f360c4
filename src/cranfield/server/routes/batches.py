"""Batches as the organiser sees them, and work as programs do it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header
from pydantic import AfterValidator, BaseModel, Field
from sqlalchemy import Connection, select
from starlette.requests import Request
from starlette.responses import Response

from cranfield.campaign.batches import BATCH_WAYS, way_name
from cranfield.campaign.next_judgements import ledger_rows
from cranfield.campaign.surveys.making import count_survey
from cranfield.errors import CranfieldError, UsageError, plural
from cranfield.io.files import Caps, Input, csv_text
from cranfield.report.document import document_of
from cranfield.server.forms import SURE, Fields, Question, ask_first, sentence, uploaded_file
from cranfield.server.http import (
    Refusal,
    attachment_headers,
    campaign_of,
    context_of,
    handler,
    identity_of,
    json_response,
    problem_response,
    public_link,
    readable,
    redirect_with_notice,
    render_page,
    text_of,
    whole_number,
)
from cranfield.server.routes.annotation import batch_of
from cranfield.server.services import (
    accounts,
    assessors,
    assignments,
    batch_factory,
    batch_results,
    batches,
    judgements,
    merging,
    quality,
)
from cranfield.server.services.batch_factory import DRAWN, KINDS, UPLOADED, new_batch
from cranfield.server.store.tables import campaign as campaign_table

Once = Annotated[str | None, Header(max_length=200)]
Words = Annotated[str, AfterValidator(readable)]
MOST_LINKS = 500
NUMBERS = {
    "overlap": int,
    "pilot": int,
    "first": int,
    "depth": int,
    "questions": int,
    "seed": int,
    "pay": float,
    "gold": float,
    "expires": float,
    "per_team": int,
    "trial": int,
    "qualification": float,
    "most_per_person": int,
    "certainty": float,
    "least": int,
    "suggestions_shown": float,
    "round": int,
    "budget": int,
}
# How the page calls them.
LABELS = {
    "overlap": "People per item",
    "pilot": "Items of the pilot",
    "first": "Items, the first ones",
    "depth": "Depth",
    "questions": "Questions",
    "seed": "Seed of the order",
    "pay": "Pay per form",
    "gold": "Share of gold",
    "expires": "Seconds until an assignment lapses",
    "per_team": "Runs of each team",
    "trial": "Known labels until a person must qualify",
    "qualification": "Share of known labels to have right",
    "most_per_person": "Forms per person at most",
    "certainty": "Sure from",
    "least": "People per item at least",
    "suggestions_shown": "Share of items with suggestions",
    "round": "Items of a round",
    "budget": "Judgements in all",
    "count": "Units to add",
}
TEXTS = ("slug", "title", "split", "guidelines", "below", "marks", "suggestions", "measure")
PERSON_DONE = {
    "pause": "The person is paused.",
    "resume": "The person can go on.",
    "reject": "The forms are rejected and given out again.",
    "forget": "Who it was is deleted; the pseudonym stays.",
}
# What the page says when a batch has come to a state.
STATE_DONE = {
    "pilot": "The pilot runs.",
    "running": "The batch runs.",
    "paused": "The batch is paused.",
    "closed": "The batch is closed.",
    "merged": "The truth is made and sealed; every run is scored again.",
    "skipped": "The batch is left out of the truth.",
}
# What is sent with a form: read into memory, as only an organiser sends it.
MOST_BYTES, MOST_LINES = 20_000_000, 200_000


@dataclass(frozen=True, slots=True)
class BatchKind:
    """A kind of batch as the page offers it: what its form asks for beyond name and guidelines."""

    name: str
    title: str
    about: str
    fields: frozenset[str]
    file: str = ""
    about_file: str = ""
    needs_file: bool = False


def _kind(
    name: str, title: str, fields: str = "", file: str = "", about_file: str = "", **needs: bool
) -> BatchKind:
    about = KINDS[name].removeprefix("survey: ").replace("`", "")
    return BatchKind(name, title, about, frozenset(fields.split()), file, about_file, **needs)


_KINDS: dict[str, BatchKind] = {
    kind.name: kind
    for kind in (
        _kind(
            "labels",
            "Annotation",
            "overlap certainty split first gold",
            "Labels that are known",
            "for gold, or to ask below a concept",
        ),
        _kind("relevance", "Pool of the runs", "overlap certainty depth per_team"),
        _kind(DRAWN, "Pool, drawn round by round", "overlap depth per_team measure"),
        _kind("cells", "Pool of annotations", "overlap certainty depth per_team first"),
        _kind("measures", "Survey: measures", "questions"),
        _kind("rankings", "Survey: rankings", "depth"),
        _kind(
            "relatedness",
            "Survey: relatedness",
            file="Pairs of words",
            about_file="CSV word1,word2",
            needs_file=True,
        ),
        _kind(
            "categories",
            "Survey: categories",
            file="Categories",
            about_file="CSV category,parent",
            needs_file=True,
        ),
        _kind(UPLOADED, "Survey of a file", file="key.json", needs_file=True),
    )
}


@handler("batches")
def batches_page(request: Request) -> Response:
    return _batches(request, request.query_params.get("kind", ""))


def _batches(request: Request, kind: str, errors: Mapping[str, str] | None = None) -> Response:
    """The batches, and the kinds of a new one or the form of one kind."""
    with context_of(request).store.read() as connection:
        rows = batches.batches_of(connection, campaign_of(request)["id"])
    return render_page(
        request,
        "batches.html",
        400 if errors else 200,
        batches=rows,
        kinds=tuple(_KINDS.values()),
        kind=_KINDS.get(kind),
        errors=errors or {},
    )


def _numbers(request: Request, kinds: Mapping[str, type] = NUMBERS) -> dict[str, Any]:
    """The numbers of a form that are filled in; a UsageError names one that is none."""
    numbers: dict[str, Any] = {}
    for name, kind in kinds.items():
        text = text_of(request, name).strip()
        if text:
            try:
                numbers[name] = kind(text)
            except ValueError:
                raise UsageError(f"{LABELS[name]}: {text[:40]!r} is not a number") from None
    return numbers


def _uploaded_input(request: Request) -> Input | None:
    """The file of a form under the name that it had, or None."""
    file = uploaded_file(request)
    if file is None:
        return None
    content = file.file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UsageError(f"{file.filename} is larger than {MOST_BYTES // 1_000_000} MB")
    caps = Caps(unpacked_bytes=MOST_BYTES, lines=MOST_LINES)
    return Input(str(file.filename).replace("\0", ""), content, caps)


@handler("batches.add")
def add(request: Request) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    options: dict[str, Any] = {name: text_of(request, name) for name in TEXTS}
    kind = text_of(request, "kind")
    fields = Fields()
    for name, number in NUMBERS.items():
        with fields.beside(name):
            options |= _numbers(request, {name: number})
    with fields.beside("slug"):
        accounts.checked_text("the name in addresses", options["slug"])
    with fields.beside("file"):
        options["file"] = _uploaded_input(request)
    if not fields.errors:
        try:
            context.store.write(
                lambda c: new_batch(c, context, identity.actor, row, kind, **options)
            )
        except CranfieldError as error:
            fields.errors[_field_of(str(error), options)] = sentence(str(error))
    if fields.errors:
        return _batches(request, kind, fields.errors)
    title = options["title"].strip() or options["slug"]
    message = f"The batch {title} is a draft now: look at it, then start it."
    return redirect_with_notice(request, f"/{row['slug']}/organise/batches", message)


def _field_of(message: str, options: Mapping[str, Any]) -> str:
    """The field that a refusal of a new batch is about."""
    if message.startswith("there is a batch"):
        return "slug"
    sent = options["file"]
    about_file = "labels that are known" in message or (sent is not None and sent.name in message)
    return "file" if about_file else ""


@handler("batch")
def batch_page(request: Request, b: str) -> Response:
    return _board(request, b)


def _board(request: Request, b: str, links: list[str] | None = None, error: str = "") -> Response:
    context = context_of(request)
    with context.store.read() as connection:
        batch = batch_of(request, connection, b)
        figures = quality.batch_dashboard(connection, batch)
        rankings, why = [], ""
        drawing = None
        if batch.drawing:
            drawing = batch_factory.state_of_drawing(connection, context, batch)
        if batch.kind == "labels" and batch.row["task"] is not None:
            try:
                rankings = quality.rankings(connection, context, batch)
            except CranfieldError as reason:
                why = str(reason)
    return render_page(
        request,
        "batch.html",
        400 if error else 200,
        batch=batch.row,
        drawing=batch.drawing,
        drawn=drawing,
        units=len(batch.hits),
        survey=bool(batch.key),
        shown=figures,
        matters=rankings,
        why=why,
        links=links or [],
        error=error,
        ways={end: way_name(batch.row["state"], end) for end in BATCH_WAYS[batch.row["state"]]},
    )


@handler("batch.state")
def state(request: Request, b: str) -> Response:
    context, identity = context_of(request), identity_of(request)
    end, method = text_of(request, "to"), text_of(request, "method", "majority")

    home = f"/{campaign_of(request)['slug']}/organise/batches/{b}"
    into: tuple[str, str] | None = None
    if end == "merged":
        try:
            with context.store.read() as connection:
                batch = batch_of(request, connection, b)
                batches.check_transition(connection, batch.row, "merged")
                plan = merging.plan_merge(connection, context, batch, method)
        except CranfieldError as error:
            return _board(request, b, error=sentence(str(error)))
        confirmation = ask_first(request, _truth_question(plan, batch.row["title"], home))
        if confirmation is not None:
            return confirmation
        if text_of(request, SURE) == "merge":
            into = plan.base, plan.text

    def write(connection: Connection) -> None:
        batch = batch_of(request, connection, b)
        if end == "skipped":
            batches.skip(connection, context, identity.actor, batch.row, text_of(request, "reason"))
        elif end == "merged":
            batch_results.merge(connection, context, identity.actor, batch, method, into=into)
        else:
            batches.set_state(connection, context, identity.actor, batch.row, end)

    try:
        context.store.write(write)
    except CranfieldError as error:
        return _board(request, b, error=sentence(str(error)))
    context.wake.set()
    return redirect_with_notice(request, home, STATE_DONE[end])


def _truth_question(plan: merging.MergePlan, title: str, return_path: str) -> Question:
    """What making the truth out of a batch will do, in numbers."""
    new = plural(plan.new, plan.unit)
    lines = ["Every run is scored again by the new truth, which is sealed as a new version."]
    answers = {"replace": "Replace the truth"}
    if not plan.base:
        lines.insert(0, f"The task gets its first truth: {new}.")
        answers = {"replace": "Make the truth"}
    elif plan.why:
        lines.insert(0, f"It replaces the truth there is by {new}. {sentence(plan.why)}")
    else:
        lines[:0] = [
            f"Replacing the truth: replaces {plural(plan.old, plan.unit)} by {plan.new}; "
            f"{plan.lost} lose their truth.",
            f"Merging into the truth there is: {plural(plan.merged, plan.unit)} have a truth "
            f"then, none loses it; other than before: {plural(plan.changed, 'answer')}.",
        ]
        answers = {"merge": "Merge into the truth there is"} | answers
    return Question(
        f"Make the truth out of {title}?", tuple(lines), answers, return_path, password=True
    )


@handler("batch.grow")
def grow(request: Request, b: str) -> Response:
    """A pool goes on where judging pays most."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)

    def write(connection: Connection) -> int:
        options = {"depth": 100, "count": 50} | _numbers(request, {"depth": int, "count": int})
        batch = batch_of(request, connection, b)
        return batch_factory.grow_pool(connection, context, identity.actor, row, batch, **options)

    try:
        count = context.store.write(write)
    except CranfieldError as error:
        return _board(request, b, error=sentence(str(error)))
    home = f"/{row['slug']}/organise/batches/{b}"
    return redirect_with_notice(request, home, f"The pool has {plural(count, 'unit')} more.")


@handler("batch.people")
def people(request: Request, b: str) -> Response:
    """Links are shown once: only their hashes are kept."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    kind, count = text_of(request, "kind", "crowd"), text_of(request, "count", "1")
    number = whole_number(count) or 0
    base = public_link(request, f"/{row['slug']}")

    def write(connection: Connection) -> list[str]:
        batch = batch_of(request, connection, b)
        if kind == "survey":
            secret = batches.survey_link(connection, context, identity.actor, batch.row)
            return [f"{base}/survey/{secret}"]
        if kind == "same":
            source = text_of(request, "from")
            assessors.admit_from(connection, context, identity.actor, batch.row, source)
            return []
        if kind not in ("crowd", "model") or not 1 <= number <= MOST_LINKS:
            raise UsageError(f"choose crowd, model, survey or same, and 1 to {MOST_LINKS} links")
        secrets = [
            assessors.add_assessor(
                connection, context, identity.actor, row["id"], kind=kind, batch_id=batch.id
            )[1]
            for _ in range(number)
        ]
        return [f"{base}/enter/{secret}" if kind == "crowd" else secret for secret in secrets]

    try:
        links = context.store.write(write)
    except CranfieldError as error:
        return _board(request, b, error=str(error))
    return _board(request, b, links=links)


@handler("batch.person")
def person(request: Request, b: str, id: str) -> Response:
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    action, reason = text_of(request, "do"), text_of(request, "reason")

    home = f"/{row['slug']}/organise/batches/{b}"
    question = None
    if action in ("forget", "reject"):
        with context.store.read() as connection:
            batch = batch_of(request, connection, b)
            question = _person_question(connection, batch, id, action, reason, home)
    confirmation = None if question is None else ask_first(request, question)
    if confirmation is not None:
        return confirmation

    def write(connection: Connection) -> None:
        batch = batch_of(request, connection, b)
        if action == "reject":
            batch_results.reject(connection, context, identity.actor, batch, id, reason)
        elif action == "forget":
            assessors.forget(connection, context, identity.actor, row["id"], id)
        elif action in ("pause", "resume"):
            state = "active" if action == "resume" else "paused"
            assessors.set_assessor(connection, context, identity.actor, row["id"], id, state)
        else:
            raise UsageError("choose to pause a person, to let them go on, to reject or to forget")

    try:
        context.store.write(write)
    except CranfieldError as error:
        return _board(request, b, error=sentence(str(error)))
    return redirect_with_notice(request, home, PERSON_DONE[action])


def _person_question(
    connection: Connection,
    batch: batches.Batch,
    id: str,
    action: str,
    reason: str,
    return_path: str,
) -> Question | None:
    """What rejecting or forgetting a person will do; None where it is refused anyway."""
    rows = assessors.assessors_of(connection, batch.row["campaign"])
    name = next((row["pseudonym"] for row in rows if row["id"] == id), None)
    if name is None or (action == "reject" and not reason.strip()):
        return None
    filled = batch_results.filled_forms(connection, batch)
    forms = plural(sum(1 for form in filled if form.annotator == name), "form")
    if action == "reject":
        lines = (
            f"{forms} of {name} no longer count and are given out again.",
            f"The log keeps the reason: {reason.strip()}",
            "What was rejected cannot be taken back in.",
        )
        return Question(
            f"Reject the work of {name}?", lines, {"yes": f"Reject {name}"}, return_path
        )
    lines = (
        f"Who {name} is, the link or account and what they said of themselves are deleted.",
        f"{name} can judge no more; {forms} in this batch stay under the pseudonym.",
        "There is no way to find out later who it was: this cannot be undone.",
    )
    return Question(f"Forget who {name} is?", lines, {"yes": f"Forget {name}"}, return_path)


def _log(request: Request, b: str) -> Response:
    """The log of a batch; with `as=answers` all answers, with the boxes and points in them."""
    if request.query_params.get("as") == "answers":
        with context_of(request).store.read() as connection:
            batch = batch_of(request, connection, b)
            answers = [r.to_dict() for r in batch_results.responses(connection, batch)]
        headers = attachment_headers(f"{batch.row['slug']}-answers.json")
        return Response(json.dumps(answers), media_type="application/json", headers=headers)
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
        log = batch_results.collect_forms(connection, batch).log
    text = csv_text([log.header, *log.rows()])
    headers = attachment_headers(f"{batch.row['slug']}-log.csv")
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@handler("batch.log")
def batch_log(request: Request, b: str) -> Response:
    return _log(request, b)


@handler("batch.survey")
def batch_survey(request: Request, b: str) -> Response:
    """The answers counted with the key, which stays here."""
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
        responses = batch_results.responses(connection, batch)
    if not batch.key:
        raise Refusal(404, "This batch is no survey.")
    answer = count_survey(batch.key, responses)
    if request.headers.get("accept", "").startswith("application/json"):
        return json_response(answer.to_dict())
    tables = document_of(answer).tables
    return render_page(request, "survey_counted.html", batch=batch.row, tables=tables)


@handler("batch.ledger")
def batch_ledger(request: Request, b: str) -> Response:
    """What was drawn, and how probable it was: whoever has the runs can draw it again."""
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
        if not batch.drawing:
            raise Refusal(404, "The units of this batch were not drawn.")
        text = csv_text(ledger_rows(batch_factory.ledger_of(connection, batch)))
    return Response(text, headers=attachment_headers(f"{b}-ledger.csv"), media_type="text/csv")


@handler("api.batch.log")
def api_log(request: Request, c: str, b: str) -> Response:  # noqa: ARG001
    return _log(request, b)


@handler("api.batch.agreement")
def api_agreement(request: Request, c: str, b: str) -> Response:  # noqa: ARG001
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
        figures = quality.batch_dashboard(connection, batch)
    status = figures["status"]
    counts = {"wanted": status.wanted, "submitted": status.submitted, "rejected": status.rejected}
    return json_response(
        counts | {"agreement": figures["agreement"], "open_disputes": figures["open_disputes"]}
    )


class Judgement(BaseModel):
    """What a program says about a unit."""

    answers: dict[Words, list[Words]] = Field(default_factory=dict)
    state: Words = Field("done", max_length=20)
    key: Words = Field("", max_length=200)
    seconds: float = Field(0.0, ge=0, le=1e7)
    comment: Words = Field("", max_length=4000)


class Remark(BaseModel):
    """A remark about a unit."""

    text: Words = Field(min_length=1, max_length=4000)


class Skip(BaseModel):
    """How a unit is left: for good, or until the others are done."""

    later: bool = False
    key: Words = Field("", max_length=200)


def _assessor_of(request: Request) -> dict[str, Any]:
    row = identity_of(request).judge
    if row is None:
        raise Refusal(401, "This needs the token of an assessor.")
    return row


@handler("api.work.next")
def api_next(request: Request) -> Response:
    """The next unit of any batch that runs, with the form that asks about it; null: none."""
    context, assessor = context_of(request), _assessor_of(request)
    pair = context.store.write(lambda c: assignments.assign_from_any_batch(c, context, assessor))
    if pair is None:
        return json_response({"assignment": None})
    batch, assignment = pair
    row = batch.hits[assignment["hit"]]
    unit = batch.unit(row)
    item = {"topic": row["topic"], "item": row["item"], "text": unit.text}
    instructions = {"topic_text": unit.topic, "guidelines": batch.guidelines}
    return json_response(
        {"assignment": assignment["id"], "batch": batch.row["slug"], "kind": batch.kind}
        | item
        | instructions,
        form=batch.forms[unit.form].text,
    )


def _find_assignment(request: Request, connection: Connection, id: str) -> tuple[Any, Any]:
    pair = judgements.assignment_and_batch(connection, _assessor_of(request), id)
    if pair is None:
        raise Refusal(404, "There is no such assignment.")
    if pair[0].row["state"] not in ("pilot", "running"):
        raise Refusal(409, "This batch does not take answers now.")
    return pair


def _save(request: Request, id: str, body: Judgement, once: str | None) -> Response:
    context = context_of(request)

    def write(connection: Connection) -> judgements.SavedForm:
        batch, assignment = _find_assignment(request, connection, id)
        saved = judgements.save(
            connection,
            context,
            batch,
            assignment,
            answers=body.answers,
            state=body.state,
            client_key=body.key or once or context.new_id(),
            active_ms=int(1000 * body.seconds),
            remark=body.comment,
        )
        # The address names no campaign: the batch does.
        query = select(campaign_table).where(campaign_table.c.id == batch.row["campaign"])
        campaign_row = dict(connection.execute(query).mappings().one())
        batch_factory.draw_next_round(connection, context, campaign_row, batch)
        return saved

    try:
        saved = context.store.write(write)
    except judgements.FormRefused as error:
        problems = [{"question": p.question, "message": p.message} for p in error.problems]
        return problem_response(422, "Nothing was stored.", problems=problems, count=len(problems))
    except UsageError as error:
        return problem_response(409, str(error))
    return json_response(
        {"assignment": saved.assignment, "revision": saved.revision, "state": saved.state}
    )


@handler("api.work.put")
def api_put(request: Request, id: str, body: Judgement, idempotency_key: Once = None) -> Response:
    return _save(request, id, body, idempotency_key)


@handler("api.work.skip")
def api_skip(request: Request, id: str, body: Skip, idempotency_key: Once = None) -> Response:
    state = "later" if body.later else "skipped"
    judgement = Judgement(state=state, key=body.key, seconds=0.0, comment="")
    return _save(request, id, judgement, idempotency_key)


@handler("api.work.comment")
def api_comment(request: Request, id: str, body: Remark) -> Response:
    context = context_of(request)

    def write(connection: Connection) -> None:
        batch, assignment = _find_assignment(request, connection, id)
        judgements.add_comment(connection, context, batch.id, assignment, body.text)

    context.store.write(write)
    return json_response({})
