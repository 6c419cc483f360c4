"""Work: forms by account or by link, saved as they are sent; surveys; adjudication; screening."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from cranfield.campaign.ontology_form import actions_of
from cranfield.campaign.truth import disputes
from cranfield.errors import UsageError, plural
from cranfield.report.charts.people import agreement_over_time
from cranfield.server.context import hash_of
from cranfield.server.forms import sentence
from cranfield.server.services import assessing, assessors, batches, giving, quality, work
from cranfield.server.services.batches import Batch
from cranfield.server.services.campaigns import Row
from cranfield.server.services.pictures import inside, picture_of
from cranfield.server.store.work_tables import assessor
from cranfield.server.visitors import WORKER
from cranfield.server.web import (
    Refusal,
    campaign_of,
    context_of,
    form_of,
    handler,
    page,
    see,
    see_done,
    text_of,
    visitor_of,
    whole,
)
from cranfield.site.pages.graphs import figure
from cranfield.site.work_pages import OPTIONAL_KINDS, script_data

# Fields of a form that are no answers.
OWN = frozenset({"csrf", "client_key", "active_ms", "state", "comment"})
DISPUTES_SHOWN, GRID_SHOWN = 30, 48
# What the values of labels say to people.
PRESENCE = {"0": "not there", "1": "there"}


def batch_of(request: Request, connection: Connection, b: str) -> Batch:
    found = batches.read_batch(connection, campaign_of(request)["id"], b)
    if found is None:
        raise Refusal(404, "There is no such batch.")
    return found


def assessor_row(request: Request, connection: Connection) -> Row | None:
    visitor, where = visitor_of(request), campaign_of(request)["id"]
    if visitor.judge is not None:
        return visitor.judge if visitor.judge["campaign"] == where else None
    return assessors.assessor_of(connection, where, visitor.person)


def work_batch(connection: Connection, who: Row, b: str) -> Batch:
    """A batch that somebody may work on, while it gives work out and takes answers."""
    found = batches.read_batch_for(connection, who, b)
    if found is None:
        raise Refusal(404, "There is no such batch.")
    if found.row["state"] not in ("pilot", "running"):
        raise Refusal(409, "This batch does not take answers now.")
    return found


def at_work(who: Row | None) -> Row:
    """The assessor, unless there is none, or one whose work is paused."""
    if who is None:
        raise Refusal(404, "There is no work for you in this campaign.")
    if who["state"] != "active":
        raise Refusal(403, "Your work is paused. Ask the organiser.")
    return who


def _worker(request: Request) -> Row:
    """Who works: an assessor of this campaign; an expert becomes one by coming here."""
    context, visitor, row = context_of(request), visitor_of(request), campaign_of(request)
    with context.store.read() as connection:
        found = assessor_row(request, connection)
    if found is None and visitor.person and not visitor.team:
        context.store.write(
            lambda c: assessors.add_assessor(
                c, context, visitor.actor, row["id"], kind="expert", person=visitor.person
            )
        )
        with context.store.read() as connection:
            found = assessor_row(request, connection)
    return at_work(found)


@handler("work")
def work_list(request: Request) -> Response:
    who = _worker(request)
    with context_of(request).store.read() as connection:
        # Only the own count is shown: one of the whole batch leaves gold out, and would tell it.
        mine = [
            found.row | {"mine": work.progress(connection, found, who)[0]}
            for found in batches.running_for(connection, who)
        ]
    return page(request, "work_list.html", batches=mine, who=who)


@handler("work.next")
def work_next(request: Request, b: str) -> Response:
    who, context = _worker(request), context_of(request)
    with context.store.read() as connection:
        found = work_batch(connection, who, b)
    given = context.store.write(lambda c: giving.give(c, context, found, who))
    if given is not None:
        return see(f"/{campaign_of(request)['slug']}/work/{b}/{given['id']}")
    with context.store.read() as connection:
        done, _ = work.progress(connection, found, who)
        back = work.previous(connection, found, who, "")
    return page(request, "work_done.html", batch=found.row, done=done, back=back)


def _own(request: Request, connection: Connection, b: str, id: str) -> tuple[Batch, Row, Row]:
    who = at_work(assessor_row(request, connection))
    found = work_batch(connection, who, b)
    given = work.own_assignment(connection, found, who, id)
    if given is None:
        raise Refusal(404, "There is no such page.")
    return found, who, given


@handler("work.unit")
def work_unit(request: Request, b: str, id: str) -> Response:
    with context_of(request).store.read() as connection:
        found, who, given = _own(request, connection, b, id)
        said = work.said_before(connection, id)
        return _unit_page(request, connection, found, who, given, said["answers"])


def _unit_page(
    request: Request,
    connection: Connection,
    found: Batch,
    who: Row,
    given: Row,
    answers: Mapping[str, Any],
    *,
    problems: tuple[Any, ...] = (),
    comment: str | None = None,
    status: int = 200,
) -> Response:
    context, slug = context_of(request), campaign_of(request)["slug"]
    home = f"/{slug}/work/{found.row['slug']}"
    here = f"{home}/{given['id']}"
    unit = found.unit(found.hits[given["hit"]], f"{home}/{given['hit']}/picture")
    form = found.forms[unit.form]
    back = work.previous(connection, found, who, given["id"])
    done, total = work.progress(connection, found, who)
    coming = giving.ahead(connection, found, who, giving.AHEAD) if unit.picture else []
    told = [{"question": p.question, "message": p.message} for p in problems]
    return page(
        request,
        "work_unit.html",
        status,
        batch=found.row,
        guidelines=found.guidelines,
        version=found.version,
        unit=unit,
        form=form,
        given=answers,
        wrong=tuple(p.question for p in problems),
        problems=problems,
        data=json.dumps(script_data({unit.form: form}), ensure_ascii=False),
        told=json.dumps(told) if told else "",
        ahead=json.dumps([f"{home}/{one}/picture" for one in coming]),
        actions=actions_of(form),
        comment=work.comment_of(connection, given["id"]) if comment is None else comment,
        back=f"{home}/{back}" if back else "",
        optional=found.kind in OPTIONAL_KINDS,
        here=here,
        assignment=given,
        client_key=context.new_id(),
        done=done,
        total=total,
    )


def answers_in(form: FormData | Mapping[str, Any]) -> dict[str, list[str]]:
    """The answers among the fields of a form; empty ones are none."""
    found: dict[str, list[str]] = {}
    pairs = form.multi_items() if isinstance(form, FormData) else form.items()
    for name, value in pairs:
        if name not in OWN and isinstance(value, str) and value.strip():
            found.setdefault(name, []).append(value.strip())
    return found


@handler("work.save")
def work_save(request: Request, b: str, id: str) -> Response:
    context, form = context_of(request), form_of(request)
    answers, remark = answers_in(form), text_of(request, "comment")
    spent = text_of(request, "active_ms")

    def write(connection: Connection) -> work.Saved:
        # Looked at here, not before: a pause holds for what is on its way already.
        found, _, given = _own(request, connection, b, id)
        return work.save(
            connection,
            context,
            found,
            given,
            answers=answers,
            state=text_of(request, "state", work.DONE) or work.DONE,
            client_key=text_of(request, "client_key"),
            active_ms=whole(spent) or 0,
            remark=remark,
        )

    try:
        context.store.write(write)
    except work.FormRefused as error:
        with context.store.read() as connection:
            found, who, given = _own(request, connection, b, id)
            return _unit_page(
                request,
                connection,
                found,
                who,
                given,
                answers,
                problems=error.problems,
                comment=remark,
                status=422,
            )
    return see(f"/{campaign_of(request)['slug']}/work/{b}")


@handler("work.picture")
def work_picture(request: Request, b: str, id: str, which: str = "picture") -> Response:
    """The picture of a unit that is one's own or comes next, so that a page need not wait."""
    with context_of(request).store.read() as connection:
        who = at_work(assessor_row(request, connection))
        found = work_batch(connection, who, b)
        unit = found.hits.get(id)
        if unit is None or not giving.may_see(connection, found, who, id):
            raise Refusal(404, "There is no such picture.")
    return _picture(request, found.item_of(unit, which), found.picture(unit, which))


