"""What batches have brought: logs, agreement while it runs, disputes, and a truth in the end."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from cranfield.agreement.aggregation import Decision
from cranfield.campaign.annotation_task import Response, UnitAnswers, form_values
from cranfield.campaign.batches import Assignment as Given
from cranfield.campaign.batches import move_assignment
from cranfield.campaign.forms import Answers
from cranfield.campaign.responses import FormResponses, collect_responses
from cranfield.campaign.truth import Dispute, disputes, make_truth, weigh_disputes
from cranfield.data.judgement_log import FilledForm
from cranfield.errors import UsageError
from cranfield.io.files import csv_text, write_atomic
from cranfield.server.context import SECOND, Context
from cranfield.server.services import audit, scoring
from cranfield.server.services.assessors import assessors_of
from cranfield.server.services.batches import Batch, set_state
from cranfield.server.services.campaigns import latest_truth
from cranfield.server.services.judgements import DONE, FormRefused, form_of, latest_revisions
from cranfield.server.services.uploads import sync_folders
from cranfield.server.store.work_tables import (
    adjudication,
    assessor,
    assignment,
    comment,
    hit,
)


def filled_forms(connection: Connection, batch: Batch) -> list[FilledForm]:
    """What was handed in, under the pseudonyms of those who did, in the order of doing so."""
    names = {
        str(row.id): str(row.pseudonym)
        for row in connection.execute(
            select(assessor.c.id, assessor.c.pseudonym).where(
                assessor.c.campaign == batch.row["campaign"]
            )
        )
    }
    comment_rows = connection.execute(
        select(comment.c.assignment, comment.c.text)
        .where(comment.c.batch == batch.id)
        .order_by(comment.c.at, comment.c.id)
    )
    comment_texts = {str(row.assignment): str(row.text) for row in comment_rows}
    forms = []
    for row in latest_revisions(connection, batch.id):
        if row["said"]["state"] != DONE:
            continue
        unit = batch.hits[row["hit"]]
        form, suggested = form_of(batch, row["hit"]), batch.suggested(unit)
        forms.append(
            FilledForm(
                names[row["assessor"]],
                f"{unit['topic']} {unit['item']}".strip(),
                form_values(form, row["said"]["answers"]),
                str(batch.row["slug"]),
                str(row["reason"]) if row["state"] == "rejected" else "",
                row["active_ms"] / SECOND,
                (row["opened"] or row["at"]) / SECOND,
                row["at"] / SECOND,
                comment_texts.get(row["id"], ""),
                suggested={} if suggested is None else dict(suggested.concepts),
                saw_suggestions=suggested is not None and suggested.shown,
            )
        )
    return forms


def collect_forms(connection: Connection, batch: Batch) -> FormResponses:
    """The figures and the log of a batch; a UsageError while nothing was handed in."""
    return collect_responses(filled_forms(connection, batch))


def reject(
    connection: Connection,
    context: Context,
    actor: str,
    batch: Batch,
    assessor_id: str,
    reason: str,
) -> int:
    """Reject all forms of an assessor in a batch and free their places; returns how many."""
    rows = connection.execute(
        select(assignment.c.id, assignment.c.hit, assignment.c.state)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(
            hit.c.batch == batch.id,
            assignment.c.assessor == assessor_id,
            assignment.c.state == "submitted",
        )
    ).all()
    for row in rows:
        # The rule of the state machine, and that a reason is given.
        move_assignment(
            Given(0, batch.id, row.hit, assessor_id, "submitted"), "rejected", at=0.0, reason=reason
        )
    connection.execute(
        update(assignment)
        .where(assignment.c.id.in_([row.id for row in rows]))
        .values(state="rejected", reason=reason.strip())
    )
    now = context.clock.now()
    detail = {"forms": len(rows), "reason": reason.strip()}
    audit.append(connection, now, actor, "batch.reject", batch.row["slug"], detail)
    return len(rows)


def decisions(connection: Connection, batch: Batch) -> tuple[Decision, ...]:
    rows = connection.execute(
        select(adjudication)
        .where(adjudication.c.batch == batch.id)
        .order_by(adjudication.c.at, adjudication.c.id)
    ).mappings()
    return tuple(
        Decision(f"{r['topic']} {r['item']}".strip(), r["concept"], r["value"], r["reason"])
        for r in rows
    )


def open_disputes(connection: Connection, batch: Batch) -> tuple[Dispute, ...]:
    """The units on which people disagree and no adjudicator has decided yet."""
    try:
        log = collect_forms(connection, batch).log
    except UsageError:
        return ()
    return disputes(log, decisions(connection, batch))


@dataclass(frozen=True)
class DisputeQueue:
    """The disputes of a batch as a queue: one of them, and what belongs to it.

    `concepts` has how many are open by concept, `others` what else is disputed about the item,
    `remarks` what people wrote about it. Without a dispute `shown` is None.
    """

    count: int
    position: int
    concepts: Mapping[str, int]
    shown: Dispute | None = None
    hit: str = ""
    others: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def dispute_queue(
    connection: Connection, batch: Batch, concept: str = "", after: int = 0
) -> DisputeQueue:
    """The dispute at a place of the queue: all of one item, then those of the next.

    The items whose answers are the most evenly split come first.
    """
    forms = filled_forms(connection, batch)
    if not forms:
        return DisputeQueue(0, 0, {})
    log = collect_responses(forms).log
    every = disputes(log, decisions(connection, batch))
    first_place = {d.item: n for n, d in reversed(list(enumerate(every)))}
    counts = Counter(d.concept for d in every)
    queue = sorted(
        (d for d in every if concept in ("", d.concept)), key=lambda d: first_place[d.item]
    )
    if not queue:
        return DisputeQueue(len(every), 0, counts)
    position = max(0, after) % len(queue)
    (shown,) = weigh_disputes(log, [queue[position]])
    units = {f"{u['topic']} {u['item']}".strip(): key for key, u in batch.hits.items()}
    return DisputeQueue(
        len(every),
        position,
        dict(sorted(counts.items())),
        shown,
        units[shown.item],
        tuple(d.concept for d in every if d.item == shown.item and d.concept != shown.concept),
        tuple(f.comment for f in forms if f.item == shown.item and f.comment),
    )


REVIEWED = "review of "


@dataclass(frozen=True)
class ReviewSample:
    """A sample of one person's forms for review: how far it is, and the next one.

    `judged` counts the answers that were looked at, `corrected` those that were changed.
    """

    people: tuple[str, ...]
    forms: int = 0
    reviewed: int = 0
    judged: int = 0
    corrected: int = 0
    hit: str | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)


def review_sample(connection: Connection, batch: Batch, who: str, share: int) -> ReviewSample:
    """The forms of `who` that are drawn for review, `share` percent of them, one at least."""
    rows = [
        row
        for row in latest_revisions(connection, batch.id)
        if row["state"] == "submitted" and row["said"]["state"] == DONE
    ]
    names = {r["id"]: str(r["pseudonym"]) for r in assessors_of(connection, batch.row["campaign"])}
    people = tuple(sorted({names[row["assessor"]] for row in rows}))
    if not who:
        return ReviewSample(people)
    if who not in people:
        raise UsageError(f"nobody called {who!r} has handed anything in")
    if not 1 <= share <= 100:
        raise UsageError(f"a share for review is from 1 to 100 percent, not {share}")
    own = {row["hit"]: row["said"]["answers"] for row in rows if names[row["assessor"]] == who}
    order = sorted(own, key=lambda hit_id: hashlib.sha256(f"{who} {hit_id}".encode()).digest())
    drawn = order[: max(1, round(len(order) * share / 100))]
    verdicts = {(d.item, d.concept): d for d in decisions(connection, batch)}
    next_hit, judged, corrected, reviewed = None, 0, 0, 0
    for hit_id in drawn:
        row = batch.hits[hit_id]
        name = f"{row['topic']} {row['item']}".strip()
        values = form_values(form_of(batch, hit_id), own[hit_id])
        looked_at = {
            concept: verdicts[name, concept].value
            for concept in values
            if (name, concept) in verdicts and verdicts[name, concept].reason.startswith(REVIEWED)
        }
        if looked_at:
            reviewed += 1
            judged += len(looked_at)
            corrected += sum(values[concept] != value for concept, value in looked_at.items())
        elif next_hit is None:
            next_hit = hit_id
    return ReviewSample(
        people,
        len(drawn),
        reviewed,
        judged,
        corrected,
        next_hit,
        own[next_hit] if next_hit is not None else {},
    )


def save_review(
    connection: Connection,
    context: Context,
    person: str,
    batch: Batch,
    who: str,
    hit_id: str,
    answers: Answers,
    remark: str,
) -> int:
    """Write down a form as a reviewer left it; every answer in it is decided."""
    if hit_id not in batch.hits:
        raise UsageError("the batch has no such unit")
    form, row = form_of(batch, hit_id), batch.hits[hit_id]
    problems = form.check(answers)
    if problems:
        raise FormRefused(problems)
    name = f"{row['topic']} {row['item']}".strip()
    values = {(name, concept): value for concept, value in form_values(form, answers).items()}
    reason = f"{REVIEWED}{who}" + (f": {remark.strip()}" if remark.strip() else "")
    return decide(connection, context, person, batch, values, reason)


def decide(
    connection: Connection,
    context: Context,
    person: str,
    batch: Batch,
    cell_values: Mapping[tuple[str, str], str],
    reason: str,
) -> int:
    """Write down what an adjudicator decided: {(item, concept): value}. Gives how many."""
    by_name = {f"{u['topic']} {u['item']}".strip(): u for u in batch.hits.values()}
    now = context.clock.now()
    for (item, concept), value in cell_values.items():
        unit = by_name.get(item)
        if unit is None:
            raise UsageError(f"the batch has no unit {item!r}")
        cell = (
            (adjudication.c.batch == batch.id)
            & (adjudication.c.topic == unit["topic"])
            & (adjudication.c.item == unit["item"])
            & (adjudication.c.concept == concept)
        )
        connection.execute(delete(adjudication).where(cell))
        connection.execute(
            insert(adjudication).values(
                id=context.new_id(),
                batch=batch.id,
                topic=unit["topic"],
                item=unit["item"],
                concept=concept,
                value=value,
                reason=reason.strip(),
                person=person,
                at=now,
            )
        )
    detail = {"units": len(cell_values), "reason": reason.strip()}
    audit.append(connection, now, person, "batch.decide", batch.row["slug"], detail)
    return len(cell_values)


def truth_file(connection: Connection, batch: Batch, method: str) -> tuple[str, str]:
    """A truth out of a batch as the text of a file, and its ending: labels, or TREC judgements."""
    log = collect_forms(connection, batch).log
    truth = make_truth(log, method, decisions=decisions(connection, batch))
    rows = [r for r in truth.rows() if r["value"] != "undecided"]
    if batch.kind != "relevance":
        head = ("item", "concept", "value")
        return csv_text([head, *((r["item"], r["concept"], r["value"]) for r in rows)]), ".csv"
    lines = []
    for row in rows:
        topic, _, item = row["item"].partition(" ")
        lines.append(f"{topic} 0 {item} {round(float(row['value']))}\n")
    return "".join(sorted(lines)), ".txt"


def merge(
    connection: Connection,
    context: Context,
    actor: str,
    batch: Batch,
    method: str,
    *,
    into: tuple[str, str] | None = None,
) -> None:
    """Make the truth of the task out of a closed batch; every run is scored again.

    `into` has the id of the truth that the batch was merged into, and the text of both as one.
    """
    if batch.row["task"] is None:
        raise UsageError("this batch belongs to no task; its log can be downloaded")
    text, ending = truth_file(connection, batch, method)
    note = f"{method} of the batch {batch.row['title']!r}"
    if into is not None:
        newest = latest_truth(connection, batch.row["task"])
        if newest is None or newest["id"] != into[0]:
            raise UsageError("the truth has changed meanwhile; look at what would happen again")
        text = into[1]
        note += f", merged into version {newest['n']}"
    set_state(connection, context, actor, batch.row, "merged")
    name = f"{batch.row['campaign']}/{batch.row['slug']}-{context.new_id()}/truth{ending}"
    target = context.settings.sealed / name
    new = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, mode=0o700)
    write_atomic(target, text.encode())
    target.chmod(0o600)
    sync_folders(*(folder.parent for folder in new))
    scoring.add_truth(
        connection,
        context,
        actor,
        batch.row["task"],
        sha=hashlib.sha256(text.encode()).hexdigest(),
        file=name,
        source=f"batch {batch.row['slug']}",
        note=note,
    )


def responses(connection: Connection, batch: Batch) -> list[Response]:
    """Answers to a survey as if they had come back as files, for counting with its key."""
    people = {row["id"]: row for row in assessors_of(connection, batch.row["campaign"])}
    by_person: dict[str, list[UnitAnswers]] = {}
    for row in latest_revisions(connection, batch.id):
        if row["state"] == "submitted":
            answer = row["said"]
            by_person.setdefault(row["assessor"], []).append(
                UnitAnswers(
                    str(batch.hits[row["hit"]]["item"]),
                    answer["answers"],
                    answer["state"],
                    row["active_ms"] / SECOND,
                )
            )
    units = {
        str(u["item"]): json.loads(u["content"] or "{}").get("form", "form")
        for u in batch.hits.values()
    }
    suggested = {
        str(row["item"]): entry
        for row in batch.hits.values()
        if (entry := batch.suggested(row)) is not None
    }
    return [
        Response(
            str(people[assessor_id]["pseudonym"]),
            batch.kind,
            str(batch.row["title"]),
            batch.version,
            batch.forms,
            units,
            tuple(filled),
            json.loads(people[assessor_id]["facts"] or "{}"),
            batch.about,
            suggested=suggested,
        )
        for assessor_id, filled in by_person.items()
    ]


def comment_count(connection: Connection, batch: Batch) -> int:
    """How many remarks a batch has."""
    return int(
        connection.execute(
            select(func.count()).select_from(comment).where(comment.c.batch == batch.id)
        ).scalar_one()
    )


def screened_items(
    connection: Connection, batch: Batch, concept: str, seen: str
) -> tuple[list[str], list[str]]:
    """The concepts of a batch, and the items that a concept is said to be seen in, or not."""
    log = collect_forms(connection, batch).log
    concepts = list(log.concepts)
    chosen_concept = concept or (concepts[0] if concepts else "")
    if chosen_concept not in concepts:
        raise UsageError(f"the batch has no concept {chosen_concept!r}")
    truth = make_truth(log, "majority", decisions=decisions(connection, batch))
    value = "1" if seen == "1" else "0"
    rows = [r for r in truth.rows() if r["concept"] == chosen_concept and r["value"] == value]
    return concepts, sorted(str(r["item"]) for r in rows)
