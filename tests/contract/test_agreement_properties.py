"""What every coefficient promises: range, perfect agreement, no matter the names or the order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.agreement.coefficients import COEFFICIENTS, STANDARD, Resampling, assess, unit_counts
from cranfield.data.judgement_log import JudgementLog, judgement_log

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)),
    min_size=2,
    max_size=30,
    unique_by=lambda row: row[:2],
)
Rows = list[tuple[int, int, int]]


def as_log(rows: Rows, names: str = "0123") -> JudgementLog:
    return judgement_log(
        [f"a{a}" for a, _, _ in rows],
        [f"i{i}" for _, i, _ in rows],
        [names[v] for _, _, v in rows],
        order=list(names),
    )


def values(log: JudgementLog) -> dict[str, float]:
    tallies = unit_counts(log).tallies()
    return {name: c.value(tallies) for name, c in COEFFICIENTS.items()}


@settings(deadline=None, max_examples=100)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_people_do_not_matter(rows: Rows, random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    renamed = [(4 - a, 6 - i, v) for a, i, v in shuffled]
    expected = values(as_log(rows))
    for name, value in values(as_log(renamed)).items():
        assert value == pytest.approx(expected[name], abs=1e-9, nan_ok=True), name


@settings(deadline=None, max_examples=100)
@given(ROWS, st.permutations(range(4)))
def test_nominal_coefficients_do_not_see_the_order_of_answers(rows: Rows, order: list[int]) -> None:
    expected = values(as_log(rows))
    found = values(as_log([(a, i, order[v]) for a, i, v in rows]))
    for name in STANDARD:
        assert found[name] == pytest.approx(expected[name], abs=1e-9, nan_ok=True), name


@settings(deadline=None, max_examples=100)
@given(ROWS)
def test_no_value_is_above_one_and_agreement_on_everything_is_one(rows: Rows) -> None:
    for name, value in values(as_log(rows)).items():
        assert math.isnan(value) or value <= 1 + 1e-9, name
    alike = [(a, i, i % 4) for a, i, _ in rows]
    for name, value in values(as_log(alike)).items():
        assert math.isnan(value) or value == pytest.approx(1), name


def test_a_concept_without_judgements_has_no_value_and_no_interval() -> None:
    log = judgement_log(
        ["a", "b", "a", "b"],
        ["x", "x", "x", "x"],
        [0, 1, 1, 1],
        concepts=["Sky", "Sky", "Sea", "Sea"],
    )
    left = log.where(np.array([True, True, False, False]))
    found = assess(left, resampling=Resampling(resamples=10))
    sea = found.concepts[1]
    assert sea.units == 0
    assert all(math.isnan(v) for v in sea.values.values())
    assert all(math.isnan(low) for low, _ in sea.intervals.values())