def _picture(request: Request, item: str, held: str = "") -> Response:
    """A picture that came with its unit, or that of an item of the campaign."""
    folder = context_of(request).settings.public / campaign_of(request)["slug"]
    picture = inside(held) if held else picture_of(folder, item)
    if picture is None:
        raise Refusal(404, "There is no such picture.")
    data, media = picture
    return Response(data, media_type=media, headers={"Cache-Control": "private, max-age=3600"})


@handler("enter")
def enter(request: Request, link: str) -> Response:
    """A link that was given to one worker: it is remembered, and the address is not."""
    with context_of(request).store.read() as connection:
        known = connection.execute(
            assessor.select().where(
                assessor.c.token_hash == hash_of(link),
                assessor.c.campaign == campaign_of(request)["id"],
            )
        ).first()
    if known is None:
        raise _no_link(request, "work")
    return _remembered(request, see(f"/{campaign_of(request)['slug']}/work"), link)


def _no_link(request: Request, what: str) -> Refusal:
    """Nothing is there; of a draft not even this is told."""
    if not visitor_of(request).sees_campaign:
        return Refusal(404, "There is no such page.")
    return Refusal(404, f"This link does not lead to {what} (any more).")


def _remembered(request: Request, answer: Response, link: str) -> Response:
    secure = context_of(request).settings.proxy is not None
    answer.set_cookie(WORKER, link, httponly=True, samesite="lax", secure=secure)
    return answer


