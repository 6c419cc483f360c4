"""SURF from its definition: boxes, blobs, and features that follow a picture when it is turned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.signal import correlate2d

from cranfield.features import visual_words
from cranfield.features.extract import describe_pictures
from cranfield.features.search import search
from cranfield.features.visual_words import SURF_LENGTH, IntegralPicture, find_blobs, surf_features


def _filters(side: int) -> tuple[np.ndarray, np.ndarray]:
    """The second derivative along and the mixed one, drawn as in the paper's figure."""
    lobe, half = side // 3, side // 2
    along, mixed = np.zeros((side, side)), np.zeros((side, side))
    rows = slice(half - lobe + 1, half + lobe)
    along[rows, :] = 1
    along[rows, lobe : 2 * lobe] = -2
    for sign_y in (-1, 1):
        for sign_x in (-1, 1):
            y = slice(half + 1, half + 1 + lobe) if sign_y > 0 else slice(half - lobe, half)
            x = slice(half + 1, half + 1 + lobe) if sign_x > 0 else slice(half - lobe, half)
            mixed[y, x] = -sign_y * sign_x
    return along, mixed


@pytest.mark.parametrize("side", [9, 15, 21])
def test_determinants_equal_the_filters_of_the_paper(side: int) -> None:
    grey = np.random.default_rng(1).random((60, 50))
    along, mixed = _filters(side)
    dxx, dyy, dxy = (
        correlate2d(grey, kernel, mode="valid") / side**2 for kernel in (along, along.T, mixed)
    )
    half = side // 2
    y = np.arange(half, 60 - half)
    x = np.arange(half, 50 - half)
    found = IntegralPicture(grey).determinants(y[:, None], x, side)
    np.testing.assert_allclose(found, dxx * dyy - (0.9 * dxy) ** 2, atol=1e-12)


@pytest.mark.parametrize("sigma", [3.0, 5.0])
def test_a_blob_is_found_where_it_is_and_as_large_as_it_is(sigma: float) -> None:
    y, x = np.mgrid[:120, :140]
    grey = np.exp(-((x - 70.0) ** 2 + (y - 61.0) ** 2) / (2 * sigma**2))
    blobs = find_blobs(IntegralPicture(grey))
    assert len(blobs.y) >= 1
    assert abs(blobs.y[0] - 61) < 1
    assert abs(blobs.x[0] - 70) < 1
    assert blobs.scale[0] == pytest.approx(sigma, rel=0.35)


def _textured(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:160, :160]
    grey = np.zeros((160, 160))
    for _ in range(60):
        place, sigma = rng.uniform(20, 140, 2), rng.uniform(2.5, 7)
        wide = rng.uniform(1, 2)
        bump = ((x - place[0]) / wide) ** 2 + (y - place[1]) ** 2
        grey += rng.uniform(-1, 1) * np.exp(-bump / (2 * sigma**2))
    grey = (grey - grey.min()) / (grey.max() - grey.min())
    return np.rint(255 * grey).astype(np.uint8)


def test_features_stay_when_a_picture_is_turned_and_differ_between_pictures() -> None:
    picture, other = _textured(2), _textured(3)
    features, turned = surf_features(picture), surf_features(np.rot90(picture).copy())
    assert features.shape[1] == SURF_LENGTH
    assert len(features) > 20
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, atol=1e-5)

    def nearest(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.median(np.sqrt(np.maximum(0, 2 - 2 * (a @ b.T).max(axis=1)))))

    assert nearest(features, turned) < 0.6 * nearest(features, surf_features(other))


def test_a_flat_picture_has_no_features() -> None:
    assert surf_features(np.full((40, 40), 7, dtype=np.uint8)).shape == (0, SURF_LENGTH)
    assert surf_features(np.zeros((1, 1), dtype=np.uint8)).shape == (0, SURF_LENGTH)


def test_words_find_the_picture_that_was_turned(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for kind in range(4):
        picture = _textured(10 + kind)
        for name, pixels in (("a", picture), ("b", np.rot90(picture))):
            Image.fromarray(pixels).convert("RGB").save(tmp_path / "in" / f"k{kind}{name}.png")
    answer = describe_pictures(tmp_path / "in", "SURF(words=40)", tmp_path / "out")
    assert answer.written == {"SURF(words=40)": 40}
    found = search(tmp_path / "out" / "SURF(words=40).npz", k=1).run()
    for kind in range(4):
        assert found.ranking(f"k{kind}a") == [f"k{kind}b"]
        assert found.ranking(f"k{kind}b") == [f"k{kind}a"]


def test_doubling_keeps_pixels_and_puts_means_between_them() -> None:
    doubled = visual_words._doubled(np.array([[0, 100], [50, 250]], dtype=np.uint8))
    np.testing.assert_array_equal(doubled[::2, ::2], [[0, 100], [50, 250]])
    np.testing.assert_array_equal(doubled[0], [0, 50, 100, 100])
    np.testing.assert_array_equal(doubled[:, 0], [0, 25, 50, 50])
