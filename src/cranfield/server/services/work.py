"""Work: what people say about what they were given.

Whatever is said is a row of its own that is never changed: another answer is a further revision.
A key that the page made says which saving it is, so that one that is sent twice counts once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, insert, or_, select, update

from cranfield.campaign.annotation_task import form_values
from cranfield.campaign.batches import ASSIGNMENT_WAYS
from cranfield.campaign.forms import LONGEST_TEXT, Form, FormProblem
from cranfield.errors import UsageError
from cranfield.server.context import SECOND, Context
from cranfield.server.services.batches import Batch, loaded
from cranfield.server.services.campaigns import Row
from cranfield.server.store.work_tables import (
    assessor,
    assignment,
    batch,
    comment,
    hit,
    judgement,
)

DONE, CANNOT = "done", "cannot tell"
# What can become of an assignment by the hand of whoever has it.
ENDS = {DONE: "submitted", CANNOT: "submitted", "skipped": "skipped", "later": "offered"}
LONGEST_MS = 24 * 3600 * SECOND


# What is asked at every step is put together once.
_KEPT = select(judgement.c.client_key, judgement.c.assignment, judgement.c.revision).where(
    or_(judgement.c.client_key == bindparam("key"), judgement.c.assignment == bindparam("of"))
)
_OWN = (
    select(assignment, *(c.label(f"of_{c.name}") for c in batch.c))
    .join(hit, hit.c.id == assignment.c.hit)
    .join(batch, batch.c.id == hit.c.batch)
    .join(assessor, assessor.c.id == assignment.c.assessor)
    .where(
        assignment.c.id == bindparam("key"),
        assignment.c.assessor == bindparam("who"),
        assessor.c.state == "active",
    )
)
_SAY = insert(judgement)
_END = (
    update(assignment)
    .where(assignment.c.id == bindparam("of"))
    .values(
        state=bindparam("to"),
        submitted=bindparam("when"),
        offered=bindparam("since"),
        active_ms=bindparam("spent"),
    )
)


class FormRefused(UsageError):  # noqa: N818 - it is an answer, not a fault
    """A form with problems: nothing of it was stored."""

    def __init__(self, problems: Sequence[FormProblem]) -> None:
        super().__init__(problems[0].message)
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Saved:
    """A form that is on the disk: which assignment, and which revision of it."""

    assignment: str
    revision: int
    state: str
    again: bool = False


def gold_of(connection: Connection, found: Batch, who: str) -> tuple[int, int]:
    """How many known answers somebody has right, and of how many.

    The first answer counts: who revises one after the other would find out which are known.
    """
    right = asked = 0
    rows = connection.execute(
        select(assignment.c.hit, judgement.c.value)
        .join(hit, hit.c.id == assignment.c.hit)
        .join(judgement, judgement.c.assignment == assignment.c.id)
        .where(hit.c.batch == found.id, assignment.c.assessor == who, hit.c.gold != "")
        .order_by(judgement.c.revision)
    )
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        said = json.loads(row.value)
        if said["state"] == DONE:
            first.setdefault(str(row.hit), said["answers"])
    for unit, answers in first.items():
        known = json.loads(found.hits[unit]["gold"])
        given = form_values(form_of(found, unit), answers)
        asked += len(known)
        right += sum(given.get(concept) == str(value) for concept, value in known.items())
    return right, asked


def own_assignment(connection: Connection, found: Batch, who: Row, key: str) -> Row | None:
    """An assignment of this batch that is somebody's own."""
    row = (
        connection.execute(
            select(assignment)
            .join(hit, hit.c.id == assignment.c.hit)
            .join(assessor, assessor.c.id == assignment.c.assessor)
            .where(
                assignment.c.id == key,
                assignment.c.assessor == who["id"],
                assessor.c.state == "active",
                hit.c.batch == found.id,
            )
        )
        .mappings()
        .first()
    )
    return None if row is None else dict(row)


def found_by(connection: Connection, who: Row, key: str) -> tuple[Batch, Row] | None:
    """Somebody's own assignment and its batch, whichever that is."""
    row = connection.execute(_OWN, {"key": key, "who": who["id"]}).mappings().first()
    if row is None:
        return None
    of = {column.name: row[f"of_{column.name}"] for column in batch.c}
    return loaded(connection, of), {column.name: row[column.name] for column in assignment.c}


def save(
    connection: Connection,
    context: Context,
    found: Batch,
    given: Row,
    *,
    answers: Mapping[str, Sequence[str]],
    state: str = DONE,
    client_key: str,
    active_ms: int = 0,
    remark: str = "",
) -> Saved:
    """Store what somebody says about a unit, or raise `FormRefused` and store nothing."""
    if state not in ENDS:
        raise UsageError(f"a form is done, skipped, put off or cannot be told, not {state!r}")
    if not client_key or len(client_key) > 200:
        raise UsageError("a saving needs a key of its own")
    before = connection.execute(_KEPT, {"key": client_key, "of": given["id"]}).all()
    for row in before:
        if row.client_key == client_key:
            if row.assignment != given["id"]:
                raise UsageError("this key belongs to another form")
            return Saved(given["id"], row.revision, given["state"], again=True)
    end = _checked(found, given, state, answers)
    now, revision = context.clock.now(), 1 + len(before)
    own = {"id": context.new_id(), "client_key": client_key, "revision": revision, "at": now}
    connection.execute(_SAY, own | _said(found.hits[given["hit"]], given, state, answers))
    connection.execute(
        _END,
        {
            "of": given["id"],
            "to": end,
            "when": now if end == "submitted" else None,
            "since": now if end == "offered" else given["offered"],
            "spent": max(0, min(int(active_ms), LONGEST_MS)),
        },
    )
    add_comment(connection, context, found.id, given, remark)
    return Saved(given["id"], revision, end)


