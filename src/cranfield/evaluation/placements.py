"""Ranked lists that are given by the ranks of their relevant items."""

from __future__ import annotations

from collections.abc import Sequence


def ranking(places: Sequence[int], depth: int) -> dict[str, float]:
    """A ranked list with relevant items r0, r1, ... at these places and others elsewhere."""
    relevant = {rank: f"r{k}" for k, rank in enumerate(places)}
    return {relevant.get(rank, f"x{rank}"): -float(rank) for rank in range(1, depth + 1)}
