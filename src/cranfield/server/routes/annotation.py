"""Work: forms by account or by link, saved as they are sent; surveys; adjudication; screening."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from cranfield.campaign.annotation_task import PICTURE_LINE, Unit
from cranfield.campaign.forms import Form, Option, Question, Tab, actions_of, shown_name
from cranfield.campaign.truth import Dispute, disputes
from cranfield.errors import UsageError
from cranfield.report.charts.annotation import agreement_over_time
from cranfield.server.auth import WORKER_COOKIE
from cranfield.server.context import hash_of
from cranfield.server.forms import sentence
from cranfield.server.http import (
    Refusal,
    campaign_of,
    context_of,
    form_of,
    handler,
    identity_of,
    redirect,
    render_page,
    text_of,
    whole_number,
)
from cranfield.server.permissions import ADJUDICATORS, ORGANISERS
from cranfield.server.services import (
    assessors,
    assignments,
    batch_factory,
    batch_results,
    batches,
    judgements,
    quality,
)
from cranfield.server.services.batches import Batch, decode_picture, picture_of
from cranfield.server.services.campaigns import Row
from cranfield.server.store.work_tables import assessor as assessor_table
from cranfield.site.pages.graphs import figure
from cranfield.site.work_pages import OPTIONAL_KINDS, script_data

# Fields of a form that are no answers.
CONTROL_FIELDS = frozenset({"csrf", "client_key", "active_ms", "state", "comment"})
# In place of a unit: a picture that the guidelines name by its item.
GUIDELINE_PICTURES = "guidelines"
GRID_SHOWN = 48
# What the values of labels say to people.
PRESENCE = {"0": "not there", "1": "there"}


def batch_of(request: Request, connection: Connection, b: str) -> Batch:
    batch = batches.read_batch(connection, campaign_of(request)["id"], b)
    if batch is None:
        raise Refusal(404, "There is no such batch.")
    return batch


def assessor_row(request: Request, connection: Connection) -> Row | None:
    identity, campaign_id = identity_of(request), campaign_of(request)["id"]
    if identity.judge is not None:
        return identity.judge if identity.judge["campaign"] == campaign_id else None
    return assessors.assessor_of(connection, campaign_id, identity.person)


def work_batch(connection: Connection, assessor: Row, b: str) -> Batch:
    """A batch that an assessor may work on, while it gives work out and takes answers."""
    batch = batches.read_batch_for(connection, assessor, b)
    if batch is None:
        raise Refusal(404, "There is no such batch.")
    if batch.row["state"] not in ("pilot", "running"):
        raise Refusal(409, "This batch does not take answers now.")
    return batch


def require_active(assessor: Row | None) -> Row:
    """The assessor, unless there is none, or one whose work is paused."""
    if assessor is None:
        raise Refusal(404, "There is no work for you in this campaign.")
    if assessor["state"] != "active":
        raise Refusal(403, "Your work is paused. Ask the organiser.")
    return assessor


def _current_assessor(request: Request) -> Row:
    """The assessor of this request; an expert becomes one by coming here."""
    context, identity, row = context_of(request), identity_of(request), campaign_of(request)
    with context.store.read() as connection:
        assessor = assessor_row(request, connection)
    if assessor is None and identity.person and not identity.team:
        context.store.write(
            lambda c: assessors.add_assessor(
                c, context, identity.actor, row["id"], kind="expert", person=identity.person
            )
        )
        with context.store.read() as connection:
            assessor = assessor_row(request, connection)
    return require_active(assessor)


@handler("work")
def work_list(request: Request) -> Response:
    assessor = _current_assessor(request)
    with context_of(request).store.read() as connection:
        # Only the own count is shown: one of the whole batch leaves gold out, and would tell it.
        rows = [
            batch.row | {"mine": judgements.progress(connection, batch, assessor)[0]}
            for batch in batches.running_for(connection, assessor)
        ]
        judged = (
            batches.batches_of(connection, campaign_of(request)["id"])
            if identity_of(request).roles & (ADJUDICATORS | ORGANISERS)
            else []
        )
    return render_page(request, "work_list.html", batches=rows, who=assessor, judged=judged)


@handler("work.next")
def work_next(request: Request, b: str) -> Response:
    assessor, context = _current_assessor(request), context_of(request)
    with context.store.read() as connection:
        batch = work_batch(connection, assessor, b)
    assignment = context.store.write(lambda c: assignments.assign_next(c, context, batch, assessor))
    if assignment is not None:
        return redirect(f"/{campaign_of(request)['slug']}/work/{b}/{assignment['id']}")
    with context.store.read() as connection:
        count, _ = judgements.progress(connection, batch, assessor)
        previous = judgements.previous_assignment(connection, batch, assessor, "")
    return render_page(request, "work_done.html", batch=batch.row, done=count, back=previous)


def _own_assignment(
    request: Request, connection: Connection, b: str, id: str
) -> tuple[Batch, Row, Row]:
    assessor = require_active(assessor_row(request, connection))
    batch = work_batch(connection, assessor, b)
    assignment = judgements.own_assignment(connection, batch, assessor, id)
    if assignment is None:
        raise Refusal(404, "There is no such page.")
    return batch, assessor, assignment


@handler("work.unit")
def work_unit(request: Request, b: str, id: str) -> Response:
    with context_of(request).store.read() as connection:
        batch, assessor, assignment = _own_assignment(request, connection, b, id)
        earlier = judgements.last_revision(connection, id)
        return _unit_page(request, connection, batch, assessor, assignment, earlier["answers"])


def _unit_page(
    request: Request,
    connection: Connection,
    batch: Batch,
    assessor: Row,
    assignment: Row,
    answers: Mapping[str, Any],
    *,
    problems: tuple[Any, ...] = (),
    comment: str | None = None,
    status: int = 200,
) -> Response:
    context, slug = context_of(request), campaign_of(request)["slug"]
    home = f"/{slug}/work/{batch.row['slug']}"
    unit_path = f"{home}/{assignment['id']}"
    unit = batch.unit(batch.hits[assignment["hit"]], f"{home}/{assignment['hit']}/picture")
    form = batch.forms[unit.form]
    previous = judgements.previous_assignment(connection, batch, assessor, assignment["id"])
    count, total = judgements.progress(connection, batch, assessor)
    coming = (
        assignments.upcoming_units(connection, batch, assessor, assignments.PREFETCHED_UNITS)
        if unit.picture
        else []
    )
    messages = [{"question": p.question, "message": p.message} for p in problems]
    return render_page(
        request,
        "work_unit.html",
        status,
        batch=batch.row,
        guidelines=_with_pictures(batch.guidelines, f"{home}/{GUIDELINE_PICTURES}/picture"),
        version=batch.version,
        unit=unit,
        form=form,
        given=answers,
        wrong=tuple(p.question for p in problems),
        problems=problems,
        data=json.dumps(script_data({unit.form: form}), ensure_ascii=False),
        told=json.dumps(messages) if messages else "",
        ahead=json.dumps([f"{home}/{hit}/picture" for hit in coming]),
        actions=actions_of(form),
        comment=judgements.comment_of(connection, assignment["id"]) if comment is None else comment,
        back=f"{home}/{previous}" if previous else "",
        optional=batch.kind in OPTIONAL_KINDS,
        here=unit_path,
        assignment=assignment,
        client_key=context.new_id(),
        done=count,
        total=total,
    )


def _with_pictures(guidelines: str, address: str) -> str:
    """Guidelines whose pictures, named by items of the campaign, have addresses of the site."""
    return PICTURE_LINE.sub(
        lambda line: f"![{line[1]}]({address}?{urlencode({'which': line[2]})})", guidelines
    )


def form_answers(form: FormData | Mapping[str, Any]) -> dict[str, list[str]]:
    """The answers among the fields of a form; empty ones are none."""
    answers: dict[str, list[str]] = {}
    pairs = form.multi_items() if isinstance(form, FormData) else form.items()
    for name, value in pairs:
        if name not in CONTROL_FIELDS and isinstance(value, str) and value.strip():
            answers.setdefault(name, []).append(value.strip())
    return answers


@handler("work.save")
def work_save(request: Request, b: str, id: str) -> Response:
    context, form = context_of(request), form_of(request)
    answers, remark = form_answers(form), text_of(request, "comment")
    spent = text_of(request, "active_ms")

    def write(connection: Connection) -> judgements.SavedForm:
        # Looked at here, not before: a pause holds for what is on its way already.
        batch, _, assignment = _own_assignment(request, connection, b, id)
        saved = judgements.save(
            connection,
            context,
            batch,
            assignment,
            answers=answers,
            state=text_of(request, "state", judgements.DONE) or judgements.DONE,
            client_key=text_of(request, "client_key"),
            active_ms=whole_number(spent) or 0,
            remark=remark,
        )
        batch_factory.draw_next_round(connection, context, campaign_of(request), batch)
        return saved

    try:
        context.store.write(write)
    except judgements.FormRefused as error:
        with context.store.read() as connection:
            batch, assessor, assignment = _own_assignment(request, connection, b, id)
            return _unit_page(
                request,
                connection,
                batch,
                assessor,
                assignment,
                answers,
                problems=error.problems,
                comment=remark,
                status=422,
            )
    return redirect(f"/{campaign_of(request)['slug']}/work/{b}")


@handler("work.picture")
def work_picture(request: Request, b: str, id: str, which: str = "picture") -> Response:
    """The picture of a unit that is one's own or comes next, so that a page need not wait."""
    with context_of(request).store.read() as connection:
        assessor = require_active(assessor_row(request, connection))
        batch = work_batch(connection, assessor, b)
        if id == GUIDELINE_PICTURES:
            if which not in {line[2] for line in PICTURE_LINE.finditer(batch.guidelines)}:
                raise Refusal(404, "There is no such picture.")
            return _picture(request, which)
        unit = batch.hits.get(id)
        if unit is None or not assignments.may_see(connection, batch, assessor, id):
            raise Refusal(404, "There is no such picture.")
    return _picture(request, batch.item_of(unit, which), batch.picture(unit, which))


