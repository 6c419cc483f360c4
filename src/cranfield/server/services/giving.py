"""What somebody is given next: once, in an order of their own, while places are left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from cranfield.campaign.batches import HOLDING, Worker, next_unit
from cranfield.server.context import SECOND, Context
from cranfield.server.services.batches import Batch, running_for
from cranfield.server.services.campaigns import Row
from cranfield.server.services.work import gold_of
from cranfield.server.store.work_tables import assignment, batch, hit

# Units whose pictures are fetched while another one is looked at.
AHEAD = 3
# Units whose places are counted at once: the first with a free one is mostly among them.
_AT_ONCE = (8, 64, 512)
# Places are freed of those who did not come back at most once in so many milliseconds.
_SWEEP = SECOND
# What is asked at every step is put together once.
_LOCK = select(batch.c.id).where(batch.c.id == bindparam("of")).with_for_update()
_EXPIRE = (
    update(assignment)
    .where(
        assignment.c.hit.in_(select(hit.c.id).where(hit.c.batch == bindparam("of"))),
        assignment.c.state.in_(("open", "offered")),
        assignment.c.expires <= bindparam("now"),
    )
    .values(state="expired")
)
_HELD = select(assignment).where(assignment.c.id == bindparam("held"))
_SEEN = (
    select(assignment.c.hit, assignment.c.subject, assignment.c.state, assignment.c.id)
    .where(assignment.c.assessor == bindparam("who"))
    .order_by(assignment.c.offered, assignment.c.id)
)
_TAKEN = (
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
_GIVE = insert(assignment)
_REJECTED = (
    select(assignment.c.id)
    .where(
        assignment.c.hit == bindparam("unit"),
        assignment.c.state == "rejected",
        assignment.c.reissued_as.is_(None),
    )
    .order_by(assignment.c.submitted, assignment.c.id)
    .limit(1)
)


def expire(connection: Connection, context: Context, found: Batch) -> None:
    """Free the places of those who did not come back in time, now and then: it looks at all."""
    now = context.clock.now()
    if not found.swept or now - found.swept[0] >= _SWEEP:
        found.swept[:] = [now]
        connection.execute(_EXPIRE, {"of": found.id, "now": now})


def give(connection: Connection, context: Context, found: Batch, who: Row) -> Row | None:
    """What somebody works on now: what is open already, else something new, else what was put
    off; None when there is nothing (left)."""
    if connection.dialect.name != "sqlite":
        # Nobody else takes a place of this batch until the commit; SQLite has one writer.
        connection.execute(_LOCK, {"of": found.id})
    expire(connection, context, found)
    seen = connection.execute(_SEEN, {"who": who["id"]}).all()
    mine = [row for row in seen if row.hit in found.hits]
    for row in mine:
        if row.state == "open":
            return _held(connection, row.id)
    if who["state"] != "active":
        return None
    for unit, again in _coming(connection, found, who, 1, seen).items():
        return _give(connection, context, found, who, unit, again=again)
    put_off = [row.id for row in mine if row.state == "offered"]
    if not put_off or found.row["state"] not in ("pilot", "running"):
        return None
    connection.execute(update(assignment).where(assignment.c.id == put_off[0]).values(state="open"))
    return _held(connection, put_off[0])


def give_any(connection: Connection, context: Context, who: Row) -> tuple[Batch, Row] | None:
    """What somebody works on now in the first batch of the campaign that has something."""
    for found in running_for(connection, who):
        given = give(connection, context, found, who)
        if given is not None:
            return found, given
    return None


def _held(connection: Connection, key: str) -> Row:
    return dict(connection.execute(_HELD, {"held": key}).mappings().one())


def ahead(connection: Connection, found: Batch, who: Row, count: int) -> list[str]:
    """The next units that somebody would be given now, without giving them."""
    seen = connection.execute(_SEEN, {"who": who["id"]}).all()
    return list(_coming(connection, found, who, count, seen))


def _coming(
    connection: Connection, found: Batch, who: Row, count: int, every: Sequence[Any]
) -> dict[str, bool]:
    """The next units of somebody who has seen those of `every`, and whether one was rejected."""
    worker = _worker(connection, found, who, every)
    order = [u for u in found.order_for(who["pseudonym"]) if u not in worker.seen]
    places, chosen = _Places(connection, order), dict[str, bool]()
    while order and len(chosen) < count:
        unit = next_unit(found.plan, found.row["state"], worker, places, order)
        if unit is None:
            break
        chosen[unit] = places.is_rejected(unit)
        worker = replace(worker, seen={*worker.seen, unit}, given=worker.given + 1)
    return chosen


def may_see(connection: Connection, found: Batch, who: Row, unit: str) -> bool:
    """Whether a unit is somebody's own, or soon will be."""
    own = select(assignment.c.id).where(
        assignment.c.hit == unit, assignment.c.assessor == who["id"]
    )
    if connection.execute(own).first() is not None:
        return True
    return who["state"] == "active" and unit in ahead(connection, found, who, AHEAD)


def _give(
    connection: Connection, context: Context, found: Batch, who: Row, unit: str, *, again: bool
) -> Row:
    """Write down that somebody has a unit now, in the place of a rejected form if there is one."""
    now = context.clock.now()
    row = {
        "id": context.new_id(),
        "hit": unit,
        "assessor": who["id"],
        "state": "open",
        "subject": found.subjects[unit],
        "offered": now,
        "opened": now,
        "submitted": None,
        "expires": now + int(found.plan.expires * SECOND),
        "active_ms": 0,
        "guideline": found.row["guideline"],
    }
    connection.execute(_GIVE, row)
    rejected = connection.execute(_REJECTED, {"unit": unit}).scalar() if again else None
    if rejected is not None:
        connection.execute(
            update(assignment).where(assignment.c.id == rejected).values(reissued_as=row["id"])
        )
    return row


def _worker(connection: Connection, found: Batch, who: Row, every: Sequence[Any]) -> Worker:
    """What the rules want to know of somebody."""
    units = found.by_subject
    seen = {units[row.subject] for row in every if row.subject in units}
    mine = [str(row.hit) for row in every if row.hit in found.hits]
    right, asked = gold_of(connection, found, who["id"]) if found.plan.qualification else (0, 0)
    gold = sum(unit in found.plan.gold_units for unit in mine)
    # The pseudonym, not the id: the same people get the same units whenever it is played again.
    return Worker(who["pseudonym"], seen, len(mine), gold, asked, right)


class _Places(Mapping[str, int]):
    """How many places of each unit are taken, counted as far as somebody's order is walked."""

    def __init__(self, connection: Connection, order: Sequence[str]) -> None:
        self._connection, self._order = connection, order
        self._known: dict[str, int] = {}
        self._rejected: set[str] = set()
        self._counted = 0
        self._sizes = chain(_AT_ONCE, repeat(_AT_ONCE[-1]))

    def __getitem__(self, unit: str) -> int:
        while unit not in self._known and self._counted < len(self._order):
            part = self._order[self._counted : self._counted + next(self._sizes)]
            self._counted += len(part)
            self._known.update(dict.fromkeys(part, 0))
            for taken, state, count in self._connection.execute(_TAKEN, {"units": list(part)}):
                if state == "rejected":
                    self._rejected.add(str(taken))
                else:
                    self._known[str(taken)] += int(count)
        return self._known[unit]

    def is_rejected(self, unit: str) -> bool:
        """Whether a form of a unit was rejected that nobody was given in its place."""
        return self[unit] >= 0 and unit in self._rejected

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)
