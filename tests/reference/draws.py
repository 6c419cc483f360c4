"""Draws of a truth with probabilities, one item at a time."""

from __future__ import annotations

from collections.abc import Sequence

_GOLDEN, _WORD = 0x9E3779B97F4A7C15, 2**64


def _mixed(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % _WORD
    return z ^ (z >> 31)


def chance(seed: int, draw: int, topic: int, item: int) -> float:
    """The number in [0, 1) that decides about the item of a topic in a draw; all count from 0."""
    key = _mixed((seed + _GOLDEN * (draw + 1)) % _WORD)
    key = _mixed((key + _GOLDEN * (topic + 1)) % _WORD)
    return (_mixed((key + _GOLDEN * (item + 1)) % _WORD) >> 11) * 2.0**-53


def drawn_grade(u: float, levels: Sequence[float], chances: Sequence[float]) -> float:
    """The first level up to which the probabilities add up to more than a number in [0, 1)."""
    total = 0.0
    for level, p in zip(levels, chances, strict=True):
        total += p
        if u < total:
            return level
    return levels[-1]


def drawn_labels(
    chances: Sequence[Sequence[float]], exclusive: bool, seed: int, draw: int
) -> list[list[bool]]:
    """The concepts of every item in a draw; of exclusive ones each item has exactly one."""
    found = []
    for item, row in enumerate(chances):
        if exclusive:
            one = drawn_grade(chance(seed, draw, item, 0), range(len(row)), row)
            found.append([c == one for c in range(len(row))])
        else:
            found.append([chance(seed, draw, item, c) < p for c, p in enumerate(row)])
    return found