def _picture(request: Request, item: str, embedded: str = "") -> Response:
    """A picture that came with its unit, or that of an item of the campaign."""
    folder = context_of(request).settings.public / campaign_of(request)["slug"]
    picture = decode_picture(embedded) if embedded else picture_of(folder, item)
    if picture is None:
        raise Refusal(404, "There is no such picture.")
    data, media = picture
    return Response(data, media_type=media, headers={"Cache-Control": "private, max-age=3600"})


@handler("enter")
def enter(request: Request, link: str) -> Response:
    """A link that was given to one worker: it is remembered, and the address is not."""
    with context_of(request).store.read() as connection:
        row = connection.execute(
            assessor_table.select().where(
                assessor_table.c.token_hash == hash_of(link),
                assessor_table.c.campaign == campaign_of(request)["id"],
            )
        ).first()
    if row is None:
        raise _no_link(request, "work")
    return _remember_link(request, redirect(f"/{campaign_of(request)['slug']}/work"), link)


def _no_link(request: Request, target: str) -> Refusal:
    """Nothing is there; of a draft not even this is told."""
    if not identity_of(request).sees_campaign:
        return Refusal(404, "There is no such page.")
    return Refusal(404, f"This link does not lead to {target} (any more).")


def _remember_link(request: Request, answer: Response, link: str) -> Response:
    secure = context_of(request).settings.proxy is not None
    answer.set_cookie(WORKER_COOKIE, link, httponly=True, samesite="lax", secure=secure)
    return answer


