"""Pairs of annotators who say the same more often than two people can who look for themselves.

Two people agree because both are right, because both have the same leaning, or because one has
copied. What the first two explain is taken from a model of the truth (in which somebody who is
better than the crowd is known to be) and from what each of them answers to it, question by
question; only agreement far beyond that is a sign.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import ratio
from cranfield.agreement.consensus import FEWEST, Consensus, sums
from cranfield.agreement.estimate import Fitting, modelled
from cranfield.agreement.majority import unit_rows
from cranfield.agreement.pairwise import AnnotatorPairs, pairwise
from cranfield.agreement.signs import ALPHA, Sign, Signs
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.notes import Notes, Progress

# Disagrees with the original at most this part of what two honest people would.
COPY_PART = 0.25
# Judgements of the crowd that are added to an annotator's own answers to a question.
LEANING = 0.1


def find_copies(
    log: JudgementLog,
    others: Consensus,
    signs: Signs,
    habitual: NDArray[np.bool_],
    seconds: Floats,
    named: NDArray[np.bool_],
) -> None:
    """Name the copier of each suspicious pair; those of who is `named` already need no other."""
    from scipy.stats import poisson

    pairs = pairwise(log)
    if not len(pairs):
        return
    candidates = _candidates(log, others, pairs, habitual)
    if not candidates.size:
        return
    answers = _Answers(log)
    for p in candidates.tolist():
        a, b = int(pairs.first[p]), int(pairs.second[p])
        if named[a] or named[b]:
            continue
        expected = answers.disagreement(a, b)
        units = float(pairs.units[p])
        seen = (1 - float(pairs.accuracy[p])) * units
        if seen > COPY_PART * expected or poisson.cdf(seen, expected) >= ALPHA / len(pairs):
            continue
        original, copier = _who_copied(log, a, b, seconds)
        signs[copier].append(
            Sign(
                "copy",
                f"copies {log.annotators[original]!r}: the same answer to {pairs.accuracy[p]:.0%} "
                f"of {units:.0f} units (expected: {1 - expected / units:.0%})",
            )
        )


def _candidates(
    log: JudgementLog, others: Consensus, pairs: AnnotatorPairs, habitual: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Pairs that agree far more than either of them does with anybody else."""
    from scipy.stats import binom

    heard = ~np.isnan(others.same)
    usual = ratio(sums(log, np.where(heard, others.same, 0.0)), sums(log, heard))
    usually = np.maximum(usual[pairs.first], usual[pairs.second])
    usually = np.clip(np.nan_to_num(usually, nan=1.0), 0, 1)
    tail = binom.sf(np.rint(pairs.accuracy * pairs.units) - 1, pairs.units, usually)
    suspicious = (tail < ALPHA / len(pairs)) & (pairs.units >= FEWEST)
    suspicious &= 1 - pairs.accuracy <= COPY_PART * (1 - usually)
    suspicious &= ~(habitual[pairs.first] & habitual[pairs.second])
    return np.flatnonzero(suspicious)


class _Answers:
    """What each annotator answers to each question by its likely truth."""

    def __init__(self, log: JudgementLog) -> None:
        self._log = log
        found = modelled(log, Fitting("one-coin"), None, Notes(), Progress())
        _, self._row = unit_rows(log)
        self._truth = found.probability
        q, c = len(log.values), len(log.concepts)
        # (question, true answer, answer): what the crowd says.
        self._crowd = np.zeros((c, q, q))
        for k in range(q):
            cell = log.concept.astype(np.int64) * q + log.value
            weight = self._truth[self._row, k]
            self._crowd[:, k, :] = np.bincount(cell, weight, c * q).reshape(c, q)
        self._crowd += 1 / q
        self._crowd /= self._crowd.sum(axis=2, keepdims=True)

    def _of(self, a: int) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Tables of one annotator, the units of the judgements and their questions."""
        log = self._log
        mine = np.flatnonzero(log.annotator == a)
        mine_of = log.concept[mine].astype(np.int64)
        table = LEANING * self._crowd.copy()
        for k in range(len(log.values)):
            np.add.at(
                table[:, k, :],
                (log.concept[mine], log.value[mine]),
                self._truth[self._row[mine], k],
            )
        return table / table.sum(axis=2, keepdims=True), self._row[mine], mine_of

    def disagreement(self, a: int, b: int) -> float:
        """On how many shared units two honest people of this kind would disagree."""
        first, units, questions = self._of(a)
        second, others, _ = self._of(b)
        _, here, _ = np.intersect1d(units, others, return_indices=True)
        unit, question = units[here], questions[here]
        # For each question and truth the chance that both say the same.
        alike = (first * second).sum(axis=2)
        apart = 1 - (self._truth[unit] * alike[question]).sum(axis=1)
        return float(apart.sum())


def _who_copied(log: JudgementLog, a: int, b: int, seconds: Floats) -> tuple[int, int]:
    """(original, copier): the much faster one copied, or else the one that came later."""
    if not math.isnan(seconds[a]) and not math.isnan(seconds[b]):
        if seconds[a] < seconds[b] / 2:
            return b, a
        if seconds[b] < seconds[a] / 2:
            return a, b
    unit = log.item.astype(np.int64) * len(log.concepts) + log.concept
    mine, theirs = np.flatnonzero(log.annotator == a), np.flatnonzero(log.annotator == b)
    _, i, j = np.intersect1d(unit[mine], unit[theirs], return_indices=True)
    a_first = np.count_nonzero(mine[i] < theirs[j]) * 2 >= i.size
    return (a, b) if a_first else (b, a)
