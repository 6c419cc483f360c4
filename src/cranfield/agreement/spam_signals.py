"""Signs that somebody's answers are not judgements: each finder looks for one of them.

Every sign asks for a large effect, and all but the two plainest (time, pattern) for one that
chance hardly explains, so that an annotator with few answers is not accused. A sign is a reason
to look at the answers, and no more than that: honest people show one now and then.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import ratio
from cranfield.agreement.consensus import FEWEST, Consensus, Skills, sums
from cranfield.data.judgement_log import Floats, JudgementLog

Kind: TypeAlias = Literal["agreement", "habit", "change", "time", "copy", "gold"]

# Error probability of all signs of one kind together (Bonferroni over annotators or pairs).
ALPHA = 0.05
# Agreement: surely (in 19 of 20 cases) less than this part of a typical annotator's.
WEAK_PART = 0.7
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


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that was noticed about an annotator."""

    kind: Kind
    text: str


Signs: TypeAlias = list[list[Sign]]


def find_weak(signs: Signs, found: Skills) -> None:
    """Who agrees with the others much less than is usual."""
    known = ~np.isnan(found.skill)
    if known.sum() < 3:
        return
    typical = float(np.median(found.skill[known]))
    z = NormalDist().inv_cdf(1 - ALPHA)
    for a in np.flatnonzero(known):
        if typical > 0 and found.skill[a] + z * found.error[a] < WEAK_PART * typical:
            signs[a].append(
                Sign(
                    "agreement",
                    f"agrees little with the others: {found.skill[a]:.2f} beyond chance "
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
    found = (follows >= FOLLOWS) & (follows - agreed >= CONSENSUS_GAP) & (tail < ALPHA / people)
    # Whoever is mostly right with the few other answers has looked.
    other = clear & (log.value != favourite[log.annotator])
    looked = 2 * sums(log, other & (log.value == others.answer)) > sums(log, other)
    found &= (n >= FEWEST) & ~looked
    for a in np.flatnonzero(found):
        signs[a].append(
            Sign(
                "habit",
                f"always the same answer: {log.values[favourite[a]]!r} in {follows[a]:.0%} "
                f"(the others: {agreed[a]:.0%})",
            )
        )
    return np.asarray(found)


def find_silent(
    log: JudgementLog, others: Consensus, signs: Signs, habitual: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Who selects next to nothing of what the others select, however rare that is."""
    levels = log.levels
    if log.kind == "category" or levels is None:
        return habitual
    positive = levels > 0
    there = (others.answer >= 0) & positive[np.maximum(others.answer, 0)]
    asked = sums(log, there)
    # Of the units that the others select, those that one selects oneself.
    met = sums(log, there & positive[log.value])
    own = sums(log, positive[log.value])
    usual = float(met.sum() / max(asked.sum(), 1.0))
    tail = (1 - usual) ** asked
    silent = (own <= NOTHING_PART * asked) & (met == 0) & (tail < SILENT) & (asked >= 2)
    for a in np.flatnonzero(silent & ~habitual):
        signs[a].append(
            Sign(
                "habit",
                f"selects nothing: none of {asked[a]:.0f} units that the others select "
                f"(usual: {usual:.0%})",
            )
        )
    return np.asarray(silent | habitual)


def find_patterns(
    log: JudgementLog, others: Consensus, signs: Signs, constant: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Answers that repeat with a period of 2 to 8, in the order of the log."""
    people = len(log.annotators)
    order = np.lexsort((log.concept, log.annotator))
    who, concept = log.annotator[order], log.concept[order]
    value, consensus = log.value[order], others.answer[order]
    found = np.zeros(people, dtype=bool)
    # One answer nearly throughout repeats with every period: that is the other sign's matter.
    q = len(log.values)
    given = np.bincount(log.annotator.astype(np.int64) * q + log.value, minlength=people * q)
    varied = given.reshape(people, q).max(axis=1) <= VARIED * np.bincount(who, minlength=people)
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
        hit &= varied
        for a in np.flatnonzero(hit & ~found & ~constant):
            signs[a].append(
                Sign(
                    "habit",
                    f"answers in a pattern: every {lag} answers repeat in {follows[a]:.0%} "
                    f"(the others: {agreed[a]:.0%})",
                )
            )
        found |= hit
    return found


def find_tired(log: JudgementLog, others: Consensus, signs: Signs) -> None:
    """Whose agreement falls from the first half of the answers to the second.

    Units may become harder for everybody: what counts is the agreement with the others beyond
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


def find_fast(signs: Signs, seconds: Floats, judged: NDArray[np.int64], fast: float) -> None:
    """Who answers in less than this part of the typical time."""
    known = ~np.isnan(seconds) & (judged >= FEWEST)
    if known.sum() < 3:
        return
    typical = float(np.median(seconds[known]))
    for a in np.flatnonzero(known & (seconds < fast * typical)):
        signs[a].append(Sign("time", f"too fast: {seconds[a]:.1f} s (typical: {typical:.1f} s)"))


def gold_hits(
    log: JudgementLog, gold: NDArray[np.int32] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many gold questions each annotator got right, and how many were asked."""
    people = len(log.annotators)
    if gold is None:
        return np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    truth = gold[log.item, log.concept]
    asked = np.bincount(log.annotator[truth >= 0], minlength=people)
    return np.bincount(log.annotator[truth == log.value], minlength=people), asked


def find_gold(
    signs: Signs, right: NDArray[np.int64], asked: NDArray[np.int64], minimum: float
) -> None:
    """Gold answers missed: so few right ones would be rare at the least share that will do."""
    from scipy.stats import binom

    enough = asked >= FEWEST
    tail = binom.cdf(right, asked, minimum)
    for a in np.flatnonzero(enough & (tail < ALPHA / max(int(enough.sum()), 1))):
        signs[a].append(
            Sign(
                "gold",
                f"misses gold questions: {right[a]} of {asked[a]} right (at least {minimum:.0%})",
            )
        )
