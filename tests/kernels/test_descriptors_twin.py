"""The compiled descriptors equal their slow twins, and keep what their declarations say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import _core
from cranfield.features import DESCRIPTORS, DISTANCES
from cranfield.features.distances import PreparedDistance, distances
from cranfield.features.image_folders import vectors_of
from tests.reference import features, features_mpeg7, features_texture

KERNELS = _core.descriptor_kernels()
# Sums in another order may differ in their last digits.
INEXACT = {
    "tamura",
    "tamura_lire",
    "gradient_pyramid",
    "spatial_colours",
    "brightness_directions",
}


def twin(kernel: str, picture: np.ndarray) -> np.ndarray:
    for module in (features, features_mpeg7, features_texture):
        if hasattr(module, kernel):
            return getattr(module, kernel)(picture)
    raise AssertionError(kernel)


def random_picture(width: int, height: int, kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "flat":
        return np.full((height, width, 3), rng.integers(0, 256, 3), dtype=np.uint8)
    if kind == "noise":
        return rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    if kind == "few":
        return rng.choice(np.array([0, 64, 127, 128, 255]), (height, width, 3)).astype(np.uint8)
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / rng.uniform(2, 30) + y / rng.uniform(2, 30)) for _ in range(3)]
    return (127.5 + 127.5 * np.stack(waves, axis=2)).astype(np.uint8)


def check_twin(kernel: str, picture: np.ndarray) -> None:
    [found] = _core.describe_picture([kernel], picture)
    wanted = twin(kernel, picture)
    if kernel in INEXACT:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=8, deadline=None)
@given(
    width=st.integers(1, 48),
    height=st.integers(1, 48),
    kind=st.sampled_from(["flat", "noise", "few", "waves"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_kernel_equals_twin(kernel: str, width: int, height: int, kind: str, seed: int) -> None:
    check_twin(kernel, random_picture(width, height, kind, seed))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("size", [(1, 1), (3, 120), (97, 83)])
def test_kernel_equals_twin_on_odd_sizes(kernel: str, size: tuple[int, int]) -> None:
    check_twin(kernel, random_picture(*size, "waves", 3))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_equals_twin_on_a_larger_picture(kernel: str) -> None:
    check_twin(kernel, random_picture(300, 200, "waves", 4))


@pytest.mark.parametrize("name", [n for n, d in DESCRIPTORS.items() if d.kernel])
@settings(max_examples=15, deadline=None)
@given(
    width=st.integers(1, 120),
    height=st.integers(1, 120),
    kind=st.sampled_from(["flat", "noise", "few", "waves"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_vectors_keep_their_declaration(
    name: str, width: int, height: int, kind: str, seed: int
) -> None:
    chosen = DESCRIPTORS[name]
    pictures = [random_picture(width, height, k, seed) for k in (kind, "noise")]
    rows = np.array([vectors_of(p, [chosen])[0] for p in pictures])
    assert rows.shape == (2, chosen.length)
    assert rows.dtype == chosen.kind
    assert np.isfinite(rows).all()
    low, high = chosen.range
    assert low <= rows.min()
    assert rows.max() <= high * (1 + 1e-6)
    if chosen.range == (0.0, 1.0) and chosen.shares:
        assert all(abs(s - 1) < 1e-5 or s == 0 for s in rows.sum(axis=1, dtype=float))
    exact = np.ascontiguousarray(rows, dtype=np.float64)
    table = distances(chosen.distance, exact, exact, descriptor=chosen)
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert np.abs(np.diag(table)).max() < 1e-9 * max(1.0, float(table.max()))
    np.testing.assert_allclose(table, table.T, rtol=1e-12, atol=1e-12)


def test_together_or_alone_is_one() -> None:
    picture = random_picture(131, 97, "waves", 8)
    together = _core.describe_picture(list(KERNELS), picture)
    for kernel, found in zip(KERNELS, together, strict=True):
        np.testing.assert_array_equal(found, _core.describe_picture([kernel], picture)[0])


FORMULAS = {
    "Tanimoto": lambda a, b: 100 - 100 * (a @ b) / (a @ a + b @ b - a @ b),
    "L1": lambda a, b: np.abs(a - b).sum(),
    "L2": lambda a, b: np.sqrt(((a - b) ** 2).sum()),
    "cosine": lambda a, b: 1 - a @ b / np.sqrt((a @ a) * (b @ b)),
    "chi2": lambda a, b: ((a - b) ** 2 / (a + b)).sum(),
    "JSD": lambda a, b: (a * np.log(2 * a / (a + b)) + b * np.log(2 * b / (a + b))).sum(),
    "relative": lambda a, b: (np.abs(a - b) / (1 + a + b)).sum(),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("shares", [False, True])
def test_distance_equals_its_formula(name: str, shares: bool) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.random((4, 37)) + 0.01, rng.random((6, 37)) + 0.01
    found = distances(name, a, b, shares=shares)
    if shares and DISTANCES[name].divides:
        a, b = a / a.sum(axis=1, keepdims=True), b / b.sum(axis=1, keepdims=True)
    wanted = [[FORMULAS[name](x, y) for y in b] for x in a]
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


@pytest.mark.parametrize("name", [n for n, d in DISTANCES.items() if not d.lengths])
def test_empty_vectors_are_alike_and_similarity_stays_in_its_range(name: str) -> None:
    rng = np.random.default_rng(6)
    rows = np.vstack([np.zeros((2, 9)), rng.random((4, 9)), np.eye(9)])
    ready = PreparedDistance(DISTANCES[name], rows, shares=True)
    table = ready.between(ready.rows(rows), ready.rows(rows))
    assert table[0, 1] == 0
    similar = ready.similarity(table)
    assert similar.min() >= 0
    assert similar.max() <= 1
    assert np.allclose(np.diag(similar), 1)
    if name == "Tanimoto":
        assert table[0, 5] == 100
