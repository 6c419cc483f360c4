"""Extensions of ours: graded forms and incomplete judgements, held to twins and to properties."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.data.categories import SubjectRankings
from tests.reference import rank_families as slow

GRADED = ("GradedNMRR", "GradedMNRO", "GradedNormRecall", "GradedNormPrecision")
BINARY = {name: name.removeprefix("Graded") for name in GRADED}
HIGHER_IS_BETTER = ("GradedNormRecall", "GradedNormPrecision")
grades = st.lists(st.sampled_from([0, 0, 1, 2]), min_size=2, max_size=14)


def value(order: list[int | None], name: str, size: int | None = None, rest: tuple = ()) -> float:
    judged = {f"i{n}": g for n, g in enumerate(order) if g is not None}
    judged |= {f"x{n}": g for n, g in enumerate(rest)}
    run = {f"i{n}": float(-n) for n in range(len(order))}
    size = size or len(order) + len(rest)
    found = cf.evaluate({"t": judged}, {"t": run}, [name], collection_size=size)
    return float(next(iter(found.mean().values()))[name])


@given(order=grades, extra=st.integers(0, 500))
@settings(max_examples=80, deadline=None)
def test_twins(order, extra):
    size = len(order) + extra
    groups = [[float(g)] for g in order]

    def places(rel):
        return slow.ranks(groups, [], rel=rel, size=size, missing="worst")

    def nmrr(rel):
        gmt = sum(g >= rel for g in order)
        return slow.nmrr(groups, [], rel=rel, gmt=gmt) if gmt else math.nan

    twins = {
        "GradedNMRR": slow.over_levels(nmrr, 2),
        "GradedMNRO": slow.over_levels(
            lambda r: slow.mnro(groups, places(r), rel=r, size=size, printed=False), 2
        ),
        "GradedNormRecall": slow.over_levels(lambda r: slow.norm_recall(places(r), size), 2),
        "GradedNormPrecision": slow.over_levels(lambda r: slow.norm_precision(places(r), size), 2),
    }
    for name, twin in twins.items():
        assert value(order, name, size) == pytest.approx(twin, abs=1e-12, nan_ok=True), name


@given(order=grades)
@settings(max_examples=80, deadline=None)
def test_perfect_order_alone_is_best_and_one_grade_is_the_binary_measure(order):
    if not any(order):
        return
    perfect = sorted(order, reverse=True)
    for name in GRADED:
        best = 1.0 if name in HIGHER_IS_BETTER else 0.0
        assert value(perfect, name) == pytest.approx(best, abs=1e-12)
        assert (value(order, name) == pytest.approx(best, abs=1e-12)) == (order == perfect)
        assert -1e-12 <= value(order, name) <= 1 + 1e-12
        flat = [min(g, 1) for g in order]
        assert value(flat, name) == pytest.approx(value(flat, BINARY[name]), abs=1e-12)


@given(order=grades, seed=st.integers(0, 999))
@settings(max_examples=80, deadline=None)
def test_a_better_item_moved_up_never_costs(order, seed):
    draw = random.Random(seed)
    worse = [(i, j) for i in range(len(order)) for j in range(i) if order[j] < order[i]]
    if not worse:
        return
    i, j = draw.choice(worse)
    better = order.copy()
    better[i], better[j] = better[j], better[i]
    for name in GRADED:
        gain = value(better, name) - value(order, name)
        assert gain >= -1e-12 if name in HIGHER_IS_BETTER else gain <= 1e-12


unjudged = st.lists(st.sampled_from([0, 1, 1, 2, None, None]), min_size=2, max_size=14)


@given(order=unjudged, rest=st.lists(st.sampled_from([0.0, 1.0]), max_size=4))
@settings(max_examples=100, deadline=None)
def test_judged_mnro_is_its_twin_and_blind_to_what_nobody_judged(order, rest):
    if not any(g is not None for g in order) and not rest:
        return
    name = "JudgedMNRO"
    found = value(order, name, 1000, tuple(rest))
    floats = [None if g is None else float(g) for g in order]
    assert found == pytest.approx(slow.judged_mnro(floats, rest, rel=1), abs=1e-12, nan_ok=True)
    kept = [g for g in order if g is not None]
    if kept:
        assert found == pytest.approx(value(kept, name, 1000, tuple(rest)), nan_ok=True)
    # With everything judged it is MNRO.
    if kept and not rest and any(kept):
        assert found == pytest.approx(value(kept, "MNRO"), abs=1e-12)


people = st.permutations("abcdef").flatmap(
    lambda order: st.tuples(
        st.just(order[:4]),
        st.permutations("abcdef"),
        st.lists(st.floats(0.1, 1), min_size=4, max_size=4),
    )
)


@given(people)
@settings(max_examples=80, deadline=None)
def test_divergence_is_0_for_ones_own_order_alone_and_a_share(case):
    listed, answer, weights = case
    rows = [("s", "t", i, w) for i, w in zip(listed, sorted(weights, reverse=True), strict=True)]
    subjects = SubjectRankings.from_rows(rows)

    def value(order):
        run = cf.Run.from_dict({"t": {item: -float(k) for k, item in enumerate(order)}})
        found = cf.evaluate_displacement(subjects, [run], "Divergence", collection_size=6)
        return float(found.mean(found.measures[0])[0])

    own = [i for i, _ in subjects.lists["s"]["t"]]
    assert value(own) == 0
    assert 0 <= value(answer) <= 1 + 1e-12
    assert (value(answer) == 0) == (list(answer[:4]) == own)


def test_divergence_by_hand():
    """Ranks 1 and 2 exchanged of 4, significances 1 and 0.5: (1 + 0.5) / (1 * 9 + 0.5 * 4)."""
    subjects = SubjectRankings.from_rows([("s", "t", "a", 1.0), ("s", "t", "b", 0.5)])
    run = cf.Run.from_dict({"t": {"b": 4.0, "a": 3.0, "c": 2.0, "d": 1.0}})
    found = cf.evaluate_displacement(subjects, [run], "Divergence", collection_size=4)
    assert float(found.mean(found.measures[0])[0]) == pytest.approx(1.5 / 11)


def test_highly_relevant_items_below_marginal_ones_cost_something():
    """What Ch section 2 says of binary measures: both orders have AP = 1 and NMRR = 0."""
    for name in GRADED:
        assert value([2, 1, 1, 0], name) != value([1, 1, 2, 0], name)
        assert value([2, 1, 1, 0], BINARY[name]) == value([1, 1, 2, 0], BINARY[name])


def test_no_source_defines_them_and_their_cards_say_so():
    for name in (*GRADED, "JudgedMNRO"):
        card = str(cf.describe_measure(name))
        assert "which no source defines" in " ".join(card.split())
