"""Pairs of annotators: on how many units they meet, how often they say the same, and the kappas.

Equation 6.1 of the thesis is the accuracy of a pair; Cohen's kappa takes each annotator's own
answers for chance, Scott's pi the answers of both together. All of them speak of the units
that both have judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.notes import Progress

# From this share of filled cells on, plain matrix products beat sparse ones.
DENSE_FROM = 0.1
# Cells of the plain matrices of one block of units.
BLOCK_CELLS = 1 << 26
# Up to this many annotators a table of all pairs is kept as a plain array.
PLAIN_UP_TO = 3000


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
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
    def mean_accuracy(self) -> float:
        """The mean accuracy of the pairs that met."""
        return float(self.accuracy.mean()) if len(self) else math.nan

    @property
    def mean_cohen(self) -> float:
        """Light's kappa: the mean of Cohen's kappa over the pairs for which it exists."""
        defined = self.cohen[~np.isnan(self.cohen)]
        return float(defined.mean()) if defined.size else math.nan


def pairwise(log: JudgementLog, progress: Progress | None = None) -> AnnotatorPairs:
    """Agreement of every pair of annotators over the units that both judged."""
    people = len(log.annotators)
    unit = log.item.astype(np.int64) * len(log.concepts) + log.concept
    span = len(log.items) * len(log.concepts)
    dense = len(log) >= DENSE_FROM * people * max(span, 1)
    sums = _DenseSums(people) if dense else _SparseSums(people, span)
    answers = len(log.values)
    watcher = Progress.of(progress)
    for value in range(answers):
        mask = log.value == value
        sums.add(log.annotator[mask], unit[mask])
        watcher((value + 1) / (answers + 1))
    return sums.pairs(log)


class _SparseSums:
    """Products of 0/1 matrices annotators x units, one matrix per answer, kept sparse."""

    def __init__(self, people: int, span: int) -> None:
        self._shape = (people, span)
        self._answers: list[Any] = []

    def add(self, annotator: NDArray[np.int32], unit: NDArray[np.int64]) -> None:
        from scipy import sparse

        ones = np.ones(unit.size)
        self._answers.append(sparse.csr_matrix((ones, (annotator, unit)), shape=self._shape))

    def pairs(self, log: JudgementLog) -> AnnotatorPairs:
        from scipy import sparse

        judged = sum(self._answers[1:], start=self._answers[0])
        met = sparse.triu(judged @ judged.T, k=1).tocoo()
        first, second = met.row.astype(np.int64), met.col.astype(np.int64)

        def picked(product: Any, a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
            # Entries of a plain array are found much faster, while it is small enough.
            table = product.toarray() if self._shape[0] <= PLAIN_UP_TO else product.tocsr()
            return np.asarray(table[a, b], dtype=np.float64).ravel()

        if not first.size:
            return _finish(log, first, second, met.data, met.data, [])
        answers = sparse.hstack(self._answers, format="csr")
        counts = [a @ judged.T for a in self._answers]
        return _finish(
            log,
            first,
            second,
            met.data,
            picked(answers @ answers.T, first, second),
            [(picked(p, first, second), picked(p, second, first)) for p in counts],
        )


class _DenseSums:
    """The same products from plain matrices, block by block of units."""

    def __init__(self, people: int) -> None:
        self._people = people
        self._answers: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []

    def add(self, annotator: NDArray[np.int32], unit: NDArray[np.int64]) -> None:
        self._answers.append((annotator, unit))

    def pairs(self, log: JudgementLog) -> AnnotatorPairs:
        met = np.zeros((self._people, self._people))
        same = np.zeros_like(met)
        counts = [np.zeros_like(met) for _ in self._answers]
        span = len(log.items) * len(log.concepts)
        # Single precision counts exactly up to 2**24, far more than the units of a block.
        width = min(span, max(64, BLOCK_CELLS // (self._people * len(self._answers))), 1 << 20)
        for start in range(0, span, width):
            answers = [
                self._block(annotator, unit, start, width) for annotator, unit in self._answers
            ]
            judged = np.sum(answers, axis=0)
            met += judged @ judged.T
            for k, answer in enumerate(answers):
                same += answer @ answer.T
                counts[k] += answer @ judged.T
        first, second = np.nonzero(np.triu(met, k=1))
        return _finish(
            log,
            first,
            second,
            met[first, second],
            same[first, second],
            [(m[first, second], m[second, first]) for m in counts],
        )

    def _block(
        self, annotator: NDArray[np.int32], unit: NDArray[np.int64], start: int, width: int
    ) -> NDArray[np.float32]:
        inside = (unit >= start) & (unit < start + width)
        table = np.zeros((self._people, width), dtype=np.float32)
        table[annotator[inside], unit[inside] - start] = 1
        return table


def _finish(
    log: JudgementLog,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    units: Floats,
    same: Floats,
    counts: list[tuple[Floats, Floats]],
) -> AnnotatorPairs:
    """Coefficients from units with the same answer and, per answer, how often each gave it."""
    n = np.asarray(units, dtype=np.float64)
    identical = same / n
    cohen = np.zeros(n.size)
    scott = np.zeros(n.size)
    for first_count, second_count in counts:
        cohen += first_count * second_count / n**2
        scott += ((first_count + second_count) / (2 * n)) ** 2
    return AnnotatorPairs(
        log.annotators,
        first,
        second,
        n,
        identical,
        _beyond_chance(identical, cohen),
        _beyond_chance(identical, scott),
    )


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    attainable = 1 - chance
    result = np.full(observed.size, np.nan)
    np.divide(observed - chance, attainable, out=result, where=attainable > 1e-12)
    return result
