"""Annotators whose answers should not count, and why.

Looked for are answers that hardly agree with those of others, one answer whatever the item, a
pattern that runs through the answers, agreement that falls half-way, answers given faster than an
item can be read, and answers copied from another annotator; and, where gold answers are known, too
many of them missed. One kind of sign is a reason to look at an annotator's answers; two different
kinds are a reason to leave them out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.coefficients import Values, assess
from cranfield.agreement.consensus import (
    FEWEST,
    Consensus,
    Skills,
    agreement_beside_others,
    consensus_of_others,
    skills,
    sums,
)
from cranfield.agreement.exclusive_labels import CheckedLog, Forms
from cranfield.agreement.majority import ratio, unit_rows
from cranfield.agreement.pairwise import AnnotatorPairs, pairwise
from cranfield.agreement.truth_inference import Fitting, known_answers, model_estimate
from cranfield.answers import Answer
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import UsageError
from cranfield.notes import Notes, Progress
from cranfield.validation import validate_params

Kind: TypeAlias = Literal["agreement", "habit", "change", "time", "copy", "gold"]

# Error probability of all signs of one kind together (Bonferroni over annotators or pairs).
ALPHA = 0.05
# Agreement: surely (in 19 of 20 cases) less than this part of a typical annotator's.
WEAK_PART = 0.7
# ... and than this part of what the others reach among themselves on the same units.
WEAK_BESIDE = 0.8
# Constant and pattern: at least this share of answers follows the rule ...
FOLLOWS = 0.95
# ... and the consensus on the same items follows it by that much less.
CONSENSUS_GAP = 0.2
LAGS = range(2, 9)
VARIED = 0.9
PATTERN_FEWEST = 20
# Nothing selected: at most this part of what the others select on the same units.
NOTHING_PART = 0.05
# ... where an honest person would hardly ever miss all of it.
SILENT = 0.01
# Tires: the agreement falls by this much more than that of the others.
DROP = 0.15
TIRED_FEWEST = 40
# Too fast: a unit has a usual time from so many known ones on.
TIMED_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that was noticed about an annotator."""

    kind: Kind
    text: str


Signs: TypeAlias = list[list[Sign]]


def find_weak(log: JudgementLog, others: Consensus, signs: Signs, estimates: Skills) -> None:
    """Who agrees with the others much less than is usual, and than the others do on the same units.

    Somebody who works on the hard part of a queue agrees less than those who do not.
    """
    defined = ~np.isnan(estimates.skill)
    if defined.sum() < 3:
        return
    typical = float(np.median(estimates.skill[defined]))
    z = NormalDist().inv_cdf(1 - ALPHA)
    # Where too few others judged the same units only the comparison with everybody is left.
    beside, error = agreement_beside_others(log, others, WEAK_BESIDE)
    excused = beside + z * error >= 0
    for a in np.flatnonzero(defined & ~excused):
        if typical > 0 and estimates.skill[a] + z * estimates.error[a] < WEAK_PART * typical:
            signs[a].append(
                Sign(
                    "agreement",
                    f"agrees little with the others: {estimates.skill[a]:.2f} beyond chance "
                    f"(typical: {typical:.2f})",
                )
            )


def find_constant(log: JudgementLog, others: Consensus, signs: Signs) -> NDArray[np.bool_]:
    """One answer, whatever the item, where the others vary."""
    from scipy.stats import binom

    people, q = len(log.annotators), len(log.values)
    n = np.bincount(log.annotator, minlength=people)
    by_value = np.bincount(log.annotator.astype(np.int64) * q + log.value, minlength=people * q)
    table = by_value.reshape(people, q)
    favourite, often = table.argmax(axis=1), table.max(axis=1)
    # How often the consensus gives that answer on the annotator's own items.
    clear = others.answer >= 0
    agreed = ratio(sums(log, clear & (others.answer == favourite[log.annotator])), sums(log, clear))
    follows = ratio(often, n)
    tail = binom.sf(often - 1, n, np.clip(np.nan_to_num(agreed, nan=1.0), 0, 1))
    constant = (follows >= FOLLOWS) & (follows - agreed >= CONSENSUS_GAP) & (tail < ALPHA / people)
    # An annotator who is mostly right with the few other answers has looked at the items.
    deviating = clear & (log.value != favourite[log.annotator])
    looked = 2 * sums(log, deviating & (log.value == others.answer)) > sums(log, deviating)
    constant &= (n >= FEWEST) & ~looked
    for a in np.flatnonzero(constant):
        signs[a].append(
            Sign(
                "habit",
                f"always the same answer: {log.values[favourite[a]]!r} in {follows[a]:.0%} "
                f"(the others: {agreed[a]:.0%})",
            )
        )
    return np.asarray(constant)


