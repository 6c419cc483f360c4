"""Means of runs over resampled units: the one thing that several studies ask of every run.

Units (topics, items, concepts) are drawn by seed, so every worker draws the same ones and a
run's answer is as small as the number of draws, however many units there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Judgements
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError, check_at_most
from cranfield.lab.study_input import RunScores, StudyInput, Truth
from cranfield.stats._resample import Floats
from cranfield.work.seeds import generator
from cranfield.work.serialisation import cache_answers, floats, numbers

How: TypeAlias = Literal["bootstrap", "halves", "share"]
# Two runs that tie must tie: what a sum of floats leaves behind is cut off.
DIGITS = 12
MOST_DRAWS = 1_000_000
_NAMES = {"bootstrap": "resamples", "halves": "trials", "share": "repeats"}
# Units x draws held at once.
_CELLS = 1 << 21
_STREAM = {"bootstrap": 1, "halves": 2, "share": 3}


def settled(scores: Floats) -> Floats:
    """Scores to be ranked, without the last digits that the order of adding leaves behind."""
    rounded: Floats = np.round(scores, DIGITS)
    return rounded


@dataclass(frozen=True, slots=True)
class Draws:
    """`count` seeded draws of units: bootstrap samples, halves (two each), or a share of them."""

    how: How
    count: int
    seed: int
    share: float = 1.0
    # The cluster of each unit, where units were sampled in clusters: these are drawn as wholes.
    clusters: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_at_most(MOST_DRAWS, **{_NAMES[self.how]: self.count})

    @property
    def width(self) -> int:
        """How many means a run has for these draws."""
        return self.count * (2 if self.how == "halves" else 1)

    def weights(self, units: int, start: int, stop: int) -> Floats:
        """A row per draw, a column per unit: how often the unit counts. Halves: first, second."""
        if self.clusters is not None:
            if len(self.clusters) != units:
                raise UsageError(
                    f"the design is about {len(self.clusters)} units, a measure has {units}"
                )
            codes = np.array(self.clusters)
            of_clusters = replace(self, clusters=None).weights(int(codes.max()) + 1, start, stop)
            return np.asarray(of_clusters[:, codes])
        rows: list[NDArray[Any]] = []
        for number in range(start, min(stop, self.count)):
            rng = generator(self.seed, _STREAM[self.how], number)
            if self.how == "bootstrap":
                rows.append(np.bincount(rng.integers(units, size=units), minlength=units))
                continue
            sample_size = units // 2 if self.how == "halves" else max(1, round(self.share * units))
            order = rng.permutation(units)
            first = np.zeros(units)
            first[order[:sample_size]] = 1.0
            rows.append(first)
            if self.how == "halves":
                second = np.zeros(units)
                second[order[sample_size : 2 * sample_size]] = 1.0
                rows.append(second)
        return np.array(rows, dtype=np.float64).reshape(-1, units)


def drawn_means(scored: RunScores, draws: Draws) -> list[list[float | None] | None]:
    """Per measure the mean over each draw, None where a run's value is no mean of its units."""
    rows: list[list[float | None] | None] = [
        None if values is None or values.size < 2 else [] for values in scored.values
    ]
    for size in {v.size for v, row in zip(scored.values, rows, strict=True) if v is not None}:
        step = max(1, _CELLS // size)
        for start in range(0, draws.count, step):
            weights = draws.weights(size, start, start + step)
            for values, row in zip(scored.values, rows, strict=True):
                if values is None or row is None or values.size != size:
                    continue
                present = ~np.isnan(values)
                # Sums of the kept values alone: no matrix product, whose order of adding, and
                # so its last digit, would depend on the machine and its threads.
                total = np.einsum("ij,j->i", weights, present.astype(np.float64))
                sums = np.einsum("ij,j->i", weights, np.where(present, values, 0.0))
                with np.errstate(invalid="ignore"):
                    row.extend(numbers(settled(sums / total)))
    return rows


def drawn_table(rows: Sequence[Sequence[Sequence[float | None] | None]], draws: Draws) -> Floats:
    """Runs x measures x draws from what the runs answered, NaN where there is no mean."""
    blank = [None] * draws.width
    return floats([[row or blank for row in run] for run in rows])


# All disturbed truths are held at once.
MOST_REPEATS = 1000
_FLIP, _DROP = 11, 12


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Truths flipped at each of `flips`, and cut down by each of `drops`, `repeats` times each."""

    flips: tuple[float, ...]
    drops: tuple[float, ...]
    repeats: int
    seed: int

    def __post_init__(self) -> None:
        check_shares(self.flips, self.drops)
        check_at_most(MOST_REPEATS, repeats=self.repeats)


def check_shares(*lists: tuple[float, ...]) -> None:
    """Shares to flip or to drop: between 0 and 1, each larger than the one before."""
    for shares in lists:
        for share in shares:
            if not 0 < share < 1:
                raise UsageError(f"a share lies between 0 and 1 (0 and 100 %), not {share:g}")
        if list(shares) != sorted(set(shares)):
            raise UsageError("shares must rise, for every stage follows the last one")


@cache_answers(2)
def disturbed(material: StudyInput, disturbance: Disturbance) -> tuple[tuple[Truth, ...], ...]:
    """For every repetition the flipped truths, then the incomplete ones; made once per worker."""
    truth = material.read_truth()
    repetitions = []
    for number in range(disturbance.repeats):
        flip, drop = (
            generator(disturbance.seed, _FLIP, number),
            generator(disturbance.seed, _DROP, number),
        )
        if isinstance(truth, Judgements):
            repetitions.append(
                _flipped(truth, disturbance, flip) + _dropped(truth, disturbance, drop)
            )
        else:
            repetitions.append(
                _flipped_labels(truth, disturbance, flip)
                + _dropped_labels(truth, disturbance, drop)
            )
    return tuple(repetitions)


def _flipped(
    truth: Judgements, disturbance: Disturbance, rng: np.random.Generator
) -> tuple[Truth, ...]:
    if not disturbance.flips:
        return ()
    relevant = truth.values >= 1
    grades = truth.values[relevant]
    if grades.size == 0:
        raise UsageError("no judgement is relevant: there is nothing to flip to")
    counts = [round(share * len(truth)) for share in disturbance.flips]
    rows = rng.choice(len(truth), counts[-1], replace=False)
    new = np.where(relevant[rows], 0.0, rng.choice(grades, rows.size))
    stages = []
    for count in counts:
        values = truth.values.copy()
        values[rows[:count]] = new[:count]
        stages.append(replace(truth, values=values))
    return tuple(stages)


def _dropped(
    truth: Judgements, disturbance: Disturbance, rng: np.random.Generator
) -> tuple[Truth, ...]:
    if not disturbance.drops:
        return ()
    order = rng.permutation(len(truth))
    relevant = truth.values >= 1
    staying = np.zeros(len(truth), dtype=bool)
    place = np.empty(len(truth), dtype=np.int64)
    place[order] = np.arange(len(truth))
    for start, stop in zip(truth.offsets[:-1], truth.offsets[1:], strict=True):
        relevant_rows = np.flatnonzero(relevant[start:stop]) + start
        if relevant_rows.size:
            staying[relevant_rows[np.argmax(place[relevant_rows])]] = True
    stages: list[Truth] = []
    for share in disturbance.drops:
        mask = staying | (place >= round(share * len(truth)))
        stages.append(truth.of_rows(np.flatnonzero(mask)))
    return tuple(stages)


def _flipped_labels(
    truth: LabelMatrix, disturbance: Disturbance, rng: np.random.Generator
) -> tuple[Truth, ...]:
    if not disturbance.flips:
        return ()
    labels = dense(truth.labels)
    counts = [round(share * labels.size) for share in disturbance.flips]
    cells = rng.choice(labels.size, counts[-1], replace=False)
    stages = []
    for count in counts:
        changed = labels.copy()
        changed.flat[cells[:count]] ^= True
        stages.append(replace(truth, labels=changed))
    return tuple(stages)


def _dropped_labels(
    truth: LabelMatrix, disturbance: Disturbance, rng: np.random.Generator
) -> tuple[Truth, ...]:
    labels = dense(truth.labels)
    true = rng.permutation(np.flatnonzero(labels))
    stages = []
    for share in disturbance.drops:
        changed = labels.copy()
        changed.flat[true[: round(share * true.size)]] = False
        stages.append(replace(truth, labels=changed))
    return tuple(stages)
