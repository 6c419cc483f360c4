"""What batches have brought: logs, agreement while it runs, disputes, and a truth in the end."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from cranfield.agreement.assess import Resampling, assess
from cranfield.agreement.decisions import Decision
from cranfield.agreement.quality import AnnotatorQuality, quality_of
from cranfield.agreement.systems import compare_rankings
from cranfield.campaign.batches import Assignment as Given
from cranfield.campaign.batches import moved, status_of
from cranfield.campaign.collected import Collected, collect
from cranfield.campaign.sheets import Filled, Response, form_values
from cranfield.campaign.truth import Dispute, disputes, make_truth
from cranfield.data.filled_forms import FilledForm
from cranfield.data.judgement_log import JudgementLog
from cranfield.errors import CranfieldError, UsageError
from cranfield.io.files import Input
from cranfield.io.labels import read_labels
from cranfield.io.written import csv_text, write_whole
from cranfield.server.context import SECOND, Context
from cranfield.server.services import audit, scoring
from cranfield.server.services.assessors import assessors_of
from cranfield.server.services.batches import Batch, loaded, set_state
from cranfield.server.services.campaigns import Row
from cranfield.server.services.uploads import blob_path
from cranfield.server.services.work import DONE, gold_of, latest
from cranfield.server.store.tables import run, team
from cranfield.server.store.work_tables import (
    adjudication,
    assessor,
    assignment,
    batch,
    comment,
    hit,
)

# Draws of the interval of agreement, and runs whose order is correlated at most.
RESAMPLES, MOST_RUNS = 200, 30


def filled_forms(connection: Connection, found: Batch) -> list[FilledForm]:
    """What was handed in, under the pseudonyms of those who did, in the order of doing so."""
    names = {
        str(row.id): str(row.pseudonym)
        for row in connection.execute(
            select(assessor.c.id, assessor.c.pseudonym).where(
                assessor.c.campaign == found.row["campaign"]
            )
        )
    }
    said = connection.execute(
        select(comment.c.assignment, comment.c.text)
        .where(comment.c.batch == found.id)
        .order_by(comment.c.at, comment.c.id)
    )
    words = {str(row.assignment): str(row.text) for row in said}
    made = []
    for row in latest(connection, found.id):
        if row["said"]["state"] != DONE:
            continue
        unit = found.hits[row["hit"]]
        form = found.forms[json.loads(unit["content"] or "{}").get("form", "form")]
        made.append(
            FilledForm(
                names[row["assessor"]],
                f"{unit['topic']} {unit['item']}".strip(),
                form_values(form, row["said"]["answers"]),
                str(found.row["slug"]),
                str(row["reason"]) if row["state"] == "rejected" else "",
                row["active_ms"] / SECOND,
                (row["opened"] or row["at"]) / SECOND,
                row["at"] / SECOND,
                words.get(row["id"], ""),
            )
        )
    return made


def collected(connection: Connection, found: Batch) -> Collected:
    """The figures and the log of a batch; a UsageError while nothing was handed in."""
    return collect(filled_forms(connection, found))


def like(connection: Connection, found: Batch) -> list[Batch]:
    """This batch and all others of the campaign that ask the same."""
    rows = connection.execute(
        select(batch).where(batch.c.campaign == found.row["campaign"]).order_by(batch.c.created)
    ).mappings()
    same = [loaded(connection, dict(row)) for row in rows if row["kind"] == found.kind]
    asked = {form.concepts for form in found.forms.values()}
    return [b for b in same if {form.concepts for form in b.forms.values()} == asked]


def board(connection: Connection, found: Batch) -> dict[str, Any]:
    """All that the board of a batch shows."""
    given = [
        Given(
            0,
            found.id,
            row.hit,
            row.assessor,
            row.state,
            seconds=row.active_ms / SECOND,
        )
        for row in connection.execute(
            select(
                assignment.c.hit, assignment.c.assessor, assignment.c.state, assignment.c.active_ms
            )
            .join(hit, hit.c.id == assignment.c.hit)
            .where(hit.c.batch == found.id)
        )
    ]
    status = status_of(found.plan, given)
    forms = [f for one in like(connection, found) for f in filled_forms(connection, one)]
    own = [f for f in forms if f.batch == found.row["slug"] and not f.rejected]
    people = assessors_of(connection, found.row["campaign"])
    quality = _quality(forms)
    return {
        "status": status,
        "agreement": _agreement(own),
        "people": [_person(connection, found, row, own, quality) for row in people],
        "rejections": _rejections(connection, found),
        "open_disputes": len(open_disputes(connection, found)) if own else 0,
    }


def _quality(forms: Sequence[FilledForm]) -> dict[str, AnnotatorQuality]:
    """What speaks against whom, over all batches that ask the same: copiers share few items."""
    kept = [f for f in forms if not f.rejected and f.values]
    if not kept:
        return {}
    return {p.annotator: p for p in quality_of(collect(kept).log)}


def _agreement(forms: Sequence[FilledForm]) -> dict[str, Any] | None:
    """The agreement so far with its interval, and the concepts with the least."""
    if len({f.annotator for f in forms}) < 2:
        return None
    log = collect(forms).log
    try:
        found = assess(log, "fleiss", resampling=Resampling(resamples=RESAMPLES))
    except CranfieldError:
        return None
    known = [r for r in found.concepts if not math.isnan(r.values["fleiss"])]
    worst = sorted(known, key=lambda r: r.values["fleiss"])[:5]
    return {
        "fleiss": found.overall.values["fleiss"],
        "interval": found.overall.intervals.get("fleiss", (math.nan, math.nan)),
        "worst": [(r.name, r.values["fleiss"]) for r in worst],
    }


def _person(
    connection: Connection,
    found: Batch,
    row: Row,
    forms: Sequence[FilledForm],
    quality: Mapping[str, AnnotatorQuality],
) -> dict[str, Any]:
    mine = [f for f in forms if f.annotator == row["pseudonym"]]
    right, asked = gold_of(connection, found, row["id"]) if found.plan.gold_units else (0, 0)
    seconds = sorted(f.seconds for f in mine)
    flags = quality[row["pseudonym"]].reasons if row["pseudonym"] in quality else ()
    return {
        "id": row["id"],
        "pseudonym": row["pseudonym"],
        "kind": row["kind"],
        "state": row["state"],
        "forms": len(mine),
        "seconds": seconds[len(seconds) // 2] if seconds else math.nan,
        "gold": f"{right} of {asked}" if asked else "",
        "flags": flags,
        "cost": found.plan.pay * len(mine),
    }


def _rejections(connection: Connection, found: Batch) -> list[Row]:
    rows = connection.execute(
        select(assignment.c.id, assignment.c.reason, assignment.c.reissued_as, hit.c.item)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(hit.c.batch == found.id, assignment.c.state == "rejected")
        .order_by(assignment.c.id)
    )
    return [dict(row) for row in rows.mappings()]


def reject(
    connection: Connection, context: Context, actor: str, found: Batch, who: str, reason: str
) -> int:
    """Reject all that somebody handed in for a batch; the places are free again. Gives how many."""
    rows = connection.execute(
        select(assignment.c.id, assignment.c.hit, assignment.c.state)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(
            hit.c.batch == found.id,
            assignment.c.assessor == who,
            assignment.c.state == "submitted",
        )
    ).all()
    for row in rows:
        # The rule of the state machine, and that a reason is given.
        moved(Given(0, found.id, row.hit, who, "submitted"), "rejected", at=0.0, reason=reason)
    connection.execute(
        update(assignment)
        .where(assignment.c.id.in_([row.id for row in rows]))
        .values(state="rejected", reason=reason.strip())
    )
    now = context.clock.now()
    detail = {"forms": len(rows), "reason": reason.strip()}
    audit.append(connection, now, actor, "batch.reject", found.row["slug"], detail)
    return len(rows)


def decisions(connection: Connection, found: Batch) -> tuple[Decision, ...]:
    rows = connection.execute(
        select(adjudication)
        .where(adjudication.c.batch == found.id)
        .order_by(adjudication.c.at, adjudication.c.id)
    ).mappings()
    return tuple(
        Decision(f"{r['topic']} {r['item']}".strip(), r["concept"], r["value"], r["reason"])
        for r in rows
    )


def open_disputes(connection: Connection, found: Batch) -> tuple[Dispute, ...]:
    """The units on which people disagree and nobody has decided yet."""
    try:
        log = collected(connection, found).log
    except UsageError:
        return ()
    return disputes(log, decisions(connection, found))


def decide(
    connection: Connection,
    context: Context,
    person: str,
    found: Batch,
    given: Mapping[tuple[str, str], str],
    reason: str,
) -> int:
    """Write down what an adjudicator decided: {(item, concept): value}. Gives how many."""
    by_name = {f"{u['topic']} {u['item']}".strip(): u for u in found.hits.values()}
    now = context.clock.now()
    for (item, concept), value in given.items():
        unit = by_name.get(item)
        if unit is None:
            raise UsageError(f"the batch has no unit {item!r}")
        cell = (
            (adjudication.c.batch == found.id)
            & (adjudication.c.topic == unit["topic"])
            & (adjudication.c.item == unit["item"])
            & (adjudication.c.concept == concept)
        )
        connection.execute(delete(adjudication).where(cell))
        connection.execute(
            insert(adjudication).values(
                id=context.new_id(),
                batch=found.id,
                topic=unit["topic"],
                item=unit["item"],
                concept=concept,
                value=value,
                reason=reason.strip(),
                person=person,
                at=now,
            )
        )
    detail = {"units": len(given), "reason": reason.strip()}
    audit.append(connection, now, person, "batch.decide", found.row["slug"], detail)
    return len(given)


def truth_file(connection: Connection, found: Batch, method: str) -> tuple[str, str]:
    """A truth out of a batch as the text of a file, and its ending: labels, or TREC judgements."""
    log = collected(connection, found).log
    made = make_truth(log, method, decisions=decisions(connection, found))
    rows = [r for r in made.rows() if r["value"] != "undecided"]
    if found.kind != "relevance":
        head = ("item", "concept", "value")
        return csv_text([head, *((r["item"], r["concept"], r["value"]) for r in rows)]), ".csv"
    lines = []
    for row in rows:
        topic, _, item = row["item"].partition(" ")
        lines.append(f"{topic} 0 {item} {round(float(row['value']))}\n")
    return "".join(sorted(lines)), ".txt"


def merge(connection: Connection, context: Context, actor: str, found: Batch, method: str) -> None:
    """Make the truth of the task out of a closed batch; every run is scored again."""
    if found.row["task"] is None:
        raise UsageError("this batch belongs to no task; its log can be downloaded")
    text, ending = truth_file(connection, found, method)
    set_state(connection, context, actor, found.row, "merged")
    name = f"{found.row['campaign']}/{found.row['slug']}-{context.new_id()}/truth{ending}"
    target = context.settings.sealed / name
    target.parent.mkdir(parents=True, mode=0o700)
    write_whole(target, text.encode())
    target.chmod(0o600)
    scoring.add_truth(
        connection,
        context,
        actor,
        found.row["task"],
        sha=hashlib.sha256(text.encode()).hexdigest(),
        file=name,
        source=f"batch {found.row['slug']}",
        note=f"{method} of the batch {found.row['title']!r}",
    )


def rankings(connection: Connection, context: Context, found: Batch) -> list[dict[str, Any]]:
    """Does it matter who judged: how alike the orders of the runs are by each assessor's truth."""
    log = collected(connection, found).log
    rows = connection.execute(
        select(run.c.blob, run.c.form, run.c.tag, team.c.acronym)
        .join(team, team.c.id == run.c.team)
        .where(run.c.task == found.row["task"], run.c.state == "accepted")
        .order_by(run.c.created, run.c.id)
        .limit(MOST_RUNS)
    ).all()
    runs = [
        read_labels(
            Input(f"{r.acronym}.{r.tag}{r.form}", blob_path(context.settings, r.blob)),
            threshold=0.5,
        )
        for r in rows
    ]
    study = compare_rankings(_binary(log), runs, "F.example")
    return [
        {"a": p.a, "b": p.b, "runs": p.systems, "tau": p.kendall}
        for ranking in study.rankings
        for p in ranking.pairs
    ]


