"""Dawid and Skene (1979): every annotator has a full table of how answers are confused."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.majority import Votes, ratio, row_max, row_sum, sum_by, unit_rows, vote
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.errors import NeedsError, UsageError
from cranfield.notes import Notes, Progress
from cranfield.options import VoteTies
from cranfield.validation import as_array


def dawid_skene(before: Floats) -> Model:
    """The maximisation step, with judgements that every annotator is taken to have given.

    `before` has their number by answer (rows) and true answer (columns); none of them is the
    estimate of the paper.
    """

    def learn(responses: Responses, expected: Floats, _previous: Floats | None) -> Answering:
        # Table of each voice with what was given before, and that of all its annotator's answers.
        answer_counts = expected + before[responses.answer]
        answer_totals = np.empty_like(expected)
        for k, column in enumerate(expected.T):
            total = responses.per_annotator(np.maximum(column, LEAST)) + before[:, k].sum()
            answer_totals[:, k] = total[responses.annotator]

        def answering(rows: Integers, left_out: Floats) -> Floats:
            # In place: this is the costly line of the last pass.
            counts, totals = answer_counts[rows], answer_totals[rows]
            counts -= left_out
            totals -= left_out
            np.maximum(counts, LEAST, out=counts)
            counts /= np.maximum(totals, LEAST, out=totals)
            return counts

        return answering

    return learn


def mace(knowing_prior: float = 0.0, spamming_prior: float = 0.0, habit: float = 0.0) -> Model:
    """The maximisation step, with the hidden choice between knowing and spamming summed out.

    Every annotator is taken to have given `knowing_prior` answers by knowing and
    `spamming_prior` by spamming before, and `habit` spammed answers of every kind.
    """

    def learn(responses: Responses, expected: Floats, previous: Floats | None) -> Answering:
        answer_counts = expected.sum(axis=1)
        # Of the answers that fit the truth, the part that was known rather than spammed.
        part = (
            np.full(answer_counts.size, responses.answers / (responses.answers + 1))
            if previous is None
            else 1 - _spam(responses, previous) / responses.hits(previous)
        )
        knew = responses.hits(expected) * part
        every = responses.per_annotator(answer_counts) + knowing_prior + spamming_prior
        knowing = responses.per_annotator(knew) + knowing_prior
        spam = np.maximum(answer_counts - knew, 0.0)
        spamming = responses.per_annotator(spam) + habit * responses.answers

        def answering(rows: Integers, left_out: Floats) -> Floats:
            line, annotator, answer = (
                np.arange(rows.size),
                responses.annotator[rows],
                responses.answer[rows],
            )
            removed = np.broadcast_to(left_out, (rows.size, responses.answers))
            judged = removed.sum(axis=1)
            hit = removed[line, answer] * part[rows]
            theta = (knowing[annotator] - hit) / np.maximum(every[annotator] - judged, LEAST)
            theta = np.clip(theta, 0.0, 1.0)
            spam_total = np.maximum(spamming[annotator] - judged + hit, LEAST)
            habits = np.maximum(spam[rows] - judged + hit + habit, LEAST) / spam_total
            probability = np.repeat(
                ((1 - theta) * np.minimum(habits, 1.0))[:, None], responses.answers, axis=1
            )
            probability[line, answer] += theta
            return np.asarray(np.maximum(probability, LEAST))

        return answering

    return learn


def _spam(responses: Responses, probability: Floats) -> Floats:
    """The probability of a voice when its answer is wrong: then it can only be spam."""
    wrong = np.where(responses.answer == 0, 1, 0) if responses.answers > 1 else responses.answer
    return np.asarray(probability[np.arange(responses.answer.size), wrong])


def one_coin(correct: float = 0.0, wrong: float = 0.0) -> Model:
    """The maximisation step: the expected share of right answers of each annotator.

    `correct` and `wrong` are answers that every annotator is taken to have given before.
    """

    def learn(responses: Responses, expected: Floats, _previous: Floats | None) -> Answering:
        judged = responses.per_annotator(expected.sum(axis=1)) + correct + wrong
        hits = responses.per_annotator(responses.hits(expected)) + correct

        def answering(rows: Integers, left_out: Floats) -> Floats:
            line, annotator, answer = (
                np.arange(rows.size),
                responses.annotator[rows],
                responses.answer[rows],
            )
            removed = np.broadcast_to(left_out, (rows.size, responses.answers))
            share = (hits[annotator] - removed[line, answer]) / np.maximum(
                judged[annotator] - removed.sum(axis=1), LEAST
            )
            share = np.clip(share, LEAST, 1 - LEAST)
            others = max(responses.answers - 1, 1)
            probability = np.repeat((1 - share)[:, None] / others, responses.answers, axis=1)
            probability[line, answer] = share
            return probability

        return answering

    return learn


ModelName: TypeAlias = Literal["dawid-skene", "one-coin", "mace"]
MODELS: tuple[ModelName, ...] = ("dawid-skene", "one-coin", "mace")
# Judgements that the usual member of the crowd counts for: in a table, in knowing or spamming,
# and at most in one share of right answers.
PRIOR = 4.0
MACE_PRIOR = 6.0
COIN_PRIOR = 15.0
# As many at least, however different the annotators are.
WEAKEST = 1.0
# Votes that every unit has before the first, spread evenly over its answers.
VOTE_PRIOR = 1.0
# Units that every answer has before the first one.
BASE = 1.0
# Spammed answers of all kinds together that MACE takes every annotator to have given.
HABIT = 2.0
# Bounds of an annotator's prior accuracy: at most this, and at least this far above chance.
SUREST = 0.95
ABOVE_CHANCE = 0.1
# At the median fewer judgements than these per annotator teach a model nothing of people.
FEW = 10


def usual_accuracy(counts: Floats) -> float:
    """How often a usual annotator is right, from how often two of them agree.

    `counts` has the judgements of each unit by answer. Two people who are right with
    probability m and otherwise err evenly over q - 1 answers agree with probability
    m**2 + (1 - m)**2 / (q - 1).
    """
    answers = counts.shape[1]
    per_unit = counts.sum(axis=1)
    paired = per_unit >= 2
    others = max(answers - 1, 1)
    agreed = 1.0
    if paired.any():
        same = (counts * (counts - 1)).sum(axis=1)[paired]
        agreed = float((same / (per_unit * (per_unit - 1))[paired]).mean())
    # The larger root of (1 + 1/k) m**2 - (2/k) m + 1/k - agreed = 0, k wrong answers.
    a, b, c = 1 + 1 / others, -2 / others, 1 / others - agreed
    root = (-b + math.sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a)
    return float(min(max(root, 1 / answers + ABOVE_CHANCE), SUREST))


def usual_strength(responses: Responses, counts: Floats, accuracy: float) -> float:
    """How many judgements it takes to know an annotator better than the crowd.

    The more annotators differ from each other, the fewer. They agree with the others in a
    share that is linear in how often they are right; the spread of that share beyond what
    chance gives is the spread of a beta distribution.
    """
    per_unit = counts.sum(axis=1)[responses.unit]
    paired = per_unit >= 2
    answer, unit = responses.answer[responses.voice][paired], responses.unit[paired]
    same = (counts[unit, answer] - 1) / (per_unit[paired] - 1)
    annotator = responses.annotator[responses.voice][paired]
    n = np.bincount(annotator, minlength=responses.annotators)
    measured = n >= FEW
    if np.count_nonzero(measured) < 3:
        return COIN_PRIOR
    mean = ratio(sum_by(annotator, same, n.size), n)[measured]
    square = ratio(sum_by(annotator, same**2, n.size), n)[measured]
    chance = float(((square - mean**2) / (n[measured] - 1)).mean())
    slope = accuracy - (1 - accuracy) / max(counts.shape[1] - 1, 1)
    spread = (float(mean.var(ddof=1)) - chance) / slope**2
    if spread <= 0:
        return COIN_PRIOR
    return float(np.clip(accuracy * (1 - accuracy) / spread - 1, WEAKEST, COIN_PRIOR))


def pooled_table(responses: Responses, share: Floats, accuracy: float) -> Floats:
    """How the whole crowd answers (rows) by what is voted true (columns), as probabilities.

    An answer that hardly anybody gave has the table of somebody who is right as often as usual
    and else errs evenly.
    """
    answers = share.shape[1]
    table = np.full((answers, answers), (1 - accuracy) / max(answers - 1, 1))
    np.fill_diagonal(table, accuracy)
    table *= BASE
    np.add.at(table, responses.answer, responses.sums(share))
    return np.asarray(table / table.sum(axis=0))


def model_of(name: ModelName, usual: Floats, accuracy: float, strength: float) -> Model:
    """A model in which every annotator begins as a usual member of the crowd.

    `usual` is the table of that member by answer and true answer, `accuracy` how often it is
    right, `strength` how many judgements that counts for.
    """
    if name == "dawid-skene":
        return dawid_skene(strength * usual)
    if name == "one-coin":
        return one_coin(strength * accuracy, strength * (1 - accuracy))
    if strength == 0:
        return mace()
    # Who knows is right, and who spams is right by chance.
    answers = len(usual)
    knows = max((accuracy - 1 / answers) / max(1 - 1 / answers, 1e-9), 0.05)
    return mace(strength * knows, strength * (1 - knows), HABIT / answers)


def sparse_data_note(name: ModelName, responses: Responses) -> str:
    """A sentence where the judgements cannot teach a model, or nothing."""
    judgements = responses.per_annotator(np.asarray(responses.spoken.sum(axis=1)).ravel())
    typical = float(np.median(judgements[judgements > 0])) if (judgements > 0).any() else 0.0
    if typical < FEW:
        return (
            f"half of the annotators gave {typical:.0f} judgements or fewer: too little for "
            f"{name} to learn about people; the plain majority is as good"
        )
    return ""


# The least probability that a model gives to an answer: one surprise never rules a truth out.
LEAST = 1e-10
# Judgements of one block of the last pass: its tables stay in the cache of a core.
BLOCK = 1 << 13
# A unit is unsettled when the last step still moved one of its probabilities by this much.
MOVING = 0.01

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Responses:
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
    ) -> Responses:
        from scipy import sparse

        key = annotator.astype(np.int64) * answers + value
        present = np.zeros(annotators * answers, dtype=bool)
        present[key] = True
        responses = np.flatnonzero(present)
        row = (np.cumsum(present) - 1)[key]
        spoken = sparse.csr_matrix(
            (np.ones(key.size), (row, unit)), shape=(responses.size, units), dtype=np.float64
        )
        order = np.argsort(unit, kind="stable")
        return cls(
            responses // answers,
            responses % answers,
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
Model: TypeAlias = Callable[[Responses, Floats, Floats | None], Answering]


@dataclass(frozen=True, eq=False)
class Fit:
    """What expectation maximisation found; `moving` units had not settled when it ended."""

    posterior: Floats
    prior: Floats
    voices: Responses
    probability: Floats
    expected: Floats
    log_likelihood: tuple[float, ...]
    converged: bool
    moving: int = 0


@dataclass(frozen=True, slots=True)
class Steps:
    """How a model is fitted.

    `tolerance` is the largest change of a probability at which the steps end, `base` the units
    that every answer has beforehand (0: frequencies as they are); with `leave_out` the last
    probabilities of each unit come from what the other units taught.
    """

    iterations: int = 500
    tolerance: float = 1e-4
    learn_prior: bool = True
    base: float = 0.0
    leave_out: bool = False


def expectation_maximisation(
    responses: Responses,
    start: Floats,
    model: Model,
    steps: Steps,
    *,
    gold: Integers | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Fit a model, from first opinions on every unit (its votes).

    `gold` has the true answer of units where it is given and -1 elsewhere.
    """
    watcher = Progress.of(progress)
    every = np.arange(responses.answer.size)
    by_unit = responses.spoken.T.tocsr()
    posterior = _with_known(start.copy(), gold)
    probability: Floats | None = None
    history: list[float] = []
    change = np.zeros(len(start))
    converged = False
    for step in range(steps.iterations):
        prior = _prior(posterior, steps)
        answering = model(responses, responses.sums(posterior), probability)
        probability = answering(every, np.zeros((1, 1)))
        after, likelihood = _expect(by_unit, prior, probability)
        history.append(likelihood)
        after = _with_known(after, gold)
        change = row_max(np.abs(after - posterior))
        posterior = after
        watcher((step + 1) / steps.iterations)
        if float(change.max(initial=0.0)) <= steps.tolerance:
            converged = True
            break
    expected = responses.sums(posterior)
    answering = model(responses, expected, probability)
    probability = answering(every, np.zeros((1, 1)))
    if steps.leave_out:
        posterior = _with_known(_expect_left_out(responses, answering, posterior, steps), gold)
        expected = responses.sums(posterior)
    return Fit(
        posterior,
        _prior(posterior, steps),
        responses,
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
    responses: Responses, answering: Answering, posterior: Floats, steps: Steps
) -> Floats:
    """The same, each unit with what was learnt from all other units."""
    score = np.zeros_like(posterior)
    for start in range(0, responses.unit.size, BLOCK):
        block = slice(start, start + BLOCK)
        unit = responses.unit[block]
        logs = answering(responses.voice[block], posterior[unit])
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


