"""Masks as pictures of pixels: slow, and as one would say it."""

import numpy as np


def runs_of(pixels):
    """Lengths of runs, column by column, that begin with what is outside."""
    runs, inside = [0], False
    for pixel in pixels.T.ravel():
        if bool(pixel) != inside:
            runs.append(0)
            inside = not inside
        runs[-1] += 1
    return runs


def pixels_of(runs, height, width):
    inside = [k % 2 for k, length in enumerate(runs) for _ in range(length)]
    return np.array(inside).reshape(width, height).T


def overlap(a, b, *, crowd=False):
    """What two masks have in common, as a share of what either has, or of the first."""
    common = np.logical_and(a, b).sum()
    either = a.sum() if crowd else np.logical_or(a, b).sum()
    return common / either if either else 0.0
