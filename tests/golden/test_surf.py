"""SURF beside mahotas: directions and features of the same blobs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cranfield.features import visual_words
from cranfield.features.visual_words import Blobs, IntegralPicture
from tests.golden.make_surf import textured

ROWS = np.array(json.loads((Path(__file__).parent / "surf.json").read_text())["rows"])
# mahotas counts fields column by column, and in each along, beside, and the sizes of both.
ORDER = [
    16 * (3 - field % 4) + 4 * (field // 4) + part for field in range(16) for part in (0, 2, 1, 3)
]
# Beside is the other way round.
SIGNS = np.tile([1.0, 1.0, -1.0, 1.0], 16)


def test_directions_and_features_of_blobs(monkeypatch: pytest.MonkeyPatch) -> None:
    grey = textured()
    blobs = Blobs(ROWS[:, 0], ROWS[:, 1], ROWS[:, 2])
    monkeypatch.setattr(visual_words, "find_blobs", lambda _: blobs)
    turns = visual_words._directions(IntegralPicture(grey / 255.0), blobs)
    # Measured from the other axis and the other way round.
    apart = np.abs(np.degrees(np.angle(np.exp(1j * (turns + ROWS[:, 3] + np.pi / 2)))))
    assert np.median(apart) < 3
    # Where two directions are about as strong, either is taken.
    same = apart < 15
    assert same.mean() > 0.8
    features = visual_words.surf_features(grey)[same]
    theirs = ROWS[same, 4:][:, ORDER] * SIGNS
    assert np.median((features * theirs).sum(axis=1)) > 0.97
    # Each of the 64 numbers is that one of theirs and no other.
    correlations = np.corrcoef(features.T, theirs.T)[:64, 64:]
    assert (correlations.argmax(axis=1) == np.arange(64)).all()
    assert np.diag(correlations).min() > 0.75