def _with_known(posterior: Floats, gold: Integers | None) -> Floats:
    if gold is not None:
        rows = np.flatnonzero(gold >= 0)
        posterior[rows] = 0.0
        posterior[rows, gold[rows]] = 1.0
    return posterior


Gold: TypeAlias = NDArray[np.int32]


def known_answers(log: JudgementLog, gold: Gold) -> Gold:
    """Gold as a table of items x concepts of numbers of values, -1 for unknown."""
    table: Gold = as_array("gold", gold, ndim=2, dtype=np.int32)
    if table.shape != (len(log.items), len(log.concepts)):
        raise UsageError(
            f"gold has the shape {table.shape}, expected items x concepts: "
            f"{(len(log.items), len(log.concepts))}"
        )
    if table.size and not (table.min() >= -1 and table.max() < len(log.values)):
        raise UsageError(f"gold has numbers beyond -1 and the {len(log.values)} values of the log")
    return table


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
        as_published = self.prior == 0 or self.smoothing is not None
        return Steps(
            self.iterations,
            self.tolerance,
            # The paper of MACE takes all answers to be as frequent; people's are not.
            learn_prior=not (self.model == "mace" and as_published),
            base=0.0 if as_published else BASE,
            leave_out=not as_published,
        )


def vote_estimate(
    log: JudgementLog,
    weights: Floats | None = None,
    ties: VoteTies = "undecided",
    prior: float | None = None,
) -> Estimate:
    """The share of the votes that each answer got, with `prior` votes spread evenly before.

    People who agree may be wrong together: three of three alike is no certainty.
    """
    votes = vote(log, weights=weights, ties=ties)
    _, row = unit_rows(log)
    people = len(log.annotators)
    correct = sum_by(log.annotator, votes.merit[row, log.value], people)
    judged = np.bincount(log.annotator, minlength=people).astype(np.float64)
    before = VOTE_PRIOR if prior is None else prior
    allowed = np.zeros((len(log.concepts), len(log.values)))
    for concept in range(len(log.concepts)):
        answers = list(log.answers_of(concept))
        allowed[concept, answers] = before / max(len(answers), 1)
    count = votes.counts[:, None]
    probability = (votes.share * count + allowed[votes.concept]) / (count + before)
    return Estimate(votes.item, votes.concept, probability, correct, judged)