def _survey(request: Request, connection: Connection, link: str) -> Batch:
    batch = batches.batch_by_link(connection, campaign_of(request)["id"], link)
    if batch is None or batch.row["state"] not in ("pilot", "running"):
        raise _no_link(request, "a survey")
    return batch


@handler("survey.form")
def survey_form(request: Request, link: str) -> Response:
    with context_of(request).store.read() as connection:
        batch = _survey(request, connection, link)
    return _survey_page(request, batch, {}, ())


def _survey_page(
    request: Request, batch: Batch, answers: Mapping[str, Any], problems: tuple[Any, ...]
) -> Response:
    return render_page(
        request,
        "survey_start.html",
        422 if problems else 200,
        batch=batch.row,
        scenario=batch.scenario,
        form=batch.about,
        given=answers,
        wrong=tuple(p.question for p in problems),
        problems=problems,
    )


@handler("survey")
def survey(request: Request, link: str) -> Response:
    """Begin a survey: a person with the link becomes a respondent with a number and no name."""
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        batch = _survey(request, connection, link)
    answers = form_answers(form_of(request))
    problems = batch.about.check(answers) if batch.about is not None else ()
    if problems:
        return _survey_page(request, batch, answers, problems)
    try:
        secret = context.store.write(
            lambda c: assessors.add_respondent(c, context, batch.row, answers)
        )
    except assessors.CrowdedError as error:
        raise Refusal(429, str(error)) from None
    return _remember_link(request, redirect(f"/{row['slug']}/work/{batch.row['slug']}"), secret)


