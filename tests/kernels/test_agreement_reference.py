"""Array formulae equal the plain formulae on any log, with cells missing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.agreement.aggregation import aggregate_judgements
from cranfield.agreement.coefficients import (
    COEFFICIENTS,
    Tallies,
    UnitCounts,
    agreement_intervals,
    fleiss,
    free_marginal,
    gwet,
    krippendorff,
    unit_counts,
)
from cranfield.agreement.pairwise import _DenseSums, _SparseSums, pairwise
from cranfield.data.judgement_log import JudgementLog, judgement_log
from tests.reference import agreement as slow

Case = tuple[list[list[tuple[int, int]]], int, int]


@st.composite
def cases(draw: Any) -> Case:
    people, q = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    cell = st.one_of(st.none(), st.integers(0, q - 1))
    rows = draw(st.lists(st.lists(cell, min_size=people, max_size=people), min_size=1, max_size=8))
    units = [[(a, v) for a, v in enumerate(row) if v is not None] for row in rows]
    return units, people, q


def as_log(units: list[list[tuple[int, int]]], q: int) -> JudgementLog | None:
    flat = [(a, u, v) for u, unit in enumerate(units) for a, v in unit]
    if not flat:
        return None
    return judgement_log(
        [f"a{a}" for a, _, _ in flat],
        [f"u{u:03d}" for _, u, _ in flat],
        [v for _, _, v in flat],
        order=[str(k) for k in range(q)],
    )


def same(found: float, expected: float) -> bool:
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) == math.isnan(found)
    return abs(found - expected) < 1e-10


@settings(deadline=None, max_examples=150)
@given(cases())
def test_coefficients(case: Case) -> None:
    units, _, q = case
    log = as_log(units, q)
    if log is None:
        return
    units = [u for u in units if u]
    t = unit_counts(log).tallies()
    assert same(fleiss(t), slow.fleiss(units, q))
    assert same(free_marginal(t), slow.free_marginal(units, q))
    assert same(gwet(t), slow.gwet(units, q))
    assert same(gwet(t, "linear"), slow.gwet(units, q, lambda x, y: 1 - abs(x - y) / (q - 1)))
    assert same(
        gwet(t, "quadratic"), slow.gwet(units, q, lambda x, y: 1 - (x - y) ** 2 / (q - 1) ** 2)
    )
    assert same(krippendorff(t), slow.krippendorff(units, lambda x, y: float(x != y)))
    assert same(
        krippendorff(t, "interval"), slow.krippendorff(units, lambda x, y: float((x - y) ** 2))
    )
    assert same(
        krippendorff(t, "ordinal"), slow.krippendorff(units, slow.ordinal_distance(units, q))
    )


@settings(deadline=None, max_examples=80)
@given(cases())
def test_pairs_dense_and_sparse(case: Case) -> None:
    units, _, q = case
    log = as_log(units, q)
    if log is None:
        return
    unit = log.item.astype(np.int64)
    people = len(log.annotators)
    for sums in (_DenseSums(people), _SparseSums(people, len(log.items))):
        for v in range(q):
            sums.add(log.annotator[log.value == v], unit[log.value == v])
        pairs = sums.pairs(log)
        for i in range(len(pairs)):
            a = int(log.annotators[pairs.first[i]][1:])
            b = int(log.annotators[pairs.second[i]][1:])
            assert same(float(pairs.cohen[i]), slow.cohen(units, a, b, q))
            assert same(float(pairs.scott[i]), slow.scott(units, a, b, q))
    assert len(pairwise(log)) == len(pairs)


@settings(deadline=None, max_examples=60)
@given(cases())
def test_dawid_skene(case: Case) -> None:
    units, people, q = case
    log = as_log(units, q)
    if log is None:
        return
    kept = [u for u in units if u]
    found = aggregate_judgements(log, "dawid-skene", prior=0, iterations=4, tolerance=-math.inf)
    expected = slow.dawid_skene(kept, people, q, 4)
    assert np.allclose(found.probability, expected, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(cases(), st.integers(0, 3))
def test_one_against_rest_equals_recoding(case: Case, value: int) -> None:
    units, _, q = case
    log = as_log(units, q)
    if log is None or value >= q:
        return
    folded = unit_counts(log).tallies().one_against_rest(value)
    two = [[(a, int(v == value)) for a, v in u] for u in units]
    recoded = as_log(two, 2)
    assert recoded is not None
    direct = unit_counts(recoded).tallies()
    for c in COEFFICIENTS.values():
        assert same(c.value(folded), c.value(direct)), c.name


def test_tallies_of_units_add_up() -> None:
    """What intervals rest on: with weights, and as sums of what units add."""
    from cranfield.agreement.coefficients import _tallies_of, _unit_features

    rng = np.random.default_rng(3)
    table = rng.integers(0, 3, (30, 3)).astype(float)
    item = np.sort(rng.integers(0, 10, 30))
    counts = UnitCounts(table, item, np.arange(3.0))
    weight = rng.integers(0, 3, 30).astype(float)
    repeated = np.repeat(np.arange(30), weight.astype(int))
    expected = UnitCounts(table[repeated], item[repeated], np.arange(3.0)).tallies()
    by_features = _tallies_of(weight @ _unit_features(counts), 3, np.arange(3.0))
    for found in (counts.tallies(weight), by_features):
        assert isinstance(found, Tallies)
        assert found.units == expected.units
        assert found.paired == expected.paired
        assert np.allclose(found.marginals, expected.marginals)
        assert np.allclose(found.agreement, expected.agreement)
        assert np.allclose(found.coincidence, expected.coincidence)


def test_sparse_counts_give_the_same_tallies(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    log = judgement_log(
        [str(a) for a in np.tile(np.arange(4), 50)],
        [str(i) for i in np.repeat(np.arange(50), 4)],
        rng.integers(0, 5, 200).tolist(),
    )
    dense = unit_counts(log).tallies()
    monkeypatch.setattr("cranfield.agreement.coefficients.DENSE_CELLS", 10)
    sparse = unit_counts(log).tallies()
    assert np.allclose(dense.agreement, sparse.agreement)
    assert np.allclose(dense.coincidence, sparse.coincidence)


def said_by(rng: np.random.Generator, items: int, share: float, right: float) -> UnitCounts:
    """Three people, two answers, the second of which is rare."""
    truth = rng.random(items) < share
    said = truth ^ (rng.random((3, items)) >= right)
    present = said.sum(axis=0)
    return UnitCounts(
        np.stack([3 - present, present], axis=1).astype(float), np.arange(items), np.arange(2.0)
    )


def test_intervals_are_the_same_for_the_same_seed_and_hold_the_value() -> None:
    chosen = {name: c.value for name, c in COEFFICIENTS.items()}
    counts = said_by(np.random.default_rng(0), 600, 0.4, 0.9)
    one = agreement_intervals(counts, chosen, rng=7)
    assert one == agreement_intervals(counts, chosen, rng=7)
    for name, value in chosen.items():
        low, high = one[name]
        assert low < value(counts.tallies()) < high


@pytest.mark.parametrize(("items", "share", "right"), [(20, 0.1, 0.93), (50, 0.3, 0.985)])
def test_intervals_hold_with_few_items_and_rare_answers(
    items: int, share: float, right: float
) -> None:
    """Percentiles of resampled items held 76 and 88 % of the values here."""
    chosen = {n: COEFFICIENTS[n].value for n in ("accuracy", "fleiss", "krippendorff", "gwet_ac1")}
    every = said_by(np.random.default_rng(1), 200_000, share, right).tallies()
    held = dict.fromkeys(chosen, 0)
    for seed in range(100):
        counts = said_by(np.random.default_rng([2, seed]), items, share, right)
        for name, (low, high) in agreement_intervals(counts, chosen).items():
            held[name] += low <= chosen[name](every) <= high
    assert min(held.values()) >= 90, held


def test_copies_of_items_in_clusters_say_no_more_than_items() -> None:
    rng = np.random.default_rng(5)
    chosen = {"fleiss": COEFFICIENTS["fleiss"].value}
    once = said_by(rng, 60, 0.3, 0.9)
    table = np.repeat(once.table, 5, axis=0)
    copies = UnitCounts(table, np.arange(300), np.arange(2.0))
    widths = []
    for counts, clusters in ((once, None), (copies, np.arange(300) // 5), (copies, None)):
        low, high = agreement_intervals(counts, chosen, clusters=clusters)["fleiss"]
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
    assert widths[2] < 0.6 * widths[0]
