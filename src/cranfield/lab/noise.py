"""Truths that are wrong or incomplete on purpose, made from a seed.

Flipped truth. Annotation: a share of all cells, drawn without replacement, goes from 0 to 1 or
back. Ranked: a share of all judgements; a relevant item (grade 1 or more) gets grade 0, another
item gets the grade of a relevant judgement drawn at random, so grades keep their distribution.
Stages are nested: what is flipped at 1 % is flipped at 2 % as well.

Incomplete truth. Annotation: a share of the true labels is taken for absent. Ranked: a share of
the judgements is taken out, so that their items are unjudged; one relevant item of each topic
always stays, for a topic without any cannot be evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cranfield.data import Judgements
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError, check_at_most
from cranfield.lab.material import Material, Truth
from cranfield.work.seeds import generator
from cranfield.work.serialisation import remembered

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


@remembered(2)
def disturbed(material: Material, how: Disturbance) -> tuple[tuple[Truth, ...], ...]:
    """For every repetition the flipped truths, then the incomplete ones; made once per worker."""
    truth = material.read_truth()
    made = []
    for number in range(how.repeats):
        flip, drop = generator(how.seed, _FLIP, number), generator(how.seed, _DROP, number)
        if isinstance(truth, Judgements):
            made.append(_flipped(truth, how, flip) + _dropped(truth, how, drop))
        else:
            made.append(_flipped_labels(truth, how, flip) + _dropped_labels(truth, how, drop))
    return tuple(made)


def _flipped(truth: Judgements, how: Disturbance, rng: np.random.Generator) -> tuple[Truth, ...]:
    if not how.flips:
        return ()
    relevant = truth.values >= 1
    grades = truth.values[relevant]
    if grades.size == 0:
        raise UsageError("no judgement is relevant: there is nothing to flip to")
    counts = [round(share * len(truth)) for share in how.flips]
    rows = rng.choice(len(truth), counts[-1], replace=False)
    new = np.where(relevant[rows], 0.0, rng.choice(grades, rows.size))
    stages = []
    for count in counts:
        values = truth.values.copy()
        values[rows[:count]] = new[:count]
        stages.append(replace(truth, values=values))
    return tuple(stages)


def _dropped(truth: Judgements, how: Disturbance, rng: np.random.Generator) -> tuple[Truth, ...]:
    if not how.drops:
        return ()
    order = rng.permutation(len(truth))
    relevant = truth.values >= 1
    staying = np.zeros(len(truth), dtype=bool)
    place = np.empty(len(truth), dtype=np.int64)
    place[order] = np.arange(len(truth))
    for start, stop in zip(truth.offsets[:-1], truth.offsets[1:], strict=True):
        own = np.flatnonzero(relevant[start:stop]) + start
        if own.size:
            staying[own[np.argmax(place[own])]] = True
    stages: list[Truth] = []
    for share in how.drops:
        kept = staying | (place >= round(share * len(truth)))
        stages.append(truth.of_rows(np.flatnonzero(kept)))
    return tuple(stages)


def _flipped_labels(
    truth: LabelMatrix, how: Disturbance, rng: np.random.Generator
) -> tuple[Truth, ...]:
    if not how.flips:
        return ()
    labels = dense(truth.labels)
    counts = [round(share * labels.size) for share in how.flips]
    cells = rng.choice(labels.size, counts[-1], replace=False)
    stages = []
    for count in counts:
        changed = labels.copy()
        changed.flat[cells[:count]] ^= True
        stages.append(replace(truth, labels=changed))
    return tuple(stages)


def _dropped_labels(
    truth: LabelMatrix, how: Disturbance, rng: np.random.Generator
) -> tuple[Truth, ...]:
    labels = dense(truth.labels)
    true = rng.permutation(np.flatnonzero(labels))
    stages = []
    for share in how.drops:
        changed = labels.copy()
        changed.flat[true[: round(share * true.size)]] = False
        stages.append(replace(truth, labels=changed))
    return tuple(stages)
