"""A leaderboard that admits what it does not know: shared ranks, letters, rank intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from cranfield.stats._resample import Floats, Ints

MAX_LETTERS = 200


@dataclass(frozen=True, slots=True)
class RankGroup:
    """The place of a run: 1 + the number of runs that are significantly better.

    Runs that share a letter cannot be told apart. `low` and `high` bound the rank that the run
    takes when topics are drawn anew; they are None where that cannot be said.
    """

    rank: int
    letters: str
    low: int | None
    high: int | None


def rank_groups(
    means: Floats, significant: NDArray[np.bool_], drawn: Floats | None, *, confidence: float
) -> list[RankGroup]:
    """The group of each run.

    `means` are such that greater is better, `significant` says for every two runs whether they
    differ, `drawn` holds the mean of every run in every resample (runs x resamples).
    """
    better = (means[None, :] > means[:, None]) & significant
    ranks = 1 + better.sum(axis=1)
    letters = compact_letters(means, significant)
    bounds: Sequence[tuple[int | None, int | None]] = [(None, None)] * len(means)
    if drawn is not None:
        low, high = rank_intervals(drawn, confidence=confidence)
        bounds = list(zip(low.tolist(), high.tolist(), strict=True))
    return [
        RankGroup(int(rank), letter, *bound)
        for rank, letter, bound in zip(ranks, letters, bounds, strict=True)
    ]


def rank_intervals(drawn: Floats, *, confidence: float = 0.95) -> tuple[Ints, Ints]:
    """The ranks between which each run lies in that share of the resamples.

    Runs with the same mean in a resample share the better rank.
    """
    runs, resamples = drawn.shape
    order = np.argsort(-drawn, axis=0, kind="stable")
    ordered = np.take_along_axis(drawn, order, 0)
    slack = 1e-12 * np.abs(drawn).max(initial=0.0)
    fresh = np.ones((runs, resamples), dtype=bool)
    fresh[1:] = ordered[:-1] - ordered[1:] > slack
    places = np.where(fresh, np.arange(1, runs + 1)[:, None], 1)
    ranks = np.empty_like(places)
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=0), 0)
    ranks.sort(axis=1)
    tail = (1 - confidence) / 2
    low = ranks[:, math.floor(tail * (resamples - 1))]
    high = ranks[:, math.ceil((1 - tail) * (resamples - 1))]
    return low, high


def compact_letters(means: Floats, significant: NDArray[np.bool_]) -> list[str]:
    """Letters such that two runs share one exactly when they do not differ significantly.

    Groups are split by every significant pair and those inside another are dropped (Piepho
    2004); "a" holds the best run. When the groups grow past counting, no letters are given.
    """
    runs = len(means)
    groups: list[frozenset[int]] = [frozenset(range(runs))]
    for a in range(runs):
        for b in np.flatnonzero(significant[a, a + 1 :]) + a + 1:
            split = [g - {x} for g in groups if a in g and b in g for x in (a, int(b))]
            if split:
                kept = [g for g in groups if not (a in g and b in g)]
                groups = _absorb(kept, split)
        if len(groups) > MAX_LETTERS:
            return [""] * runs
    groups.sort(key=lambda g: sorted((-float(means[i]), i) for i in g))
    names = [_letter(i) for i in range(len(groups))]
    separator = "," if len(groups) > len(ascii_lowercase) else ""
    return [
        separator.join(n for n, g in zip(names, groups, strict=True) if i in g) for i in range(runs)
    ]


def _absorb(kept: list[frozenset[int]], split: list[frozenset[int]]) -> list[frozenset[int]]:
    """The groups that lie in no other."""
    result = list(kept)
    for group in sorted(set(split), key=len, reverse=True):
        if group and not any(group <= other for other in result):
            result.append(group)
    return result


def _letter(index: int) -> str:
    name = ""
    index += 1
    while index:
        index, place = divmod(index - 1, 26)
        name = ascii_lowercase[place] + name
    return name
