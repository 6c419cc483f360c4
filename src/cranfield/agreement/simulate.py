"""Made-up logs with a known truth, to see what a method finds and what it misses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import SOLE_QUESTION, Floats, JudgementLog


@dataclass(frozen=True, eq=False)
class SimulatedLog:
    """A log, the true answer of each item, and what is wrong with whom ('' for careful)."""

    log: JudgementLog
    truth: NDArray[np.int64]
    planted: tuple[str, ...]


SPAMMERS = ("random", "constant", "pattern", "copier", "fast")


def simulate_log(
    *,
    annotators: int = 20,
    items: int = 200,
    answers: int = 4,
    judgements_per_item: int = 10,
    skill: tuple[float, float] = (0.7, 0.95),
    spammers: tuple[str, ...] = (),
    confusion: Floats | None = None,
    rng: np.random.Generator | int | None = None,
) -> SimulatedLog:
    """A category log by careful annotators and, if asked for, some of each kind of spammer.

    A careful annotator is right with a probability drawn from `skill` and otherwise errs
    evenly, or answers by the tables `confusion` (annotators x true x answer). Every item is
    judged by `judgements_per_item` of the careful, drawn at random, and by all spammers:
    "random" guesses, "constant" always says the same, "pattern" runs through the answers,
    "copier" repeats a careful annotator on that one's items, "fast" guesses half of the time
    and takes a tenth of the time.
    """
    draw = np.random.default_rng(rng)
    truth = draw.integers(0, answers, items)
    if confusion is None:
        accuracy = draw.uniform(*skill, annotators)
        confusion = np.repeat((1 - accuracy)[:, None, None] / max(answers - 1, 1), answers, axis=1)
        confusion = np.repeat(confusion, answers, axis=2)
        confusion[:, np.arange(answers), np.arange(answers)] = accuracy[:, None]
    per_item = min(judgements_per_item, annotators)
    annotator = _draw_people(items, annotators, per_item, draw).ravel()
    item = np.repeat(np.arange(items), per_item)
    responses = _draw_answers(confusion[annotator, truth[item]], draw)
    times = draw.lognormal(np.log(20.0), 0.4, annotator.size)
    blocks = [(annotator, item, responses, times)]
    for number, kind in enumerate(spammers):
        blocks.append(_spam(kind, annotators + number, blocks[0], truth, answers, draw))
    columns = [np.concatenate([block[c] for block in blocks]) for c in range(4)]
    people = annotators + len(spammers)
    log = JudgementLog(
        "category",
        tuple(f"a{i:04d}" for i in range(people)),
        tuple(f"i{i:06d}" for i in range(items)),
        (SOLE_QUESTION,),
        tuple(str(v) for v in range(answers)),
        columns[0].astype(np.int32),
        columns[1].astype(np.int32),
        np.zeros(columns[0].size, dtype=np.int32),
        columns[2].astype(np.int32),
        columns[3].astype(np.float64),
    )
    return SimulatedLog(log, truth, ("",) * annotators + spammers)


Block = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]


def _draw_people(
    items: int, annotators: int, per_item: int, draw: np.random.Generator
) -> NDArray[np.int64]:
    """For each item as many different annotators."""
    if per_item * per_item > annotators:
        return np.argsort(draw.random((items, annotators)), axis=1)[:, :per_item]
    # With many annotators few rows draw one of them twice; those rows are drawn again.
    drawn_annotators = draw.integers(0, annotators, (items, per_item))
    while (twice := (np.diff(np.sort(drawn_annotators, axis=1), axis=1) == 0).any(axis=1)).any():
        drawn_annotators[twice] = draw.integers(0, annotators, (int(twice.sum()), per_item))
    return drawn_annotators


def _draw_answers(chances: Floats, draw: np.random.Generator) -> NDArray[np.int64]:
    """One answer from each row of probabilities."""
    reached = chances.cumsum(axis=1) > draw.random((chances.shape[0], 1))
    # The last sum may fall short of one by a rounding error.
    reached[:, -1] = True
    return np.asarray(reached.argmax(axis=1))


def _spam(
    kind: str,
    code: int,
    careful: Block,
    truth: NDArray[np.int64],
    answers: int,
    draw: np.random.Generator,
) -> Block:
    item = np.arange(truth.size)
    responses = draw.integers(0, answers, truth.size)
    times = draw.lognormal(np.log(20.0), 0.4, truth.size)
    if kind == "constant":
        responses = np.full(truth.size, int(responses[0]))
    elif kind == "pattern":
        responses = item % answers
    elif kind == "copier":
        copied = careful[0] == careful[0][0]
        item, responses, times = (
            careful[1][copied],
            careful[2][copied].copy(),
            times[: int(copied.sum())],
        )
        slips = draw.random(responses.size) < 0.02
        responses[slips] = draw.integers(0, answers, int(slips.sum()))
    elif kind == "fast":
        responses = np.where(draw.random(truth.size) < 0.5, truth, responses)
        times = times / 10
    return np.full(item.size, code), item, responses, times
