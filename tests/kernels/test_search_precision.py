"""The nearest items are those of double precision, whatever single precision makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import cranfield as cf
from cranfield.errors import UsageError
from cranfield.features.item_vectors import ItemTable

Floats = NDArray[np.float64]
COUNT, LENGTH, ASKED, K = 1200, 32, 25, 10
RNG = np.random.default_rng(11)
CENTRES = np.repeat(RNG.random((12, LENGTH)), COUNT // 12, axis=0)
VECTORS = {
    "far from 0": 1000 + RNG.normal(size=(COUNT, LENGTH)),
    "close to one another": CENTRES + 1e-8 * RNG.random((COUNT, LENGTH)),
    "large whole numbers": RNG.integers(0, 2**40, (COUNT, LENGTH)).astype(float),
    "very small": 1e-25 * RNG.random((COUNT, LENGTH)),
    "very large": 1e25 * RNG.random((COUNT, LENGTH)),
    "usual": RNG.random((COUNT, LENGTH)),
}


def l1(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.abs(b - a).sum(axis=1))


def l2(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.sqrt(((b - a) ** 2).sum(axis=1)))


def cosine(a: Floats, b: Floats) -> Floats:
    lengths = np.sqrt((a * a).sum()) * np.sqrt((b * b).sum(axis=1))
    return np.asarray(1 - (b @ a) / lengths)


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("distance", [l1, l2, cosine], ids=["L1", "L2", "cosine"])
def test_no_nearer_item_is_left_out(name: str, distance: object) -> None:
    vectors = VECTORS[name]
    table = ItemTable.of([f"i{n:05d}" for n in range(COUNT)], vectors)
    asked = ItemTable.of([f"i{n:05d}" for n in range(ASKED)], vectors[:ASKED])
    called = {l1: "L1", l2: "L2", cosine: "cosine"}[distance]  # type: ignore[index]
    found = cf.search(table, asked, distance=called, k=K).found
    for query in range(ASKED):
        far = distance(vectors[query], vectors)  # type: ignore[operator]
        far[query] = np.inf
        wanted = np.sort(far)[:K]
        # Angles of neighbours that are nearly one another's are known to that many places.
        least = 1e-15 if distance is cosine else 0.0
        np.testing.assert_allclose(far[found[query]], wanted, rtol=1e-9, atol=least)


@pytest.mark.parametrize("distance", ["chi2", "JSD", "relative"])
def test_distances_of_shares_refuse_negative_numbers(distance: str) -> None:
    table = ItemTable.of(["a", "b", "c"], np.array([[1.0, -1.0], [0.5, 0.5], [0.2, 0.8]]))
    with pytest.raises(UsageError, match="without negative numbers"):
        cf.search(table, distance=distance)
