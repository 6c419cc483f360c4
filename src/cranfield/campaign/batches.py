"""Batches of work: their life, who is given what next, and what becomes of what was given.

Nothing here stores anything and nothing reads a clock: the time, the seed and what has been
done so far come in as arguments. No person is given a unit twice, in this batch or in any other
(in the thesis, 6.2.2, 13 images were judged twice by one person because two batches did not know
of each other). A form that is rejected leaves its place to another person.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from cranfield.errors import UsageError, plural, suggest
from cranfield.work.seeds import generator

Kind: TypeAlias = Literal[
    "labels",
    "relevance",
    "screening",
    "ratings",
    "preference",
    "survey",
    "votes",
    "rankings",
    "association",
]
BatchState: TypeAlias = Literal["draft", "pilot", "running", "paused", "closed", "merged"]
AssignmentState: TypeAlias = Literal[
    "offered", "open", "submitted", "rejected", "skipped", "expired"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
BATCH_STATES: tuple[BatchState, ...] = get_args(BatchState)
ASSIGNMENT_STATES: tuple[AssignmentState, ...] = get_args(AssignmentState)

# What a batch may become, and what an assignment may.
BATCH_WAYS: Mapping[BatchState, tuple[BatchState, ...]] = {
    "draft": ("pilot", "running"),
    "pilot": ("running", "paused", "closed"),
    "running": ("paused", "closed"),
    "paused": ("pilot", "running", "closed"),
    "closed": ("running", "merged"),
    "merged": (),
}
# What people read on the button that takes a batch there; on the way back from a state, its own.
WAY_NAMES: Mapping[BatchState, str] = {
    "pilot": "Start the pilot",
    "running": "Start",
    "paused": "Pause",
    "closed": "Close",
    "merged": "Make the truth",
}
_AGAIN: Mapping[BatchState, str] = {"paused": "Go on", "closed": "Open again"}
ASSIGNMENT_WAYS: Mapping[AssignmentState, tuple[AssignmentState, ...]] = {
    "offered": ("open", "submitted", "skipped", "expired"),
    "open": ("offered", "submitted", "skipped", "expired"),
    "submitted": ("open", "submitted", "rejected"),
    "rejected": (),
    "skipped": ("open", "submitted"),
    "expired": (),
}
# Assignments that take one of the places of a unit.
HOLDING: frozenset[AssignmentState] = frozenset({"offered", "open", "submitted"})
_ORDER, _GOLD = 44, 45


# The largest whole number that every store has room for.
MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Plan:
    """How the units of a batch are given out.

    Every unit goes to `overlap` people. With a `certainty` it goes to `least`, and to more of
    them, `overlap` at most, while a model is less sure of an answer about it; units of the pilot
    go to all. While the batch is a pilot, only `pilot` units are given.
    A share `gold` of what each person gets are units whose answer is known. A person who has
    judged `trial` gold units must have at least `qualification` of them right. An assignment
    lapses `expires` seconds after it was given. `pay` is for each accepted form.
    """

    units: tuple[str, ...]
    overlap: int = 1
    pilot: int = 0
    gold_units: frozenset[str] = frozenset()
    gold: float = 0.0
    trial: int = 5
    qualification: float = 0.0
    expires: float = 3600.0
    pay: float = 0.0
    seed: int = 0
    most_per_person: int | None = None
    certainty: float = 0.0
    least: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.overlap <= MOST:
            raise UsageError(f"overlap={self.overlap} is not a whole number from 1 on to {MOST:,}")
        if not 0 <= self.seed <= MOST:
            raise UsageError(f"seed={self.seed} is not a whole number from 0 on to {MOST:,}")
        if self.most_per_person is not None and self.most_per_person < 1:
            raise UsageError(f"most_per_person={self.most_per_person} leaves no unit to any person")
        if not 0 <= self.pilot <= len(self.units):
            raise UsageError(f"pilot={self.pilot} is not from 0 to the {len(self.units)} units")
        if self.certainty and (self.certainty == 1 or not 1 <= self.least <= self.overlap):
            raise UsageError(
                f"adaptive overlap takes a certainty from 0 to below 1, and least={self.least} "
                f"from 1 to overlap={self.overlap}"
            )
        for name in ("gold", "qualification", "certainty"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise UsageError(f"{name}={value} is not from 0 to 1")
        if self.gold and not self.gold_units:
            raise UsageError("a share of gold needs gold_units")
        if not 0 < self.expires <= MOST or not self.pay >= 0 or math.isinf(self.pay):
            raise UsageError("expires is above 0 seconds and within 60 years, and pay from 0 on")
        if len(set(self.units)) < len(self.units):
            raise UsageError("a batch holds each unit once")


@dataclass(frozen=True, slots=True)
class Worker:
    """What is known of the person who asks for work.

    `seen` are the units that were ever given to this person, whichever the batch; `given` and
    `gold_given` count those of this batch; `gold_right` of `gold_judged` were right in all.
    """

    name: str
    seen: Set[str] = frozenset()
    given: int = 0
    gold_given: int = 0
    gold_judged: int = 0
    gold_right: int = 0
    paused: bool = False


def is_qualified(plan: Plan, worker: Worker) -> bool:
    """Whether a person may go on: enough gold right, or too little judged to say."""
    if not plan.qualification or worker.gold_judged < plan.trial:
        return True
    return worker.gold_right >= plan.qualification * worker.gold_judged


def order_of(plan: Plan, worker: str) -> list[str]:
    """The units in the order of one person, the same whenever it is asked for.

    The units of the pilot come first, the same ones for all.
    """
    pilot = pilot_units(plan)
    pilot_set = set(pilot)
    rest = [u for u in plan.units if u not in pilot_set]
    draw = generator(plan.seed, _ORDER, *worker.encode())
    return [part[int(k)] for part in (pilot, rest) for k in draw.permutation(len(part)).tolist()]


def pilot_units(plan: Plan) -> list[str]:
    """The units that the pilot is made with, drawn by the seed of the batch; gold is among them."""
    draw = generator(plan.seed, _ORDER)
    order = [plan.units[int(k)] for k in draw.permutation(len(plan.units)).tolist()]
    ranked = sorted(order, key=lambda u: u not in plan.gold_units)
    least_gold = ranked[: min(len(plan.gold_units), math.ceil(plan.gold * plan.pilot))]
    others = [u for u in order if u not in set(least_gold)]
    return (least_gold + others)[: plan.pilot]


def next_unit(
    plan: Plan,
    state: BatchState,
    worker: Worker,
    load: Mapping[str, int],
    order: Sequence[str] | None = None,
    places: Mapping[str, int] | None = None,
) -> str | None:
    """The unit that a person is given next, or None when there is none left.

    `load` counts for each unit the assignments that hold one of its places. Gold units have as
    many places as there are people. `order` is that of the person, for who has it at hand.
    `places` are those that units want under adaptive overlap; others want the least.
    """
    if state not in ("pilot", "running") or worker.paused or not is_qualified(plan, worker):
        return None
    if plan.most_per_person is not None and worker.given >= plan.most_per_person:
        return None
    allowed = set(pilot_units(plan)) if state == "pilot" else None
    open_units = (
        u
        for u in order or order_of(plan, worker.name)
        if u not in worker.seen and (allowed is None or u in allowed)
    )
    gold = ordinary = None
    # Looked at one by one: the first of each kind is mostly near the beginning.
    for unit in open_units:
        if unit in plan.gold_units:
            gold = gold or unit
        elif ordinary is None and load.get(unit, 0) < places_of_unit(plan, state, unit, places):
            ordinary = unit
        if ordinary is not None and (gold is not None or not plan.gold_units):
            break
    if gold is not None and (_gold_due(plan, worker) or (ordinary is None and not worker.given)):
        return gold
    return ordinary


def places_of_unit(
    plan: Plan, state: BatchState, unit: str, places: Mapping[str, int] | None
) -> int:
    """How many people a unit goes to, as far as is known now."""
    if not plan.certainty or state == "pilot":
        return plan.overlap
    return (places or {}).get(unit, plan.least)


def _gold_due(plan: Plan, worker: Worker) -> bool:
    """Whether it is time for gold: never predictable, and never far from its share."""
    if not plan.gold:
        return False
    due = plan.gold * (worker.given + 1) - worker.gold_given
    chance = generator(plan.seed, _GOLD, worker.given, *worker.name.encode()).random()
    return due >= 1 or (due > 0 and chance < plan.gold)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A unit that was given to a person: when, what became of it, and under which guidelines."""

    number: int
    batch: str
    unit: str
    person: str
    state: AssignmentState = "offered"
    given: float = 0.0
    done: float | None = None
    seconds: float = 0.0
    guideline: str = "1"
    reason: str = ""
    reissued_as: int | None = None


