"""The vote of the majority: the truth it gives, and how far annotators agree with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.options import VoteTies


def ratio(part: NDArray[Any], total: NDArray[Any]) -> Floats:
    """Element by element part / whole, NaN where the whole is zero or less."""
    result: Floats = np.full(np.shape(total), np.nan)
    np.divide(part, total, out=result, where=total > 0)
    return result


def sum_by(group: NDArray[Any], values: NDArray[Any], groups: int) -> Floats:
    """The sum of values in each group 0..groups-1."""
    return np.bincount(group, np.asarray(values, dtype=np.float64), groups).astype(np.float64)


def mean_by(group: NDArray[Any], values: Floats, groups: int, mask: NDArray[np.bool_]) -> Floats:
    """The mean of the kept values in each group, NaN for a group without any."""
    return ratio(
        sum_by(group[mask], values[mask], groups), np.bincount(group[mask], minlength=groups)
    )


# Up to this many columns, a pass per column beats numpy's reduction of short rows.
NARROW = 16


def row_max(table: NDArray[Any]) -> NDArray[Any]:
    """The largest entry of each row."""
    if table.shape[1] > NARROW:
        return np.asarray(table.max(axis=1))
    top = table[:, 0].copy()
    for column in table.T[1:]:
        np.maximum(top, column, out=top)
    return top


def row_sum(table: NDArray[Any]) -> Floats:
    """The sum of each row."""
    if table.shape[1] > NARROW:
        return np.asarray(table.sum(axis=1), dtype=np.float64)
    total = table[:, 0].astype(np.float64)
    for column in table.T[1:]:
        total += column
    return total


Counting: TypeAlias = Literal["all", "selected"]
# Votes that differ by less than this are a tie: weighted votes are sums of floating numbers.
CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Votes:
    """What was voted on each unit that has a vote.

    `item` and `concept` are codes of the log, `share` the part of the votes that each answer
    got, `winner` the answer with most of them (-1 for a tie that stays undecided), `tied` says
    where several answers had as many. `merit` is what an answer is worth to who gave it: 1 for
    the winner, 1/n for each of n answers that lead together and stay undecided.
    """

    item: NDArray[np.int64]
    concept: NDArray[np.int64]
    share: Floats
    counts: NDArray[np.int64]
    winner: NDArray[np.int64]
    tied: NDArray[np.bool_]
    merit: Floats


def vote(
    log: JudgementLog, *, weights: Floats | None = None, ties: VoteTies = "undecided"
) -> Votes:
    """The vote on every unit; `weights` has the weight of each annotator's voice.

    A tie stays undecided, or goes to the "lowest" answer (for 0 and 1 a concept then needs more
    than half of the votes; categories stand in their order) or to the "highest".
    """
    units, row = unit_rows(log)
    answers = len(log.values)
    cell = row * answers + log.value
    size = units.size * answers
    weight = None if weights is None else weights[log.annotator]
    table = np.bincount(cell, weight, minlength=size).reshape(units.size, answers)
    counts = np.bincount(row, minlength=units.size)
    leading = leaders_of(table)
    if weights is not None:
        # An answer that no annotator gave cannot win, even when all weights are zero.
        leading &= np.bincount(cell, minlength=size).reshape(leading.shape) > 0
    leaders = row_sum(leading)
    total = row_sum(table)[:, None]
    even = leading / leaders[:, None]
    share = np.divide(table, total, out=even.copy(), where=total > 0)
    width = len(log.concepts)
    winner = break_ties(leading, ties)
    if ties in ("lowest", "highest"):
        even = (np.arange(answers) == winner[:, None]).astype(np.float64)
    return Votes(units // width, units % width, share, counts, winner, leaders > 1, even)


def leaders_of(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Which answers have as much as the best one of their row."""
    best = row_max(table)[:, None]
    return np.asarray(table >= best - CLOSE * np.maximum(best, 1.0))


