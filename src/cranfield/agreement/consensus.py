"""What the other annotators say about a unit, and how well each annotator agrees with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.majority import ratio, row_max, row_sum, sum_by, unit_rows
from cranfield.data.judgement_log import Floats, JudgementLog

# Fewer judgements than these say nothing of an annotator.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class Consensus:
    """What the other annotators say about the unit of each judgement.

    `answer` is their most frequent answer, -1 where they are tied or silent; `same` is the
    share of them that gave the judgement's own answer, `among` the share of pairs of them that
    agree with each other, `level` the mean of their answers as numbers; NaN where they cannot
    be said. `shares` has for each annotator (row) how often the others give each answer on the
    annotator's own units.
    """

    answer: NDArray[np.int64]
    same: Floats
    among: Floats
    level: Floats
    shares: Floats


def consensus_of_others(log: JudgementLog) -> Consensus:
    """For each judgement the answers of the other annotators on the same unit."""
    units, row = unit_rows(log)
    q = len(log.values)
    table = np.bincount(row * q + log.value, minlength=units.size * q).reshape(units.size, q)
    answer = np.full(len(log), -1, dtype=np.int64)
    same, among, level = (np.full(len(log), np.nan) for _ in range(3))
    people = len(log.annotators)
    shares = np.zeros(people * q)
    levels = log.levels
    step = max(1, 8_000_000 // q)
    for start in range(0, len(log), step):
        part = slice(start, start + step)
        rest = table[row[part]]
        value = log.value[part]
        line = np.arange(value.size)
        rest[line, value] -= 1
        total = row_sum(rest)
        top = row_max(rest)
        clear = (row_sum(rest == top[:, None]) == 1) & (total > 0)
        answer[part] = np.where(clear, rest.argmax(axis=1), -1)
        np.divide(rest[line, value], total, out=same[part], where=total > 0)
        pairs = row_sum(rest * (rest - 1))
        np.divide(pairs, total * (total - 1), out=among[part], where=total > 1)
        cell = (log.annotator[part].astype(np.int64) * q)[:, None] + np.arange(q)
        share = np.where(total[:, None] > 0, rest / np.maximum(total, 1)[:, None], 0.0)
        shares += np.bincount(cell.ravel(), share.ravel(), minlength=people * q)
        if levels is not None:
            np.divide(rest @ levels, total, out=level[part], where=total > 0)
    by_annotator = shares.reshape(people, q)
    by_annotator /= np.maximum(row_sum(by_annotator), 1)[:, None]
    return Consensus(answer, same, among, level, by_annotator)


@dataclass(frozen=True, eq=False)
class Skills:
    """How well each annotator agrees with the others beyond chance, and its standard error.

    `kappa` is what is shown. `skill` is what is judged: of grades it is the correlation with
    the mean of the others, which forgives who is strict or lenient throughout. `shift` is the
    mean difference to the others, of grades alone.
    """

    kappa: Floats
    skill: Floats
    error: Floats
    shift: Floats


def skills(log: JudgementLog, others: Consensus) -> Skills:
    """The skill of every annotator of a log."""
    levels = log.levels
    if levels is None or len(log.values) < 3 or log.kind == "category":
        kappa, error = _nominal(log, others)
        return Skills(kappa, kappa, error, np.full(kappa.size, np.nan))
    return _graded(log, others, levels)


def sums(log: JudgementLog, values: NDArray[np.bool_] | Floats) -> Floats:
    """Values of judgements summed for each annotator."""
    return sum_by(log.annotator, values, len(log.annotators))


def agreement_beside_others(
    log: JudgementLog, others: Consensus, part: float
) -> tuple[Floats, Floats]:
    """How much more somebody agrees with the others than this part of what they agree among
    themselves on the same units, both beyond chance; and the standard error.

    Hard units are as hard for everybody. NaN where fewer than two others judged the units.
    """
    people, q = len(log.annotators), len(log.values)
    heard = ~np.isnan(others.same) & ~np.isnan(others.among)
    n = sums(log, heard)
    cell = log.annotator.astype(np.int64) * q + log.value
    own = np.bincount(cell[heard], minlength=people * q).reshape(people, q)
    chance = ratio((own * others.shares).sum(axis=1), n)
    chance_among = (others.shares**2).sum(axis=1)
    excess = np.where(heard, others.same - part * others.among, 0.0)
    mean = ratio(sums(log, excess), n)
    centred = np.where(heard, excess - mean[log.annotator], 0.0)
    error = np.sqrt(ratio(sums(log, centred**2), n * np.maximum(n - 1, 1)))
    beside = mean - chance + part * chance_among
    beside[n < FEWEST] = np.nan
    return beside, error


def _nominal(log: JudgementLog, others: Consensus) -> tuple[Floats, Floats]:
    """Kappa of each annotator to the consensus of the others, and its standard error."""
    clear = others.answer >= 0
    n = sums(log, clear)
    observed = ratio(sums(log, clear & (others.answer == log.value)), n)
    chance = np.zeros(n.size)
    for v in range(len(log.values)):
        share = ratio(sums(log, clear & (log.value == v)), n)
        chance += share * ratio(sums(log, others.answer == v), n)
    beyond_chance = 1 - chance
    beyond_chance[beyond_chance < 1e-12] = 0.0
    skill = ratio(observed - chance, beyond_chance)
    # A share of 0 or 1 has no spread of its own; half an answer to either side gives it one.
    smooth = (observed * n + 0.5) / (n + 1)
    spread = np.sqrt(smooth * (1 - smooth) / np.maximum(n, 1))
    error = ratio(spread, beyond_chance)
    skill[n < FEWEST] = np.nan
    return skill, error


def _graded(log: JudgementLog, others: Consensus, levels: Floats) -> Skills:
    """Kappa with squared weights, and the correlation with the mean grade of the others."""
    heard = ~np.isnan(others.level)
    n = sums(log, heard)
    x, y = np.where(heard, levels[log.value], 0.0), np.where(heard, others.level, 0.0)
    mean_x, mean_y = ratio(sums(log, x), n), ratio(sums(log, y), n)
    dx = np.where(heard, x - mean_x[log.annotator], 0.0)
    dy = np.where(heard, y - mean_y[log.annotator], 0.0)
    sxx, syy, sxy = sums(log, dx**2), sums(log, dy**2), sums(log, dx * dy)
    # Of two columns of grades: 1 - mean squared difference over what chance would give.
    apart = sums(log, (x - y) ** 2)
    kappa = 1 - ratio(apart, sxx + syy + n * (mean_x - mean_y) ** 2)
    correlation = ratio(sxy, np.sqrt(sxx * syy))
    error = (1 - correlation**2) / np.sqrt(np.maximum(n - 1, 1))
    kappa[n < FEWEST] = np.nan
    correlation[n < FEWEST] = np.nan
    return Skills(kappa, correlation, error, mean_x - mean_y)
