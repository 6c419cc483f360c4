"""The vote of the majority: the truth it gives, and how far annotators agree with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import mean_by, ratio, row_max, row_sum
from cranfield.data.judgement_log import Floats, JudgementLog

Ties: TypeAlias = Literal["lowest", "highest", "omit"]
TIES: tuple[Ties, ...] = ("lowest", "highest", "omit")
# Votes that differ by less than this are a tie: weighted votes are sums of floating numbers.
CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Votes:
    """What was voted on each unit that has a vote.

    `item` and `concept` are codes of the log, `share` the part of the votes that each answer
    got, `winner` the answer with most of them (-1 for a tie that is omitted), `tied` says
    where several answers had as many.
    """

    item: NDArray[np.int64]
    concept: NDArray[np.int64]
    share: Floats
    counts: NDArray[np.int64]
    winner: NDArray[np.int64]
    tied: NDArray[np.bool_]


def vote(log: JudgementLog, *, weights: Floats | None = None, ties: Ties = "lowest") -> Votes:
    """The vote on every unit; `weights` has the weight of each annotator's voice.

    A tie goes to the lowest answer: for 0 and 1 a concept needs more than half of the votes,
    categories stand in their order. "highest" takes the last of them, "omit" none.
    """
    units, row = unit_rows(log)
    answers = len(log.values)
    cell = row * answers + log.value
    size = units.size * answers
    weight = None if weights is None else weights[log.annotator]
    table = np.bincount(cell, weight, minlength=size).reshape(units.size, answers)
    counts = np.bincount(row, minlength=units.size)
    best = row_max(table)[:, None]
    leading = table >= best - CLOSE * np.maximum(best, 1.0)
    if weights is not None:
        # An answer that nobody gave cannot win, even when all weights are zero.
        leading &= np.bincount(cell, minlength=size).reshape(leading.shape) > 0
    leaders = row_sum(leading)
    tied = leaders > 1
    if ties == "highest":
        winner = answers - 1 - np.argmax(leading[:, ::-1], axis=1)
    else:
        winner = np.argmax(leading, axis=1)
    if ties == "omit":
        winner = np.where(tied, -1, winner)
    total = row_sum(table)[:, None]
    even = leading / leaders[:, None]
    share = np.divide(table, total, out=even, where=total > 0)
    width = len(log.concepts)
    return Votes(units // width, units % width, share, counts, winner, tied)


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

    The majority counts the annotator's own voice, as the column "Merged" of Table 6.2 does.
    Units whose tie is omitted count for nobody.
    """
    _, row = unit_rows(log)
    won = votes.winner[row]
    judged = np.bincount(log.annotator, minlength=len(log.annotators))
    decided = np.bincount(log.annotator[won >= 0], minlength=len(log.annotators))
    right = np.bincount(log.annotator[won == log.value], minlength=len(log.annotators))
    return ratio(right, decided), judged


@dataclass(frozen=True, eq=False)
class MajorityAgreement:
    """The share of annotators on the side of the majority, averaged as in Figure 6.4.

    `every` counts selection and deselection as judgements; `selected` averages only over the
    units in which at least one annotator selected the concept (NaN when there is none).
    """

    concept_every: Floats
    concept_selected: Floats
    item_every: Floats
    item_selected: Floats


def majority_agreement(log: JudgementLog, votes: Votes) -> MajorityAgreement:
    """Agreement with the majority per concept and per item, in both ways of counting."""
    agreed = row_max(votes.share)
    _, row = unit_rows(log)
    chosen = np.zeros(votes.item.size, dtype=bool)
    chosen[row[log.selected]] = True
    everywhere = np.ones_like(chosen)

    def mean(by: NDArray[np.int64], size: int, kept: NDArray[np.bool_]) -> Floats:
        return mean_by(by, agreed, size, kept)

    return MajorityAgreement(
        mean(votes.concept, len(log.concepts), everywhere),
        mean(votes.concept, len(log.concepts), chosen),
        mean(votes.item, len(log.items), everywhere),
        mean(votes.item, len(log.items), chosen),
    )


def accuracy_per_item(log: JudgementLog) -> tuple[Floats, Floats]:
    """The share of identical pairs of judgements on each item (thesis, equation 6.2).

    First over all units of the item, then over those that at least one annotator selected
    (all NaN for a category log, where nothing is deselected).
    """
    units, row = unit_rows(log)
    answers = len(log.values)
    table = np.bincount(row * answers + log.value, minlength=units.size * answers)
    table = table.reshape(units.size, answers).astype(np.float64)
    r = row_sum(table)
    pairs = r * (r - 1)
    same = row_sum(table * (table - 1))
    identical = ratio(same, pairs)
    item = units // len(log.concepts)
    chosen = np.zeros(units.size, dtype=bool)
    if log.kind == "concept" and log.levels is not None:
        chosen[row[log.selected]] = True

    paired = ~np.isnan(identical)
    return (
        mean_by(item, identical, len(log.items), paired),
        mean_by(item, identical, len(log.items), paired & chosen),
    )
