"""Draws of a truth with probabilities: the core gives what its slow twin gives, draw by draw."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield import _core
from tests.reference.draws import chance, drawn_grade, drawn_labels

MEASURES = "AP nDCG@3 P@3 R@3 RR Rprec Bpref ERR@5 RBP NMRR(gmt=9) GMAP"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 7), st.integers(1, 40))
def test_every_draw_is_the_truth_that_the_twin_draws(seed, topics, items, draws):
    rng = np.random.default_rng(seed)
    levels = [0, 1, 2]
    table = rng.dirichlet([0.6, 0.5, 0.4], size=(topics, items))
    # Some items are sure.
    table[rng.random((topics, items)) < 0.3] = [0.0, 1.0, 0.0]
    truth = {
        f"t{t}": {
            f"d{i}": dict(zip(levels, map(float, row), strict=True)) for i, row in enumerate(r)
        }
        for t, r in enumerate(table)
    }
    runs = {
        name: {t: {f"d{i}": float(rng.random()) for i in range(items + 1)} for t in truth}
        for name in ("a", "b")
    }
    scores = cf.evaluate(truth, runs, MEASURES, draws=draws, rng=seed, jobs=2)
    if (table.max(axis=2) == 1.0).all():
        return
    chances = cf.RankedTask(truth, MEASURES).judgements.chances.reshape(topics, items, 3)
    for d in range(draws):
        hard = {
            f"t{t}": {
                f"d{i}": drawn_grade(chance(seed, d, t, i), levels, chances[t, i].tolist())
                for i in range(items)
            }
            for t in range(topics)
        }
        plain = cf.evaluate(hard, runs, MEASURES, gmt=None).mean()
        for m in scores.measures:
            for r, run in enumerate(runs):
                found, wanted = scores.doubt.means[m][r, d], plain[run][str(m)]
                assert np.isclose(found, wanted, rtol=1e-12, atol=1e-15, equal_nan=True), (
                    str(m),
                    d,
                )


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 2**63),
    st.integers(0, 6),
    st.integers(1, 5),
    st.integers(0, 1000),
    st.booleans(),
)
def test_labels_are_drawn_as_the_twin_draws_them(seed, items, concepts, draw, exclusive):
    rng = np.random.default_rng(seed % 2**32)
    chances = rng.dirichlet(np.full(concepts, 0.5), size=items) if exclusive else None
    if chances is None:
        chances = np.round(rng.random((items, concepts)), 1)
    found = _core.draw_labels(np.ascontiguousarray(chances), exclusive, seed, draw, 1)
    twin = drawn_labels(chances.tolist(), exclusive, seed, draw)
    assert found.astype(bool).tolist() == twin
    if exclusive:
        assert (found.sum(axis=1) == 1).all()


def test_labels_are_the_same_on_any_number_of_threads():
    """More labels than one thread takes at once, and each as often as it is probable."""
    chances = np.random.default_rng(0).random((5000, 40))
    one, two, eight = (_core.draw_labels(chances, False, 3, 7, n) for n in (1, 2, 8))
    assert np.array_equal(one, two)
    assert np.array_equal(one, eight)
    often = sum(_core.draw_labels(chances[:50], False, 3, d, 1).astype(int) for d in range(2000))
    error = np.sqrt(chances[:50] * (1 - chances[:50]) / 2000)
    assert np.abs(often / 2000 - chances[:50]).max() < (5 * error + 1e-9).max()