def _survey(request: Request, connection: Connection, link: str) -> Batch:
    found = batches.batch_by_link(connection, campaign_of(request)["id"], link)
    if found is None or found.row["state"] not in ("pilot", "running"):
        raise _no_link(request, "a survey")
    return found


@handler("survey.form")
def survey_form(request: Request, link: str) -> Response:
    with context_of(request).store.read() as connection:
        found = _survey(request, connection, link)
    return _survey_page(request, found, {}, ())


def _survey_page(
    request: Request, found: Batch, answers: Mapping[str, Any], problems: tuple[Any, ...]
) -> Response:
    return page(
        request,
        "survey_start.html",
        422 if problems else 200,
        batch=found.row,
        scenario=found.scenario,
        form=found.about,
        given=answers,
        wrong=tuple(p.question for p in problems),
        problems=problems,
    )


@handler("survey")
def survey(request: Request, link: str) -> Response:
    """Begin: whoever has the link becomes a respondent with a number and no name."""
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        found = _survey(request, connection, link)
    answers = answers_in(form_of(request))
    problems = found.about.check(answers) if found.about is not None else ()
    if problems:
        return _survey_page(request, found, answers, problems)
    try:
        secret = context.store.write(
            lambda c: assessors.add_respondent(c, context, found.row, answers)
        )
    except assessors.CrowdedError as error:
        raise Refusal(429, str(error)) from None
    return _remembered(request, see(f"/{row['slug']}/work/{found.row['slug']}"), secret)


@handler("agreement")
def agreement(request: Request, b: str) -> Response:
    """Agreement so far; an assessor sees the whole and the own figures, never anybody else's.

    What would tell which units are gold is shown to nobody who may revise their answers.
    """
    everything = bool(visitor_of(request).roles & frozenset("JO"))
    with context_of(request).store.read() as connection:
        if everything:
            found = batch_of(request, connection, b)
        else:
            who = at_work(assessor_row(request, connection))
            found = work_batch(connection, who, b)
        shown = quality.board(connection, found)
        moments = quality.over_time(connection, found)
    if not everything:
        shown["people"] = [p | {"gold": ""} for p in shown["people"] if p["id"] == who["id"]]
    drawn = figure(agreement_over_time(moments)) if len(moments) > 1 else None
    return page(
        request,
        "agreement.html",
        batch=found.row,
        shown=shown,
        moments=moments,
        drawn=drawn,
        everything=everything,
    )


@handler("adjudicate")
def adjudicate(request: Request, b: str) -> Response:
    return _adjudicate_page(request, b)