def _binary(log: JudgementLog) -> JudgementLog:
    if log.levels is None:
        raise UsageError("orders of runs are correlated for labels of 0 and 1")
    return log


def responses(connection: Connection, found: Batch) -> list[Response]:
    """Answers to a survey as if they had come back as files, for counting with its key."""
    people = {row["id"]: row for row in assessors_of(connection, found.row["campaign"])}
    by_person: dict[str, list[Filled]] = {}
    for row in latest(connection, found.id):
        if row["state"] == "submitted":
            said = row["said"]
            by_person.setdefault(row["assessor"], []).append(
                Filled(
                    str(found.hits[row["hit"]]["item"]),
                    said["answers"],
                    said["state"],
                    row["active_ms"] / SECOND,
                )
            )
    units = {
        str(u["item"]): json.loads(u["content"] or "{}").get("form", "form")
        for u in found.hits.values()
    }
    return [
        Response(
            str(people[who]["pseudonym"]),
            found.kind,
            str(found.row["title"]),
            found.version,
            found.forms,
            units,
            tuple(filled),
            json.loads(people[who]["facts"] or "{}"),
            found.about,
        )
        for who, filled in by_person.items()
    ]


def comments(connection: Connection, found: Batch) -> int:
    """How many remarks a batch has."""
    return int(
        connection.execute(
            select(func.count()).select_from(comment).where(comment.c.batch == found.id)
        ).scalar_one()
    )


def screened_items(
    connection: Connection, found: Batch, concept: str, shown: str
) -> tuple[list[str], list[str]]:
    """The concepts of a batch, and the items that a concept is said to be seen in, or not."""
    log = collected(connection, found).log
    concepts = list(log.concepts)
    wanted = concept or (concepts[0] if concepts else "")
    if wanted not in concepts:
        raise UsageError(f"the batch has no concept {wanted!r}")
    made = make_truth(log, "majority", decisions=decisions(connection, found))
    value = "1" if shown == "1" else "0"
    rows = [r for r in made.rows() if r["concept"] == wanted and r["value"] == value]
    return concepts, sorted(str(r["item"]) for r in rows)
