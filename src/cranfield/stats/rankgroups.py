"""A leaderboard that admits what it does not know: places with intervals, ranks with letters.

The place of a run is its position in the plain order of the means; its interval says where the
run stands when topics are drawn anew. The rank is what tests support: 1 + the number of runs
that are significantly better. Letters show the same pairs: two runs share none exactly when they
differ significantly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from string import ascii_letters

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.stats._resample import Floats, Ints
from cranfield.stats.differences import Bools
from cranfield.validation import as_array, describe_value, validate_params


@dataclass(frozen=True, slots=True)
class RankGroup:
    """What tests say of a run among others.

    `rank` is 1 + the number of runs that are significantly better, `last` the number of runs
    less those that are significantly worse: all places from the one to the other are open.
    Runs that share one of `letters` cannot be told apart.
    """

    rank: int
    last: int
    letters: str


def _board(square: Bools, order: Ints) -> tuple[Bools, Ints]:
    """A square of comparisons and the order of its rows, checked."""
    table: Bools = as_array("comparisons of runs", square, ndim=2, dtype=np.bool_)
    rows: Ints = as_array("order", order, ndim=1, dtype=np.int64)
    if table.shape != (len(rows), len(rows)) or sorted(rows.tolist()) != list(range(len(rows))):
        raise UsageError(f"order={describe_value(order)} does not order {len(table)} runs")
    return table, rows


@validate_params
def rank_groups(beaten: Bools, order: Ints) -> list[RankGroup]:
    """The group of each run; `beaten[i, j]` says that run j is significantly better than i.

    `order` are the runs as they stand on the board, best first, which is the order of letters.
    """
    beaten, order = _board(beaten, order)
    ranks = 1 + beaten.sum(axis=1)
    lasts = len(beaten) - beaten.sum(axis=0)
    letters = compact_letters(order, beaten | beaten.T)
    return [
        RankGroup(int(rank), int(last), letter)
        for rank, last, letter in zip(ranks, lasts, letters, strict=True)
    ]


@validate_params
def places(means: Floats) -> Ints:
    """The place of each run by its mean, greater is better; equal means share the better one."""
    means = as_array("means", means, ndim=1)
    at = np.sort(-means, kind="stable")
    ranks: Ints = 1 + np.searchsorted(at, -means, side="left")
    return ranks


@validate_params
def place_intervals(resampled: Floats, *, confidence: float = 0.95) -> tuple[Ints, Ints]:
    """The places between which each run lies in that share of the resamples.

    `resampled` holds the mean of every run in every resample (runs x resamples), greater is better;
    runs with the same mean in a resample share the better place.
    """
    resampled = as_array("resampled", resampled, ndim=2)
    resamples = resampled.shape[1]
    sizes = np.abs(resampled, where=np.isfinite(resampled), out=np.zeros(resampled.shape))
    slack = 1e-12 * sizes.max(initial=0.0)
    upto = np.cumsum(_core.count_places(np.ascontiguousarray(resampled.T), slack), axis=1)
    tail = (1 - confidence) / 2
    ends = math.floor(tail * (resamples - 1)), math.ceil((1 - tail) * (resamples - 1))
    first, last = (1 + (upto <= end).sum(axis=1) for end in ends)
    return first, last


@validate_params
def compact_letters(order: Ints, differ: Bools) -> list[str]:
    """Letters such that two runs share one exactly when they do not differ.

    Every letter is a group of runs of which no two differ, as large as it can be, and every two
    runs that do not differ are in one of the groups; "a" holds the best run. When there are more
    groups than letters, which would be unreadable, no run gets any.
    """
    differ, order = _board(differ, order)
    groups = _covering_groups(~differ[np.ix_(order, order)])
    if len(groups) > len(ascii_letters):
        return [""] * len(order)
    names = [""] * len(order)
    for letter, group in zip(ascii_letters, groups, strict=False):
        for position in group:
            names[order[position]] += letter
    return names


def _covering_groups(alike: Bools) -> list[list[int]]:
    """Groups of positions that are all alike, which together hold every pair that is."""
    open_pairs = alike.copy()
    groups: list[list[int]] = []
    for first in range(len(alike)):
        while True:
            waiting = np.flatnonzero(open_pairs[first, first:])
            if not waiting.size:
                break
            # With the farthest partner first, the runs between the two mostly join them.
            group = _grown(alike, open_pairs, first, first + int(waiting[-1]))
            open_pairs[np.ix_(group, group)] = False
            groups.append(group)
    return sorted(_needed(groups, alike))


def _grown(alike: Bools, open_pairs: Bools, first: int, last: int) -> list[int]:
    """A group with two positions, to which nothing can be added."""
    group = [first] if first == last else [first, last]
    fitting = alike[first] & alike[last]
    fitting[group] = False
    while fitting.any():
        # Who has most pairs left to show comes first, then who stands higher.
        gain = np.where(fitting, open_pairs[group].sum(axis=0), -1)
        new = int(gain.argmax())
        group.append(new)
        fitting &= alike[new]
        fitting[new] = False
    return sorted(group)


def _needed(groups: list[list[int]], alike: Bools) -> list[list[int]]:
    """The groups without those whose every pair is in another one."""
    cover = np.zeros(alike.shape, dtype=np.int64)
    for group in groups:
        cover[np.ix_(group, group)] += 1
    needed = []
    for group in sorted(groups, key=len):
        cells = np.ix_(group, group)
        if (cover[cells] > 1).all():
            cover[cells] -= 1
        else:
            needed.append(group)
    return needed
