"""Expectation maximisation for models of annotators who confuse answers.

Every model here says that an annotator answers l to a unit whose true answer is k with a
probability that depends on the annotator, l and k alone. The models differ in how many free
numbers that leaves an annotator; the expectation step is the same for all of them.

Only the pairs of an annotator and an answer that occur are kept ("voices"), so that memory
grows with the judgements and not with annotators x answers. Both steps are products with one
sparse matrix voices x units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import row_max, row_sum, sum_by
from cranfield.data.judgement_log import Floats

# The least probability that a model gives to an answer: one surprise never rules a truth out.
LEAST = 1e-10

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Voices:
    """Judgements as voices: `annotator` and `answer` of each, and how often it spoke on a unit."""

    annotator: Integers
    answer: Integers
    spoken: Any
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
        return cls(voices // answers, voices % answers, spoken, annotators, answers)

    def sums(self, posterior: Floats) -> Floats:
        """For each voice the expected number of its judgements by true answer."""
        return np.asarray(self.spoken @ posterior)

    def hits(self, table: Floats) -> Floats:
        """For each voice the entry of a table voices x answers where its answer is the true one."""
        return np.asarray(table[np.arange(self.answer.size), self.answer])

    def per_annotator(self, values: Floats) -> Floats:
        """Values of voices summed for each annotator."""
        return sum_by(self.annotator, values, self.annotators)


# From the expected counts of voices to the probability of each voice by true answer; the third
# argument is that probability as the last step left it, None at the start.
Maximise: TypeAlias = Callable[[Voices, Floats, Floats | None], Floats]


@dataclass(frozen=True, eq=False)
class Fit:
    """What expectation maximisation found."""

    posterior: Floats
    prior: Floats
    voices: Voices
    probability: Floats
    expected: Floats
    log_likelihood: tuple[float, ...]
    converged: bool


def expectation_maximisation(
    voices: Voices,
    start: Floats,
    maximise: Maximise,
    *,
    known: Integers | None = None,
    learn_prior: bool = True,
    iterations: int = 100,
    tolerance: float = 1e-6,
    progress: Callable[[float], None] | None = None,
) -> Fit:
    """Fit a model, from first opinions on every unit (its votes).

    `known` has the true answer of units where it is given and -1 elsewhere. The steps end when
    the log-likelihood per judgement grows by less than `tolerance`.
    """
    judgements = float(voices.spoken.sum())
    by_unit = voices.spoken.T.tocsr()
    posterior = _with_known(start.copy(), known)
    prior = _prior(posterior, learn_prior)
    expected = voices.sums(posterior)
    probability = maximise(voices, expected, None)
    history: list[float] = []
    converged = False
    for step in range(iterations):
        posterior, likelihood = _expect(by_unit, prior, probability)
        posterior = _with_known(posterior, known)
        prior = _prior(posterior, learn_prior)
        expected = voices.sums(posterior)
        probability = maximise(voices, expected, probability)
        history.append(likelihood)
        if progress is not None:
            progress((step + 1) / iterations)
        if len(history) > 1 and history[-1] - history[-2] < tolerance * judgements:
            converged = True
            break
    return Fit(posterior, prior, voices, probability, expected, tuple(history), converged)


def _expect(by_unit: Any, prior: Floats, probability: Floats) -> tuple[Floats, float]:
    """The probability of each true answer of each unit, and the log-likelihood of the log."""
    score = np.asarray(by_unit @ np.log(probability))
    score += np.log(np.maximum(prior, LEAST))
    # Shifted so that the largest is zero: products of many small numbers would vanish.
    top = row_max(score)
    score -= top[:, None]
    np.exp(score, out=score)
    total = row_sum(score)
    score /= total[:, None]
    return score, float((np.log(total) + top).sum())


def _prior(posterior: Floats, learn: bool) -> Floats:
    if learn:
        return np.asarray(posterior.mean(axis=0))
    return np.full(posterior.shape[1], 1 / posterior.shape[1])


def _with_known(posterior: Floats, known: Integers | None) -> Floats:
    if known is not None:
        given = np.flatnonzero(known >= 0)
        posterior[given] = 0.0
        posterior[given, known[given]] = 1.0
    return posterior


def normalised(voices: Voices, weight: Floats, beside: Floats | float = 0.0) -> Floats:
    """Weights of voices as probabilities of an annotator's answers, by true answer.

    They sum to one over the voices of an annotator, or to less when `beside` has weight for
    the answers that the annotator never gave.
    """
    total = np.empty((voices.annotators, weight.shape[1]))
    for k, column in enumerate(weight.T):
        total[:, k] = voices.per_annotator(column) + beside
    return np.asarray(weight / total[voices.annotator])
