"""Assignments: the next unit of an annotator, in an order of its own, while places are left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from cranfield.campaign.batches import HOLDING, Worker, next_unit
from cranfield.campaign.responses import collect_responses
from cranfield.campaign.truth import wanted_opinions
from cranfield.server.context import SECOND, Context
from cranfield.server.services.batch_results import filled_forms
from cranfield.server.services.batches import Batch, running_for
from cranfield.server.services.campaigns import Row
from cranfield.server.services.judgements import gold_score
from cranfield.server.store.work_tables import assignment, batch, hit

# Units whose pictures are fetched while another one is looked at.
PREFETCHED_UNITS = 3
# Units whose places are counted at once: the first with a free one is mostly among them.
_CHUNK_SIZES = (8, 64, 512)
# Places are freed of those who did not come back at most once in so many milliseconds.
_SWEEP_INTERVAL = SECOND
# Beside the places of units: how many forms had come in when they were worked out.
_SUBMITTED = ""
# What is asked at every step is put together once.
_LOCK_BATCH = select(batch.c.id).where(batch.c.id == bindparam("of")).with_for_update()
_EXPIRE_ASSIGNMENTS = (
    update(assignment)
    .where(
        assignment.c.hit.in_(select(hit.c.id).where(hit.c.batch == bindparam("of"))),
        assignment.c.state.in_(("open", "offered")),
        assignment.c.expires <= bindparam("now"),
    )
    .values(state="expired")
)
_SELECT_ASSIGNMENT = select(assignment).where(assignment.c.id == bindparam("held"))
_SELECT_SEEN_UNITS = (
    select(assignment.c.hit, assignment.c.subject, assignment.c.state, assignment.c.id)
    .where(assignment.c.assessor == bindparam("who"))
    .order_by(assignment.c.offered, assignment.c.id)
)
_COUNT_TAKEN_PLACES = (
    select(assignment.c.hit, assignment.c.state, func.count())
    .where(
        assignment.c.hit.in_(bindparam("units", expanding=True)),
        or_(
            assignment.c.state.in_(sorted(HOLDING)),
            (assignment.c.state == "rejected") & assignment.c.reissued_as.is_(None),
        ),
    )
    .group_by(assignment.c.hit, assignment.c.state)
)
_INSERT_ASSIGNMENT = insert(assignment)
_SELECT_REJECTED = (
    select(assignment.c.id)
    .where(
        assignment.c.hit == bindparam("unit"),
        assignment.c.state == "rejected",
        assignment.c.reissued_as.is_(None),
    )
    .order_by(assignment.c.submitted, assignment.c.id)
    .limit(1)
)


def expire_assignments(connection: Connection, context: Context, batch: Batch) -> None:
    """Free the places of those who did not come back in time, now and then: it looks at all."""
    now = context.clock.now()
    if not batch.swept or now - batch.swept[0] >= _SWEEP_INTERVAL:
        batch.swept[:] = [now]
        connection.execute(_EXPIRE_ASSIGNMENTS, {"of": batch.id, "now": now})


def assign_next(
    connection: Connection, context: Context, batch: Batch, annotator: Row
) -> Row | None:
    """The current assignment: an open one, else a new one, else one that was put off.

    None when there is nothing (left).
    """
    if connection.dialect.name != "sqlite":
        # No other transaction takes a place of this batch until the commit; SQLite has one writer.
        connection.execute(_LOCK_BATCH, {"of": batch.id})
    expire_assignments(connection, context, batch)
    seen = connection.execute(_SELECT_SEEN_UNITS, {"who": annotator["id"]}).all()
    own_rows = [row for row in seen if row.hit in batch.hits]
    for row in own_rows:
        if row.state == "open":
            return _read_assignment(connection, row.id)
    if annotator["state"] != "active":
        return None
    for unit, is_reissue in _next_units(connection, batch, annotator, 1, seen).items():
        return _insert_assignment(
            connection, context, batch, annotator, unit, is_reissue=is_reissue
        )
    put_off = [row.id for row in own_rows if row.state == "offered"]
    if not put_off or batch.row["state"] not in ("pilot", "running"):
        return None
    connection.execute(update(assignment).where(assignment.c.id == put_off[0]).values(state="open"))
    return _read_assignment(connection, put_off[0])


def assign_from_any_batch(
    connection: Connection, context: Context, annotator: Row
) -> tuple[Batch, Row] | None:
    """The current assignment in the first batch of the campaign that has one."""
    for running in running_for(connection, annotator):
        assignment_row = assign_next(connection, context, running, annotator)
        if assignment_row is not None:
            return running, assignment_row
    return None


def _read_assignment(connection: Connection, key: str) -> Row:
    return dict(connection.execute(_SELECT_ASSIGNMENT, {"held": key}).mappings().one())


def upcoming_units(connection: Connection, batch: Batch, annotator: Row, count: int) -> list[str]:
    """The next units that would be assigned to the annotator now; nothing is written."""
    seen = connection.execute(_SELECT_SEEN_UNITS, {"who": annotator["id"]}).all()
    return list(_next_units(connection, batch, annotator, count, seen))


def _next_units(
    connection: Connection, batch: Batch, annotator: Row, count: int, every: Sequence[Any]
) -> dict[str, bool]:
    """The next units after the assignments of `every`, and whether a form of each was rejected."""
    worker = _worker_facts(connection, batch, annotator, every)
    order = [u for u in batch.order_for(annotator["pseudonym"]) if u not in worker.seen]
    places, upcoming = _TakenPlaces(connection, order), dict[str, bool]()
    wanted = wanted_places(connection, batch)
    while order and len(upcoming) < count:
        unit = next_unit(batch.plan, batch.row["state"], worker, places, order, wanted)
        if unit is None:
            break
        upcoming[unit] = places.is_rejected(unit)
        worker = replace(worker, seen={*worker.seen, unit}, given=worker.given + 1)
    return upcoming


def wanted_places(connection: Connection, batch: Batch) -> Mapping[str, int] | None:
    """The places that units want under adaptive overlap; None where the overlap is fixed.

    They are worked out again when a fiftieth of the units has come in since.
    """
    if not batch.plan.certainty:
        return None
    submitted = int(
        connection.execute(
            select(func.count())
            .select_from(assignment)
            .join(hit, hit.c.id == assignment.c.hit)
            .where(hit.c.batch == batch.id, assignment.c.state == "submitted")
        ).scalar_one()
    )
    known = batch.places.get(_SUBMITTED, -1)
    if known < 0 or abs(submitted - known) > len(batch.hits) // 50:
        forms = [form for form in filled_forms(connection, batch) if not form.rejected]
        places = {} if not forms else wanted_opinions(collect_responses(forms).log, batch.plan)
        units = {f"{row['topic']} {row['item']}".strip(): key for key, row in batch.hits.items()}
        batch.places.clear()
        batch.places.update({units[item]: count for item, count in places.items()})
        batch.places[_SUBMITTED] = submitted
    return batch.places


def may_see(connection: Connection, batch: Batch, annotator: Row, unit: str) -> bool:
    """Whether a unit is assigned to the annotator, or soon will be."""
    query = select(assignment.c.id).where(
        assignment.c.hit == unit, assignment.c.assessor == annotator["id"]
    )
    if connection.execute(query).first() is not None:
        return True
    return annotator["state"] == "active" and unit in upcoming_units(
        connection, batch, annotator, PREFETCHED_UNITS
    )


def _insert_assignment(
    connection: Connection,
    context: Context,
    batch: Batch,
    annotator: Row,
    unit: str,
    *,
    is_reissue: bool,
) -> Row:
    """Assign a unit, in the place of a rejected form if there is one."""
    now = context.clock.now()
    row = {
        "id": context.new_id(),
        "hit": unit,
        "assessor": annotator["id"],
        "state": "open",
        "subject": batch.subjects[unit],
        "offered": now,
        "opened": now,
        "submitted": None,
        "expires": now + int(batch.plan.expires * SECOND),
        "active_ms": 0,
        "guideline": batch.row["guideline"],
    }
    connection.execute(_INSERT_ASSIGNMENT, row)
    rejected = connection.execute(_SELECT_REJECTED, {"unit": unit}).scalar() if is_reissue else None
    if rejected is not None:
        connection.execute(
            update(assignment).where(assignment.c.id == rejected).values(reissued_as=row["id"])
        )
    return row


def _worker_facts(
    connection: Connection, batch: Batch, annotator: Row, every: Sequence[Any]
) -> Worker:
    """The facts about an annotator that the rules of assignment need."""
    units = batch.by_subject
    seen = {units[row.subject] for row in every if row.subject in units}
    own_units = [str(row.hit) for row in every if row.hit in batch.hits]
    correct, answered = (
        gold_score(connection, batch, annotator["id"]) if batch.plan.qualification else (0, 0)
    )
    gold = sum(unit in batch.plan.gold_units for unit in own_units)
    # The pseudonym, not the id: the same people get the same units whenever it is played again.
    return Worker(annotator["pseudonym"], seen, len(own_units), gold, answered, correct)


class _TakenPlaces(Mapping[str, int]):
    """How many places of each unit are taken, counted as far as the order is read."""

    def __init__(self, connection: Connection, order: Sequence[str]) -> None:
        self._connection, self._order = connection, order
        self._known: dict[str, int] = {}
        self._rejected: set[str] = set()
        self._counted = 0
        self._sizes = chain(_CHUNK_SIZES, repeat(_CHUNK_SIZES[-1]))

    def __getitem__(self, unit: str) -> int:
        while unit not in self._known and self._counted < len(self._order):
            part = self._order[self._counted : self._counted + next(self._sizes)]
            self._counted += len(part)
            self._known.update(dict.fromkeys(part, 0))
            for unit_id, state, count in self._connection.execute(
                _COUNT_TAKEN_PLACES, {"units": list(part)}
            ):
                if state == "rejected":
                    self._rejected.add(str(unit_id))
                else:
                    self._known[str(unit_id)] += int(count)
        return self._known[unit]

    def is_rejected(self, unit: str) -> bool:
        """Whether a form of a unit was rejected and its place not assigned again."""
        return self[unit] >= 0 and unit in self._rejected

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)
