"""Who is given what: properties that hold whatever people do, in whichever order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.campaign.batches import (
    ASSIGNMENT_STATES,
    ASSIGNMENT_WAYS,
    BATCH_STATES,
    BATCH_WAYS,
    Assignment,
    Plan,
    Worker,
    change_batch,
    is_qualified,
    lapsed_assignments,
    load_of,
    move_assignment,
    next_unit,
    order_of,
    pilot_units,
    status_of,
)
from cranfield.errors import UsageError

UNITS = tuple(f"u{k}" for k in range(12))


class Floor:
    """Two batches over the same units and the people who work on them, without a store."""

    def __init__(self, plans):
        self.plans, self.done, self.clock = plans, [], 0.0

    def worker(self, name, batch):
        own = [a for a in self.done if a.person == name]
        mine = [a for a in own if a.batch == batch]
        gold = self.plans[batch].gold_units
        return Worker(name, {a.unit for a in own}, len(mine), sum(a.unit in gold for a in mine))

    def ask(self, name, batch, state="running"):
        plan = self.plans[batch]
        here = [a for a in self.done if a.batch == batch]
        unit = next_unit(plan, state, self.worker(name, batch), load_of(here))
        if unit is not None:
            self.done.append(
                Assignment(len(self.done), batch, unit, name, "open", given=self.clock)
            )
        return unit

    def move(self, number, state, **more):
        self.done[number] = move_assignment(self.done[number], state, at=self.clock, **more)


plans = st.builds(
    lambda overlap, gold, seed: Plan(
        UNITS,
        overlap=overlap,
        seed=seed,
        gold=gold,
        gold_units=frozenset(UNITS[:3]) if gold else frozenset(),
        expires=10.0,
    ),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.2, 0.5]),
    st.integers(0, 50),
)
steps = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.sampled_from(["one", "two"]),
        st.sampled_from(["submitted", "rejected", "skipped", "left", "late"]),
    ),
    max_size=80,
)


@settings(max_examples=60, deadline=None)
@given(plans, plans, steps)
def test_nobody_sees_a_unit_twice_and_no_unit_has_more_people_than_places(one, two, todo):
    floor = Floor({"one": one, "two": two})
    for name, batch, fate in todo:
        if floor.ask(name, batch) is None:
            continue
        last = len(floor.done) - 1
        if fate in ("submitted", "skipped"):
            floor.move(last, fate)
        elif fate == "rejected":
            floor.move(last, "submitted")
            floor.move(last, "rejected", reason="a group is empty")
        elif fate == "late":
            floor.clock += 11
            late = lapsed_assignments(floor.plans[batch], floor.done, floor.clock)
            for a in late:
                floor.done[a.number] = a
        for key, plan in floor.plans.items():
            load = load_of(a for a in floor.done if a.batch == key)
            assert all(n <= plan.overlap for u, n in load.items() if u not in plan.gold_units)
    pairs = [(a.person, a.unit) for a in floor.done]
    assert len(pairs) == len(set(pairs))


@settings(max_examples=30, deadline=None)
@given(plans)
def test_enough_people_finish_a_batch_and_then_nothing_is_left(plan):
    floor = Floor({"b": plan})
    people = [f"p{k}" for k in range(plan.overlap + 1)]
    for _ in range(200):
        asked = [floor.ask(name, "b") for name in people]
        for a in [a for a in floor.done if a.state == "open"]:
            floor.move(a.number, "submitted")
        if not any(asked):
            break
    found = status_of(plan, floor.done)
    assert found.done == 1.0
    assert found.open == 0
    assert load_of(floor.done).keys() >= {u for u in UNITS if u not in plan.gold_units}


def test_a_rejected_form_is_given_to_somebody_else():
    floor = Floor({"b": Plan(("x",), overlap=1)})
    assert floor.ask("ann", "b") == "x"
    assert floor.ask("bob", "b") is None
    floor.move(0, "submitted")
    with pytest.raises(UsageError, match="needs a reason"):
        floor.move(0, "rejected")
    floor.move(0, "rejected", reason='"Place" needs exactly one answer')
    assert floor.ask("ann", "b") is None
    assert floor.ask("bob", "b") == "x"


def test_the_pilot_is_the_same_for_everybody_and_holds_its_gold():
    plan = Plan(UNITS, overlap=3, pilot=4, gold=0.25, gold_units=frozenset(UNITS[:3]), seed=5)
    pilot = set(pilot_units(plan))
    assert len(pilot) == 4
    assert pilot & plan.gold_units
    for name in ("ann", "bob"):
        assert set(order_of(plan, name)[:4]) == pilot
    floor = Floor({"b": plan})
    given_units = {floor.ask("ann", "b", "pilot") for _ in range(9)} - {None}
    assert given_units <= pilot


def test_orders_differ_between_people_and_stay():
    plan = Plan(UNITS, overlap=2, seed=1)
    assert order_of(plan, "ann") == order_of(plan, "ann")
    assert order_of(plan, "ann") != order_of(plan, "bob")
    assert sorted(order_of(plan, "ann")) == sorted(UNITS)
    assert order_of(replace(plan, seed=2), "ann") != order_of(plan, "ann")


def test_gold_comes_at_its_share():
    many = tuple(f"u{k}" for k in range(200))
    plan = Plan(many, overlap=1, gold=0.1, gold_units=frozenset(many[:30]))
    floor = Floor({"b": plan})
    for _ in range(100):
        floor.ask("ann", "b")
    assert 8 <= sum(a.unit in plan.gold_units for a in floor.done) <= 12


def test_who_misses_the_gold_gets_no_more():
    plan = Plan(UNITS, gold=0.2, gold_units=frozenset(UNITS[:3]), qualification=0.7, trial=3)
    good = Worker("ann", gold_judged=3, gold_right=3)
    bad = Worker("bob", gold_judged=3, gold_right=1)
    early = Worker("cay", gold_judged=2, gold_right=0)
    assert [is_qualified(plan, w) for w in (good, bad, early)] == [True, False, True]
    assert next_unit(plan, "running", bad, {}) is None
    assert next_unit(plan, "running", replace(good, paused=True), {}) is None
    assert next_unit(plan, "paused", good, {}) is None
    assert next_unit(plan, "running", good, {}) is not None


def test_states_go_only_their_ways():
    for state in BATCH_STATES:
        for wanted in BATCH_STATES:
            if wanted in BATCH_WAYS[state]:
                assert change_batch(state, wanted) == wanted
            else:
                with pytest.raises(UsageError):
                    change_batch(state, wanted)
    with pytest.raises(UsageError, match="still open"):
        change_batch("closed", "merged", open_assignments=2)
    for state in ASSIGNMENT_STATES:
        for wanted in ASSIGNMENT_STATES:
            given_one = Assignment(0, "b", "u", "p", state)
            if wanted in ASSIGNMENT_WAYS[state]:
                assert move_assignment(given_one, wanted, at=1.0, reason="why").state == wanted
            else:
                with pytest.raises(UsageError):
                    move_assignment(given_one, wanted, at=1.0, reason="why")


def test_only_what_was_accepted_is_paid():
    plan = Plan(("x", "y"), overlap=2, pay=0.05)
    made = [
        Assignment(0, "b", "x", "ann", "submitted", seconds=10),
        Assignment(1, "b", "y", "ann", "rejected", seconds=3),
        Assignment(2, "b", "y", "bob", "open"),
    ]
    found = status_of(plan, made)
    assert (found.wanted, found.submitted, found.open, found.rejected) == (4, 1, 1, 1)
    assert (found.people, found.seconds, found.cost) == (2, 10.0, 0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        {"overlap": 0},
        {"pilot": 13},
        {"gold": 0.1},
        {"gold": 2, "gold_units": frozenset("x")},
        {"expires": 0},
        {"pay": -1},
        {"units": ("x", "x")},
    ],
)
def test_plans_that_cannot_be(wrong):
    with pytest.raises(UsageError):
        Plan(**{"units": UNITS, **wrong})


def test_a_certainty_gives_units_places_one_by_one_but_for_the_pilot():
    plan = Plan(("a", "b"), overlap=3, certainty=0.9, least=1, pilot=1)
    someone = Worker("w")
    first = order_of(plan, "w")[0]
    assert next_unit(plan, "running", someone, {"a": 1, "b": 1}) is None
    assert next_unit(plan, "running", someone, {"a": 1, "b": 1}, places={"b": 2}) == "b"
    assert next_unit(plan, "running", someone, {"a": 1, "b": 2}, places={"b": 2}) is None
    assert next_unit(plan, "pilot", someone, {"a": 2, "b": 2}) == first
    with pytest.raises(UsageError, match="adaptive overlap takes a certainty"):
        Plan(("a",), overlap=2, certainty=0.9, least=3)