@handler("agreement")
def agreement(request: Request, b: str) -> Response:
    """Agreement so far; an assessor sees the figures of all and their own, never another person's.

    What would tell which units are gold is not shown to people who may revise their answers.
    """
    everything = bool(identity_of(request).roles & (ADJUDICATORS | ORGANISERS))
    with context_of(request).store.read() as connection:
        if everything:
            batch = batch_of(request, connection, b)
        else:
            assessor = require_active(assessor_row(request, connection))
            batch = work_batch(connection, assessor, b)
        figures = quality.batch_dashboard(connection, batch)
        moments = quality.agreement_over_time(connection, batch)
    if not everything:
        figures["people"] = [
            p | {"gold": ""} for p in figures["people"] if p["id"] == assessor["id"]
        ]
    chart = figure(agreement_over_time(moments)) if len(moments) > 1 else None
    return render_page(
        request,
        "agreement.html",
        batch=batch.row,
        shown=figures,
        moments=moments,
        drawn=chart,
        everything=everything,
    )


@handler("adjudicate")
def adjudicate(request: Request, b: str, concept: str = "", after: int = 0) -> Response:
    """One dispute after the other, item by item; of one concept, if so asked."""
    return _adjudicate_page(request, b, concept, after)


def _adjudicate_page(
    request: Request, b: str, concept: str = "", after: int = 0, error: str = ""
) -> Response:
    here = f"/{campaign_of(request)['slug']}/adjudicate/{b}"
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
        queue = batch_results.dispute_queue(connection, batch, concept, after)
    form = None if queue.shown is None else _dispute_form(queue.shown, batch)
    return render_page(
        request,
        "adjudicate.html",
        400 if error else 200,
        error=error,
        batch=batch.row,
        queue=queue,
        unit=None if queue.shown is None else _dispute_unit(request, batch, queue, queue.shown),
        form=form,
        data=json.dumps(script_data({} if form is None else {"form": form}), ensure_ascii=False),
        given=form_answers(form_of(request)) if error else {},
        wrong=(),
        actions={} if form is None else actions_of(form),
        here=here,
        query=urlencode({"concept": concept, "after": queue.position}),
        onward=f"{here}?{urlencode({'concept': concept, 'after': queue.position + 1})}",
        client_key=context_of(request).new_id(),
    )


def _dispute_form(dispute: Dispute, batch: Batch) -> Form:
    """The answers that were given, each on its own key; the reason stays from one to the next."""
    words = PRESENCE if batch.kind == "labels" else {}
    spare = iter("qwertyuiop")
    options = tuple(
        Option(
            value,
            f"{words.get(value, value)} ({votes} said so; "
            f"probability {100 * dispute.probability[value]:.0f} %)",
            key=value if len(value) == 1 and value.isalnum() else next(spare, ""),
        )
        for value, votes in sorted(dispute.votes.items(), reverse=True)
    )
    asking = (form for form in batch.forms.values() if dispute.concept in form.concepts)
    title = next((form.title_of(dispute.concept) for form in asking), shown_name(dispute.concept))
    name = "d:" + json.dumps([dispute.item, dispute.concept])
    answer = Question(name, title, "one", options, True)
    reason = Question("reason", "Reason", "text", needed=True)
    return Form("Decide", (Tab("", (answer, reason)),), at_once=True)