def _said(unit: Row, given: Row, state: str, answers: Mapping[str, Sequence[str]]) -> Row:
    """What a row of the log holds of what was said, by whom, and about what."""
    kept = {name: list(values) for name, values in answers.items()} if state == DONE else {}
    return {
        "assignment": given["id"],
        "assessor": given["assessor"],
        "topic": unit["topic"],
        "item": unit["item"],
        "value": json.dumps({"state": state, "answers": kept}, ensure_ascii=False),
    }


def _checked(found: Batch, given: Row, state: str, answers: Mapping[str, Sequence[str]]) -> str:
    """What becomes of an assignment; a UsageError or `FormRefused` where it cannot be saved."""
    if found.row["state"] not in ("pilot", "running"):
        raise UsageError("this batch does not take answers now")
    end = ENDS[state]
    if end not in ASSIGNMENT_WAYS[given["state"]]:
        raise UsageError(f"this form is {given['state']}; it takes no answers any more")
    if state == DONE:
        problems = form_of(found, given["hit"]).check(answers)
        if problems:
            raise FormRefused(problems)
    return end


def form_of(found: Batch, unit: str) -> Form:
    """The form that asks about a unit."""
    return found.forms[json.loads(found.hits[unit]["content"] or "{}").get("form", "form")]


def add_comment(
    connection: Connection, context: Context, batch_id: str, given: Row, text: str
) -> None:
    """What somebody remarks about a unit; the same words are kept once."""
    words = text.strip()[:LONGEST_TEXT]
    if not words:
        return
    last = connection.execute(
        select(comment.c.text)
        .where(comment.c.assignment == given["id"])
        .order_by(comment.c.at.desc(), comment.c.id.desc())
        .limit(1)
    ).scalar()
    if last != words:
        connection.execute(
            insert(comment).values(
                id=context.new_id(),
                assignment=given["id"],
                batch=batch_id,
                assessor=given["assessor"],
                text=words,
                at=context.clock.now(),
            )
        )


def comment_of(connection: Connection, key: str) -> str:
    found = connection.execute(
        select(comment.c.text)
        .where(comment.c.assignment == key)
        .order_by(comment.c.at.desc(), comment.c.id.desc())
        .limit(1)
    ).scalar()
    return str(found or "")


def said_before(connection: Connection, key: str) -> dict[str, Any]:
    """The last revision of an assignment, as it was saved."""
    value = connection.execute(
        select(judgement.c.value)
        .where(judgement.c.assignment == key)
        .order_by(judgement.c.revision.desc())
        .limit(1)
    ).scalar()
    found: dict[str, Any] = json.loads(value) if value else {"state": "", "answers": {}}
    return found


def previous(connection: Connection, found: Batch, who: Row, than: str) -> str:
    """What somebody saved before an assignment, to go back to; '' when there is nothing."""
    rows = connection.execute(
        select(assignment.c.id)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(
            hit.c.batch == found.id,
            assignment.c.assessor == who["id"],
            assignment.c.state.in_(("submitted", "skipped", "open")),
        )
        .order_by(assignment.c.opened, assignment.c.submitted.is_(None), assignment.c.id)
    ).scalars()
    order = [str(key) for key in rows]
    at = order.index(than) if than in order else len(order)
    return order[at - 1] if at > 0 else ""


def progress(connection: Connection, found: Batch, who: Row) -> tuple[int, int]:
    """How many units somebody has done, and how many the batch has for anybody."""
    done = connection.execute(
        select(func.count())
        .select_from(assignment)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(
            hit.c.batch == found.id,
            assignment.c.assessor == who["id"],
            assignment.c.state.in_(("submitted", "skipped")),
        )
    ).scalar_one()
    return int(done), len(found.hits)


def latest(connection: Connection, batch_id: str, who: str | None = None) -> list[Row]:
    """The last revision of every submitted or rejected assignment of a batch, as it was done."""
    last = (
        select(judgement.c.assignment, func.max(judgement.c.revision).label("revision"))
        .group_by(judgement.c.assignment)
        .subquery()
    )
    wanted = (
        select(
            assignment.c.id,
            assignment.c.hit,
            assignment.c.assessor,
            assignment.c.state,
            assignment.c.reason,
            assignment.c.opened,
            assignment.c.submitted,
            assignment.c.active_ms,
            judgement.c.value,
            judgement.c.at,
        )
        .join(hit, hit.c.id == assignment.c.hit)
        .join(last, last.c.assignment == assignment.c.id)
        .join(
            judgement,
            and_(
                judgement.c.assignment == assignment.c.id,
                judgement.c.revision == last.c.revision,
            ),
        )
        .where(hit.c.batch == batch_id, assignment.c.state.in_(("submitted", "rejected")))
        .order_by(judgement.c.at, assignment.c.id)
    )
    if who is not None:
        wanted = wanted.where(assignment.c.assessor == who)
    rows = connection.execute(wanted).mappings()
    return [dict(row) | {"said": json.loads(row["value"])} for row in rows]
