"""Annotators whose answers should not count, and why.

Five things are looked for: answers at random, one answer whatever the item, a pattern that
runs through the answers, answers faster than anybody could look, and answers copied from
another annotator; and, where gold answers are known, too many of them missed. Every rule asks
for a large effect, and all but the two plainest (time, pattern) for one that chance cannot
explain, so that an annotator with few answers is not accused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import ratio, row_max, row_sum, sum_by
from cranfield.agreement.majority import unit_rows
from cranfield.agreement.pairwise import Pairs, pairwise
from cranfield.data.judgement_log import Floats, JudgementLog

# Error probability of all verdicts of one kind together (Bonferroni over annotators or pairs).
ALPHA = 0.05
FEWEST = 5
# Random: even at best, less than this part of the skill of a typical annotator.
RANDOM_PART = 0.5
# Constant and pattern: at least this share of answers follows the rule ...
FOLLOWS = 0.95
# ... and the consensus on the same items follows it by that much less.
CONSENSUS_GAP = 0.2
LAGS = range(2, 9)
PATTERN_FEWEST = 20
# Copier: disagrees with the original at most this part of what two honest people would.
COPY_PART = 0.25


@dataclass(frozen=True, slots=True)
class AnnotatorQuality:
    """What is known of one annotator. NaN says that it cannot be known."""

    annotator: str
    judgements: int
    skill: float
    gold_asked: int
    gold_correct: int
    seconds: float
    reasons: tuple[str, ...]

    @property
    def rejected(self) -> bool:
        return bool(self.reasons)


@dataclass(frozen=True, eq=False)
class Consensus:
    """What the other annotators say about the unit of each judgement.

    `answer` is their most frequent answer, -1 where they are tied or silent; `same` is the
    share of them that gave the judgement's own answer, NaN where they are silent.
    """

    answer: NDArray[np.int64]
    same: Floats


def check_quality(
    log: JudgementLog,
    *,
    gold: NDArray[np.int32] | None = None,
    gold_minimum: float = 0.7,
    fast: float = 1 / 3,
) -> list[AnnotatorQuality]:
    """One row per annotator of the log, with the reasons to reject, if any.

    `gold` has known answers (items x concepts, -1 for unknown); an annotator who surely
    reaches less than `gold_minimum` of them is rejected. Too fast is a median time below
    `fast` of the median annotator's.
    """
    people = len(log.annotators)
    reasons: list[list[str]] = [[] for _ in range(people)]
    judgements = np.bincount(log.annotator, minlength=people)
    others = consensus_of_others(log)
    right, asked = _gold_hits(log, gold)
    _find_gold(reasons, right, asked, gold_minimum)
    seconds = _median_seconds(log)
    _find_fast(reasons, seconds, _timed(log), fast)
    habitual = _find_constant(log, others, reasons) | _find_patterns(log, others, reasons)
    skill, error = _skill(log, others)
    _find_random(reasons, skill, error, habitual)
    _find_copiers(log, others, reasons, habitual, seconds)
    return [
        AnnotatorQuality(
            name,
            int(judgements[a]),
            float(skill[a]),
            int(asked[a]),
            int(right[a]),
            float(seconds[a]),
            tuple(reasons[a]),
        )
        for a, name in enumerate(log.annotators)
        if judgements[a]
    ]


def consensus_of_others(log: JudgementLog) -> Consensus:
    """For each judgement the answers of everybody else on the same unit."""
    units, row = unit_rows(log)
    q = len(log.values)
    table = np.bincount(row * q + log.value, minlength=units.size * q).reshape(units.size, q)
    answer = np.full(len(log), -1, dtype=np.int64)
    same = np.full(len(log), np.nan)
    step = max(1, 8_000_000 // q)
    for start in range(0, len(log), step):
        part = slice(start, start + step)
        rest = table[row[part]]
        own = log.value[part]
        line = np.arange(own.size)
        rest[line, own] -= 1
        total = row_sum(rest)
        top = row_max(rest)
        clear = (row_sum(rest == top[:, None]) == 1) & (total > 0)
        answer[part] = np.where(clear, rest.argmax(axis=1), -1)
        np.divide(rest[line, own], total, out=same[part], where=total > 0)
    return Consensus(answer, same)


def _sum(log: JudgementLog, values: NDArray[np.bool_] | Floats) -> Floats:
    return sum_by(log.annotator, values, len(log.annotators))


def _skill(log: JudgementLog, others: Consensus) -> tuple[Floats, Floats]:
    """Kappa of each annotator to the consensus of the others, and its standard error."""
    clear = others.answer >= 0
    n = _sum(log, clear)
    observed = ratio(_sum(log, clear & (others.answer == log.value)), n)
    chance = np.zeros(n.size)
    for v in range(len(log.values)):
        mine = ratio(_sum(log, clear & (log.value == v)), n)
        chance += mine * ratio(_sum(log, others.answer == v), n)
    free = 1 - chance
    free[free < 1e-12] = 0.0
    skill = ratio(observed - chance, free)
    # A share of 0 or 1 has no spread of its own; half an answer to either side gives it one.
    smooth = (observed * n + 0.5) / (n + 1)
    spread = np.sqrt(smooth * (1 - smooth) / np.maximum(n, 1))
    error = ratio(spread, free)
    skill[n < FEWEST] = np.nan
    return skill, error


def _find_random(
    reasons: list[list[str]], skill: Floats, error: Floats, habitual: NDArray[np.bool_]
) -> None:
    known = ~np.isnan(skill)
    if known.sum() < 3:
        return
    typical = float(np.median(skill[known]))
    z = NormalDist().inv_cdf(1 - ALPHA / max(int(known.sum()), 1))
    for a in np.flatnonzero(known & ~habitual):
        if typical > 0 and skill[a] + z * error[a] < RANDOM_PART * typical:
            reasons[a].append(
                f"answers at random: kappa {skill[a]:.2f} to the others (typical: {typical:.2f})"
            )


def _find_constant(
    log: JudgementLog, others: Consensus, reasons: list[list[str]]
) -> NDArray[np.bool_]:
    """One answer, whatever the item, where the others vary."""
    from scipy.stats import binom

    people, q = len(log.annotators), len(log.values)
    n = np.bincount(log.annotator, minlength=people)
    by_value = np.bincount(log.annotator.astype(np.int64) * q + log.value, minlength=people * q)
    table = by_value.reshape(people, q)
    favourite = table.argmax(axis=1)
    often = table.max(axis=1)
    # How often the consensus gives that answer on the annotator's own items.
    clear = others.answer >= 0
    agreed = ratio(_sum(log, clear & (others.answer == favourite[log.annotator])), _sum(log, clear))
    follows = ratio(often, n)
    tail = binom.sf(often - 1, n, np.clip(np.nan_to_num(agreed, nan=1.0), 0, 1))
    found = (follows >= FOLLOWS) & (follows - agreed >= CONSENSUS_GAP) & (tail < ALPHA / people)
    found &= n >= FEWEST
    for a in np.flatnonzero(found):
        reasons[a].append(
            f"always the same answer: {log.values[favourite[a]]!r} in {follows[a]:.0%} "
            f"(the others: {agreed[a]:.0%})"
        )
    return np.asarray(found)


def _find_patterns(
    log: JudgementLog, others: Consensus, reasons: list[list[str]]
) -> NDArray[np.bool_]:
    """Answers that repeat with a period of 2 to 8, in the order of the log."""
    people = len(log.annotators)
    order = np.lexsort((log.concept, log.annotator))
    who, concept = log.annotator[order], log.concept[order]
    value, consensus = log.value[order], others.answer[order]
    found = np.zeros(people, dtype=bool)
    constant = np.array([bool(r) and "always" in r[-1] for r in reasons])
    for lag in LAGS:
        if len(log) <= lag:
            break
        paired = (who[lag:] == who[:-lag]) & (concept[lag:] == concept[:-lag])
        paired &= (consensus[lag:] >= 0) & (consensus[:-lag] >= 0)
        n = np.bincount(who[lag:][paired], minlength=people)
        own = paired & (value[lag:] == value[:-lag])
        theirs = paired & (consensus[lag:] == consensus[:-lag])
        follows = ratio(np.bincount(who[lag:][own], minlength=people), n)
        agreed = ratio(np.bincount(who[lag:][theirs], minlength=people), n)
        hit = (n >= PATTERN_FEWEST) & (follows >= FOLLOWS) & (follows - agreed >= CONSENSUS_GAP)
        for a in np.flatnonzero(hit & ~found & ~constant):
            reasons[a].append(
                f"answers in a pattern: every {lag} answers repeat in {follows[a]:.0%} "
                f"(the others: {agreed[a]:.0%})"
            )
        found |= hit
    return found


def _timed(log: JudgementLog) -> NDArray[np.int64]:
    if log.seconds is None:
        return np.zeros(len(log.annotators), dtype=np.int64)
    return np.bincount(log.annotator, minlength=len(log.annotators))


def _median_seconds(log: JudgementLog) -> Floats:
    people = len(log.annotators)
    medians = np.full(people, np.nan)
    if log.seconds is None:
        return medians
    order = np.lexsort((log.seconds, log.annotator))
    times = log.seconds[order]
    ends = np.cumsum(np.bincount(log.annotator, minlength=people))
    starts = np.concatenate([[0], ends[:-1]])
    some = ends > starts
    low = starts + (ends - starts - 1) // 2
    high = starts + (ends - starts) // 2
    medians[some] = (times[low[some]] + times[high[some]]) / 2
    return medians


def _find_fast(
    reasons: list[list[str]], seconds: Floats, timed: NDArray[np.int64], fast: float
) -> None:
    known = ~np.isnan(seconds) & (timed >= FEWEST)
    if known.sum() < 3:
        return
    typical = float(np.median(seconds[known]))
    for a in np.flatnonzero(known & (seconds < fast * typical)):
        reasons[a].append(f"too fast: {seconds[a]:.1f} s (typical: {typical:.1f} s)")


def _gold_hits(
    log: JudgementLog, gold: NDArray[np.int32] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    people = len(log.annotators)
    if gold is None:
        return np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    truth = gold[log.item, log.concept]
    asked = np.bincount(log.annotator[truth >= 0], minlength=people)
    return np.bincount(log.annotator[truth == log.value], minlength=people), asked


def _find_gold(
    reasons: list[list[str]],
    right: NDArray[np.int64],
    asked: NDArray[np.int64],
    minimum: float,
) -> None:
    """Gold answers missed: so few right ones would be rare at the least share that will do."""
    from scipy.stats import binom

    enough = asked >= FEWEST
    tail = binom.cdf(right, asked, minimum)
    for a in np.flatnonzero(enough & (tail < ALPHA / max(int(enough.sum()), 1))):
        reasons[a].append(
            f"misses gold questions: {right[a]} of {asked[a]} right (at least {minimum:.0%})"
        )


def _find_copiers(
    log: JudgementLog,
    others: Consensus,
    reasons: list[list[str]],
    habitual: NDArray[np.bool_],
    seconds: Floats,
) -> None:
    from scipy.stats import binom

    pairs = pairwise(log)
    if not len(pairs):
        return
    expected = _honest_agreement(log, others, pairs)
    tail = binom.sf(np.rint(pairs.accuracy * pairs.units) - 1, pairs.units, expected)
    suspicious = (tail < ALPHA / len(pairs)) & (pairs.units >= FEWEST)
    suspicious &= 1 - pairs.accuracy <= COPY_PART * (1 - expected)
    suspicious &= ~(habitual[pairs.first] & habitual[pairs.second])
    for p in np.flatnonzero(suspicious):
        original, copier = _who_copied(log, int(pairs.first[p]), int(pairs.second[p]), seconds)
        reasons[copier].append(
            f"copies {log.annotators[original]!r}: the same answer to {pairs.accuracy[p]:.0%} "
            f"of {pairs.units[p]:.0f} units (expected: {expected[p]:.0%})"
        )


def _honest_agreement(log: JudgementLog, others: Consensus, pairs: Pairs) -> Floats:
    """How often two annotators of this skill would say the same without copying.

    The larger of two estimates: both right or both wrong in the same way, each as often as
    against the consensus; and the agreement of either with anybody else on the same items.
    """
    clear = others.answer >= 0
    right = ratio(_sum(log, clear & (others.answer == log.value)), _sum(log, clear))
    heard = ~np.isnan(others.same)
    usual = ratio(_sum(log, np.where(heard, others.same, 0.0)), _sum(log, heard))
    a, b = right[pairs.first], right[pairs.second]
    wrong = (1 - a) * (1 - b) / max(len(log.values) - 1, 1)
    usually = np.maximum(usual[pairs.first], usual[pairs.second])
    return np.asarray(np.clip(np.nan_to_num(np.maximum(a * b + wrong, usually), nan=1.0), 0, 1))


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