def _dispute_unit(
    request: Request, batch: Batch, queue: batch_results.DisputeQueue, dispute: Dispute
) -> Unit:
    """The item of a dispute, what else is disputed about it, and what people remarked."""
    unit = _reviewed_unit(request, batch, queue.hit)
    lead = f"ahead by {100 * dispute.margin:.0f} %" if dispute.margin else "a tie"
    others = ", ".join(queue.others) or "nothing"
    facts = [f"{dispute.item}: {lead}. Also disputed about it: {others}."]
    remarks = [f"Remark: {remark}" for remark in queue.remarks]
    return replace(unit, title=dispute.item, text="\n".join([*facts, *remarks, unit.text]).strip())


def _reviewed_unit(request: Request, batch: Batch, hit: str) -> Unit:
    """What was shown of a unit, for those who look at the work of others."""
    unit = batch.unit(batch.hits[hit], "there")
    picture = f"/{campaign_of(request)['slug']}/screen/{batch.row['slug']}/picture?hit={hit}"
    return replace(
        unit,
        picture=picture if unit.picture else "",
        second=f"{picture}&which=second" if unit.second else "",
        query=f"{picture}&which=query" if unit.query else "",
    )


@handler("adjudicate.save")
def adjudicate_save(request: Request, b: str) -> Response:
    context, identity = context_of(request), identity_of(request)
    reason = text_of(request, "reason")
    decisions = {
        _cell(name[2:]): value
        for name, value in form_of(request).items()
        if name.startswith("d:") and isinstance(value, str) and value
    }

    def write(connection: Connection) -> int:
        batch = batch_of(request, connection, b)
        log = batch_results.collect_forms(connection, batch).log
        votes = {(d.item, d.concept): d.votes for d in disputes(log)}
        for cell, value in decisions.items():
            if value not in votes.get(cell, {}):
                raise UsageError(f"{value!r} is not among the answers given to {cell[1]!r}")
        return batch_results.decide(connection, context, identity.person, batch, decisions, reason)

    concept = request.query_params.get("concept", "")
    after = whole_number(request.query_params.get("after", "")) or 0
    refusal = ""
    if not decisions:
        refusal = "Choose an answer for one of them at least."
    elif not reason.strip():
        refusal = "Say the reason of what you decide."
    else:
        try:
            context.store.write(write)
        except UsageError as error:
            refusal = sentence(str(error))
    if refusal:
        return _adjudicate_page(request, b, concept, after, refusal)
    home = f"/{campaign_of(request)['slug']}/adjudicate/{b}"
    return redirect(f"{home}?{urlencode({'concept': concept, 'after': after})}")


def _cell(text: str) -> tuple[str, str]:
    """The item and the concept that a field of the form is about."""
    try:
        item, concept = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UsageError("this form is not as the page had it; please load it again") from None
    return str(item), str(concept)


@handler("review")
def review(request: Request, b: str, who: str = "", share: int = 10) -> Response:
    """A sample of what one person did: each form as they left it, to confirm or to correct."""
    return _review_page(request, b, who, share)


def _review_page(
    request: Request,
    b: str,
    who: str,
    share: int,
    *,
    answers: Mapping[str, Any] | None = None,
    problems: tuple[Any, ...] = (),
) -> Response:
    here = f"/{campaign_of(request)['slug']}/review/{b}"
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
        sample = batch_results.review_sample(connection, batch, who, share)
    unit = None if sample.hit is None else _reviewed_unit(request, batch, sample.hit)
    form = None if unit is None else batch.forms[unit.form]
    messages = [{"question": p.question, "message": p.message} for p in problems]
    return render_page(
        request,
        "review.html",
        422 if problems else 200,
        batch=batch.row,
        sample=sample,
        who=who,
        share=share,
        unit=unit,
        form=form,
        data=json.dumps(
            script_data({} if unit is None or form is None else {unit.form: form}),
            ensure_ascii=False,
        ),
        told=json.dumps(messages) if messages else "",
        given=sample.answers if answers is None else answers,
        wrong=tuple(p.question for p in problems),
        problems=problems,
        actions={} if form is None else actions_of(form),
        here=here,
        query=urlencode({"who": who, "share": share}),
        client_key=context_of(request).new_id(),
    )


