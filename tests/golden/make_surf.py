"""Directions and features of blobs as mahotas computes them, for test_surf.py.

    pip install mahotas==1.4.19
    python tests/golden/make_surf.py > tests/golden/surf.json

The blobs are given, so that only what is computed of them is compared; their scales are whole
numbers, to which mahotas rounds them. mahotas measures
directions from the other axis and the other way round, and lists the parts of a feature in another
order; what is written here is as it comes out.
"""

from __future__ import annotations

import json
import sys

import numpy as np


def textured(seed: int = 5, side: int = 256, bumps: int = 700) -> np.ndarray:
    """A grey picture of many bumps, some bright and some dark, long and round."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    grey = np.zeros((side, side))
    for _ in range(bumps):
        (left, top), size, wide = rng.uniform(0, side, 2), rng.uniform(2, 6), rng.uniform(1, 3)
        turn = rng.uniform(0, np.pi)
        along = (x - left) * np.cos(turn) + (y - top) * np.sin(turn)
        beside = (y - top) * np.cos(turn) - (x - left) * np.sin(turn)
        grey += rng.uniform(-1, 1) * np.exp(-((along / wide) ** 2 + beside**2) / (2 * size**2))
    grey = (grey - grey.min()) / (grey.max() - grey.min())
    return np.rint(255 * grey).astype(np.uint8)


def main() -> None:
    from mahotas.features import surf

    from cranfield.features.visual_words import IntegralPicture, find_blobs

    grey = textured() / 255.0
    blobs = find_blobs(IntegralPicture(grey))
    ones = np.ones(len(blobs.y))
    points = np.stack([blobs.y, blobs.x, np.rint(blobs.scale), ones, ones], axis=1)
    rows = []
    for row in surf.descriptors(grey, points)[:60]:
        place = [round(float(v), 6) for v in row[:3]]
        rows.append([*place, round(float(row[5]), 5), *(round(float(v), 4) for v in row[6:])])
    json.dump({"program": "mahotas 1.4.19", "rows": rows}, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
