"""Pairs of annotators: on how many units they meet, how often they say the same, and the kappas.

Equation 6.1 of the thesis is the accuracy of a pair; Cohen's kappa takes each annotator's own
answers for chance, Scott's pi the answers of both together. All of them speak of the units
that both have judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import Floats, JudgementLog

# From this share of filled cells on, plain matrix products beat sparse ones.
DENSE_FROM = 0.1
# Units in one plain matrix product: single precision counts exactly up to 2**24.
BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of annotators that share at least one unit, first < second."""

    annotators: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    units: Floats
    accuracy: Floats
    cohen: Floats
    scott: Floats

    def __len__(self) -> int:
        return int(self.first.size)

    def matrix(self, values: Floats) -> Floats:
        """Values of pairs as a symmetric table, NaN where two annotators never met."""
        table = np.full((len(self.annotators),) * 2, np.nan)
        table[self.first, self.second] = values
        table[self.second, self.first] = values
        return table

    @property
    def mean_cohen(self) -> float:
        """Light's kappa: the mean of Cohen's kappa over the pairs for which it exists."""
        known = self.cohen[~np.isnan(self.cohen)]
        return float(known.mean()) if known.size else math.nan


def pairwise(log: JudgementLog, progress: Callable[[float], None] | None = None) -> Pairs:
    """Agreement of every pair of annotators over the units that both judged."""
    people = len(log.annotators)
    unit = log.item.astype(np.int64) * len(log.concepts) + log.concept
    span = len(log.items) * len(log.concepts)
    dense = len(log) >= DENSE_FROM * people * max(span, 1)
    sums = _DenseSums(people) if dense else _SparseSums(people, span)
    answers = len(log.values)
    for value in range(answers):
        mask = log.value == value
        sums.add(log.annotator[mask], unit[mask])
        if progress is not None:
            progress((value + 1) / (answers + 1))
    return sums.pairs(log, unit)


class _SparseSums:
    """Products of 0/1 matrices annotators x units, one matrix per answer, kept sparse."""

    def __init__(self, people: int, span: int) -> None:
        self._shape = (people, span)
        self._answers: list[Any] = []

    def add(self, annotator: NDArray[np.int32], unit: NDArray[np.int64]) -> None:
        from scipy import sparse

        ones = np.ones(unit.size)
        self._answers.append(sparse.csr_matrix((ones, (annotator, unit)), shape=self._shape))

    def pairs(self, log: JudgementLog, unit: NDArray[np.int64]) -> Pairs:
        from scipy import sparse

        ones = np.ones(len(log))
        judged = sparse.csr_matrix((ones, (log.annotator, unit)), shape=self._shape)
        met = sparse.triu(judged @ judged.T, k=1).tocoo()
        first, second = met.row.astype(np.int64), met.col.astype(np.int64)
        if not first.size:
            return _finish(log, first, second, met.data, [], [])

        def picked(product: Any) -> Floats:
            return np.asarray(product.tocsr()[first, second], dtype=np.float64).ravel()

        same = [picked(a @ a.T) for a in self._answers]
        own = []
        for a in self._answers:
            counts = (a @ judged.T).tocsr()
            mine = np.asarray(counts[first, second], dtype=np.float64).ravel()
            theirs = np.asarray(counts[second, first], dtype=np.float64).ravel()
            own.append((mine, theirs))
        return _finish(log, first, second, met.data, same, own)


class _DenseSums:
    """The same products from plain matrices, block by block of units."""

    def __init__(self, people: int) -> None:
        self._people = people
        self._answers: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []

    def add(self, annotator: NDArray[np.int32], unit: NDArray[np.int64]) -> None:
        self._answers.append((annotator, unit))

    def pairs(self, log: JudgementLog, unit: NDArray[np.int64]) -> Pairs:
        met = np.zeros((self._people, self._people))
        same = [np.zeros_like(met) for _ in self._answers]
        own = [np.zeros_like(met) for _ in self._answers]
        span = len(log.items) * len(log.concepts)
        for start in range(0, span, BLOCK):
            judged = self._block(log.annotator, unit, start)
            met += judged @ judged.T
            for k, (annotator, units) in enumerate(self._answers):
                said = self._block(annotator, units, start)
                same[k] += said @ said.T
                own[k] += said @ judged.T
        first, second = np.nonzero(np.triu(met, k=1))
        return _finish(
            log, first, second, met[first, second],
            [m[first, second] for m in same],
            [(m[first, second], m[second, first]) for m in own],
        )  # fmt: skip

    def _block(
        self, annotator: NDArray[np.int32], unit: NDArray[np.int64], start: int
    ) -> NDArray[np.float32]:
        inside = (unit >= start) & (unit < start + BLOCK)
        table = np.zeros((self._people, BLOCK), dtype=np.float32)
        table[annotator[inside], unit[inside] - start] = 1
        return table


def _finish(
    log: JudgementLog,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    units: Floats,
    same: list[Floats],
    own: list[tuple[Floats, Floats]],
) -> Pairs:
    """Coefficients from, per answer, the units where both, the first, the second gave it."""
    n = np.asarray(units, dtype=np.float64)
    identical = np.sum(same, axis=0) / n if same else np.empty(0)
    cohen = np.zeros(n.size)
    scott = np.zeros(n.size)
    for mine, theirs in own:
        cohen += mine * theirs / n**2
        scott += ((mine + theirs) / (2 * n)) ** 2
    return Pairs(
        log.annotators, first, second, n, identical,
        _beyond_chance(identical, cohen), _beyond_chance(identical, scott),
    )  # fmt: skip


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    free = 1 - chance
    result = np.full(observed.size, np.nan)
    np.divide(observed - chance, free, out=result, where=free > 1e-12)
    return result
