"""Concepts under rules: exclusive groups are one question, and the truth keeps every rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.choices import Ties
from cranfield.agreement.estimate import Estimate, Gold
from cranfield.agreement.exclusive import Groups, question_log
from cranfield.agreement.majority import decided, leaders_of
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.data.rulebook import RuleBook
from cranfield.errors import UsageError

# A probability of 0 or 1 may still be wrong when a rule says so.
SURE = 1e-6


@dataclass(frozen=True, eq=False)
class Questions:
    """A concept log whose exclusive groups are asked as one question each.

    `asked` holds the groups, its answers being the concepts of `log`; `rest` all that is in no
    group. `present` and `absent` are the codes of the values that say so.
    """

    log: JudgementLog
    asked: JudgementLog
    rest: JudgementLog
    present: int
    absent: int

    @classmethod
    def of(cls, log: JudgementLog, groups: Groups) -> Questions:
        """The log must hold only forms with exactly one answer in each group."""
        seen: set[str] = set()
        for members in groups.values():
            twice = seen.intersection(members)
            if twice:
                raise UsageError(f"{sorted(twice)[0]!r} stands in two exclusive groups")
            seen.update(members)
        levels = log.levels
        if levels is None or not (levels > 0).any() or not (levels <= 0).any():
            raise UsageError("exclusive groups need a value for absent (0) and one for present")
        used = np.bincount(log.value, minlength=levels.size)
        present = int(np.argmax(np.where(levels > 0, used, -1)))
        absent = int(np.argmax(np.where(levels <= 0, used, -1)))
        inside = np.array([name in seen for name in log.concepts], dtype=bool)
        return cls(log, question_log(log, groups), log.where(~inside[log.concept]), present, absent)

    def gold(self, gold: Gold | None) -> Gold | None:
        """Known answers of the questions, from those of the concepts."""
        levels = self.log.levels
        if gold is None or self.asked.allowed is None or levels is None:
            return None
        known = np.full((len(self.log.items), len(self.asked.concepts)), -1, dtype=np.int32)
        for g, members in enumerate(self.asked.allowed):
            for c in members:
                known[(gold[:, c] >= 0) & (levels[gold[:, c]] > 0), g] = c
        return known

    def joined(
        self, rest: Estimate, asked: Estimate, ties: Ties, rng: np.random.Generator
    ) -> Joined:
        """The probabilities of all concepts, and the answers that the groups give them."""
        width, values = len(self.log.concepts), len(self.log.values)
        keys = [rest.item * width + rest.concept]
        shares = [rest.probability]
        winners = [np.full(rest.item.size, OPEN)]
        chosen = _one_of_each(asked, ties, rng)
        for g, members in enumerate(self.asked.allowed or ()):
            rows = asked.concept == g
            for c in members:
                share = np.zeros((int(rows.sum()), values))
                share[:, self.present] = asked.probability[rows, c]
                share[:, self.absent] = 1 - asked.probability[rows, c]
                keys.append(asked.item[rows] * width + c)
                shares.append(share)
                winners.append(np.where(chosen[rows] == c, self.present, self.absent))
        key = np.concatenate(keys)
        order = np.argsort(key, kind="stable")
        probability = np.concatenate(shares)[order]
        estimate = Estimate(
            key[order] // width,
            key[order] % width,
            probability,
            rest.right + asked.right,
            rest.given + asked.given,
            rest.tables + asked.tables,
        )
        tied = int((leaders_of(asked.probability).sum(axis=1) > 1).sum())
        return Joined(estimate, np.concatenate(winners)[order], tied)


# The winner of a unit that no group decides.
OPEN = -2


@dataclass(frozen=True, eq=False)
class Joined:
    """An estimate of all units; `winner` is OPEN where no group decides it."""

    estimate: Estimate
    winner: NDArray[np.int64]
    tied_groups: int


def _one_of_each(asked: Estimate, ties: Ties, rng: np.random.Generator) -> NDArray[np.int64]:
    """Exactly one answer to each question; a tie goes to the answer that is given more often."""
    leading = leaders_of(asked.probability) & (asked.probability > 0)
    if ties in ("lowest", "highest", "random"):
        return decided(leading, ties, rng)
    frequent = 1 + asked.probability.sum(axis=0)
    return np.asarray(np.argmax(leading * frequent, axis=1))


def exactly_one(
    estimate: Estimate, ties: Ties, rng: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """The winners of a category log with groups, of which each has one, and the ties."""
    tied = int((leaders_of(estimate.probability).sum(axis=1) > 1).sum())
    return _one_of_each(estimate, ties, rng), tied


def keep_rules(
    book: RuleBook,
    concepts: Sequence[str],
    estimate: Estimate,
    winner: NDArray[np.int64],
    present: NDArray[np.bool_],
    codes: tuple[int, int],
) -> tuple[NDArray[np.int64], int, int]:
    """Winners that break no rule, how many items had to change, and how many still break one.

    `present` says which values are those of a concept that is there; `codes` are the values
    that a changed concept gets, (absent, present).
    """
    mended = winner.copy()
    there = present[np.maximum(winner, 0)] & (winner >= 0)
    starts = np.flatnonzero(np.diff(estimate.item, prepend=-1))
    ends = np.append(starts[1:], estimate.item.size)
    chance = estimate.probability[:, present].sum(axis=1)
    changed = hopeless = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        names = [concepts[c] for c in estimate.concept[start:end].tolist()]
        on = {n for n, t in zip(names, there[start:end].tolist(), strict=True) if t}
        if book.broken(on) is None:
            continue
        found = book.nearest(on, dict(zip(names, _odds(chance[start:end]), strict=True)))
        if found is None:
            hopeless += 1
            continue
        changed += 1
        for i, name in enumerate(names, start):
            if (name in found) != (name in on):
                mended[i] = codes[name in found]
    return mended, changed, hopeless


def _odds(chance: Floats) -> list[float]:
    """What it costs to believe the less likely of present and absent."""
    p = np.clip(chance, SURE, 1 - SURE)
    return [float(x) for x in np.abs(np.log(p / (1 - p)))]