def find_silent(
    log: JudgementLog, others: Consensus, signs: Signs, habitual: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Who selects next to nothing of what the others select, however rare that is."""
    levels = log.levels
    if log.kind == "category" or levels is None:
        return habitual
    positive = levels > 0
    other_selected = (others.answer >= 0) & positive[np.maximum(others.answer, 0)]
    selected_by_others = sums(log, other_selected)
    # Of the units that the others select, those that one selects oneself.
    met = sums(log, other_selected & positive[log.value])
    selected = sums(log, positive[log.value])
    usual = float(met.sum() / max(selected_by_others.sum(), 1.0))
    tail = (1 - usual) ** selected_by_others
    silent = (
        (selected <= NOTHING_PART * selected_by_others)
        & (met == 0)
        & (tail < SILENT)
        & (selected_by_others >= 2)
    )
    for a in np.flatnonzero(silent & ~habitual):
        signs[a].append(
            Sign(
                "habit",
                f"selects nothing: none of {selected_by_others[a]:.0f} units that the others "
                f"select (usual: {usual:.0%})",
            )
        )
    return np.asarray(silent | habitual)


def find_patterns(
    log: JudgementLog, others: Consensus, signs: Signs, constant: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Answers that repeat with a period of 2 to 8, in the order of the log."""
    people = len(log.annotators)
    order = np.lexsort((log.concept, log.annotator))
    annotator, concept = log.annotator[order], log.concept[order]
    value, consensus = log.value[order], others.answer[order]
    repeating = np.zeros(people, dtype=bool)
    # One answer nearly throughout repeats with every period: that is the other sign's matter.
    q = len(log.values)
    frequency = np.bincount(log.annotator.astype(np.int64) * q + log.value, minlength=people * q)
    varied = frequency.reshape(people, q).max(axis=1) <= VARIED * np.bincount(
        annotator, minlength=people
    )
    for lag in LAGS:
        if len(log) <= lag:
            break
        paired = (annotator[lag:] == annotator[:-lag]) & (concept[lag:] == concept[:-lag])
        paired &= (consensus[lag:] >= 0) & (consensus[:-lag] >= 0)
        n = np.bincount(annotator[lag:][paired], minlength=people)
        repeated = paired & (value[lag:] == value[:-lag])
        consensus_repeated = paired & (consensus[lag:] == consensus[:-lag])
        follows = ratio(np.bincount(annotator[lag:][repeated], minlength=people), n)
        agreed = ratio(np.bincount(annotator[lag:][consensus_repeated], minlength=people), n)
        hit = (n >= PATTERN_FEWEST) & (follows >= FOLLOWS) & (follows - agreed >= CONSENSUS_GAP)
        hit &= varied
        for a in np.flatnonzero(hit & ~repeating & ~constant):
            signs[a].append(
                Sign(
                    "habit",
                    f"answers in a pattern: every {lag} answers repeat in {follows[a]:.0%} "
                    f"(the others: {agreed[a]:.0%})",
                )
            )
        repeating |= hit
    return repeating


def find_tired(log: JudgementLog, others: Consensus, signs: Signs) -> None:
    """Whose agreement falls from the first half of the answers to the second.

    Units may become harder for all annotators: what counts is the agreement with the others beyond
    that of the others among themselves.
    """
    people = len(log.annotators)
    judged = np.bincount(log.annotator, minlength=people)
    order = np.argsort(log.annotator, kind="stable")
    starts = np.cumsum(judged) - judged
    turn = np.empty(len(log), dtype=np.int64)
    turn[order] = np.arange(len(log)) - np.repeat(starts, judged)
    late = turn >= judged[log.annotator] / 2
    heard = ~np.isnan(others.same) & ~np.isnan(others.among)
    excess = np.where(heard, others.same - others.among, 0.0)
    halves = []
    for half in (heard & ~late, heard & late):
        n = sums(log, half)
        mean = ratio(sums(log, np.where(half, excess, 0.0)), n)
        centred = np.where(half, excess - mean[log.annotator], 0.0)
        halves.append((n, mean, ratio(sums(log, centred**2), n * np.maximum(n - 1, 1))))
    (n1, first, v1), (n2, second, v2) = halves
    fall = first - second
    z = ratio(fall, np.sqrt(v1 + v2))
    limit = NormalDist().inv_cdf(1 - ALPHA / max(people, 1))
    enough = (n1 + n2 >= TIRED_FEWEST) & (fall >= DROP) & (z > limit)
    for a in np.flatnonzero(enough):
        signs[a].append(
            Sign(
                "change",
                f"agrees less with the others in the second half of the answers: "
                f"{-fall[a]:+.0%} beside their own change",
            )
        )


def median_seconds(log: JudgementLog) -> Floats:
    """The median time of each annotator's judgements, NaN where none is known."""
    if log.seconds is None:
        return np.full(len(log.annotators), np.nan)
    return _medians(log.seconds, log.annotator, len(log.annotators))


def _medians(values: Floats, groups: NDArray[Any], count: int) -> Floats:
    """The median of the values of each group, NaN where there is none."""
    defined = ~np.isnan(values)
    groups, values = groups[defined], values[defined]
    medians = np.full(count, np.nan)
    ordered = values[np.lexsort((values, groups))]
    ends = np.cumsum(np.bincount(groups, minlength=count))
    starts = np.concatenate([[0], ends[:-1]])
    some = ends > starts
    low = starts + (ends - starts - 1) // 2
    high = starts + (ends - starts) // 2
    medians[some] = (ordered[low[some]] + ordered[high[some]]) / 2
    return medians


def find_fast(log: JudgementLog, signs: Signs, seconds: Floats, fast: float) -> None:
    """Who answers in less than this part of the typical time, also on the same units."""
    judged = np.bincount(log.annotator, minlength=len(log.annotators))
    timed = ~np.isnan(seconds) & (judged >= FEWEST)
    if timed.sum() < 3 or log.seconds is None:
        return
    typical = float(np.median(seconds[timed]))
    # Easy units take everybody less time: what counts is the time beside that of the unit.
    units, row = unit_rows(log)
    known = ~np.isnan(log.seconds)
    usual = _medians(log.seconds, row, units.size)
    several = np.bincount(row[known], minlength=units.size) >= TIMED_FEWEST
    present = known & several[row] & (usual[row] > 0)
    pace = np.where(present, log.seconds / np.where(present, usual[row], 1.0), np.nan)
    paces = _medians(pace, log.annotator, len(log.annotators))
    paced = timed & ~np.isnan(paces)
    usual_pace = float(np.median(paces[paced])) if paced.any() else 1.0
    slow = (seconds >= fast * typical) | (paced & (paces >= fast * usual_pace))
    for a in np.flatnonzero(timed & ~slow):
        signs[a].append(Sign("time", f"too fast: {seconds[a]:.1f} s (typical: {typical:.1f} s)"))


def gold_hits(
    log: JudgementLog, gold: NDArray[np.int32] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many gold questions each annotator got right, and how many were asked."""
    people = len(log.annotators)
    if gold is None:
        return np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    truth = gold[log.item, log.concept]
    questions = np.bincount(log.annotator[truth >= 0], minlength=people)
    return np.bincount(log.annotator[truth == log.value], minlength=people), questions


def find_gold(
    signs: Signs, correct: NDArray[np.int64], questions: NDArray[np.int64], minimum: float
) -> None:
    """Gold answers missed: so few right ones would be rare at the least share that will do."""
    from scipy.stats import binom

    enough = questions >= FEWEST
    tail = binom.cdf(correct, questions, minimum)
    for a in np.flatnonzero(enough & (tail < ALPHA / max(int(enough.sum()), 1))):
        signs[a].append(
            Sign(
                "gold",
                f"misses gold questions: {correct[a]} of {questions[a]} right "
                f"(at least {minimum:.0%})",
            )
        )


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
    flagged: NDArray[np.bool_],
) -> None:
    """Name the copier of each suspicious pair; those of who is `flagged` already need no other."""
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
        if flagged[a] or flagged[b]:
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
    """Pairs that agree far more than either of them does with other annotators."""
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
        estimate = model_estimate(log, Fitting("one-coin"), None, Notes(), Progress())
        _, self._row = unit_rows(log)
        self._truth = estimate.probability
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
        rows = np.flatnonzero(log.annotator == a)
        questions = log.concept[rows].astype(np.int64)
        table = LEANING * self._crowd.copy()
        for k in range(len(log.values)):
            np.add.at(
                table[:, k, :],
                (log.concept[rows], log.value[rows]),
                self._truth[self._row[rows], k],
            )
        return table / table.sum(axis=2, keepdims=True), self._row[rows], questions

    def disagreement(self, a: int, b: int) -> float:
        """On how many shared units two honest people of this kind would disagree."""
        first, units, questions = self._of(a)
        second, others, _ = self._of(b)
        _, shared, _ = np.intersect1d(units, others, return_indices=True)
        unit, question = units[shared], questions[shared]
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
    rows_a, rows_b = np.flatnonzero(log.annotator == a), np.flatnonzero(log.annotator == b)
    _, i, j = np.intersect1d(unit[rows_a], unit[rows_b], return_indices=True)
    a_first = np.count_nonzero(rows_a[i] < rows_b[j]) * 2 >= i.size
    return (a, b) if a_first else (b, a)


# A form must have this many answers to be told from another one.
FEWEST_ANSWERS = 8
# Forms match that differ at most in this part of what is expected, and so rarely by chance.
MATCH_PART = 0.25
MATCH_CHANCE = 0.01
# A copier has this many matching forms at least, and this share of all forms.
FEWEST_MATCHES = 3
LEAST_SHARE = 0.4
# Votes that the usual share of an answer counts for beside those on the unit itself.
USUAL = 1.0
# Two people without errors differ in this part of the usual all the same.
LEAST_APART = 0.1
# How many forms the usual distance counts for beside those of a person.
STEADY = 3.0
# More pairs of forms than this are not compared.
MOST_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class _Forms:
    """All forms of a log as rows of answers: who, on which item, when, and what."""

    annotator: NDArray[np.int64]
    item: NDArray[np.int64]
    when: NDArray[np.int64]
    answers: NDArray[np.int16]

    @classmethod
    def of(cls, log: JudgementLog) -> _Forms:
        key = log.annotator.astype(np.int64) * len(log.items) + log.item
        forms, first, row = np.unique(key, return_index=True, return_inverse=True)
        answers = np.full((forms.size, len(log.concepts)), -1, dtype=np.int16)
        answers[row, log.concept] = log.value
        return cls(forms // len(log.items), forms % len(log.items), first, answers)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of forms on one item: which forms, how far apart they are and how far expected."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    seen: Floats
    expected: Floats


def find_form_copies(
    log: JudgementLog, signs: Signs, habitual: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Name who hands in the forms of others; gives who was named."""
    flagged = np.zeros(len(log.annotators), dtype=bool)
    if log.allowed is not None or len(log.concepts) < FEWEST_ANSWERS:
        return flagged
    forms = _Forms.of(log)
    per_item = np.bincount(forms.item)
    if int((per_item * (per_item - 1) // 2).sum()) > MOST_PAIRS:
        return flagged
    pairs = _compared(log, forms)
    if not pairs.seen.size:
        return flagged
    matched = _matches(pairs)
    matched &= ~(habitual[forms.annotator[pairs.first]] & habitual[forms.annotator[pairs.second]])
    for _ in range(len(log.annotators)):
        culprit = _most_striking(forms, pairs, matched, flagged)
        if culprit is None:
            break
        copier, count, total, chance = culprit
        flagged[copier] = True
        # Who leaves out what is hard differs from the others and equals who does the same: that is
        # one reason to look, not two.
        apart = any(sign.kind == "agreement" for sign in signs[copier])
        signs[copier].append(
            Sign(
                "agreement" if apart else "copy",
                f"hands in forms of others: {count} of {total} forms are as good as equal to "
                f"another annotator's (by chance: {chance:.1f})",
            )
        )
        # A copied form is no evidence against the annotator it was copied from.
        of_copier = (forms.annotator[pairs.first] == copier) | (
            forms.annotator[pairs.second] == copier
        )
        matched &= ~of_copier
    return flagged


def _compared(log: JudgementLog, forms: _Forms) -> _Pairs:
    """Every two forms on one item, with the number of answers on which they differ."""
    firsts, seconds, seen, expected = [], [], [], []
    usual = _usual_shares(log)
    order = np.argsort(forms.item, kind="stable")
    bounds = np.flatnonzero(np.diff(forms.item[order], prepend=-1, append=-2))
    for start, end in itertools.pairwise(bounds.tolist()):
        rows = order[start:end]
        if rows.size < 2:
            continue
        answers = forms.answers[rows]
        a, b = np.triu_indices(rows.size, 1)
        answered = (answers[a] >= 0) & (answers[b] >= 0)
        seen.append(((answers[a] != answers[b]) & answered).sum(axis=1))
        expected.append(_apart(answers, a, b, answered, usual))
        firsts.append(rows[a])
        seconds.append(rows[b])
    if not seen:
        nothing = np.zeros(0, dtype=np.int64)
        return _Pairs(nothing, nothing, np.zeros(0), np.zeros(0))
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    differing, base = np.concatenate(seen).astype(np.float64), np.concatenate(expected)
    return _Pairs(
        first, second, differing, base * _steadiness(forms, first, second, differing, base)
    )


def _usual_shares(log: JudgementLog) -> Floats:
    """How often each answer is given to each concept."""
    q, c = len(log.values), len(log.concepts)
    cell = log.concept.astype(np.int64) * q + log.value
    counts = np.bincount(cell, minlength=c * q).reshape(c, q) + 0.5
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _apart(
    answers: NDArray[np.int16],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    answered: NDArray[np.bool_],
    usual: Floats,
) -> Floats:
    """On how many answers two people would differ by what all others say about the item."""
    total = np.zeros((a.size, answers.shape[1]))
    votes = [(answers == v).astype(np.float64) for v in range(usual.shape[1])]
    answer_count = (answers >= 0).sum(axis=0)
    others_count = answer_count - (answers[a] >= 0) - (answers[b] >= 0)
    same = np.zeros_like(total)
    for v, vote in enumerate(votes):
        others = vote.sum(axis=0) - vote[a] - vote[b]
        share = (others + USUAL * usual[:, v]) / (others_count + USUAL)
        same += share**2
    total = np.where(answered, 1 - same, 0.0)
    return np.asarray(total.sum(axis=1))


def _steadiness(
    forms: _Forms,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    seen: Floats,
    base: Floats,
) -> Floats:
    """How much less, or more, than usual two people differ: each one's errors add to it."""
    people = int(forms.annotator.max()) + 1
    annotator = np.concatenate([forms.annotator[first], forms.annotator[second]])
    observed = np.bincount(annotator, np.tile(seen, 2), people)
    usual = np.bincount(annotator, np.tile(base, 2), people)
    overall = seen.sum() / max(base.sum(), 1e-9)
    steady = STEADY * base.mean()
    factor = (observed + steady * overall) / (usual + steady)
    # Two annotators differ by the errors of the first and by the usual errors of the second.
    pair_factor = factor[forms.annotator[first]] + factor[forms.annotator[second]] - overall
    return np.asarray(np.maximum(pair_factor, LEAST_APART * overall))


def _matches(pairs: _Pairs) -> NDArray[np.bool_]:
    from scipy.stats import poisson

    few = pairs.seen <= MATCH_PART * pairs.expected
    return np.asarray(few & (poisson.cdf(pairs.seen, pairs.expected) < MATCH_CHANCE))


def _most_striking(
    forms: _Forms, pairs: _Pairs, matched: NDArray[np.bool_], flagged: NDArray[np.bool_]
) -> tuple[int, int, int, float] | None:
    """The annotator with the most forms of others beyond chance, with the figures."""
    from scipy.stats import poisson

    people = flagged.size
    total = np.bincount(forms.annotator, minlength=people)
    tried = np.bincount(pairs.first, minlength=forms.item.size) + np.bincount(
        pairs.second, minlength=forms.item.size
    )
    hit = np.zeros(forms.item.size, dtype=bool)
    hit[pairs.first[matched]] = hit[pairs.second[matched]] = True
    # Forms of honest people match now and then; half of a match more keeps the rate above zero.
    rate = (float(matched.sum()) / 2 + 0.5) / matched.size
    chance = np.bincount(forms.annotator, 1 - (1 - rate) ** tried, people)
    count = np.bincount(forms.annotator[hit], minlength=people)
    tail = poisson.sf(count - 1, chance)
    suspicious = (
        (count >= FEWEST_MATCHES)
        & (count >= LEAST_SHARE * total)
        & (tail < ALPHA / people)
        & ~flagged
    )
    if not suspicious.any():
        return None
    # Of two annotators with equal forms, the later one is the copier.
    late = _lateness(forms, pairs, matched, people)
    best = max(np.flatnonzero(suspicious).tolist(), key=lambda p: (count[p], late[p], -p))
    return best, int(count[best]), int(total[best]), float(chance[best])


def _lateness(
    forms: _Forms, pairs: _Pairs, matched: NDArray[np.bool_], people: int
) -> NDArray[np.int64]:
    """How often each annotator was the later of two whose forms match."""
    first, second = pairs.first[matched], pairs.second[matched]
    later = np.where(forms.when[first] > forms.when[second], first, second)
    return np.bincount(forms.annotator[later], minlength=people)


Verdict: TypeAlias = Literal["keep", "look at", "exclude"]


@dataclass(frozen=True, slots=True)
class AnnotatorQuality:
    """What is known of one annotator. NaN says that it cannot be known.

    `skill` is the kappa to the others (of grades with squared weights), `shift` how much higher
    than theirs the grades are.
    """

    annotator: str
    judgements: int
    skill: float
    shift: float
    gold_asked: int
    gold_correct: int
    seconds: float
    signs: tuple[Sign, ...]

    @property
    def verdict(self) -> Verdict:
        kinds = {sign.kind for sign in self.signs}
        return "exclude" if len(kinds) > 1 else "look at" if kinds else "keep"

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(sign.text for sign in self.signs)


@dataclass(frozen=True, repr=False, eq=False)
class Quality(Answer):
    """Who should not count, and why; what the rest agrees on; what the log took and cost.

    With `strict` also those to look at are left out.
    """

    command: ClassVar[str] = "agreement"
    table_maker: ClassVar[str] = "cranfield.report.tables.agreement:quality_document"
    annotators: tuple[AnnotatorQuality, ...]
    with_gold: bool
    with_times: bool
    strict: bool
    overall: Values
    effort: Mapping[str, float]
    paid: Mapping[str, Any]

    @property
    def rejected(self) -> tuple[str, ...]:
        """The annotators that are left out."""
        return tuple(p.annotator for p in self.annotators if self.is_rejected(p))

    def is_rejected(self, person: AnnotatorQuality) -> bool:
        """Whether the work of an annotator does not count."""
        return person.verdict == "exclude" or (self.strict and person.verdict == "look at")

    def clean(self, log: JudgementLog, rules: Ontology | Rules | None = None) -> JudgementLog:
        """The log without the rejected annotators, and without forms that break the rules."""
        accepted = [p.annotator for p in self.annotators if not self.is_rejected(p)]
        return CheckedLog.of(log, rules).log.of_annotators(accepted)

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "quality": {
                "annotators": [self._row(p) for p in self.annotators],
                "rejected": list(self.rejected),
                "overall_without_rejected": self.overall,
                "effort": dict(self.effort),
            }
        }

    def _row(self, person: AnnotatorQuality) -> dict[str, Any]:
        row: dict[str, Any] = {
            "annotator": person.annotator,
            "judgements": person.judgements,
            "kappa_to_others": person.skill,
            "median_seconds": person.seconds,
            "rejected": self.is_rejected(person),
            "reasons": list(person.reasons),
            "verdict": person.verdict,
            "shift": person.shift,
        }
        if self.with_gold:
            row |= {"gold_asked": person.gold_asked, "gold_correct": person.gold_correct}
        return row

    def headline(self) -> str:
        noticed = sum(p.verdict == "look at" for p in self.annotators)
        excluded = sum(p.verdict == "exclude" for p in self.annotators)
        return f"{len(self.annotators)} annotators: {excluded} to exclude, {noticed} to look at"


@validate_params
def check_quality(
    log: JudgementLog,
    *,
    gold: NDArray[np.int32] | None = None,
    gold_minimum: float = 0.7,
    fast: float = 1 / 3,
    strict: bool = False,
    coefficients: str = "standard",
    forms: Forms | None = None,
    reward: float | None = None,
    pay_rejected: bool = False,
) -> Quality:
    """What speaks against each annotator of the log.

    `gold` has known answers (items x concepts, -1 for unknown), of which an annotator should
    reach `gold_minimum`. Too fast is a median time below `fast` of the median annotator's.
    `coefficients` are of those who are left. `reward` is paid for each form (all that one
    annotator said about one item); forms that break a rule are not paid unless `pay_rejected`.
    """
    if reward is not None and not 0 <= reward < float("inf"):
        raise UsageError(f"reward {reward} is not a number from 0 on")
    if gold is not None:
        gold = known_answers(log, gold)
    people = quality_of(log, gold=gold, gold_minimum=gold_minimum, fast=fast)
    effort, paid = _effort(log, forms, reward, pay_rejected)
    quality = Quality(people, gold is not None, log.seconds is not None, strict, {}, effort, paid)
    clean = quality.clean(log)
    overall = assess(clean, coefficients).overall.values if len(clean) else {}
    return Quality(people, quality.with_gold, quality.with_times, strict, overall, effort, paid)


def quality_of(
    log: JudgementLog,
    *,
    gold: NDArray[np.int32] | None = None,
    gold_minimum: float = 0.7,
    fast: float = 1 / 3,
) -> tuple[AnnotatorQuality, ...]:
    """One row per annotator of the log, with what was noticed."""
    people = len(log.annotators)
    signs: list[list[Sign]] = [[] for _ in range(people)]
    judgements = np.bincount(log.annotator, minlength=people)
    others = consensus_of_others(log)
    correct, questions = gold_hits(log, gold)
    find_gold(signs, correct, questions, gold_minimum)
    seconds = median_seconds(log)
    find_fast(log, signs, seconds, fast)
    constant = find_constant(log, others, signs)
    habitual = find_silent(
        log, others, signs, constant | find_patterns(log, others, signs, constant)
    )
    estimates = skills(log, others)
    find_weak(log, others, signs, estimates)
    find_tired(log, others, signs)
    copiers = find_form_copies(log, signs, habitual)
    find_copies(log, others, signs, habitual, seconds, copiers)
    return tuple(
        AnnotatorQuality(
            name,
            int(judgements[a]),
            float(estimates.kappa[a]),
            float(estimates.shift[a]),
            int(questions[a]),
            int(correct[a]),
            float(seconds[a]),
            tuple(signs[a]),
        )
        for a, name in enumerate(log.annotators)
        if judgements[a]
    )


def _effort(
    log: JudgementLog, forms: Forms | None, reward: float | None, pay_rejected: bool
) -> tuple[dict[str, float], dict[str, Any]]:
    """Time and cost of the log, per judgement and per form, and what forms were paid for."""
    key = log.annotator.astype(np.int64) * len(log.items) + log.item
    kept_forms = int(np.unique(key).size)
    total = kept_forms if forms is None else forms.total
    effort: dict[str, float] = {"forms": total, "judgements": len(log)}
    if log.seconds is not None:
        effort["seconds"] = float(log.seconds.sum())
        effort["seconds_per_judgement"] = float(log.seconds.mean())
        effort["seconds_per_form"] = float(log.seconds.sum()) / kept_forms
    if reward is None:
        return effort, {}
    paid = total if pay_rejected else kept_forms
    effort["cost"] = reward * paid
    effort["cost_per_judgement"] = reward * paid / len(log)
    effort["cost_per_kept_form"] = reward * paid / kept_forms
    rejected = 0 if forms is None else forms.rejected
    return effort, {
        "reward": reward,
        "pay_rejected": pay_rejected,
        "cost": reward * paid,
        "cost_of_rejected": reward * rejected if pay_rejected else 0.0,
    }