def break_ties(
    leading: NDArray[np.bool_], ties: VoteTies, rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """The winner of each row among those that lead it, -1 where a tie stays one."""
    first = np.argmax(leading, axis=1)
    if ties == "lowest":
        return np.asarray(first)
    if ties == "highest":
        return np.asarray(leading.shape[1] - 1 - np.argmax(leading[:, ::-1], axis=1))
    if ties == "random":
        draw = np.random.default_rng(0) if rng is None else rng
        return np.asarray(np.argmax(leading * draw.random(leading.shape), axis=1))
    return np.where(row_sum(leading) > 1, -1, first)


def unit_rows(log: JudgementLog) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The units that have a judgement, and the row of each judgement's unit among them."""
    key = log.item.astype(np.int64) * len(log.concepts) + log.concept
    span = len(log.items) * len(log.concepts)
    if span > 4 * len(log) + 1_000_000:
        units, row = np.unique(key, return_inverse=True)
        return units, row.ravel()
    present = np.zeros(span, dtype=bool)
    present[key] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[key]


def accuracy_to_majority(log: JudgementLog, votes: Votes) -> tuple[Floats, NDArray[np.int64]]:
    """For each annotator the share of judgements equal to the majority, and their number.

    The majority counts the annotator's own voice, as the column "Merged" of Table 6.2 does. On
    a tied unit a judgement counts by its expected value, 1/n for n answers that lead together.
    """
    _, cell = unit_rows(log)
    people = len(log.annotators)
    judged = np.bincount(log.annotator, minlength=people)
    # In place: of ten million judgements every further array takes 80 MB.
    cell *= votes.merit.shape[1]
    cell += log.value
    merit = votes.merit.ravel()[cell]
    del cell
    return ratio(np.bincount(log.annotator, merit, people), judged), judged


@dataclass(frozen=True, slots=True)
class MajorityShare:
    """The share of annotators on the side of the majority, of one concept or item.

    `every` counts selection and deselection as judgements; `selected` averages only over the
    units in which at least one annotator selected the concept (NaN when there is none).
    """

    name: str
    selected: float
    every: float


@dataclass(frozen=True, slots=True)
class MajorityShares:
    """Agreement with the majority per concept and per item, as in Figure 6.4."""

    concepts: tuple[MajorityShare, ...]
    items: tuple[MajorityShare, ...]

    def mean(self, of: Literal["concepts", "items"], counting: Counting) -> float:
        """The mean of the shares that exist."""
        shares: tuple[MajorityShare, ...] = getattr(self, of)
        defined = [
            x for x in (s.every if counting == "all" else s.selected for s in shares) if x == x
        ]
        return float(np.mean(defined)) if defined else math.nan

    def agreement_map(self, counting: Counting = "all") -> dict[str, float]:
        """The agreement on each concept, by which the Ontology Score weighs errors."""
        shares = {s.name: s.every if counting == "all" else s.selected for s in self.concepts}
        return {name: share for name, share in shares.items() if share == share}


def majority_agreement(log: JudgementLog) -> MajorityShares:
    """Agreement with the majority per concept and per item, in both ways of counting."""
    votes = vote(log)
    agreed = row_max(votes.share)
    _, row = unit_rows(log)
    selected_units = np.zeros(votes.item.size, dtype=bool)
    selected_units[row[log.selected]] = True
    everywhere = np.ones_like(selected_units)

    def shares(names: Sequence[str], by: NDArray[np.int64]) -> tuple[MajorityShare, ...]:
        selected = mean_by(by, agreed, len(names), selected_units)
        every = mean_by(by, agreed, len(names), everywhere)
        return tuple(
            MajorityShare(name, float(selected[i]), float(every[i]))
            for i, name in enumerate(names)
            if not math.isnan(every[i])
        )

    return MajorityShares(shares(log.concepts, votes.concept), shares(log.items, votes.item))


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """The share of identical pairs of judgements on one item (thesis, equation 6.2).

    `accuracy` is over all units of the item, `selected` over those that at least one annotator
    selected (NaN in a category log, where nothing is deselected).
    """

    item: str
    judgements: int
    accuracy: float
    selected: float


def accuracy_per_item(log: JudgementLog) -> tuple[ItemAgreement, ...]:
    """The agreement on every judged item."""
    units, row = unit_rows(log)
    answers = len(log.values)
    table = np.bincount(row * answers + log.value, minlength=units.size * answers)
    table = table.reshape(units.size, answers).astype(np.float64)
    r = row_sum(table)
    identical = ratio(row_sum(table * (table - 1)), r * (r - 1))
    item = units // len(log.concepts)
    selected_units = np.zeros(units.size, dtype=bool)
    if log.kind == "concept" and log.levels is not None:
        selected_units[row[log.selected]] = True
    paired = ~np.isnan(identical)
    every = mean_by(item, identical, len(log.items), paired)
    selected = mean_by(item, identical, len(log.items), paired & selected_units)
    judged = np.bincount(log.item, minlength=len(log.items))
    return tuple(
        ItemAgreement(name, int(judged[i]), float(every[i]), float(selected[i]))
        for i, name in enumerate(log.items)
        if judged[i]
    )


def merged_log(
    log: JudgementLog, groups: Mapping[str, Sequence[str]], *, ties: VoteTies = "lowest"
) -> JudgementLog:
    """A log in which each group is one annotator, who says what its majority says."""
    columns: list[list[np.ndarray[tuple[int], np.dtype[np.int32]]]] = [[], [], [], []]
    for code, members in enumerate(groups.values()):
        votes = vote(log.of_annotators(members), ties=ties)
        decided = votes.winner >= 0
        annotators = np.full(int(decided.sum()), code)
        judgements = (
            annotators,
            votes.item[decided],
            votes.concept[decided],
            votes.winner[decided],
        )
        for column, values in zip(columns, judgements, strict=True):
            column.append(values.astype(np.int32))
    annotator, item, concept, value = (np.concatenate(c) for c in columns)
    return JudgementLog(
        log.kind,
        tuple(groups),
        log.items,
        log.concepts,
        log.values,
        annotator,
        item,
        concept,
        value,
        allowed=log.allowed,
        source=log.source,
    )
