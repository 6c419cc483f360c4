"""Expectation maximisation for models of annotators who confuse answers.

Every model here says that an annotator answers l to a unit whose true answer is k with a
probability that depends on the annotator, l and k alone. The models differ in how many free
numbers that leaves an annotator; the expectation step is the same for all of them.

Only the pairs of an annotator and an answer that occur are kept ("voices"), so that memory
grows with the judgements and not with annotators x answers. Both steps are products with one
sparse matrix voices x units.

An annotator of few judgements would be believed for having agreed with a truth that the same
judgements made. Two things keep the probabilities honest: a prior, and a second round in which
the truth of a unit is weighed with tables learnt from all other units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import row_max, row_sum, sum_by
from cranfield.data.judgement_log import Floats
from cranfield.notes import Progress

# The least probability that a model gives to an answer: one surprise never rules a truth out.
LEAST = 1e-10
# Judgements of one block of the second round: its tables stay in the cache of a core.
BLOCK = 1 << 13
# A unit is unsettled when the last step still moved one of its probabilities by this much.
MOVING = 0.01

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Voices:
    """Judgements as voices: `annotator` and `answer` of each, and how often it spoke on a unit.

    `voice` and `unit` are those of every judgement, in the order of the units.
    """

    annotator: Integers
    answer: Integers
    spoken: Any
    voice: Integers
    unit: Integers
    annotators: int
    answers: int

    @classmethod
    def of(
        cls,
        annotator: NDArray[np.int32],
        unit: Integers,
        value: NDArray[np.integer[Any]],
        *,
        annotators: int,
        units: int,
        answers: int,
    ) -> Voices:
        from scipy import sparse

        key = annotator.astype(np.int64) * answers + value
        present = np.zeros(annotators * answers, dtype=bool)
        present[key] = True
        voices = np.flatnonzero(present)
        row = (np.cumsum(present) - 1)[key]
        spoken = sparse.csr_matrix(
            (np.ones(key.size), (row, unit)), shape=(voices.size, units), dtype=np.float64
        )
        order = np.argsort(unit, kind="stable")
        return cls(
            voices // answers,
            voices % answers,
            spoken,
            row[order],
            np.asarray(unit)[order],
            annotators,
            answers,
        )

    def sums(self, posterior: Floats) -> Floats:
        """For each voice the expected number of its judgements by true answer."""
        return np.asarray(self.spoken @ posterior)

    def hits(self, table: Floats) -> Floats:
        """For each voice the entry of a table voices x answers where its answer is the true one."""
        return np.asarray(table[np.arange(self.answer.size), self.answer])

    def per_annotator(self, values: Floats) -> Floats:
        """Values of voices summed for each annotator."""
        return sum_by(self.annotator, values, self.annotators)


# What a model has learnt: for some voices (by their numbers) the probability of their answer by
# true answer, after the counts in the second argument (voices x answers, or 0) are taken away.
Answering: TypeAlias = Callable[[Integers, Floats], Floats]
# From the expected counts of voices to what they teach; the third argument is the probability of
# each voice as the last step left it, None at the start.
Model: TypeAlias = Callable[[Voices, Floats, Floats | None], Answering]


@dataclass(frozen=True, eq=False)
class Fit:
    """What expectation maximisation found; `moving` units had not settled when it ended."""

    posterior: Floats
    prior: Floats
    voices: Voices
    probability: Floats
    expected: Floats
    log_likelihood: tuple[float, ...]
    converged: bool
    moving: int = 0


@dataclass(frozen=True, slots=True)
class Steps:
    """How a model is fitted.

    `tolerance` is the largest change of a probability at which the steps end, `base` the units
    that every answer has beforehand (0: frequencies as they are); with `leave_out` the second
    round is done.
    """

    iterations: int = 500
    tolerance: float = 1e-4
    learn_prior: bool = True
    base: float = 0.0
    leave_out: bool = False


def expectation_maximisation(
    voices: Voices,
    start: Floats,
    model: Model,
    steps: Steps,
    *,
    known: Integers | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Fit a model, from first opinions on every unit (its votes).

    `known` has the true answer of units where it is given and -1 elsewhere.
    """
    told = Progress.of(progress)
    every = np.arange(voices.answer.size)
    by_unit = voices.spoken.T.tocsr()
    posterior = _with_known(start.copy(), known)
    probability: Floats | None = None
    history: list[float] = []
    change = np.zeros(len(start))
    leaving, converged = False, False
    for step in range(steps.iterations):
        prior = _prior(posterior, steps)
        answering = model(voices, voices.sums(posterior), probability)
        probability = answering(every, np.zeros((1, 1)))
        if leaving:
            after = _expect_left_out(voices, answering, posterior, steps)
        else:
            after, likelihood = _expect(by_unit, prior, probability)
            history.append(likelihood)
        after = _with_known(after, known)
        change = row_max(np.abs(after - posterior))
        posterior = after
        told((step + 1) / steps.iterations)
        if float(change.max(initial=0.0)) <= steps.tolerance:
            if leaving or not steps.leave_out:
                converged = True
                break
            leaving = True
    expected = voices.sums(posterior)
    probability = model(voices, expected, probability)(every, np.zeros((1, 1)))
    return Fit(
        posterior,
        _prior(posterior, steps),
        voices,
        probability,
        expected,
        tuple(history),
        converged,
        int(np.count_nonzero(change > MOVING)),
    )


def _expect(by_unit: Any, prior: Floats, probability: Floats) -> tuple[Floats, float]:
    """The probability of each true answer of each unit, and the log-likelihood of the log."""
    return _shares(np.asarray(by_unit @ np.log(probability)), prior)


def _expect_left_out(
    voices: Voices, answering: Answering, posterior: Floats, steps: Steps
) -> Floats:
    """The same, each unit with what was learnt from all other units."""
    score = np.zeros_like(posterior)
    for start in range(0, voices.unit.size, BLOCK):
        block = slice(start, start + BLOCK)
        unit = voices.unit[block]
        logs = answering(voices.voice[block], posterior[unit])
        np.log(logs, out=logs)
        first = np.flatnonzero(np.diff(unit, prepend=-1))
        # A unit may stand at the end of one block and at the start of the next.
        score[unit[first]] += np.add.reduceat(logs, first, axis=0)
    if not steps.learn_prior:
        return _shares(score, _prior(posterior, steps))[0]
    others = posterior.sum(axis=0) + steps.base - posterior
    return _shares(score, others / row_sum(others)[:, None])[0]


def _shares(score: Floats, prior: Floats) -> tuple[Floats, float]:
    score += np.log(np.maximum(prior, LEAST))
    # Shifted so that the largest is zero: products of many small numbers would vanish.
    top = row_max(score)
    score -= top[:, None]
    np.exp(score, out=score)
    total = row_sum(score)
    score /= total[:, None]
    return score, float((np.log(total) + top).sum())


def _prior(posterior: Floats, steps: Steps) -> Floats:
    """How frequent each true answer is."""
    answers = posterior.shape[1]
    if not steps.learn_prior:
        return np.full(answers, 1 / answers)
    return np.asarray(
        (posterior.sum(axis=0) + steps.base) / (len(posterior) + steps.base * answers)
    )


def _with_known(posterior: Floats, known: Integers | None) -> Floats:
    if known is not None:
        given = np.flatnonzero(known >= 0)
        posterior[given] = 0.0
        posterior[given, known[given]] = 1.0
    return posterior
