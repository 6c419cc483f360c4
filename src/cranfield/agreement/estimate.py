"""How likely each answer is the true one, for every unit of a log, by votes or by a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import sum_by
from cranfield.agreement._em import Fit, Integers, Steps, Voices, expectation_maximisation
from cranfield.agreement.choices import Ties
from cranfield.agreement.majority import Votes, unit_rows, vote
from cranfield.agreement.priors import (
    BASE,
    ModelName,
    model_of,
    too_little,
    usual_accuracy,
    usual_strength,
)
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.errors import NeedsError, UsageError
from cranfield.notes import Notes, Progress

Gold: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Confusions:
    """What a model learnt of annotators about one question.

    `prior` is the share of units that each answer is true of. Row i says how likely
    `annotator[i]` gives the answer `answer[i]` by true answer; both are codes. `likelihood` is
    the log-likelihood of the judgements after each step; `settled` says whether the steps came
    to an end, and `moving` how many units had not.
    """

    concept: str
    answers: tuple[str, ...]
    prior: Floats
    annotator: NDArray[np.int64]
    answer: NDArray[np.int64]
    probability: Floats
    likelihood: tuple[float, ...]
    settled: bool
    moving: int


@dataclass(frozen=True, eq=False)
class Estimate:
    """Probabilities of answers (units x answers of the log) and what they say of annotators.

    `right` has the expected number of right answers of each annotator, `given` how many of
    them were looked at.
    """

    item: NDArray[np.int64]
    concept: NDArray[np.int64]
    probability: Floats
    right: Floats
    given: Floats
    tables: tuple[Confusions, ...] = ()


@dataclass(frozen=True, slots=True)
class Fitting:
    """How a model is fitted; see `aggregate_judgements` for the names."""

    model: ModelName
    share: bool = False
    prior: float | None = None
    smoothing: float | None = None
    iterations: int = 500
    tolerance: float = 1e-4

    def steps(self) -> Steps:
        plain = self.prior == 0 or self.smoothing is not None
        return Steps(
            self.iterations,
            self.tolerance,
            # The paper of MACE takes all answers to be as frequent; people's are not.
            learn_prior=not (self.model == "mace" and plain),
            base=0.0 if plain else BASE,
            leave_out=not plain,
        )


def voted(log: JudgementLog, weights: Floats | None = None, ties: Ties = "undecided") -> Estimate:
    """The share of the votes that each answer got."""
    votes = vote(log, weights=weights, ties=ties)
    _, row = unit_rows(log)
    people = len(log.annotators)
    right = sum_by(log.annotator, votes.merit[row, log.value], people)
    given = np.bincount(log.annotator, minlength=people).astype(np.float64)
    return Estimate(votes.item, votes.concept, votes.share, right, given)


def rated(log: JudgementLog, by: Literal["mean", "median"]) -> tuple[Estimate, Floats]:
    """The mean or the median of the numbers given to each unit, beside the share of each.

    The judgement of an annotator is right as far as it equals the number.
    """
    levels = log.levels
    if levels is None:
        raise NeedsError(f"the {by} needs numbers as answers, the log has names")
    found = voted(log)
    _, row = unit_rows(log)
    given = levels[log.value]
    if by == "mean":
        numbers = found.probability @ levels
    else:
        order = np.lexsort((given, row))
        ends = np.cumsum(np.bincount(row))
        starts = np.concatenate([[0], ends[:-1]])
        ranked = given[order]
        numbers = (ranked[(starts + ends - 1) // 2] + ranked[(starts + ends) // 2]) / 2
    right = sum_by(log.annotator, given == numbers[row], len(log.annotators))
    return replace(found, right=right), np.asarray(numbers)


def modelled(
    log: JudgementLog,
    fitting: Fitting,
    gold: Gold | None,
    notes: Notes,
    progress: Progress,
) -> Estimate:
    """Probabilities by a model, fitted to each concept on its own or to all together."""
    votes = vote(log)
    units, row = unit_rows(log)
    people = len(log.annotators)
    posterior = np.zeros_like(votes.share)
    right = np.zeros(people)
    tables: list[Confusions] = []
    parts = _parts(log, votes, row, fitting.share)
    for done, (name, chosen, judged, answers) in enumerate(parts):
        place = np.full(len(log.values) + 1, -1, dtype=np.int64)
        place[answers] = np.arange(answers.size)
        voices = Voices.of(
            log.annotator[judged],
            (np.cumsum(chosen) - 1)[row[judged]],
            place[log.value[judged]],
            annotators=people,
            units=int(chosen.sum()),
            answers=answers.size,
        )
        # The last place stands for -1, the code of an unknown answer.
        known = None if gold is None else place[gold.ravel()[units[chosen]]]
        share = votes.share[np.ix_(chosen, answers)]
        step = progress.part(done / len(parts), (done + 1) / len(parts))
        fit = _fit(voices, share, votes.counts[chosen], fitting, known, step)
        posterior[np.ix_(chosen, answers)] = fit.posterior
        right += voices.per_annotator(voices.hits(fit.expected))
        tables.append(_confusions(name, tuple(log.values[a] for a in answers), fit))
        if fitting.prior is None and fitting.smoothing is None:
            poor = too_little(fitting.model, voices)
            if poor:
                notes.add(poor)
    given = np.bincount(log.annotator, minlength=people).astype(np.float64)
    return Estimate(votes.item, votes.concept, posterior, right, given, tuple(tables))


def _fit(
    voices: Voices,
    share: Floats,
    counts: NDArray[np.int64],
    fitting: Fitting,
    known: Integers | None,
    progress: Progress,
) -> Fit:
    answers = share.shape[1]
    if fitting.smoothing is not None:
        right, strength = 1 / answers, fitting.smoothing * answers
    else:
        table = share * counts[:, None]
        right = usual_accuracy(table)
        strength = fitting.prior
        if strength is None:
            strength = usual_strength(voices, table, right)
    model = model_of(fitting.model, right, answers, strength)
    return expectation_maximisation(
        voices, share, model, fitting.steps(), known=known, progress=progress
    )


def _confusions(name: str, answers: tuple[str, ...], fit: Fit) -> Confusions:
    return Confusions(
        name,
        answers,
        fit.prior,
        fit.voices.annotator,
        fit.voices.answer,
        fit.probability,
        fit.log_likelihood,
        fit.converged,
        fit.moving,
    )


Part: TypeAlias = tuple[str, NDArray[np.bool_], NDArray[np.bool_], Integers]


def _parts(log: JudgementLog, votes: Votes, row: NDArray[np.int64], share: bool) -> list[Part]:
    """What is fitted together: (name, its units, its judgements, the answers it allows)."""
    if log.allowed is None and (share or len(log.concepts) == 1):
        every = np.array(log.answers_of(0), dtype=np.int64)
        everything = np.ones(votes.item.size, dtype=bool), np.ones(row.size, dtype=bool)
        return [(log.concepts[0] if len(log.concepts) == 1 else "all", *everything, every)]
    if share and len(log.concepts) > 1:
        raise UsageError("groups of different categories cannot share confusions")
    present = np.bincount(log.concept, minlength=len(log.concepts)) > 0
    return [
        (name, votes.concept == c, log.concept == c, np.array(log.answers_of(c), dtype=np.int64))
        for c, name in enumerate(log.concepts)
        if present[c]
    ]