def _adjudicate_page(request: Request, b: str, error: str = "") -> Response:
    with context_of(request).store.read() as connection:
        found = batch_of(request, connection, b)
        waiting = assessing.open_disputes(connection, found, shown=DISPUTES_SHOWN)
    return page(
        request,
        "adjudicate.html",
        400 if error else 200,
        error=error,
        batch=found.row,
        disputes=waiting[:DISPUTES_SHOWN],
        said=PRESENCE if found.kind == "labels" else {},
        count=len(waiting),
        pictured=found.pictured,
    )


@handler("adjudicate.save")
def adjudicate_save(request: Request, b: str) -> Response:
    context, visitor = context_of(request), visitor_of(request)
    reason = text_of(request, "reason")
    given = {
        _cell(name[2:]): value
        for name, value in form_of(request).items()
        if name.startswith("d:") and isinstance(value, str) and value
    }

    def write(connection: Connection) -> int:
        found = batch_of(request, connection, b)
        log = assessing.collected(connection, found).log
        known = {(d.item, d.concept): d.votes for d in disputes(log)}
        for cell, value in given.items():
            if value not in known.get(cell, {}):
                raise UsageError(f"{value!r} is no answer that somebody gave to {cell[1]!r}")
        return assessing.decide(connection, context, visitor.person, found, given, reason)

    if not given:
        return _adjudicate_page(request, b, "Choose an answer for one of them at least.")
    if not reason.strip():
        return _adjudicate_page(request, b, "Say the reason of what you decide.")
    try:
        count = context.store.write(write)
    except UsageError as error:
        return _adjudicate_page(request, b, sentence(str(error)))
    home = f"/{campaign_of(request)['slug']}/adjudicate/{b}"
    return see_done(request, home, f"{plural(count, 'unit')} decided.")


def _cell(text: str) -> tuple[str, str]:
    """The item and the concept that a field of the form is about."""
    try:
        item, concept = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UsageError("this form is not as the page had it; please load it again") from None
    return str(item), str(concept)


@handler("screen")
def screen(
    request: Request, b: str, concept: str = "", shown: str = "1", after: int = 0
) -> Response:
    """One concept, one grid: the items that are said to show it, or those that are not."""
    with context_of(request).store.read() as connection:
        found = batch_of(request, connection, b)
        concepts, items = assessing.screened_items(connection, found, concept, shown)
    begin = max(0, min(after, len(items)))
    end = min(begin + GRID_SHOWN, len(items))
    return page(
        request,
        "screen.html",
        batch=found.row,
        concepts=concepts,
        concept=concept or (concepts[0] if concepts else ""),
        shown=shown,
        items=items[begin:end],
        pictured=found.pictured,
        count=len(items),
        begin=begin,
        end=end,
        before=max(0, begin - GRID_SHOWN) if begin else None,
        then=end if end < len(items) else None,
    )


@handler("screen.picture")
def screen_picture(request: Request, b: str, item: str = "") -> Response:
    with context_of(request).store.read() as connection:
        found = batch_of(request, connection, b)
    if item not in {str(unit["item"]) for unit in found.hits.values()}:
        raise Refusal(404, "There is no such picture.")
    return _picture(request, item)


@handler("screen.save")
def screen_save(request: Request, b: str) -> Response:
    context, visitor = context_of(request), visitor_of(request)
    concept, shown = text_of(request, "concept"), text_of(request, "shown", "1")
    form = form_of(request)
    wrong = form.getlist("wrong") if isinstance(form, FormData) else []
    value = "0" if shown == "1" else "1"

    def write(connection: Connection) -> int:
        found = batch_of(request, connection, b)
        # Sent twice, it is decided once: by then the item stands in the other grid.
        grids = [assessing.screened_items(connection, found, concept, s)[1] for s in ("1", "0")]
        for item in wrong:
            if not any(item in grid for grid in grids):
                raise UsageError(f"nobody judged {concept!r} of item {str(item)!r}")
        given = {(str(item), concept): value for item in wrong}
        return assessing.decide(connection, context, visitor.person, found, given, "screening")

    context.store.write(write)
    here = f"/{campaign_of(request)['slug']}/screen/{b}"
    # What was corrected has left the list, so that the next ones have moved up.
    begin = whole(text_of(request, "after")) or 0
    query = {"concept": concept, "shown": shown, "after": str(begin)}
    return see(f"{here}?{urlencode(query)}")
