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
from cranfield.server.services.batches import Batch, load_batch
from cranfield.server.services.campaigns import Row
from cranfield.server.store.work_tables import (
    assessor,
    assignment,
    batch,
    comment,
    hit,
    judgement,
)

DONE, CANNOT_TELL = "done", "cannot tell"
# The state that an assignment gets from the state of its form.
END_STATES = {DONE: "submitted", CANNOT_TELL: "submitted", "skipped": "skipped", "later": "offered"}
LONGEST_MS = 24 * 3600 * SECOND


# What is asked at every step is put together once.
_SELECT_REVISIONS = select(
    judgement.c.client_key, judgement.c.assignment, judgement.c.revision
).where(or_(judgement.c.client_key == bindparam("key"), judgement.c.assignment == bindparam("of")))
_SELECT_OWN_ASSIGNMENT = (
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
_INSERT_JUDGEMENT = insert(judgement)
_UPDATE_ASSIGNMENT = (
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
class SavedForm:
    """A form that is on the disk: which assignment, and which revision of it."""

    assignment: str
    revision: int
    state: str
    again: bool = False


def gold_score(connection: Connection, batch: Batch, assessor_id: str) -> tuple[int, int]:
    """The number of correct gold answers of an assessor, and of gold answers in all.

    The first answer counts: revising one after the other would tell which answers are known.
    """
    correct = answered = 0
    rows = connection.execute(
        select(assignment.c.hit, judgement.c.value)
        .join(hit, hit.c.id == assignment.c.hit)
        .join(judgement, judgement.c.assignment == assignment.c.id)
        .where(hit.c.batch == batch.id, assignment.c.assessor == assessor_id, hit.c.gold != "")
        .order_by(judgement.c.revision)
    )
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        content = json.loads(row.value)
        if content["state"] == DONE:
            first.setdefault(str(row.hit), content["answers"])
    for unit, answers in first.items():
        gold_answers = json.loads(batch.hits[unit]["gold"])
        values = form_values(form_of(batch, unit), answers)
        answered += len(gold_answers)
        correct += sum(values.get(concept) == str(value) for concept, value in gold_answers.items())
    return correct, answered


def own_assignment(connection: Connection, batch: Batch, annotator: Row, key: str) -> Row | None:
    """An assignment of this batch, if it belongs to the annotator."""
    row = (
        connection.execute(
            select(assignment)
            .join(hit, hit.c.id == assignment.c.hit)
            .join(assessor, assessor.c.id == assignment.c.assessor)
            .where(
                assignment.c.id == key,
                assignment.c.assessor == annotator["id"],
                assessor.c.state == "active",
                hit.c.batch == batch.id,
            )
        )
        .mappings()
        .first()
    )
    return None if row is None else dict(row)


def assignment_and_batch(
    connection: Connection, annotator: Row, key: str
) -> tuple[Batch, Row] | None:
    """An assignment of the annotator and its batch."""
    row = (
        connection.execute(_SELECT_OWN_ASSIGNMENT, {"key": key, "who": annotator["id"]})
        .mappings()
        .first()
    )
    if row is None:
        return None
    of = {column.name: row[f"of_{column.name}"] for column in batch.c}
    return load_batch(connection, of), {column.name: row[column.name] for column in assignment.c}


def save(
    connection: Connection,
    context: Context,
    batch: Batch,
    assignment_row: Row,
    *,
    answers: Mapping[str, Sequence[str]],
    state: str = DONE,
    client_key: str,
    active_ms: int = 0,
    remark: str = "",
) -> SavedForm:
    """Store the answers about a unit, or raise `FormRefused` and store nothing."""
    if state not in END_STATES:
        raise UsageError(f"a form is done, skipped, put off or cannot be told, not {state!r}")
    if not client_key or len(client_key) > 200:
        raise UsageError("a saving needs a key of its own")
    before = connection.execute(
        _SELECT_REVISIONS, {"key": client_key, "of": assignment_row["id"]}
    ).all()
    for row in before:
        if row.client_key == client_key:
            if row.assignment != assignment_row["id"]:
                raise UsageError("this key belongs to another form")
            return SavedForm(
                assignment_row["id"], row.revision, assignment_row["state"], again=True
            )
    end = _next_state(batch, assignment_row, state, answers)
    now, revision = context.clock.now(), 1 + len(before)
    key_columns = {
        "id": context.new_id(),
        "client_key": client_key,
        "revision": revision,
        "at": now,
    }
    connection.execute(
        _INSERT_JUDGEMENT,
        key_columns
        | _judgement_columns(batch.hits[assignment_row["hit"]], assignment_row, state, answers),
    )
    connection.execute(
        _UPDATE_ASSIGNMENT,
        {
            "of": assignment_row["id"],
            "to": end,
            "when": now if end == "submitted" else None,
            "since": now if end == "offered" else assignment_row["offered"],
            "spent": max(0, min(int(active_ms), LONGEST_MS)),
        },
    )
    add_comment(connection, context, batch.id, assignment_row, remark)
    return SavedForm(assignment_row["id"], revision, end)


def _judgement_columns(
    unit: Row, assignment_row: Row, state: str, answers: Mapping[str, Sequence[str]]
) -> Row:
    """What a row of the log holds of what was said, by whom, and about what."""
    stored_answers = (
        {name: list(values) for name, values in answers.items()} if state == DONE else {}
    )
    return {
        "assignment": assignment_row["id"],
        "assessor": assignment_row["assessor"],
        "topic": unit["topic"],
        "item": unit["item"],
        "value": json.dumps({"state": state, "answers": stored_answers}, ensure_ascii=False),
    }


def _next_state(
    batch: Batch, assignment_row: Row, state: str, answers: Mapping[str, Sequence[str]]
) -> str:
    """What becomes of an assignment; a UsageError or `FormRefused` where it cannot be saved."""
    if batch.row["state"] not in ("pilot", "running"):
        raise UsageError("this batch does not take answers now")
    end = END_STATES[state]
    if end not in ASSIGNMENT_WAYS[assignment_row["state"]]:
        raise UsageError(f"this form is {assignment_row['state']}; it takes no answers any more")
    if state == DONE:
        problems = form_of(batch, assignment_row["hit"]).check(answers)
        if problems:
            raise FormRefused(problems)
    return end


def form_of(batch: Batch, unit: str) -> Form:
    """The form that asks about a unit."""
    return batch.forms[json.loads(batch.hits[unit]["content"] or "{}").get("form", "form")]


def add_comment(
    connection: Connection, context: Context, batch_id: str, assignment_row: Row, text: str
) -> None:
    """Store a remark about a unit; a repeated remark is stored once."""
    words = text.strip()[:LONGEST_TEXT]
    if not words:
        return
    last = connection.execute(
        select(comment.c.text)
        .where(comment.c.assignment == assignment_row["id"])
        .order_by(comment.c.at.desc(), comment.c.id.desc())
        .limit(1)
    ).scalar()
    if last != words:
        connection.execute(
            insert(comment).values(
                id=context.new_id(),
                assignment=assignment_row["id"],
                batch=batch_id,
                assessor=assignment_row["assessor"],
                text=words,
                at=context.clock.now(),
            )
        )


def comment_of(connection: Connection, key: str) -> str:
    text = connection.execute(
        select(comment.c.text)
        .where(comment.c.assignment == key)
        .order_by(comment.c.at.desc(), comment.c.id.desc())
        .limit(1)
    ).scalar()
    return str(text or "")


def last_revision(connection: Connection, key: str) -> dict[str, Any]:
    """The last revision of an assignment, as it was saved."""
    value = connection.execute(
        select(judgement.c.value)
        .where(judgement.c.assignment == key)
        .order_by(judgement.c.revision.desc())
        .limit(1)
    ).scalar()
    revision: dict[str, Any] = json.loads(value) if value else {"state": "", "answers": {}}
    return revision


def previous_assignment(connection: Connection, batch: Batch, annotator: Row, than: str) -> str:
    """The assignment that the annotator saved before another one; '' when there is none."""
    rows = connection.execute(
        select(assignment.c.id)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(
            hit.c.batch == batch.id,
            assignment.c.assessor == annotator["id"],
            assignment.c.state.in_(("submitted", "skipped", "open")),
        )
        .order_by(assignment.c.opened, assignment.c.submitted.is_(None), assignment.c.id)
    ).scalars()
    order = [str(key) for key in rows]
    at = order.index(than) if than in order else len(order)
    return order[at - 1] if at > 0 else ""


def progress(connection: Connection, batch: Batch, annotator: Row) -> tuple[int, int]:
    """How many units the annotator has finished, and how many the batch has."""
    finished = connection.execute(
        select(func.count())
        .select_from(assignment)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(
            hit.c.batch == batch.id,
            assignment.c.assessor == annotator["id"],
            assignment.c.state.in_(("submitted", "skipped")),
        )
    ).scalar_one()
    return int(finished), len(batch.hits)


def latest_revisions(
    connection: Connection, batch_id: str, assessor_id: str | None = None
) -> list[Row]:
    """The last revision of every submitted or rejected assignment of a batch, as it was done."""
    last = (
        select(judgement.c.assignment, func.max(judgement.c.revision).label("revision"))
        .group_by(judgement.c.assignment)
        .subquery()
    )
    query = (
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
    if assessor_id is not None:
        query = query.where(assignment.c.assessor == assessor_id)
    rows = connection.execute(query).mappings()
    return [dict(row) | {"said": json.loads(row["value"])} for row in rows]