def move_assignment(
    assignment: Assignment, state: AssignmentState, *, at: float, reason: str = ""
) -> Assignment:
    """The assignment in another state; a UsageError where that way does not exist."""
    if state not in ASSIGNMENT_WAYS[assignment.state]:
        raise UsageError(f"an assignment that is {assignment.state} cannot become {state}")
    if state == "rejected" and not reason.strip():
        raise UsageError("a rejection of a form needs a reason")
    finished_at = at if state in ("submitted", "skipped") else None
    if state == "rejected":
        finished_at = assignment.done
    return replace(assignment, state=state, done=finished_at, reason=reason)


def change_batch(state: BatchState, name: str, *, open_assignments: int = 0) -> BatchState:
    """The state that a batch goes to; a UsageError where that way does not exist."""
    if name not in BATCH_STATES:
        raise UsageError(f"no state {name!r}.{suggest(name, BATCH_STATES)}")
    target: BatchState = next(s for s in BATCH_STATES if s == name)
    if target not in BATCH_WAYS[state]:
        ways = ", ".join(BATCH_WAYS[state]) or "nothing else"
        raise UsageError(f"a batch that is {state} cannot become {target} (only: {ways})")
    if target == "merged" and open_assignments:
        raise UsageError(f"{plural(open_assignments, 'assignment')} of the batch are still open")
    return target


