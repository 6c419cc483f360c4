"""Pairs of annotators who say the same more often than two people can who look for themselves.

Two people agree because both are right, because both have the same leaning, or because one has
copied. What the first two explain is taken from a model of the truth (in which somebody who is
better than the crowd is known to be) and from what each of them answers to it, question by
question; only agreement far beyond that is a sign.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import ratio
from cranfield.agreement.consensus import FEWEST, Consensus, sums
from cranfield.agreement.majority import unit_rows
from cranfield.agreement.pairwise import AnnotatorPairs, pairwise
from cranfield.agreement.spam_signals import ALPHA, Sign, Signs
from cranfield.agreement.truth_inference import Fitting, modelled
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
    named = np.zeros(len(log.annotators), dtype=bool)
    if log.allowed is not None or len(log.concepts) < FEWEST_ANSWERS:
        return named
    forms = _Forms.of(log)
    per_item = np.bincount(forms.item)
    if int((per_item * (per_item - 1) // 2).sum()) > MOST_PAIRS:
        return named
    pairs = _compared(log, forms)
    if not pairs.seen.size:
        return named
    matched = _matches(pairs)
    matched &= ~(habitual[forms.annotator[pairs.first]] & habitual[forms.annotator[pairs.second]])
    for _ in range(len(log.annotators)):
        culprit = _most_striking(forms, pairs, matched, named)
        if culprit is None:
            break
        copier, count, total, chance = culprit
        named[copier] = True
        # Who leaves out what is hard differs from the others and equals who does the same: that is
        # one reason to look, not two.
        apart = any(sign.kind == "agreement" for sign in signs[copier])
        signs[copier].append(
            Sign(
                "agreement" if apart else "copy",
                f"hands in forms of others: {count} of {total} forms are as good as equal to "
                f"somebody else's (by chance: {chance:.1f})",
            )
        )
        # What was copied from somebody says nothing about that one.
        own = (forms.annotator[pairs.first] == copier) | (forms.annotator[pairs.second] == copier)
        matched &= ~own
    return named


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
        given = forms.answers[rows]
        a, b = np.triu_indices(rows.size, 1)
        both = (given[a] >= 0) & (given[b] >= 0)
        seen.append(((given[a] != given[b]) & both).sum(axis=1))
        expected.append(_apart(given, a, b, both, usual))
        firsts.append(rows[a])
        seconds.append(rows[b])
    if not seen:
        nothing = np.zeros(0, dtype=np.int64)
        return _Pairs(nothing, nothing, np.zeros(0), np.zeros(0))
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    found, base = np.concatenate(seen).astype(np.float64), np.concatenate(expected)
    return _Pairs(first, second, found, base * _steadiness(forms, first, second, found, base))


def _usual_shares(log: JudgementLog) -> Floats:
    """How often each answer is given to each concept."""
    q, c = len(log.values), len(log.concepts)
    cell = log.concept.astype(np.int64) * q + log.value
    counts = np.bincount(cell, minlength=c * q).reshape(c, q) + 0.5
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _apart(
    given: NDArray[np.int16],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    both: NDArray[np.bool_],
    usual: Floats,
) -> Floats:
    """On how many answers two people would differ by what all others say about the item."""
    total = np.zeros((a.size, given.shape[1]))
    votes = [(given == v).astype(np.float64) for v in range(usual.shape[1])]
    known = (given >= 0).sum(axis=0)
    left = known - (given[a] >= 0) - (given[b] >= 0)
    same = np.zeros_like(total)
    for v, vote in enumerate(votes):
        others = vote.sum(axis=0) - vote[a] - vote[b]
        share = (others + USUAL * usual[:, v]) / (left + USUAL)
        same += share**2
    total = np.where(both, 1 - same, 0.0)
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
    who = np.concatenate([forms.annotator[first], forms.annotator[second]])
    own = np.bincount(who, np.tile(seen, 2), people)
    usual = np.bincount(who, np.tile(base, 2), people)
    overall = seen.sum() / max(base.sum(), 1e-9)
    steady = STEADY * base.mean()
    factor = (own + steady * overall) / (usual + steady)
    # Against anybody one differs by the own errors and by the usual ones of the other.
    both = factor[forms.annotator[first]] + factor[forms.annotator[second]] - overall
    return np.asarray(np.maximum(both, LEAST_APART * overall))


def _matches(pairs: _Pairs) -> NDArray[np.bool_]:
    from scipy.stats import poisson

    few = pairs.seen <= MATCH_PART * pairs.expected
    return np.asarray(few & (poisson.cdf(pairs.seen, pairs.expected) < MATCH_CHANCE))


def _most_striking(
    forms: _Forms, pairs: _Pairs, matched: NDArray[np.bool_], named: NDArray[np.bool_]
) -> tuple[int, int, int, float] | None:
    """The annotator with the most forms of others beyond chance, with the figures."""
    from scipy.stats import poisson

    people = named.size
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
    found = (
        (count >= FEWEST_MATCHES)
        & (count >= LEAST_SHARE * total)
        & (tail < ALPHA / people)
        & ~named
    )
    if not found.any():
        return None
    # Of two who share their forms, the one who came later took them.
    late = _lateness(forms, pairs, matched, people)
    best = max(np.flatnonzero(found).tolist(), key=lambda p: (count[p], late[p], -p))
    return best, int(count[best]), int(total[best]), float(chance[best])


def _lateness(
    forms: _Forms, pairs: _Pairs, matched: NDArray[np.bool_], people: int
) -> NDArray[np.int64]:
    """How often somebody was the later one of two whose forms match."""
    one, two = pairs.first[matched], pairs.second[matched]
    later = np.where(forms.when[one] > forms.when[two], one, two)
    return np.bincount(forms.annotator[later], minlength=people)
