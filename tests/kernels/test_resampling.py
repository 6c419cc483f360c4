"""Counting and selecting over draws: the core gives what its slow twin gives, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import _core
from tests.reference import resampling as twin

SEEDS = st.integers(0, 2**32)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(2, 5), st.sampled_from([1, 7, 40, 1500]), st.integers(1, 9))
def test_the_studentised_pairs(seed, runs, draws, topics):
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(runs, 1)).astype(np.int64)
    count = len(pairs)
    # Rounded, so that there are ties and draws without any spread.
    squares, means = rng.random((count, draws)).round(1), rng.normal(size=(runs, draws)).round(1)
    noise, own = np.full(count, 1e-9), rng.random(count) + 0.1
    flat = (rng.random(count) < 0.2).astype(np.uint8)
    turn, low = rng.choice([-1.0, 1.0], count), rng.random(count)
    high, rank = low + 0.01, int(rng.integers(0, draws + 1))
    found = _core.studentized_pairs(
        squares, means, pairs, float(topics), noise, own, flat, turn, low, high, rank
    )
    with np.errstate(all="ignore"):
        for i, (a, b) in enumerate(pairs):
            gap = means[a] - means[b]
            values = [
                twin.signed_square(s, m, float(topics), noise[i], own[i], bool(flat[i]))
                for s, m in zip(squares[i].tolist(), gap.tolist(), strict=True)
            ]
            wanted = twin.held(values, turn[i], low[i], high[i], rank)
            np.testing.assert_array_equal([column[i] for column in found], wanted)
            rows = np.array([values])
            at = slice(i, i + 1)
            again = _core.held_rows(rows, turn[at], low[at], high[at], rank)
            np.testing.assert_array_equal([column[0] for column in again], wanted)


@pytest.mark.parametrize("share", [0.001, 0.05, 0.5, 0.999])
@pytest.mark.parametrize("kind", ["rising", "falling", "level", "two heaps", "random"])
def test_the_value_that_so_many_draws_reach(kind, share):
    count, rng = 10_000, np.random.default_rng(7)
    values = {
        "rising": np.arange(count) * 1.0,
        "falling": np.arange(count)[::-1] * 1.0,
        "level": np.ones(count),
        "two heaps": np.where(np.arange(count) % 16 == 0, 1e9, 1.0),
        "random": rng.normal(size=count),
    }[kind]
    rank, one, zero = max(1, round(share * count)), np.ones(1), np.zeros(1)
    found = _core.held_rows(values[None].copy(), one, zero, zero, rank)[3][0]
    assert found == np.sort(np.abs(values))[count - rank]


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(2, 5), st.integers(1, 40), st.booleans())
def test_the_step_down_hits(seed, runs, draws, two_tailed):
    rng = np.random.default_rng(seed)
    sums = rng.normal(size=(runs, draws)).round(1)
    pairs = np.column_stack(np.triu_indices(runs, 1)).astype(np.int64)
    pairs[rng.random(len(pairs)) < 0.3, 1] = -1
    scale, bars = rng.normal(size=len(pairs)), np.sort(rng.normal(size=len(pairs)).round(1))
    second = [sums[b] if b >= 0 else np.zeros(draws) for b in pairs[:, 1]]
    drawn = [
        ((sums[a] - y) * s).tolist() for a, y, s in zip(pairs[:, 0], second, scale, strict=True)
    ]
    largest = np.full(draws, -np.inf)
    hits = _core.step_down_hits(sums, pairs, scale, bars, two_tailed, largest)
    assert (hits.tolist(), largest.tolist()) == twin.step_down_hits(drawn, bars, two_tailed)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 20))
def test_the_places(seed, runs, draws):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(draws, runs)).round(1)
    means[rng.random(means.shape) < 0.1] = -np.inf
    counts = np.zeros((runs, runs), dtype=int)
    for row in means.tolist():
        for run, place in enumerate(twin.places(row, 0.05)):
            counts[run, place - 1] += 1
    np.testing.assert_array_equal(_core.count_places(means, 0.05), counts)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(0, 12))
def test_the_dominances(seed, topics):
    rows = np.sort(np.random.default_rng(seed).normal(size=(3, topics)).round(1), axis=1)
    pairs = np.array([[0, 1], [2, 0], [1, 1]])
    wanted = [twin.dominance(rows[a].tolist(), rows[b].tolist()) for a, b in pairs]
    assert _core.dominances(rows, pairs).tolist() == wanted


def test_what_does_not_fit_is_refused():
    rows, one = np.ones((2, 4)), np.ones(1)
    for pairs in ([[0, 2]], [[-1, 0]], [[0, -1]]):
        with pytest.raises(ValueError, match="do not fit"):
            _core.dominances(rows, np.array(pairs))
    with pytest.raises(ValueError, match="do not fit"):
        _core.step_down_hits(rows, np.array([[0, 1]]), one, one, True, np.zeros(3))
    with pytest.raises(ValueError, match="do not fit"):
        _core.held_rows(rows, np.ones(2), np.ones(2), np.ones(2), 5)