def way_name(state: BatchState, target: BatchState) -> str:
    """What the button says that takes a batch from a state to another."""
    return _AGAIN.get(state, WAY_NAMES[target]) if target == "running" else WAY_NAMES[target]


def lapsed_assignments(
    plan: Plan, assignments: Iterable[Assignment], now: float
) -> list[Assignment]:
    """The assignments whose time is over: their places are free again."""
    return [
        move_assignment(a, "expired", at=now)
        for a in assignments
        if a.state in ("offered", "open") and now - a.given >= plan.expires
    ]


def load_of(assignments: Iterable[Assignment]) -> dict[str, int]:
    """How many places of each unit are taken."""
    load: dict[str, int] = {}
    for a in assignments:
        if a.state in HOLDING:
            load[a.unit] = load.get(a.unit, 0) + 1
    return load


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How far a batch is, and what it costs; `wanted` counts the places of its units."""

    wanted: int
    submitted: int
    open: int
    rejected: int
    people: int
    seconds: float
    cost: float

    @property
    def done(self) -> float:
        return self.submitted / self.wanted if self.wanted else math.nan


def status_of(plan: Plan, assignments: Sequence[Assignment]) -> BatchStatus:
    """The figures of a board; what is paid for is what was accepted."""
    ordinary = [a for a in assignments if a.unit not in plan.gold_units]
    submitted = [a for a in assignments if a.state == "submitted"]
    return BatchStatus(
        plan.overlap * sum(u not in plan.gold_units for u in plan.units),
        sum(a.state == "submitted" for a in ordinary),
        sum(a.state in ("offered", "open") for a in assignments),
        sum(a.state == "rejected" for a in assignments),
        len({a.person for a in assignments}),
        math.fsum(a.seconds for a in submitted),
        plan.pay * len(submitted),
    )