@handler("review.save")
def review_save(request: Request, b: str) -> Response:
    """What a reviewer confirmed or corrected stands above the votes."""
    context, identity = context_of(request), identity_of(request)
    who = request.query_params.get("who", "")
    share = whole_number(request.query_params.get("share", "")) or 10
    hit, remark = text_of(request, "hit"), text_of(request, "comment")
    answers = {n: v for n, v in form_answers(form_of(request)).items() if n != "hit"}

    def write(connection: Connection) -> int:
        batch = batch_of(request, connection, b)
        return batch_results.save_review(
            connection, context, identity.person, batch, who, hit, answers, remark
        )

    try:
        context.store.write(write)
    except judgements.FormRefused as error:
        return _review_page(request, b, who, share, answers=answers, problems=error.problems)
    home = f"/{campaign_of(request)['slug']}/review/{b}"
    return redirect(f"{home}?{urlencode({'who': who, 'share': share})}")


@handler("screen")
def screen(
    request: Request, b: str, concept: str = "", shown: str = "1", after: int = 0
) -> Response:
    """One concept, one grid: the items that are said to show it, or those that are not."""
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
        concepts, items = batch_results.screened_items(connection, batch, concept, shown)
    begin = max(0, min(after, len(items)))
    end = min(begin + GRID_SHOWN, len(items))
    return render_page(
        request,
        "screen.html",
        batch=batch.row,
        concepts=concepts,
        concept=concept or (concepts[0] if concepts else ""),
        shown=shown,
        items=items[begin:end],
        pictured=batch.pictured,
        count=len(items),
        begin=begin,
        end=end,
        before=max(0, begin - GRID_SHOWN) if begin else None,
        then=end if end < len(items) else None,
    )


@handler("screen.picture")
def screen_picture(
    request: Request, b: str, item: str = "", hit: str = "", which: str = "picture"
) -> Response:
    """The picture of an item, or what a unit showed: its picture, the second, the query's."""
    with context_of(request).store.read() as connection:
        batch = batch_of(request, connection, b)
    unit = batch.hits.get(hit)
    if unit is not None:
        return _picture(request, batch.item_of(unit, which), batch.picture(unit, which))
    if item not in {str(unit["item"]) for unit in batch.hits.values()}:
        raise Refusal(404, "There is no such picture.")
    return _picture(request, item)


@handler("screen.save")
def screen_save(request: Request, b: str) -> Response:
    context, identity = context_of(request), identity_of(request)
    concept, presence = text_of(request, "concept"), text_of(request, "shown", "1")
    form = form_of(request)
    wrong = form.getlist("wrong") if isinstance(form, FormData) else []
    value = "0" if presence == "1" else "1"

    def write(connection: Connection) -> int:
        batch = batch_of(request, connection, b)
        # Sent twice, it is decided once: by then the item stands in the other grid.
        grids = [batch_results.screened_items(connection, batch, concept, s)[1] for s in ("1", "0")]
        for item in wrong:
            if not any(item in grid for grid in grids):
                raise UsageError(f"there is no judgement of {concept!r} for item {str(item)!r}")
        decisions = {(str(item), concept): value for item in wrong}
        return batch_results.decide(
            connection, context, identity.person, batch, decisions, "screening"
        )

    context.store.write(write)
    grid_path = f"/{campaign_of(request)['slug']}/screen/{b}"
    # What was corrected has left the list, so that the next ones have moved up.
    begin = whole_number(text_of(request, "after")) or 0
    query = {"concept": concept, "shown": presence, "after": str(begin)}
    return redirect(f"{grid_path}?{urlencode(query)}")
