"""What every declaration promises of values, held over all measures of rankings."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cranfield.errors import MeasureError
from cranfield.evaluation.ranked import evaluate
from cranfield.measures import (
    Measure,
)
from cranfield.measures.ranked.kernel_calls import Context, KernelCall
from tests.contract.measure_groups import PLAIN, cutoffs_of, values_of

COLLECTION = 60
ITEMS = [f"i{n}" for n in range(14)]


def calls(m: Measure) -> KernelCall | Any:
    return m.plan(m, Context(collection_size=COLLECTION))


@pytest.mark.parametrize("m", PLAIN, ids=str)
def test_every_parameter_does_something(m: Measure) -> None:
    plain = m.bind(at=cutoffs_of(m)[-1])
    if not isinstance(calls(plain), KernelCall):
        pytest.skip(f"{m.name} is not a single kernel: its parameters cannot be told apart here")
    for name, param in m.params.items():
        effects = set()
        for v in values_of(name, param):
            changed = plain.bind(**{name: v})
            with contextlib.suppress(MeasureError):  # not every gain is known to every measure
                effects.add((calls(changed), changed.averaging))
        assert len(effects) > 1, f"{name} of {m.name} changes nothing"
    if m.cutoff != "none":
        assert len({calls(m.bind(at=at)) for at in cutoffs_of(m)}) > 1


def on_scale(m: Measure, judgements: dict[str, float]) -> dict[str, float]:
    """Grades up to the largest that the measure says it knows."""
    largest = min((m.value_of(p) for p in ("levels", "max_grade") if p in m.params), default=1e9)
    return {item: min(grade, largest) for item, grade in judgements.items()}


def value(m: Measure, judgements: dict[str, float], ranked: list[str], **options: Any) -> float:
    scores = {item: float(-rank) for rank, item in enumerate(ranked)}
    run = {"t": scores, "other": {"i0": 1.0}}
    # A second topic lets the ranking of the first be empty.
    qrels = {"t": on_scale(m, judgements), "other": {"i0": 1}}
    result = evaluate(qrels, [run], [m], collection_size=COLLECTION, jobs=1, **options)
    return float(result.values[m][0, 0])


whole_grades = st.dictionaries(st.sampled_from(ITEMS), st.integers(-1, 3), min_size=1)
any_grades = st.dictionaries(
    st.sampled_from(ITEMS), st.sampled_from([-2, -1, 0, 0.5, 1, 1.5, 2, 3, 3.25, 4]), min_size=1
)
rankings = st.lists(st.sampled_from(ITEMS), unique=True)
several = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)


@pytest.mark.parametrize("m", PLAIN, ids=str)
@given(judgements=any_grades, ranked=rankings, ties=st.sampled_from(["id", "average"]))
@several
def test_values_lie_in_the_declared_range(
    m: Measure, judgements: dict[str, float], ranked: list[str], ties: str
) -> None:
    low, high = m.range
    for bound in (m.bind(at=at) for at in cutoffs_of(m)):
        got = value(bound, judgements, ranked, ties=ties)
        if math.isnan(got):
            assert "left out" in m.undefined
        else:
            assert low - 1e-9 <= got <= high + 1e-9, bound


@pytest.mark.parametrize("m", PLAIN, ids=str)
@given(judgements=whole_grades, ranked=rankings)
@several
def test_perfect_and_worst_rankings_are_the_ends(
    m: Measure, judgements: dict[str, float], ranked: list[str]
) -> None:
    if m.higher_is_better is None:
        return
    judgements = {**judgements, "i0": 2, "i1": 0}
    relevant = sorted((i for i in judgements if judgements[i] > 0), key=lambda i: -judgements[i])
    others = [i for i in ITEMS if i not in relevant]
    for bound in (m.bind(at=at) for at in cutoffs_of(m)):
        perfect, any_other, worst = (
            value(bound, judgements, items) for items in (relevant, ranked, others)
        )
        if not m.higher_is_better:
            perfect, worst = worst, perfect
        if np.isnan([perfect, any_other, worst]).any():
            assert "left out" in m.undefined
            continue
        assert perfect >= any_other - 1e-9, bound
        assert any_other >= worst - 1e-9, bound


@pytest.mark.parametrize("m", [m for m in PLAIN if m.higher_is_better is not None], ids=str)
def test_perfect_is_better_than_worst(m: Measure) -> None:
    judgements = {"i0": 3, "i1": 2, "i2": 1, "i3": 0, "i4": 0}
    differences = []
    for at in cutoffs_of(m):
        perfect = value(m.bind(at=at), judgements, ["i0", "i1", "i2"])
        worst = value(m.bind(at=at), judgements, ["i3", "i4", "i5", "i6"])
        differences.append(perfect - worst)
    assert any(d > 0 if m.higher_is_better else d < 0 for d in differences)


@pytest.mark.parametrize("m", PLAIN, ids=str)
@given(judgements=any_grades, data=st.data())
@several
def test_ties_of_no_effect_have_none(m: Measure, judgements: dict[str, float], data: Any) -> None:
    if m.ties != "of no effect":
        return
    run = {"t": dict.fromkeys(data.draw(st.lists(st.sampled_from(ITEMS), min_size=1)), 1.0)}
    for bound in (m.bind(at=at) for at in cutoffs_of(m)):
        got = {
            float(
                evaluate(
                    {"t": on_scale(m, judgements)},
                    [run],
                    [bound],
                    ties=ties,
                    jobs=1,
                    collection_size=COLLECTION,
                ).values[bound][0, 0]
            )
            for ties in ("id", "file", "best", "worst", "average")
        }
        assert len(got) == 1


@pytest.mark.parametrize("m", PLAIN, ids=str)
def test_edges_give_a_number_or_are_left_out(m: Measure) -> None:
    edges: list[tuple[dict[str, float], list[str]]] = [
        ({"i0": 0, "i1": 0}, ["i0", "i1", "i2"]),  # no relevant item
        ({"i0": 1, "i1": 2}, []),  # nothing retrieved
        ({"i0": 0}, []),
        ({"i0": 1, "i1": 1}, ["i0", "i1"]),  # all items relevant
        ({"i0": -1, "i1": -2}, ["i0", "i1"]),  # nothing judged but a pool
    ]
    for judgements, ranked in edges:
        for at in cutoffs_of(m):
            got = value(m.bind(at=at), judgements, ranked)
            assert math.isfinite(got) or (math.isnan(got) and "left out" in m.undefined)
