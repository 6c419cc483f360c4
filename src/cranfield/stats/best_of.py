"""The best of many runs against the best of few: as many on both sides, and runs drawn anew.

The best of twenty runs is better than the best of five although none of them is a better run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError
from cranfield.stats._resample import Floats
from cranfield.stats.randomization import TIE

# As many divisions are tried as take seconds, and never fewer than the first.
RESAMPLES = (199, 9999)
SORTED_VALUES = 2 * 10**8


def expected_best(values: Floats, n: int) -> Floats:
    """The expected greatest value of `n` runs drawn from all, per unit.

    `values` has a row per run and a column per unit. Of the (N over n) draws, (i - 1 over n - 1)
    have the i-th smallest value as their greatest.

    >>> expected_best(np.array([[1.0], [2.0], [6.0]]), 2)
    array([4.66666667])
    """
    rows = len(values)
    if not 1 <= n <= rows:
        raise UsageError(f"n={n} is not in 1..{rows}, the number of runs")
    shares = [math.comb(i, n - 1) / math.comb(rows, n) for i in range(rows)]
    best: Floats = np.array(shares) @ np.sort(values, axis=0)
    return best


@dataclass(frozen=True, slots=True)
class BestOf:
    """Two groups of runs by the expected best of as many from each.

    `means` are over the units; `blocks` is how many teams (or runs, where no teams are known)
    were put into the groups anew, and `p` how often the difference was as large then. `least_p` is
    the smallest p that so many blocks can have.
    """

    n: int
    means: tuple[float, float]
    p: float
    least_p: float
    blocks: int

    @property
    def difference(self) -> float:
        """The mean of the second group less that of the first."""
        return self.means[1] - self.means[0]


def compare_best(
    first: Floats,
    second: Floats,
    *,
    teams: tuple[Sequence[str], Sequence[str]] | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> BestOf:
    """Whether the second group of runs has better best values than the first.

    Both have a row per run and a column per unit, the same units in both; more is better. Under
    the hypothesis that the runs of both groups come from one population, every division of them
    into groups is equally likely, so the test holds whatever the numbers of runs are. Runs of a
    team (`teams` has the team of each run) stay together.

    >>> weak = np.array([[0.1, 0.2], [0.2, 0.1], [0.2, 0.3]])
    >>> result = compare_best(weak, weak + 0.5)
    >>> result.n, round(result.difference, 3), result.p
    (3, 0.5, 0.1)
    """
    values = np.concatenate([first, second])
    split = len(first)
    block_of, first_blocks, count = _blocks(split, len(values), teams)
    ways = math.comb(count, first_blocks)

    def difference(in_first: NDArray[np.bool_]) -> tuple[int, float, float]:
        ours, others = values[in_first], values[~in_first]
        n = min(len(ours), len(others))
        return n, float(expected_best(ours, n).mean()), float(expected_best(others, n).mean())

    n, *means = difference(np.arange(len(values)) < split)
    if resamples is None:
        resamples = int(np.clip(SORTED_VALUES // max(values.size, 1), *RESAMPLES))
    seen = abs(means[1] - means[0])
    limit = seen - TIE * max(seen, float(np.abs(values).max(initial=0.0)))
    exact = ways <= resamples
    rng = np.random.default_rng(seed)
    if exact:
        divisions = [
            list(division) for division in itertools.combinations(range(count), first_blocks)
        ]
    else:
        divisions = [rng.permutation(count)[:first_blocks].tolist() for _ in range(resamples)]
    hits = 0
    for division in divisions:
        _, left, right = difference(np.isin(block_of, division))
        hits += int(abs(right - left) >= limit)
    p = hits / ways if exact else (hits + 1) / (resamples + 1)
    # With groups of one size every division has a mirror image, which is as extreme.
    mirrored = 2 if 2 * first_blocks == count else 1
    smallest_p = mirrored / ways if exact else 1 / (resamples + 1)
    return BestOf(n, (means[0], means[1]), p, smallest_p, count)


def _blocks(
    split: int, runs: int, teams: tuple[Sequence[str], Sequence[str]] | None
) -> tuple[NDArray[np.intp], int, int]:
    """The block of each run, how many blocks the first group has, and how many there are."""
    if teams is None or not all(itertools.chain(*teams)):
        return np.arange(runs), split, runs
    keys = [(i, team) for i, names in enumerate(teams) for team in names]
    order = {key: j for j, key in enumerate(dict.fromkeys(keys))}
    first = sum(group == 0 for group, _ in order)
    return np.array([order[key] for key in keys]), first, len(order)