def rating_estimate(log: JudgementLog, by: Literal["mean", "median"]) -> tuple[Estimate, Floats]:
    """The mean or the median of the numbers given to each unit, beside the share of each.

    The judgement of an annotator is right as far as it equals the number.
    """
    levels = log.levels
    if levels is None:
        raise NeedsError(f"the {by} needs numbers as answers, the log has names")
    estimate = vote_estimate(log, prior=0.0)
    _, row = unit_rows(log)
    ratings = levels[log.value]
    if by == "mean":
        numbers = estimate.probability @ levels
    else:
        order = np.lexsort((ratings, row))
        ends = np.cumsum(np.bincount(row))
        starts = np.concatenate([[0], ends[:-1]])
        ranked = ratings[order]
        numbers = (ranked[(starts + ends - 1) // 2] + ranked[(starts + ends) // 2]) / 2
    correct = sum_by(log.annotator, ratings == numbers[row], len(log.annotators))
    return replace(estimate, right=correct), np.asarray(numbers)


def model_estimate(
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
    correct = np.zeros(people)
    tables: list[Confusions] = []
    parts = _parts(log, votes, row, fitting.share)
    for number, (name, mask, judged, answers) in enumerate(parts):
        place = np.full(len(log.values) + 1, -1, dtype=np.int64)
        place[answers] = np.arange(answers.size)
        responses = Responses.of(
            log.annotator[judged],
            (np.cumsum(mask) - 1)[row[judged]],
            place[log.value[judged]],
            annotators=people,
            units=int(mask.sum()),
            answers=answers.size,
        )
        # The last place stands for -1, the code of an unknown answer.
        gold_answers = None if gold is None else place[gold.ravel()[units[mask]]]
        share = votes.share[np.ix_(mask, answers)]
        step = progress.part(number / len(parts), (number + 1) / len(parts))
        fit = _fit(responses, share, votes.counts[mask], fitting, gold_answers, step)
        posterior[np.ix_(mask, answers)] = fit.posterior
        correct += responses.per_annotator(responses.hits(fit.expected))
        tables.append(_confusions(name, tuple(log.values[a] for a in answers), fit))
        if fitting.prior is None and fitting.smoothing is None:
            poor = sparse_data_note(fitting.model, responses)
            if poor:
                notes.add(poor)
    judgement_counts = np.bincount(log.annotator, minlength=people).astype(np.float64)
    return Estimate(votes.item, votes.concept, posterior, correct, judgement_counts, tuple(tables))


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of the probabilities of several models; tables are those of the first."""
    first = estimates[0]
    return replace(
        first,
        probability=np.mean([e.probability for e in estimates], axis=0),
        right=np.mean([e.right for e in estimates], axis=0),
    )


def _fit(
    responses: Responses,
    share: Floats,
    counts: NDArray[np.int64],
    fitting: Fitting,
    gold: Integers | None,
    progress: Progress,
) -> Fit:
    answers = share.shape[1]
    if fitting.smoothing is not None:
        usual = np.full((answers, answers), 1 / answers)
        accuracy, strength = 1 / answers, fitting.smoothing * answers
    else:
        table = share * counts[:, None]
        accuracy = usual_accuracy(table)
        usual = pooled_table(responses, share, accuracy)
        if fitting.prior is not None:
            strength = fitting.prior
        elif fitting.model == "one-coin":
            strength = usual_strength(responses, table, accuracy)
        else:
            strength = PRIOR if fitting.model == "dawid-skene" else MACE_PRIOR
    model = model_of(fitting.model, usual, accuracy, strength)
    return expectation_maximisation(
        responses, share, model, fitting.steps(), gold=gold, progress=progress
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
